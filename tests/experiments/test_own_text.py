"""Stores of the same size made of different texts."""

from dataclasses import replace

import pytest

from sssd_demo.errors import UserError
from sssd_demo.experiments.own_text import OWN, QUESTIONS, Budget, first_tokens, run
from sssd_demo.sssd.constants import DEFAULT, FAITHFUL
from tests.experiments.toy_answers import VOCABULARY, fresh, hinting, phrased, recorded_with_top


def outputs(answers):
    return [answer.output for answer in answers]


def measured(own, texts, sizes=(100, 400), answers=None, settings=FAITHFUL):
    [figure] = run(
        phrased(10, seed=2) if answers is None else answers,
        own,
        texts,
        vocab_size=VOCABULARY,
        budget=Budget(20, sizes),
        s_q=6,
        settings=settings,
        tell=lambda line: None,
    )
    return figure


def test_text_like_the_answers_helps_and_other_text_does_not():
    figure = measured(phrased(30, seed=1), {"noise": outputs(fresh(30))})
    own, noise = figure.series
    assert own.x == noise.x == (100, 400)
    assert own.y[1] > own.y[0] > noise.y[0] == noise.y[1] == 0
    assert own.low[1] <= own.y[1] <= own.high[1]
    assert figure.verdict == (
        f"In accepted drafts per forward, a store of the model's own answers gives more ({own.y[1]:.2f} against 0.00) "
        "than noise (at 400 tokens each). Drafted without the recycled source."
    )


def test_a_text_too_short_for_a_size_has_no_store_of_it_and_the_verdict_is_about_the_largest_one_that_both_have():
    figure = measured(phrased(30, seed=1), {"noise": outputs(fresh(5))})
    assert [series.x for series in figure.series] == [(100, 400), (100,)]
    assert figure.verdict.endswith("noise (at 100 tokens each). Drafted without the recycled source.")


def test_a_text_too_short_for_every_size_is_left_out():
    figure = measured(phrased(30, seed=1), {"noise": outputs(fresh(20)), "word": [(7,)]})
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


def test_what_cannot_be_compared_is_refused():
    past = phrased(30, seed=1)
    with pytest.raises(UserError, match="too little of other text: a store needs at least 100 tokens"):
        measured(past, {"noise": outputs(fresh(2))})
    with pytest.raises(UserError, match="too little of the model's own answers"):
        measured(past[:1], {"noise": outputs(fresh(20)), "more": outputs(fresh(20))})
    with pytest.raises(UserError, match="made of copies holds an answer to question 1"):
        measured(past, {"copies": outputs(phrased(10, seed=2))})
    with pytest.raises(UserError, match="at least 10 recorded answers"):
        measured(past, {}, answers=phrased(2))


def test_own_answers_to_a_held_out_question_are_left_out_and_told():
    past, held_out = phrased(30, seed=1), phrased(10, seed=2)
    asked_again = [replace(answer, prompt=held.prompt) for answer, held in zip(fresh(3), held_out, strict=False)]
    figure = measured([*past, *asked_again], {"noise": outputs(fresh(30))}, sizes=(100, 2000))
    assert figure.settings["related_left_out"] == 3
    assert figure.settings["texts"][OWN] == "1200 tokens"
    with pytest.raises(UserError, match="10 of the own answers are related to one held out"):
        measured(held_out, {"noise": outputs(fresh(30))})


def test_the_questions_are_a_text_of_their_own():
    asked = [replace(answer, prompt=(999, *range(5000 + 10 * n, 5010 + 10 * n))) for n, answer in enumerate(fresh(20))]
    figure = measured(asked, {}, sizes=(100, 1000))
    assert [series.name for series in figure.series] == [OWN, QUESTIONS]
    assert figure.settings["texts"][QUESTIONS] == "200 tokens"


def test_a_store_of_own_answers_remembers_what_was_held_likely_in_as_many_of_them_as_it_holds():
    held_out = recorded_with_top(fresh(40)[-10:])
    own = [*recorded_with_top(fresh(20)), *(hinting(answer, 5000 + 100 * n) for n, answer in enumerate(held_out))]
    figure = measured(own, {"noise": outputs(fresh(20))}, sizes=(600, 1150), answers=held_out, settings=DEFAULT)
    by_name = {series.name: series for series in figure.series}
    assert by_name[OWN].y[0] == 0 < by_name[OWN].y[1]  # the hints come after 600 tokens
    assert figure.settings["recycled"] == "as in the product"
    assert "without" not in figure.title
    assert figure.verdict.endswith(
        "That store also remembers what the model held likely there, which other text cannot tell."
    )
