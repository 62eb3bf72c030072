"""Packing changes where weights lie, not what comes out."""

import pytest
import torch
from torch import nn

from sssd_demo import packed_linear
from sssd_demo.packed_linear import pack, packs

TOLERANCE = {torch.bfloat16: 0.02, torch.float32: 1e-5}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("rows", [1, 3, 8, 33])
def test_packed_products_equal_plain_ones(dtype: torch.dtype, bias: bool, rows: int):
    torch.manual_seed(0)
    plain = nn.Linear(64, 96, bias=bias, dtype=dtype).requires_grad_(False)
    hidden = torch.randn(2, rows, 64, dtype=dtype)
    torch.testing.assert_close(pack(plain)(hidden), plain(hidden), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_a_cpu_without_bfloat16_packs_float32_only(dtype, monkeypatch):
    if not torch.backends.mkldnn.is_available():
        pytest.skip("weights are packed by oneDNN only")
    monkeypatch.setattr(packed_linear, "lacks_bfloat16", lambda: True)
    layer = nn.Linear(4, 4, dtype=dtype)
    assert packs(dtype) == (dtype == torch.float32)
    assert (pack(layer) is layer) == (dtype == torch.bfloat16)


def test_other_types_keep_their_layer():
    layer = nn.Linear(4, 4, dtype=torch.float16)
    assert pack(layer) is layer
