"""Contexts of several lengths: what is asked, what is paired, what is refused."""

import itertools

import pytest

from sssd_demo.errors import UserError
from sssd_demo.experiments.context import WARM_UP, Budget, run
from tests.experiments.fakes import ExperimentService, as_service

TEXTS = ["a" * 60, "b" * 60, "c" * 60]
SMALL = Budget((40, 100), 20, 2)


def measured(service, budget=SMALL, store=None, texts=TEXTS, **more):
    clock = itertools.count().__next__  # every look is a second later
    return run(
        as_service(service), texts, store=store, budget=budget, s_q=8, tell=lambda line: None, clock=clock, **more
    )


def test_speed_ups_are_of_pairs_and_every_length_has_its_drafting_time():
    service = ExperimentService()
    speedups, drafting = measured(service)
    [ratios] = speedups.series
    assert ratios.x == (40, 100)
    assert ratios.y == pytest.approx((1.9, 1.9))  # 19 tokens in 19 forwards, or in 10
    assert ratios.low == ratios.high == ratios.y
    assert speedups.verdict.startswith("Against plain decoding, sssd was 1.90 times as fast at 40 tokens and 1.90")
    [rounds] = drafting.series
    assert rounds.y == (1.0, 1.0)
    assert drafting.settings["learning_the_prompt_ms"] == {"40": 1000, "100": 1000}


def test_another_method_is_measured_by_its_name_and_nothing_is_said_of_sssds_learning():
    speedups, drafting = measured(ExperimentService(), method="prompt-lookup")
    assert "prompt-lookup was" in speedups.verdict
    assert "taking in the prompt" not in drafting.verdict
    assert "learning_the_prompt_ms" not in drafting.settings


def test_prompts_have_the_lengths_and_begin_elsewhere_in_each_repeat():
    service = ExperimentService()
    measured(service)
    asked = [(prompt, settings.method) for prompt, settings, raw in service.asked if raw and WARM_UP not in prompt]
    assert [len(prompt) for prompt, _ in asked] == [40, 40, 100, 100] * 2
    assert [prompt[0] for prompt, _ in asked] == ["a"] * 4 + ["b"] * 4
    methods = [method for _, method in asked]
    assert methods[0::2] == ["autoregressive", "sssd", "sssd", "autoregressive"]  # who goes first alternates
    assert all(first != second for first, second in zip(methods[0::2], methods[1::2], strict=True))


def test_the_longest_context_leaves_room_for_the_answer():
    [ratios] = measured(ExperimentService(), Budget((40, 8192), 20, 1))[0].series
    assert ratios.x == (40, 200 - 20 - 64)


def test_a_store_that_knows_a_text_or_an_answer_is_refused():
    knows_the_text = ExperimentService([b"ab" + b"b" * 13])
    with pytest.raises(UserError, match=r"mine holds 13 tokens in a row of question 1 \(a context of 100 tokens\)"):
        measured(knows_the_text, store="mine")
    knows_the_answer = ExperimentService([b"the answer of twenty tokens, and more"])
    knows_the_answer.answers = {"autoregressive": b"the answer of twenty", "sssd": b"the answer of twenty"}
    with pytest.raises(UserError, match=r"mine holds an answer to question 1 \(a context of 40 tokens\)"):
        measured(knows_the_answer, store="mine")
    measured(ExperimentService([b"something else altogether"]), store="mine")


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(UserError, match="no datastore 'gone'"):
        measured(ExperimentService(), store="gone")
    with pytest.raises(UserError, match="The text has 60 tokens, which is too short for a context of 100"):
        measured(ExperimentService(), texts=TEXTS[:1])
    with pytest.raises(UserError, match="No answer at a context of 40 tokens was long enough"):
        measured(ExperimentService(), Budget((40,), 1, 1))
