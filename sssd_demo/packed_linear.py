"""Linear layers whose weights lie as the processor's matrix kernels want them.

Kept in oneDNN's own layout, weights make a product of eight tokens hardly slower than one of a single token, which is
what verification lives on; `benchmarks/packing.py` measures it. In float32 a token's product is then also the same to
the last bit with however many others it is computed.
"""

from __future__ import annotations

import torch
from torch import nn


def pack(linear: nn.Linear) -> nn.Module:
    """`linear` with packed weights where that exists (see `packs`), else `linear` itself.

    The weight of `linear` is not kept.
    """
    weight = linear.weight
    return _PackedLinear(linear) if weight.device.type == "cpu" and packs(weight.dtype) else linear


def packs(dtype: torch.dtype) -> bool:
    """Whether weights of `dtype` are packed on this CPU."""
    if dtype == torch.bfloat16:
        return torch.backends.mkldnn.is_available() and not lacks_bfloat16()
    return dtype == torch.float32 and torch.backends.mkldnn.is_available()


def lacks_bfloat16() -> bool:
    """Whether oneDNN knows this CPU to have no instructions that it could compute in bfloat16 with."""
    return torch.backends.mkldnn.is_available() and not torch.ops.mkldnn._is_mkldnn_bf16_supported()


class _PackedLinear(nn.Module):
    """Uses the operators that torch.compile emits for frozen weights; eager torch has no public name for them."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach())
        self.bias = linear.bias

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return torch.ops.mkldnn._linear_pointwise(hidden, self.packed, self.bias, "none", [], "")


def weight_bytes(model: nn.Module) -> int:
    """Memory that the weights of `model` take, packed ones included. A weight that two layers share counts once."""
    packed = (module.packed for module in model.modules() if isinstance(module, _PackedLinear))
    return sum(weight.numel() * weight.element_size() for weight in (*model.parameters(), *packed))
