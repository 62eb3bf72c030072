"""A store that grows by the conversations that it is used for."""

from dataclasses import replace

import pytest

from sssd_demo.errors import UserError
from sssd_demo.experiments.cold_start import WINDOWS, Budget, run
from sssd_demo.experiments.redraft import BOTH, DATASTORE_ONLY, PROMPT_ONLY
from sssd_demo.sssd.constants import DEFAULT, FAITHFUL
from sssd_demo.sssd.live_store import LiveStore
from tests.experiments.toy_answers import VOCABULARY, fresh, hinting, phrased, recorded_with_top


@pytest.fixture
def store():
    store = LiveStore(fingerprint="f", vocab_size=VOCABULARY)
    yield store
    store.close()


def grown(store, conversations, held_out=None, most=100, settings=FAITHFUL):
    budget = Budget(most, 10)
    return run(conversations, held_out, store, budget=budget, s_q=6, settings=settings, tell=lambda line: None)


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
        f"{both.y[0]:.2f} to {both.y[-1]:.2f}, while the prompt alone stayed at 1.00. "
        "Drafted without the recycled source."
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
    with pytest.raises(UserError, match="Only 10 of the conversations are new to those before them and to those held"):
        grown(store, [*fresh(20), *fresh(20)], fresh(10))


def test_conversations_related_to_a_held_out_one_are_left_out_and_told(store):
    held_out = phrased(5, seed=3)
    same_question = [replace(answer, prompt=held_out[n].prompt) for n, answer in enumerate(fresh(2))]
    same_answer = [replace(answer, output=(5, *held_out[n].output[1:])) for n, answer in enumerate(fresh(3))]
    told: list[str] = []
    figures = run(
        [*same_question, *phrased(40), *same_answer],
        held_out,
        store,
        budget=Budget(100, 10),
        s_q=6,
        settings=FAITHFUL,
        tell=told.append,
    )
    for figure in figures:
        assert (figure.settings["conversations"], figure.settings["related_left_out"]) == (40, 5)
    assert told[0] == "5 conversations are left out: they are related to one that is held out"


def hints(answers):
    return [hinting(answer, 5000 + 100 * n) for n, answer in enumerate(answers)]


def test_what_the_target_held_likely_is_used_where_it_was_recorded(store):
    held_out = recorded_with_top(fresh(40)[-2:])
    conversations = [
        *recorded_with_top(fresh(30)),
        *hints(held_out),
    ]
    figures = grown(store, conversations, held_out, settings=DEFAULT)
    datastore_only = figures[1].series[2]
    assert datastore_only.y[0] == 1 < datastore_only.y[-1]
    assert all(figure.settings["recycled"] == "as in the product" for figure in figures)
    assert not any("without" in figure.title + figure.verdict for figure in figures)


def test_without_that_the_recycled_source_is_left_out_and_told(store):
    held_out = fresh(40)[-2:]
    conversations = [*fresh(30), *hints(held_out)]
    figures = grown(store, conversations, held_out, settings=DEFAULT)
    assert set(figures[1].series[2].y) == {1.0}
    assert all(figure.settings["recycled"] == "left out" for figure in figures)
    assert all(figure.title.endswith("(without the recycled source)") for figure in figures)
