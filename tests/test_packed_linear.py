"""Packing changes where weights lie, not what comes out."""

import pytest
import torch
from torch import nn

from sssd_demo.packed_linear import pack


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("rows", [1, 3, 8, 33])
def test_packed_products_equal_plain_ones(bias: bool, rows: int):
    torch.manual_seed(0)
    plain = nn.Linear(64, 96, bias=bias, dtype=torch.bfloat16).requires_grad_(False)
    hidden = torch.randn(2, rows, 64, dtype=torch.bfloat16)
    torch.testing.assert_close(pack(plain)(hidden), plain(hidden), rtol=0.02, atol=0.02)


def test_other_types_keep_their_layer():
    layer = nn.Linear(4, 4, dtype=torch.float32)
    assert pack(layer) is layer
