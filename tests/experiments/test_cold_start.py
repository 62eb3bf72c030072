"""A store that grows by the conversations that it is used for."""

import pytest

from sssd_demo.errors import UserError
from sssd_demo.experiments.cold_start import WINDOWS, Budget, run
from sssd_demo.experiments.redraft import BOTH, DATASTORE_ONLY, PROMPT_ONLY
from sssd_demo.sssd.constants import FAITHFUL
from sssd_demo.sssd.live_store import LiveStore
from tests.experiments.toy_answers import VOCABULARY, fresh, phrased


@pytest.fixture
def store():
    store = LiveStore(fingerprint="f", vocab_size=VOCABULARY)
    yield store
    store.close()


def grown(store, conversations, held_out=None, most=100):
    budget = Budget(most, 10)
    return run(conversations, held_out, store, budget=budget, s_q=6, settings=FAITHFUL, tell=lambda line: None)


def test_tokens_per_forward_rise_with_the_store_and_the_prompt_alone_stays(store):
    figure, _ = grown(store, phrased(40), phrased(5, seed=3))
    lines = {series.name: series for series in figure.series}
    assert set(lines) == {BOTH, PROMPT_ONLY, DATASTORE_ONLY}
    both = lines[BOTH]
    assert len(both.x) == WINDOWS
    assert list(both.x) == sorted(both.x)
    assert both.y[-1] > both.y[0] + 0.5
    assert all(low <= high for low, high in zip(both.low, both.high, strict=True))
    assert set(lines[PROMPT_ONLY].y) == {1.0}
    assert figure.verdict == (
        "Over 40 conversations (1,680 tokens) from an empty store, tokens per forward rose from "
        f"{both.y[0]:.2f} to {both.y[-1]:.2f}, while the prompt alone stayed at 1.00."
    )


def test_held_out_questions_are_drafted_at_every_size(store):
    _, figure = grown(store, phrased(40), phrased(5, seed=3))
    both, prompt, datastore = figure.series
    assert both.x == prompt.x == (0, 1008, 1680)  # past 1,000 tokens, and at the end; documents have 2 + 40 tokens
    assert both.y[0] == 1
    assert min(both.y[1:]) > 2
    assert set(prompt.y) == {1.0}
    assert datastore.y == both.y
    assert f"On 5 held-out questions, tokens per forward rose from 1.00 to {both.y[-1]:.2f}" in figure.verdict


def test_a_conversation_is_drafted_before_the_store_knows_it(store):
    assert {rate for figure in grown(store, fresh(30)) for series in figure.series for rate in series.y} == {1.0}


def test_an_answer_that_the_store_knows_already_is_left_out(store):
    settings = grown(store, [*fresh(30), *fresh(10)], phrased(2))[0].settings
    assert (settings["conversations"], settings["repeats_left_out"]) == (30, 10)


def test_without_other_answers_the_last_tenth_is_held_out(store):
    settings = grown(store, phrased(40))[0].settings
    assert (settings["conversations"], settings["held_out"]) == (36, 4)


def test_no_more_conversations_than_the_budget_allows(store):
    assert grown(store, phrased(60), phrased(5, seed=3), most=30)[0].settings["conversations"] == 30


def test_too_few_conversations_and_known_answers_are_refused(store):
    with pytest.raises(UserError, match="at least 24 recorded answers"):
        grown(store, phrased(23))
    with pytest.raises(UserError, match="of these conversations holds an answer to question 1"):
        grown(store, fresh(30), fresh(1))
