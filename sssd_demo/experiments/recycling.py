"""The recycled source in experiments: drafted from as the product does, or said to be missing.

It lives on what the target held likely while it wrote, which not all recorded answers tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sssd_demo.experiments.figure import Figure
from sssd_demo.sssd.constants import Settings
from sssd_demo.sssd.recorded_answers import RecordedAnswer

WITHOUT = "without the recycled source"


def as_recorded(settings: Settings, *sets: Sequence[RecordedAnswer]) -> Settings:
    """`settings`, without the recycled source unless all answers of all `sets` tell what the target held likely."""
    if all(answer.top for answers in sets for answer in answers if answer.output):
        return settings
    return replace(settings, recycled_weight=0.0)


def recycles(settings: Settings) -> bool:
    """Whether the recycled source has a part in what is drafted with `settings`."""
    return settings.combine != "larger" and settings.recycled_weight > 0


def told(figure: Figure, settings: Settings) -> Figure:
    """`figure`, which was drafted with `settings` and says so where the recycled source had no part."""
    if recycles(settings):
        return replace(figure, settings=figure.settings | {"recycled": "as in the product"})
    return replace(
        figure,
        title=f"{figure.title} ({WITHOUT})",
        verdict=f"{figure.verdict} Drafted {WITHOUT}.",
        settings=figure.settings | {"recycled": "left out"},
    )
