"""Measuring the whole profile of a machine while a service runs on it.

Each forward is a job of its own for the engine, done while nothing is being answered: whoever asks meanwhile waits for
one forward at most, and the measurement waits for the answer.
"""

from __future__ import annotations

from collections.abc import Callable

from sssd_demo.peaks import with_peaks
from sssd_demo.profile_file import save_profile
from sssd_demo.roofline import BATCHES, CONTEXTS, LENGTHS, Point, Profile, probe
from sssd_demo.service import Service

REPEATS = 3


class Stopped(Exception):
    """The measurement was stopped; nothing of it is kept."""


def measure(service: Service, report: Callable[[Point, float], None], stopped: Callable[[], bool]) -> Profile:
    """Measure T and the peaks, keep them for later starts and use them from now on.

    `report` hears of each forward before it is measured, and what share of the work is done at least. Raises `Stopped`
    soon after `stopped` says so, and `UserError` when the engine is closed.
    """
    batches = [batch for batch in BATCHES if batch <= service.engine.capacity]
    contexts = [context for context in CONTEXTS if context < service.engine.context_length]
    steps = len(batches) * len(contexts) * len(LENGTHS) * REPEATS
    done = 0

    def tell(point: Point) -> None:
        nonlocal done
        if stopped():
            raise Stopped
        report(point, done / steps)
        done += 1

    def time_forward(batch: int, length: int, context: int) -> float:
        return service.engine.call(lambda target: target.time_forward(batch, length, context))

    found = probe(time_forward, batches=batches, contexts=contexts, repeats=REPEATS, report=tell)
    model = service.model
    profile = service.engine.call(lambda target: with_peaks(found, model.device, model.model.dtype))
    save_profile(service.profile_key(), profile)
    service.use_profile(profile)
    return profile
