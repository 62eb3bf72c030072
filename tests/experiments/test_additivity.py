"""Gains that add up, gains that overlap, and no gain at all."""

import pytest

from sssd_demo.errors import UserError
from sssd_demo.experiments.additivity import SUM, Budget, run
from sssd_demo.experiments.redraft import BOTH, DATASTORE_ONLY, PROMPT_ONLY
from sssd_demo.sssd.constants import FAITHFUL
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.recorded_answers import RecordedAnswer
from tests.experiments.toy_answers import VOCABULARY, fresh, phrased, repeating


def measured(answers, documents, s_qs=(6,)):
    store = Datastore.build(documents, fingerprint="f", vocab_size=VOCABULARY)
    [figure] = run(answers, store, "past", budget=Budget(100, s_qs), settings=FAITHFUL, tell=lambda line: None)
    return figure


PAST = [answer.output for answer in phrased(30, seed=1)]


def test_sources_that_know_different_places_add_up():
    one_half, other_half = phrased(10, seed=2), repeating(10)
    answers = [
        RecordedAnswer(one.prompt, one.output + other.output) for one, other in zip(one_half, other_half, strict=True)
    ]
    figure = measured(answers, PAST)
    [series] = figure.series
    bars = dict(zip(series.x, series.y, strict=True))
    assert list(bars) == [PROMPT_ONLY, DATASTORE_ONLY, SUM, BOTH]
    assert bars[SUM] == pytest.approx(bars[PROMPT_ONLY] + bars[DATASTORE_ONLY])
    assert min(bars.values()) > 0.1
    assert bars[BOTH] > max(bars[PROMPT_ONLY], bars[DATASTORE_ONLY])
    for low, value, high in zip(series.low, series.y, series.high, strict=True):
        assert low <= value <= high
    low, share, high = figure.settings["both_as_share_of_sum"]["6"]
    assert low <= share <= high
    assert f"both together {bars[BOTH]:.2f}: {share:.0%} of the sum ({low:.0%} to {high:.0%})" in figure.verdict


def test_a_source_that_knows_nothing_adds_nothing():
    figure = measured(phrased(10, seed=2), PAST)
    [prompt, datastore, _, both] = figure.series[0].y
    assert prompt == 0
    assert both == datastore > 0
    assert "100% of the sum (100% to 100%)" in figure.verdict


def test_no_gain_at_all_is_said():
    assert measured(fresh(10), PAST).verdict.startswith("Neither source had a draft accepted at s_q 6")


def test_every_length_is_a_series_of_its_own():
    figure = measured(phrased(10, seed=2), PAST, (4, 6))
    assert [series.name for series in figure.series] == ["s_q 4", "s_q 6"]
    assert figure.verdict.endswith("; 100% at s_q 6. Drafted without the recycled source.")


def test_too_few_answers_and_known_ones_are_refused():
    with pytest.raises(UserError, match="at least 10 recorded answers"):
        measured(phrased(9), PAST)
    with pytest.raises(UserError, match="past holds an answer to question 10"):
        measured(repeating(10), [repeating(10)[9].output])
