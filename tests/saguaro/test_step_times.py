"""How much is prepared, by what the drafter's forwards take."""

import pytest

from sssd_demo.saguaro.step_times import BUDGETS, MOST_OUTCOMES, UNMEASURED, StepTimes
from sssd_demo.trace import Span

SECONDS = {1: 0.01, 4: 0.01, 8: 0.02, 16: 0.04, 32: 0.08}  # seconds of a forward, by its tokens


class Drafter:
    """Which was not timed yet."""

    def __init__(self, step_seconds=None):
        self.step_seconds = step_seconds or {}


def best(verify=0.1, acceptance=0.9, hit_rate=lambda k, b: 1.0, lengths=range(1, 9), budgets=(8,), times=SECONDS):
    return StepTimes(Drafter(times)).best(lengths, budgets, lambda tokens: verify, acceptance, hit_rate, batch=1)


def more_hits(k, budget):
    return 1 - 0.5 / budget


def test_times_are_those_of_the_start_corrected_by_those_of_branches():
    drafter = Drafter()
    times = StepTimes(drafter)
    assert times.seconds(4, 1) is None
    drafter.step_seconds = SECONDS
    assert times.seconds(4, 2) == times.seconds(8, 1) == 0.02
    for _ in range(60):
        times.learn([Span("drafter", "branch", 0.0, 40.0, 8), Span("drafter", "glue", 0.0, 900.0, 4)], 1)
    assert times.seconds(8, 1) == pytest.approx(0.04, rel=1e-3)


def test_drafts_are_as_long_as_pays():
    assert best()[0] == 4, "10 ms over what is verified and four steps of 20 ms are hidden"
    assert best(lengths=range(1, 4))[0] == 3
    assert best(hit_rate=lambda k, budget: 0.0)[0] == 4
    assert best(0.001, acceptance=0.999)[0] == 1, "nothing is hidden, and a step costs more than its token brings"
    assert best(acceptance=0.5)[0] == 4
    assert best(acceptance=0.05, hit_rate=lambda k, b: 0.1)[0] == 1, "a second token would hardly come of a longer miss"


def test_outcomes_are_as_many_as_pay():
    def budget(verify, hit_rate=more_hits):
        return best(verify, lengths=(3,), budgets=BUDGETS, hit_rate=hit_rate)[1]

    assert budget(0.071) == 8, "10 ms over what is verified, three steps of 20 ms: all that is hidden"
    assert budget(0.02) == 4, "nothing is hidden, but four outcomes cost no more than one"
    assert budget(10.0) == MOST_OUTCOMES
    assert budget(0.02, lambda k, b: 1.0) == 1, "more could only cost more"


def test_while_nothing_is_measured_drafts_are_long_and_outcomes_some():
    assert best(times={}, budgets=BUDGETS) == (8, UNMEASURED)
    assert best(None, budgets=BUDGETS, lengths=(2,)) == (2, UNMEASURED)
    assert best(None, budgets=(5,), lengths=(0,)) == (0, 5)
