"""`probe`: what this machine achieves with this model, and how much to speculate for each batch size."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from sssd_demo.cli.options import add_model_options, open_service
from sssd_demo.roofline import Point, knee_s_q

if TYPE_CHECKING:
    from sssd_demo.service import Service

TYPICAL_CONTEXT = 256  # tokens; the lengths shown are for a conversation of this size


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser("probe", help="measure this machine and say how much to speculate")
    add_model_options(parser)
    parser.add_argument(
        "--devices",
        action="store_true",
        help="also what the Roofline's rule would choose on well-known GPUs, computed from their vendor's figures",
    )
    parser.set_defaults(run=run, show=show)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure anew and keep the result for every later start; progress goes to stderr."""
    from sssd_demo.probing import measure

    with open_service(args) as service:
        profile = measure(service, _tell, stopped=lambda: False)
        batches = sorted({batch for batch, _, _ in profile.forward_seconds})
        result = {
            "device": service.model.device_name,
            "dtype": service.model.dtype,
            "threads": service.threads,
            "flops": profile.flops,
            "bandwidth": profile.bandwidth,
            "knee": profile.knee,
            "forward_ms": {
                f"{batch}×{length}@{context}": 1000 * seconds
                for (batch, length, context), seconds in sorted(profile.forward_seconds.items(), key=_by_row)
            },
            "s_q": {str(batch): knee_s_q(profile, batch, TYPICAL_CONTEXT) for batch in batches},
        }
        return result | ({"devices": _devices(service, batches)} if args.devices else {})


def show(result: dict[str, Any]) -> str:
    """Peaks, forward times with a row for each batch and context, and the lengths chosen."""
    lines = [
        "{device}, {dtype}".format(**result),
        f"{result['flops'] / 1e9:.0f} GFLOP/s, {result['bandwidth'] / 1e9:.1f} GB/s, knee {result['knee']:.1f}",
        "",
        "one forward in ms, by tokens per sequence",
    ]
    rows: dict[str, list[str]] = {}
    for point, milliseconds in result["forward_ms"].items():
        batch, _, rest = point.partition("×")
        length, _, context = rest.partition("@")
        rows.setdefault(f"batch {batch:>2}, context {context:>3}:", []).append(f"{length}: {milliseconds:.1f}")
    lines += [f"{row}  {'  '.join(cells)}" for row, cells in rows.items()]
    lines.append("")
    lines += [
        f"batch {batch:>2}: verify {length} tokens of each sequence per round"
        for batch, length in result["s_q"].items()
    ]
    if "devices" in result:
        lines += ["", "by the rule knee / batch on other devices, computed from the vendor's figures, not measured"]
        lines += [_shown(name, device) for name, device in result["devices"].items()]
    return "\n".join(lines)


def _by_row(item: tuple[Point, float]) -> tuple[int, int, int]:
    (batch, length, context), _ = item
    return context, batch, length


def _devices(service: Service, batches: list[int]) -> dict[str, Any]:
    """What the presets would choose for this model; "fits" is None where its memory cannot be told."""
    from sssd_demo.device_presets import DEVICES
    from sssd_demo.forward_work import shape_of

    shape, width = shape_of(service.model.model), service.model.model.dtype.itemsize
    return {
        device.name: {
            "computed_from": device.source,
            "flops": device.flops,
            "bandwidth": device.bandwidth,
            "knee": device.knee,
            "knee_tokens": device.knee_tokens(width),
            "s_q": {str(batch): device.s_q(width, batch) for batch in batches},
            "fits": None if shape is None else device.fits(shape, batches[-1], TYPICAL_CONTEXT),
        }
        for device in DEVICES
    }


def _shown(name: str, device: dict[str, Any]) -> str:
    lengths = "  ".join(f"{batch}: {length}" for batch, length in device["s_q"].items())
    return f"{name:>5}: knee {device['knee']:5.1f}, tokens by batch  {lengths}"


def _tell(point: Point, share: float) -> None:
    print("measuring {} × {} tokens at context {}".format(*point), file=sys.stderr, flush=True)
