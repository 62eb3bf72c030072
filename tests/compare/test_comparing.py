"""A comparison while it runs, on a scripted service: who is asked, what is kept, how it stops and fails."""

from __future__ import annotations

import gc
import threading
import weakref
from dataclasses import replace
from typing import cast

import pytest

from sssd_demo.bench.runner import WARM_UP
from sssd_demo.compare.comparing import Comparing, check
from sssd_demo.compare.plan import Lane, Step
from sssd_demo.errors import UserError
from sssd_demo.service import Service
from tests.compare.fakes import CompareService, compared, comparing, plan, question
from tests.ui import fakes
from tests.ui.fakes import make_rounds, wait_until

TWO = (Lane("sssd"), Lane("prompt-lookup"))


def test_lanes_answer_one_after_another_in_rotating_order_after_a_warm_up_of_each():
    service = CompareService()
    compared(service, plan("a cat", lanes=TWO, repeats=2))
    warm_up = WARM_UP[-1]["content"]
    assert service.asked_methods(warm_up) == ["autoregressive", "sssd", "prompt-lookup"]
    assert [messages for messages, *_ in service.asked[:3]] == [WARM_UP] * 3
    assert service.asked_methods("a cat") == [
        *("autoregressive", "sssd", "prompt-lookup"),
        *("sssd", "prompt-lookup", "autoregressive"),
    ]


def test_no_two_answers_are_ever_asked_for_at_once():
    class Watching(CompareService):
        def ask(self, *args, **named):
            assert all(answer.closed.is_set() for answer in self.answers)
            return super().ask(*args, **named)

    service = Watching()
    compared(service, plan("a", "b", lanes=TWO))
    assert len(service.asked) == 9


def test_nothing_that_a_lane_writes_reaches_a_store_or_a_conversation():
    service = CompareService(base_text="quite another text")
    base = service.base
    before = (base.tokens, base.documents)
    compared(service, plan("a cat", repeats=2, datastore="base"))
    assert all(conversation is None and not settings.share for _, settings, conversation in service.asked)
    assert service.session_stores == {}
    assert service.shared.state().tokens == 0
    assert (base.tokens, base.documents) == before
    assert service.base is base


def test_traces_of_all_lanes_are_kept_with_their_place():
    comparison = compared(planned=plan("a", "b", lanes=TWO, repeats=2))
    assert len(comparison.runs) == 12
    assert {run.step for run in comparison.runs} == set(comparison.plan.steps())
    for run in comparison.runs:
        assert run.trace.method == comparison.plan.lanes[run.step.lane].method
        assert run.trace.messages[-1]["content"] == "ab"[run.step.question]
    assert comparison.run(Step(1, 1, 2)) is not None
    assert comparison.pairs == [(0, 0), (1, 0), (0, 1), (1, 1)]


def test_the_yardsticks_answers_refresh_the_measured_baseline():
    service = CompareService()
    compared(service, plan(repeats=2))
    assert service.noted == ["autoregressive"] * 2


def test_answers_that_ran_beside_others_are_labelled():
    service = CompareService()
    assert compared(service, plan()).shared == 0
    service.engine.busy = 2
    assert compared(service, plan()).shared == 2


def test_a_round_shared_with_others_labels_the_answer_too(monkeypatch: pytest.MonkeyPatch):
    def with_company(*args):
        for round_ in make_rounds(*args):
            yield replace(round_, batch_size=2 if round_.index == 1 else 1)

    monkeypatch.setattr(fakes, "make_rounds", with_company)
    assert compared(planned=plan()).shared == 2


def test_it_waits_a_while_for_others_to_end_and_then_runs_beside_them():
    service = CompareService()
    service.engine.busy = 1
    running = comparing(service, plan(), quiet_within=30.0)
    thread = threading.Thread(target=running.run)
    thread.start()
    wait_until(lambda: running.progress().phase == "waiting")
    service.engine.busy = 0
    thread.join(20)
    assert running.progress().comparison.shared == 0
    service.engine.busy = 1
    impatient = comparing(service, plan(), quiet_within=0.15)
    impatient.run()
    assert impatient.progress().phase == "ended"
    assert impatient.progress().comparison.shared == 2


