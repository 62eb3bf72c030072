"""How much is prepared, by what the drafter's forwards take."""

import pytest

from sssd_demo.saguaro.step_times import LEAST_OUTCOMES, StepTimes
from sssd_demo.trace import Span


class Drafter:
    """Which was not timed yet."""

    def __init__(self):
        self.step_seconds = {}


def test_as_much_is_prepared_as_one_verification_hides():
    drafter = Drafter()
    times = StepTimes(drafter)
    assert times.seconds(4, 1) is None
    assert times.budget(0.1, 3, 1) == 2 * LEAST_OUTCOMES
    drafter.step_seconds = {1: 0.01, 4: 0.01, 8: 0.02, 16: 0.04, 32: 0.08}
    assert times.budget(0.071, 3, 1) == 8  # 10 ms over what is verified, three steps of 20 ms
    assert times.budget(0.02, 3, 1) == LEAST_OUTCOMES
    for _ in range(60):
        times.learn([Span("drafter", "branch", 0.0, 40.0, 8), Span("drafter", "glue", 0.0, 900.0, 4)], 1)
    assert times.seconds(8, 1) == pytest.approx(0.04, rel=1e-3)


def test_drafts_are_as_long_as_pays():
    drafter = Drafter()
    times = StepTimes(drafter)
    assert times.best_length(lambda tokens: 0.1, 0.9, 1.0, 8, most=5, batch=1) == 5, "nothing is measured yet"
    drafter.step_seconds = {1: 0.01, 4: 0.01, 8: 0.02, 16: 0.04, 32: 0.08}

    def best(verify, acceptance, hit_rate=1.0, most=8):
        return times.best_length(lambda tokens: verify, acceptance, hit_rate, 8, most, batch=1)

    assert best(0.1, acceptance=0.9) == 4, "10 ms over what is verified and four steps of 20 ms are hidden"
    assert best(0.1, acceptance=0.9, most=3) == 3
    assert best(0.1, acceptance=0.9, hit_rate=0.0) == 4
    assert best(0.001, acceptance=0.999) == 1, "nothing is hidden, and a step costs more than its token brings"
    assert best(0.1, acceptance=0.5) == 4
    assert best(0.1, acceptance=0.05, hit_rate=0.1) == 1, "a second token would hardly ever come of a longer miss"
    assert times.best_length(lambda tokens: None, 0.9, 1.0, 8, most=0, batch=1) == 1
