"""A run without a page: what it asks, how it pauses, stops and fails."""

from __future__ import annotations

import pytest

from sssd_demo.errors import UserError
from sssd_demo.sssd.merging import Limits
from sssd_demo.ui import growth_runs
from sssd_demo.ui.growth_run import GrowthRun
from sssd_demo.ui.growth_runs import GrowthRuns, prompts
from sssd_demo.ui.growth_value import growth_value
from tests.ui.fakes import wait_until
from tests.ui.store_fakes import StoreService

QUESTIONS = ("one", "two", "three", "four", "five", "six")


@pytest.fixture
def service() -> StoreService:
    return StoreService(lambda question: f"the cat sat on the mat and the {question} sat on the cat", delay=0.0)


def begin(service: StoreService, questions=QUESTIONS, limits: Limits | None = None, id: str = "run") -> GrowthRun:
    limits = limits or Limits(max_tokens=60, max_sub_indices=1)
    return GrowthRun(service, questions, id=id, limits=limits, max_new_tokens=64)  # type: ignore[arg-type]


def test_every_answer_is_in_the_store_before_the_next_question_is_asked(service: StoreService):
    run = begin(service, limits=Limits(max_tokens=1000))
    run.join(20)
    state = run.state()
    assert state.phase == "ended"
    assert [asked[0][-1]["content"] for asked in service.asked] == list(QUESTIONS)
    assert state.store.documents == len(QUESTIONS)
    assert state.added == state.store.tokens
    sizes = [conversation.added for conversation in state.conversations]
    assert sizes[0] == 0
    assert sizes == sorted(set(sizes))
    assert state.conversations[-1].store_only.tokens > state.conversations[-1].store_only.forwards


def test_a_small_store_drops_its_oldest_part_and_the_view_says_so(service: StoreService):
    run = begin(service, QUESTIONS * 4)
    run.join(20)
    state = run.state()
    assert state.store.dropped > 0
    value = growth_value(state, planned=state.planned, longest=64)
    assert any("dropped the oldest" in event for event in value["map"]["events"])
    assert value["curve"]["forgot"]
    assert "Finished" in value["now"]


def test_a_run_holds_after_the_answer_being_written_and_goes_on(service: StoreService):
    service.delay = 0.01
    run = begin(service)
    run.pause()
    wait_until(lambda: run.state().phase == "paused")
    done = len(run.state().conversations)
    assert done == 1
    assert [state.phase for state in run.watch(0.01)] == ["paused"]
    run.resume()
    run.join(20)
    assert len(run.state().conversations) == len(QUESTIONS)


def test_who_watches_again_takes_over_from_the_one_before(service: StoreService):
    service.delay = 0.05
    run = begin(service)
    first = run.watch(0.01)
    next(first)
    second = run.watch(0.01)
    next(second)
    assert list(first) == []
    run.stop()
    assert list(second) == []


def test_stop_ends_the_answer_at_once_and_forgets_the_store(service: StoreService):
    service.delay = 0.05
    run = begin(service)
    wait_until(lambda: bool(service.answers))
    run.stop()
    run.join(20)
    assert service.answers[-1].trace.finish_reason == "cancelled"
    assert service.dropped_sessions == ["run"]
    assert run.state().conversations == ()


def test_a_finished_run_can_be_looked_into_until_it_is_stopped(service: StoreService):
    run = begin(service)
    run.join(20)
    assert run.sub_indices
    assert service.dropped_sessions == []
    run.stop()
    assert service.dropped_sessions == ["run"]


def test_a_refusal_ends_the_run_with_its_sentence_and_a_fault_without_its_cause(service: StoreService, monkeypatch):
    def refuse(*_args, **_named):
        raise UserError("The engine is closed.")

    def fail(*_args, **_named):
        raise RuntimeError("/secret/path")

    for broken, said in ((refuse, "The engine is closed."), (fail, "Something went wrong")):
        monkeypatch.setattr(service, "ask", broken)
        run = begin(service)
        run.join(20)
        assert run.state().phase == "failed"
        assert said in run.state().reason
        assert "/secret" not in growth_value(run.state(), planned=6, longest=64)["now"]


def test_an_answer_that_the_engine_cancelled_ends_the_run(service: StoreService):
    service.delay = 0.02
    run = begin(service)
    wait_until(lambda: bool(service.answers))
    service.answers[-1].cancel()
    run.join(20)
    assert run.state().phase == "failed"
    assert "model was changed" in run.state().reason


def test_waiting_for_a_free_place_is_said(service: StoreService):
    service.delay = 0.5
    service.engine.busy = service.engine.capacity
    run = begin(service)
    wait_until(lambda: run.state().waiting)
    assert "waits for a free place" in growth_value(run.state(), planned=6, longest=64)["now"]
    run.stop()


def test_a_visitor_has_one_run_and_a_server_a_few(service: StoreService):
    service.delay = 0.05
    runs = GrowthRuns(most_running=2)
    first = runs.play("a", lambda: begin(service, id="a"))
    assert runs.play("a", lambda: begin(service, id="never")) is first
    runs.play("b", lambda: begin(service, id="b"))
    with pytest.raises(UserError, match="growing now .2."):
        runs.play("c", lambda: begin(service, id="c"))
    runs.drop("a")
    assert runs.get("a") is None
    runs.play("c", lambda: begin(service, id="c"))
    for page in "bc":
        runs.drop(page)


def test_a_new_run_takes_the_place_of_a_finished_one_and_its_store_is_forgotten(service: StoreService):
    runs = GrowthRuns()
    runs.play("a", lambda: begin(service, ["one"], id="first")).join(20)
    with pytest.raises(UserError, match="gone"):
        runs.play("a", refused)
    assert service.dropped_sessions == []  # what is on show can still be looked into
    second = runs.play("a", lambda: begin(service, ["two"], id="second"))
    second.join(20)
    assert service.dropped_sessions == ["first"]
    assert runs.get("a") is second
    runs.drop("a")
    assert not service.session_stores


def refused() -> GrowthRun:
    raise UserError("The prompts are gone.")


def test_prompts_are_asked_once_each_from_the_first_file_that_is_there(tmp_path):
    there = tmp_path / "prompts.jsonl"
    lines = [
        '{"question_id": 1, "category": "a", "turns": ["x"]}',
        '{"question_id": 2, "category": "a", "turns": ["x"]}',
    ]
    there.write_text("\n".join(lines))
    assert prompts((tmp_path / "missing.jsonl", there)) == ["x"]
    with pytest.raises(UserError, match="missing"):
        prompts((tmp_path / "missing.jsonl",))


def test_there_are_prompts_in_this_repository():
    assert 5 < len(prompts()) <= growth_runs.MOST_CONVERSATIONS
