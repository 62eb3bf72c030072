"""Stores of the same size made of different texts."""

import pytest

from sssd_demo.errors import UserError
from sssd_demo.experiments.own_text import OWN, Budget, first_tokens, questions_of, run
from sssd_demo.sssd.constants import FAITHFUL
from sssd_demo.sssd.recorded_answers import RecordedAnswer
from tests.experiments.toy_answers import VOCABULARY, fresh, phrased


def outputs(answers):
    return [answer.output for answer in answers]


def measured(texts, sizes=(100, 400), answers=None):
    [figure] = run(
        phrased(10, seed=2) if answers is None else answers,
        texts,
        vocab_size=VOCABULARY,
        budget=Budget(20, sizes),
        s_q=6,
        settings=FAITHFUL,
        tell=lambda line: None,
    )
    return figure


def test_text_like_the_answers_helps_and_other_text_does_not():
    figure = measured({OWN: outputs(phrased(30, seed=1)), "noise": outputs(fresh(30))})
    own, noise = figure.series
    assert own.x == noise.x == (100, 400)
    assert own.y[1] > own.y[0] > noise.y[0] == noise.y[1] == 0
    assert own.low[1] <= own.y[1] <= own.high[1]
    assert figure.verdict == (
        f"In accepted drafts per forward, a store of the model's own answers gives more ({own.y[1]:.2f} against 0.00) "
        "than noise (at 400 tokens each)."
    )


def test_a_text_too_short_for_a_size_has_no_store_of_it_and_the_verdict_is_about_the_largest_one_that_both_have():
    figure = measured({OWN: outputs(phrased(30, seed=1)), "noise": outputs(fresh(5))})
    assert [series.x for series in figure.series] == [(100, 400), (100,)]
    assert figure.verdict.endswith("noise (at 100 tokens each).")


def test_a_text_too_short_for_every_size_is_left_out():
    figure = measured({OWN: outputs(phrased(30, seed=1)), "noise": outputs(fresh(20)), "word": [(7,)]})
    assert [series.name for series in figure.series] == [OWN, "noise"]
    assert figure.settings["texts"]["word"] == "1 tokens"


def test_stores_hold_as_many_tokens_as_asked_for_and_read_no_further():
    def documents():
        yield [1] * 6
        yield []
        yield [2] * 6
        raise AssertionError("read too far")

    assert first_tokens(documents(), 10) == [[1] * 6, [2] * 4]
    assert first_tokens([[1, 2]], 10) == [[1, 2]]


def test_questions_are_prompts_without_what_all_of_them_share():
    prompts = [(1, 2, 50, 51, 9), (1, 2, 60, 9), (1, 2, 50, 70, 71, 9)]
    answers = [RecordedAnswer(prompt, (5,)) for prompt in prompts]
    assert questions_of(answers) == [(50, 51), (60,), (50, 70, 71)]
    assert questions_of(answers[:1]) == [()]


def test_what_cannot_be_compared_is_refused():
    past = outputs(phrased(30, seed=1))
    with pytest.raises(UserError, match="too little of other text: a store needs at least 100 tokens"):
        measured({OWN: past, "noise": outputs(fresh(2))})
    with pytest.raises(UserError, match="too little of the model's own answers"):
        measured({OWN: past[:1], "noise": outputs(fresh(20)), "more": outputs(fresh(20))})
    with pytest.raises(UserError, match="made of copies holds an answer to question 1"):
        measured({OWN: past, "copies": outputs(phrased(10, seed=2))})
    with pytest.raises(UserError, match="at least 10 recorded answers"):
        measured({OWN: past}, answers=phrased(2))
