"""Linear layers whose weights lie as the processor's matrix kernels want them.

Kept in oneDNN's own layout, bfloat16 weights make a product of eight tokens hardly slower than one of a single token,
which is what verification lives on; `benchmarks/packing.py` measures it.
"""

from __future__ import annotations

import torch
from torch import nn


def pack(linear: nn.Linear) -> nn.Module:
    """`linear` with packed weights where that exists (bfloat16 on a CPU with oneDNN), else `linear` itself.

    The weight of `linear` is not kept.
    """
    weight = linear.weight
    packable = weight.device.type == "cpu" and weight.dtype == torch.bfloat16 and torch.backends.mkldnn.is_available()
    return _PackedLinear(linear) if packable else linear


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
