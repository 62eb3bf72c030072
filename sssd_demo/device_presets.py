"""GPUs by their vendor's figures, and what the Roofline's rule would choose on them. Nothing here was measured.

Peaks are those of dense 16-bit matrix products; vendors often print twice as much, for matrices half of zeros.
"""

from __future__ import annotations

from dataclasses import dataclass

from sssd_demo.forward_work import ModelShape
from sssd_demo.roofline import Profile, knee_tokens, roofline_s_q

TERA, GIGA = 10**12, 10**9
USABLE = 0.9  # of the memory; the rest is the work's own


@dataclass(frozen=True)
class DevicePreset:
    """One GPU as its vendor describes it."""

    name: str
    what: str
    dtype: str  # of the matrix products that `flops` is for
    flops: float  # dense, per second
    bandwidth: float  # bytes per second
    memory: float  # bytes
    source: str  # where the vendor says so

    @property
    def knee(self) -> float:
        """I_knee: operations for every byte."""
        return self.flops / self.bandwidth

    def knee_tokens(self, bytes_per_weight: float) -> float:
        """Tokens in one forward at which arithmetic takes as long as reading the weights: I_knee · w / 2."""
        return knee_tokens(self.peaks(), bytes_per_weight)

    def s_q(self, bytes_per_weight: float, batch: int) -> int:
        """What the plain rule would choose for `batch` sequences; see `roofline.roofline_s_q`."""
        return roofline_s_q(self.peaks(), batch, bytes_per_weight)

    def peaks(self) -> Profile:
        """The figures as a profile without measured times."""
        return Profile({}, flops=self.flops, bandwidth=self.bandwidth)

    def fits(self, shape: ModelShape, batch: int, context: int) -> bool:
        """Whether the model and so many tokens of so many sequences go into the memory, with some room for the work."""
        return shape.memory(batch, context) <= USABLE * self.memory


DEVICES = (
    DevicePreset(
        "T4",
        "NVIDIA T4, 16 GB",
        "float16",
        65 * TERA,
        320 * GIGA,
        16 * GIGA,
        "https://www.nvidia.com/en-us/data-center/tesla-t4/ (65 TFLOPS; 320+ GB/s, the data sheet of 2019 says 300)",
    ),
    DevicePreset(
        "L4",
        "NVIDIA L4, 24 GB",
        "bfloat16",
        121 * TERA,
        300 * GIGA,
        24 * GIGA,
        "https://www.nvidia.com/en-us/data-center/l4/ (242 TFLOPS with sparsity, half of it without; 300 GB/s)",
    ),
    DevicePreset(
        "A10G",
        "NVIDIA A10G, 24 GB (AWS)",
        "bfloat16",
        70 * TERA,
        600 * GIGA,
        24 * GIGA,
        "https://d1.awsstatic.com/product-marketing/ec2/NVIDIA_AWS_A10G_DataSheet_FINAL_02_17_2022.pdf"
        " (70 TFLOPS, 140 with sparsity; 600 GB/s)",
    ),
    DevicePreset(
        "A100",
        "NVIDIA A100 SXM, 80 GB",
        "bfloat16",
        312 * TERA,
        2039 * GIGA,
        80 * GIGA,
        "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/"
        "nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf (312 TFLOPS, 624 with sparsity; 2,039 GB/s)",
    ),
    DevicePreset(
        "H100",
        "NVIDIA H100 SXM, 80 GB",
        "bfloat16",
        989 * TERA,
        3350 * GIGA,
        80 * GIGA,
        "https://www.nvidia.com/en-us/data-center/h100/ (1,979 TFLOPS with sparsity, half of it without; 3.35 TB/s)",
    ),
    DevicePreset(
        "H200",
        "NVIDIA H200 SXM, 141 GB",
        "bfloat16",
        989 * TERA,
        4800 * GIGA,
        141 * GIGA,
        "https://www.nvidia.com/en-us/data-center/h200/ (1,979 TFLOPS with sparsity, half of it without; 4.8 TB/s)",
    ),
)


def find_device(name: str) -> DevicePreset | None:
    """The preset called `name`."""
    return next((device for device in DEVICES if device.name == name), None)


def _shape(read: float, layers: int, heads: int, kv_heads: int, head_dim: int, table: float = 0) -> ModelShape:
    """Of a model with so many billion weights read and looked up, all in 16 bits."""
    return ModelShape(
        weights=round(read * 1e9),
        bytes_per_weight=2,
        kv_bytes=2 * 2 * layers * kv_heads * head_dim,
        attention_operations=4 * layers * heads * head_dim,
        looked_up=round(table * 1e9),
    )


# Models that people run on such devices; figures from their configuration files.
MODELS = {
    "1.5B": _shape(1.54, layers=28, heads=12, kv_heads=2, head_dim=128),  # Qwen2.5-1.5B
    "8B": _shape(7.50, layers=32, heads=32, kv_heads=8, head_dim=128, table=0.53),  # Llama-3.1-8B
    "70B": _shape(69.5, layers=80, heads=64, kv_heads=8, head_dim=128, table=1.05),  # Llama-3.1-70B
}
BYTES_PER_WEIGHT = {"16": 2.0, "8": 1.0, "4": 0.5}  # by bits; arithmetic and caches are in 16 bits all the same
