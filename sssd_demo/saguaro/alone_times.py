"""How long forwards of the target and of the draft model take when each has the machine to itself.

Measured on the engine's thread with all cores, between answers: the draft model too on the target's device, so that the
second device is one more of the same kind, wherever the drafter computes here. `two_devices.py` lays rounds out by
these times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sssd_demo.length import CONTEXT_STEP
from sssd_demo.roofline import Point, Profile, TimeForward, forward_time, probe

BATCHES = (1,)
CONTEXTS = (64, 512)
REPEATS = 3


@dataclass(frozen=True)
class AloneTimes:
    """Forward times of both models, each measured alone. Both profiles hold at least one measured forward."""

    target: Profile
    draft: Profile

    def verify_ms(self, batch: int, q: int, context: int) -> float:
        """One target forward over q tokens of each sequence, root included, after `context` cached ones."""
        return _ms(self.target, batch, q, context)

    def draft_ms(self, batch: int, width: int, context: int) -> float:
        """One forward of the draft model over `width` tokens of each sequence."""
        return _ms(self.draft, batch, width, context)


def measure(
    time_target: TimeForward,
    time_draft: TimeForward,
    *,
    report: Callable[[Point], None] = lambda point: None,
    contexts: tuple[int, ...] = CONTEXTS,
) -> AloneTimes:
    """Time both models' forwards for one sequence, of all widths; `report` hears of each before it is timed."""
    target, draft = (
        probe(time_forward, batches=BATCHES, contexts=contexts, repeats=REPEATS, report=report)
        for time_forward in (time_target, time_draft)
    )
    return AloneTimes(target, draft)


def _ms(profile: Profile, batch: int, tokens: int, context: int) -> float:
    # Times were measured where a block of the cache begins, and forwards read whole blocks.
    return 1000 * forward_time(profile, batch, tokens, context // CONTEXT_STEP * CONTEXT_STEP)