def test_stop_ends_it_and_keeps_what_was_finished():
    service = CompareService(delay=0.02)
    running = comparing(service, plan("a cat", lanes=TWO))
    thread = threading.Thread(target=running.run)
    thread.start()
    wait_until(lambda: len(running.progress().comparison.runs) == 1)
    running.stop()
    thread.join(20)
    progress = running.progress()
    assert progress.phase == "stopped"
    assert [run.step.lane for run in progress.comparison.runs] == [0]
    assert all(answer.closed.is_set() for answer in service.answers)


def test_one_that_waits_for_its_turn_can_be_stopped_and_never_asks():
    service = CompareService()
    running = comparing(service, plan())
    running.stop()
    assert running.progress().phase == "stopped"
    running.run()
    assert service.asked == []


def test_the_answer_being_written_can_be_watched_round_by_round():
    service = CompareService(delay=0.01)
    running = comparing(service, plan())
    thread = threading.Thread(target=running.run)
    thread.start()
    seen = list(running.watch(0.02))
    thread.join(20)
    lengths = [len(progress.trace.rounds) for progress in seen if progress.trace]
    assert len(set(lengths)) > 3
    assert seen[-1].phase == "ended"
    assert seen[-1].trace is None


def test_what_was_measured_does_not_keep_the_model_in_memory():
    service = CompareService()
    kept = weakref.ref(service)
    running = comparing(service, plan())
    running.run()
    del service
    gc.collect()
    assert running.progress().comparison.runs
    assert kept() is None


def test_a_question_that_a_lane_refuses_is_left_out_for_all_of_them():
    comparison = compared(planned=plan("a cat", "x" * 5000, lanes=TWO), service=Refusing())
    assert {run.step.question for run in comparison.runs} == {0}
    assert list(comparison.skipped) == [1]
    assert "5,000 tokens" in comparison.skipped[1]


def test_the_only_question_refused_ends_it_with_the_services_sentence():
    running = comparing(Refusing(), plan("x" * 5000))
    running.run()
    assert running.progress().phase == "failed"
    assert "5,000 tokens" in running.progress().reason


def test_a_closed_engine_and_a_fault_end_it_in_a_sentence_without_the_cause(monkeypatch: pytest.MonkeyPatch):
    service = CompareService(delay=0.02)
    running = comparing(service, plan())
    thread = threading.Thread(target=running.run)
    thread.start()
    wait_until(lambda: running.progress().trace is not None)
    service.close()
    thread.join(20)
    assert "changed or closed" in running.progress().reason

    def fail(*_args, **_named):
        raise RuntimeError("/secret/path")

    broken = comparing(service, plan())
    monkeypatch.setattr(service, "ask", fail)
    broken.run()
    assert broken.progress().phase == "failed"
    assert "/secret" not in broken.progress().reason


def test_a_store_that_holds_the_answer_is_noted_and_one_that_holds_the_question_is_refused():
    text = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
    known = CompareService(lambda question: text, base_text=text)
    assert compared(known, plan("a cat", datastore="base")).known == {0}
    assert compared(CompareService(base_text=text), plan("a cat", datastore="base")).known == frozenset()
    with pytest.raises(UserError, match="13 tokens in a row of this question"):
        check(cast(Service, known), plan(text, datastore="base"))
    with pytest.raises(UserError, match="in a row of question q2"):
        check(cast(Service, known), replace(plan(datastore="base"), questions=(question("a"), question(text, "q2"))))


def test_what_the_service_would_refuse_is_refused_before_anything_runs():
    service = Refusing()
    with pytest.raises(UserError, match="5,000 tokens"):
        check(cast(Service, service), plan("x" * 5000))
    with pytest.raises(UserError, match="no datastore 'nowhere'"):
        Comparing(cast(Service, service), plan(datastore="nowhere"))


class Refusing(CompareService):
    def ask(self, messages, settings, **named):
        if len(messages[-1]["content"]) > 4000:
            raise UserError("The prompt has 5,000 tokens, but this model reads at most 2,048.")
        return super().ask(messages, settings, **named)
