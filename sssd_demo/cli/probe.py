"""`probe`: what this machine achieves with this model, and how much to speculate for each batch size."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from sssd_demo.cli.options import add_model_options, open_service
from sssd_demo.roofline import BATCHES, CONTEXTS, Point, Profile, knee_s_q, probe

if TYPE_CHECKING:
    from sssd_demo.models import LoadedModel
    from sssd_demo.target import Target

TYPICAL_CONTEXT = 256  # tokens; the lengths shown are for a conversation of this size


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser("probe", help="measure this machine and say how much to speculate")
    add_model_options(parser)
    parser.set_defaults(run=run, show=show)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure anew and keep the result for every later start; progress goes to stderr."""
    from sssd_demo.profile_file import save_profile

    with open_service(args) as service:
        batches = [batch for batch in BATCHES if batch <= service.engine.capacity]
        profile = service.engine.call(lambda target: _measure(target, batches, service.model))
        save_profile(service.profile_key(), profile)
        return {
            "device": service.model.device_name,
            "dtype": service.model.dtype,
            "threads": service.threads,
            "flops": profile.flops,
            "bandwidth": profile.bandwidth,
            "knee": profile.knee,
            "forward_ms": {
                f"{batch}×{length}@{context}": 1000 * seconds
                for (batch, length, context), seconds in profile.forward_seconds.items()
            },
            "s_q": {str(batch): knee_s_q(profile, batch, TYPICAL_CONTEXT) for batch in batches},
        }


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
    return "\n".join(lines)


def _measure(target: Target, batches: list[int], model: LoadedModel) -> Profile:
    """On the engine's thread, so with its threads."""
    from sssd_demo.peaks import with_peaks

    contexts = [context for context in CONTEXTS if context < target.context_length]
    profile = probe(target.time_forward, batches=batches, contexts=contexts, report=_tell)
    return with_peaks(profile, model.device, model.model.dtype)


def _tell(point: Point) -> None:
    print("measuring {} × {} tokens at context {}".format(*point), file=sys.stderr, flush=True)
