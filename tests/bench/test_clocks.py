"""Both clocks of a measurement, and what the formulas said of it, from answers made by hand."""

from __future__ import annotations

import pytest

from sssd_demo.bench.clocks import clock_figures
from sssd_demo.bench.figures import Sample
from sssd_demo.bench.lanes import Reply
from sssd_demo.metrics import summarise
from sssd_demo.questions import Question
from sssd_demo.service import Settings
from sssd_demo.trace import EMPTY_VERIFIED_TREE, Round, Trace
from tests.toy_saguaro import (
    ALONE,
    FIRST,
    HIT,
    LOOKUP,
    MESSAGE,
    MISS,
    STEP,
    VERIFY,
    K,
    saguaro_trace,
    speculative_trace,
)

SETTINGS = {
    "autoregressive": Settings("autoregressive"),
    "speculative@k2": Settings("speculative", k=K),
    "speculative@k3": Settings("speculative", k=3),
    "saguaro": Settings("saguaro", k=K),
    "sssd": Settings("sssd"),
}


def sample(lane: str, trace: Trace) -> Sample:
    return Sample(
        lane, Question("q", "writing", ("Where is the cat?",)), 0, 0, Reply(summarise(trace), (), "", (), trace)
    )


def plain() -> Trace:
    trace = speculative_trace([0])
    rounds = [trace.rounds[0]]
    for index in range(1, 5):
        start = rounds[-1].end_ms
        rounds.append(Round(index, 1, 1, start, 0.0, 10.0, EMPTY_VERIFIED_TREE, 5, 0.8, (5,)))
    return Trace(**{**vars(trace), "method": "autoregressive", "rounds": tuple(rounds)})


SAMPLES = [
    sample("autoregressive", plain()),
    sample("speculative@k2", speculative_trace([2, 2, 2])),
    sample("speculative@k3", speculative_trace([0, 0, 1])),
    sample("saguaro", saguaro_trace([FIRST, HIT, HIT, MISS])),
    sample("sssd", plain()),
]


def test_each_clock_has_its_own_speeds_against_plain_decoding_and_the_fastest_in_turn():
    found = clock_figures(SAMPLES, SETTINGS, ALONE)
    assert set(found) == {"speculative@k2", "speculative@k3", "saguaro"}
    here, two = found["saguaro"]["measured"], found["saguaro"]["two_devices"]
    assert here["speculative"] == two["speculative"] == "speculative@k2"
    in_turn = found["speculative@k2"]["measured"]
    assert in_turn["tokens_per_second"]["mean"] == pytest.approx(1000 * 9 / (3 * (K * STEP + 14.0)))
    assert in_turn["speedup_vs_autoregressive"]["mean"] == pytest.approx(in_turn["tokens_per_second"]["mean"] / 100)
    assert two["speedup_vs_autoregressive"]["mean"] == pytest.approx(two["tokens_per_second"]["mean"] / (1000 / 12))
    assert here["speedup_vs_speculative"]["mean"] != two["speedup_vs_speculative"]["mean"]


def test_the_formulas_stand_beside_what_they_foretold_of_the_same_drafts():
    told = clock_figures(SAMPLES, SETTINGS, ALONE)["saguaro"]["measured"]["prediction"]
    assert told["speculative"] == "speculative@k2"
    d, p = K * STEP / 14.0, 2 / 3
    assert told["draft_in_verifications"]["mean"] == pytest.approx(d)
    assert told["verification_slowed"]["mean"] == pytest.approx(VERIFY / 14.0)
    assert told["predicted_vs_speculative"]["mean"] == pytest.approx((1 + d) / (1 + (1 - p) * d))
    missed = (2 * MESSAGE + LOOKUP + K * STEP) / 14.0
    tokens = p * 3 + (1 - p) * 2
    prepared = told["predicted_vs_autoregressive"]["mean"]
    assert tokens / (p * 2 + (1 - p) * (1 + missed)) < prepared < tokens / (p + (1 - p) * (1 + missed)) + 1e-9


def test_without_the_same_drafts_in_turn_nothing_is_foretold():
    settings = {**SETTINGS, "saguaro": Settings("saguaro", k=4)}
    assert "prediction" not in clock_figures(SAMPLES, settings, ALONE)["saguaro"]["measured"]
    alone = [each for each in SAMPLES if each.lane in ("saguaro", "autoregressive")]
    figures = clock_figures(alone, {"saguaro": settings["saguaro"]}, ALONE)["saguaro"]["measured"]
    assert set(figures) == {"tokens_per_second"}
