"""Which number format to compute in, found by a short measurement, with the reason in words."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from sssd_demo.errors import UserError
from sssd_demo.packed_linear import lacks_bfloat16, pack

DTYPES = ("float32", "bfloat16", "float16")
VERIFIED_TOKENS = 8  # tokens in one pass of the target while speculating, for the measurement
_WEIGHTS = 2**24  # about what the last cache holds, since decoding reads each weight once a pass
_SECONDS = 0.2
_MOST_TURNS = 10
_LACKING = "this CPU has no instructions for bfloat16"
_CLEARLY = 2.0  # so many times slower, bfloat16 is computed by something else than this CPU's own instructions


@dataclass(frozen=True)
class DtypeChoice:
    """A number format and why it was taken."""

    dtype: str
    reason: str


def choose_dtype(
    asked: str,
    device: torch.device,
    hidden_size: int,
    intermediate_size: int,
    clock: Callable[[], float] = time.perf_counter,
) -> DtypeChoice:
    """The format to compute in: `asked`, or for "auto" what suits the device.

    A CPU without instructions for bfloat16 computes in it token by token: one token is fast, a prompt very slow. On
    other CPUs, products of the model's own MLP shape [8, hidden] · [hidden, intermediate] are timed for a fraction of a
    second by `clock` (seconds), with weights packed as the model's will be; where neither is clearly faster, bfloat16
    takes half the memory. On a GPU, bfloat16 if it has it. Raises `UserError` for an unknown format.
    """
    if asked != "auto":
        if asked not in DTYPES:
            raise UserError(f"Unknown dtype {asked!r}; choose auto, {', '.join(DTYPES)}.")
        if asked == "bfloat16" and device.type == "cpu" and lacks_bfloat16():
            return DtypeChoice(asked, f"asked for, though {_LACKING}")
        return DtypeChoice(asked, "asked for")
    if device.type == "cuda":
        if torch.cuda.is_bf16_supported(including_emulation=False):
            return DtypeChoice("bfloat16", "this GPU computes in bfloat16")
        return DtypeChoice("float16", "this GPU does not compute in bfloat16")
    if device.type != "cpu":
        return DtypeChoice("float32", f"nothing was measured for {device.type}")
    if lacks_bfloat16():
        return DtypeChoice("float32", _LACKING)
    single, half = _seconds((torch.float32, torch.bfloat16), hidden_size, intermediate_size, clock)
    # Other programs disturb the measurement, and the format must not change from one start to the next for that.
    if half <= _CLEARLY * single:
        chosen, other, ratio = "bfloat16", "float32", single / half
    else:
        chosen, other, ratio = "float32", "bfloat16", half / single
    measured = f"{chosen} is {ratio:.1f} times as fast as {other} for {VERIFIED_TOKENS} tokens on this CPU"
    return DtypeChoice(chosen, measured)


@torch.inference_mode()
def _seconds(
    dtypes: tuple[torch.dtype, ...], hidden_size: int, intermediate_size: int, clock: Callable[[], float]
) -> list[float]:
    """Seconds for one pass over the same number of weights in each format; the fastest of several, taken in turn.

    In turn, because others may be using the machine, and it should slow all formats alike.
    """
    count = max(2, _WEIGHTS // (hidden_size * intermediate_size))
    layers = {dtype: [_layer(hidden_size, intermediate_size, dtype) for _ in range(count)] for dtype in dtypes}
    tokens = {dtype: torch.ones(VERIFIED_TOKENS, hidden_size, dtype=dtype) for dtype in dtypes}
    best, begun = dict.fromkeys(dtypes, float("inf")), clock()
    for turn in range(_MOST_TURNS):
        for dtype in dtypes:
            start = clock()
            for layer in layers[dtype]:
                layer(tokens[dtype])
            if turn:  # the first warms up
                best[dtype] = max(min(best[dtype], clock() - start), 1e-9)
        if turn and clock() - begun > _SECONDS:
            break
    return list(best.values())


def _layer(inputs: int, outputs: int, dtype: torch.dtype) -> nn.Module:
    plain = nn.Linear(inputs, outputs, bias=False, device="meta")
    plain.weight = nn.Parameter(torch.ones(outputs, inputs, dtype=dtype), requires_grad=False)
    return pack(plain)
