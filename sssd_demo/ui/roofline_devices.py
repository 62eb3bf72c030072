"""What the plain rule would choose on well-known GPUs → a table. All computed, nothing measured."""

from __future__ import annotations

from typing import Any

from sssd_demo.device_presets import DEVICES
from sssd_demo.forward_work import ModelShape
from sssd_demo.roofline import MAX_AUTO_S_Q
from sssd_demo.ui.roofline_job import sequences
from sssd_demo.ui.words import WORDS


def devices_value(shape: ModelShape | None, bytes_per_weight: float, batch: int, context: int) -> dict[str, Any]:
    """For a model of this shape, or one whose memory nobody can tell (None)."""
    lengths = {device.what: device.s_q(bytes_per_weight, batch) for device in DEVICES}
    widest, narrowest = max(lengths, key=lengths.__getitem__), min(lengths, key=lengths.__getitem__)
    words = "roof.there.verdict_same" if lengths[widest] == lengths[narrowest] else "roof.there.verdict"
    said = WORDS[words].format(
        bits=f"{8 * bytes_per_weight:g}",
        batch=sequences(batch),
        most=lengths[widest],
        widest=widest,
        least=lengths[narrowest],
        narrowest=narrowest,
    )
    columns = ["device", "peak", "memory", "knee", "knee_tokens", "at", "fits", "source"]
    return {
        "said": said,
        "charts": [],
        "table": {
            "head": [WORDS[f"roof.column.{name}"].format(batch=batch) for name in columns],
            "rows": [
                [
                    device.what,
                    f"{device.flops / 1e12:,.0f}",
                    f"{device.bandwidth / 1e9:,.0f}",
                    f"{device.knee:.0f}",
                    f"{device.knee_tokens(bytes_per_weight):.0f}",
                    str(device.s_q(bytes_per_weight, batch)),
                    _fits(device.fits(shape, batch, context) if shape else None),
                    device.source,
                ]
                for device in DEVICES
            ],
        },
        "notes": [WORDS["roof.there.capped"].format(most=MAX_AUTO_S_Q)],
    }


def _fits(fits: bool | None) -> str:
    return WORDS["roof.fits.unknown" if fits is None else "roof.fits.yes" if fits else "roof.fits.no"]
