"""The Saguaro tab's run and handlers without a page: order, refusals, stopping, what is kept between runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import gradio as gr
import pytest

from sssd_demo import trace_file
from sssd_demo.compare.in_turn import InTurn
from sssd_demo.errors import UserError
from sssd_demo.ui import saguaro_file
from sssd_demo.ui.saguaro_alone import AloneKept
from sssd_demo.ui.saguaro_events import SaguaroEvents
from sssd_demo.ui.saguaro_run import SWEPT, SaguaroRun
from sssd_demo.ui.saguaro_settings import asked_from
from sssd_demo.ui.service_host import ServiceHost
from tests.toy_saguaro import FIRST, HIT, Made, saguaro_trace
from tests.ui.fakes import opens, wait_until
from tests.ui.saguaro_fakes import SaguaroService

VIEW, FIGURES, THEORY, SWEPT_VIEW, NOTICE, RUN, SWEEP, STOP, SAVE = range(9)
QUESTION = "Where is the cat?"
CONTROLS: tuple[Any, ...] = (
    QUESTION,
    "saguaro",
    "auto",
    "geometric",
    "auto",
    32,
    0.0,
    0,
    "off",
    1.0,
    "auto",
    False,
    3,
    "",
)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSSD_DEMO_DATA", str(tmp_path / "data"))


@pytest.fixture
def service() -> SaguaroService:
    return SaguaroService()


@pytest.fixture
def host(service: SaguaroService) -> Iterator[ServiceHost]:
    made = ServiceHost(opens(cast(Any, service)), "fake")
    made.start()
    wait_until(lambda: made.service is not None)
    yield made
    made.close()


@pytest.fixture
def events(host: ServiceHost, tmp_path: Path) -> SaguaroEvents:
    return SaguaroEvents(host, InTurn(2), recorded=tmp_path / "none.json")


def request(page: str = "a") -> Any:
    return SimpleNamespace(session_hash=page)


def run_of(service: SaguaroService, **changes: Any) -> SaguaroRun:
    asked = asked_from([], QUESTION, max_tokens=32, **changes)
    return SaguaroRun(cast(Any, service), asked, AloneKept())


def finished(events: SaguaroEvents, page: str = "a", *controls: Any) -> list[Any]:
    began = events.run(request(page), *(controls or CONTROLS))
    assert began[NOTICE] == ""
    for _ in events.follow(request(page)):
        pass
    return events.end(request(page))


# ---- one run


def test_both_methods_answer_after_a_warm_up_and_forwards_are_timed_alone_in_between(service: SaguaroService):
    run = run_of(service)
    run.run()
    assert [settings.method for settings in service.settings] == ["speculative", "saguaro", "speculative", "saguaro"]
    state = run.state()
    assert state.phase == "ended"
    assert state.found.ahead is not None
    assert state.found.alone is not None
    assert set(service.timed) == {"target", "draft"}
    assert state.found.clock("computed") is not None
    assert state.share == 1.0


def test_times_measured_alone_are_kept_for_the_next_run_and_the_next_program(service: SaguaroService):
    run_of(service).run()
    service.timed.clear()
    run_of(service).run()
    assert service.timed == []


def test_what_the_controls_say_reaches_the_service(service: SaguaroService):
    asked = asked_from(
        ["base"], QUESTION, "saguaro-sssd", "3", "uniform", "12", 40, 0.5, 7, "c", 0.25, "partial", True, 0, "15"
    )
    assert (asked.in_turn.method, asked.in_turn.k, asked.in_turn.seed) == ("speculative", 3, 7)
    assert asked.in_turn.datastore is None
    options = asked.ahead.saguaro
    assert (asked.ahead.method, asked.ahead.k, asked.ahead.datastore) == ("saguaro-sssd", 3, "base")
    assert (options.fan_out, options.budget, options.bend, options.c) == ("uniform", 12, "c", 0.25)
    assert (options.fallback, options.nearest, options.roll_back_after, options.late_ms) == ("partial", True, 0, 15.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"question": "  "}, "write a question"),
        ({"method": "sssd"}, "no method sssd here"),
        ({"k": "99"}, "draft length K must be 1 to 16"),
        ({"k": "many"}, "must be a whole number"),
        ({"budget": "1000"}, "budget must be 1 to 64"),
        ({"fan_out": "odd"}, "no fan-out policy called 'odd'"),
        ({"c": 1.5}, "constant C"),
        ({"bend": "twist"}, "no Saguaro sampling called"),
        ({"fallback": "pray"}, "no fallback policy called"),
        ({"roll_back": -1}, "rolling back must be 0"),
        ({"roll_back": None}, "must be a whole number"),
        ({"late": "soon"}, "must be a number"),
        ({"late": "-3"}, "must be 0 to"),
        ({"max_tokens": 10_000}, "at most 256 tokens"),
        ({"temperature": 9}, "Temperature must lie"),
    ],
)
def test_what_is_out_of_range_is_refused_in_a_sentence(change: dict[str, Any], said: str):
    with pytest.raises(UserError, match=said):
        asked_from([], **{"question": QUESTION, **change})


def test_a_run_that_is_stopped_keeps_what_it_had(service: SaguaroService):
    service.pause = 0.02
    run = run_of(service)
    states = []

    def look() -> None:
        for state in run.watch(0.001):
            states.append(state)
            if state.found.ahead is not None and len(state.found.ahead.rounds) > 2:
                run.stop()

    watching = threading.Thread(target=look)
    watching.start()
    run.run()
    watching.join()
    assert run.state().phase == "stopped"
    assert run.state().found.in_turn is not None
    assert run.over


def test_a_run_that_was_stopped_while_it_waited_never_begins(service: SaguaroService):
    run = run_of(service)
    run.stop()
    assert run.over
    assert service.settings == []


def test_a_drafter_that_died_is_told(service: SaguaroService):
    service.made = (FIRST, HIT, Made(0, hit=False, why="no drafter", fallback="backup", rank=None))
    run = run_of(service)
    run.run()
    assert "The drafter died" in run.state().now


def test_answers_of_others_meanwhile_are_told(service: SaguaroService):
    service.engine.busy = 2
    asked = asked_from([], QUESTION)
    run = SaguaroRun(cast(Any, service), asked, AloneKept(), quiet_within=0.0)
    run.run()
    assert run.state().found.shared
    assert "Others were answered" in run.state().now


def test_what_the_service_refuses_in_mid_run_ends_it_with_its_sentence(service: SaguaroService, monkeypatch):
    def fail(*_args: Any) -> float:
        raise UserError("The engine is shutting down.")

    monkeypatch.setattr(service, "time_draft", fail)
    run = run_of(service)
    run.run()
    assert run.state().phase == "failed"
    assert "The engine is shutting down." in run.state().now


def test_a_fault_is_not_shown_to_visitors(service: SaguaroService, monkeypatch):
    monkeypatch.setattr(service, "time_draft", lambda *_args: 1 / 0)
    run = run_of(service)
    run.run()
    assert "internal error" in run.state().now


def test_a_sweep_asks_once_for_each_constant(service: SaguaroService):
    run = SaguaroRun(cast(Any, service), asked_from([], QUESTION, temperature=0.7), AloneKept(), sweep=True)
    run.run()
    swept = [s.saguaro for s in service.settings[1:]]
    assert [options.c for options in swept] == list(SWEPT)
    assert {options.bend for options in swept} == {"c"}
    assert [point.c for point in run.state().sweep] == list(SWEPT)


# ---- handlers


def test_a_whole_run_is_drawn_and_the_buttons_come_back(events: SaguaroEvents):
    drawn = finished(events)
    assert drawn[VIEW]["phase"] == "ended"
    assert len(drawn[VIEW]["clocks"]["computed"]["lanes"]) == 2
    assert drawn[FIGURES]["panels"]
    assert drawn[THEORY]["table"]["rows"]
    assert drawn[RUN]["interactive"]
    assert drawn[SAVE]["interactive"]
    assert not drawn[STOP]["interactive"]


def test_refusals_are_notices_and_nothing_is_lost(events: SaguaroEvents):
    finished(events)
    assert "write a question" in events.run(request(), " ", *CONTROLS[1:])[NOTICE]
    assert "temperature above 0" in events.sweep(request(), *CONTROLS)[NOTICE]
    assert events.look(request())[VIEW]["clocks"]["measured"]["lanes"]


def test_without_a_draft_model_the_tab_names_the_presets_that_have_one(events: SaguaroEvents, service: SaguaroService):
    service.draft = None
    assert "qwen2.5-coder" in events.run(request(), *CONTROLS)[NOTICE]
    assert "qwen2.5-coder" in events.look(request())[VIEW]["now"]


def test_before_the_model_is_there_it_says_so(tmp_path: Path, service: SaguaroService):
    loading = ServiceHost(opens(cast(Any, service)), "fake")
    early = SaguaroEvents(loading, InTurn(2), recorded=tmp_path / "none.json")
    assert "being loaded" in early.look(request())[VIEW]["now"]
    assert "being loaded" in early.run(request(), *CONTROLS)[NOTICE]


def test_a_second_run_of_a_page_waits_for_the_first(events: SaguaroEvents, service: SaguaroService):
    service.pause = 0.05
    events.run(request(), *CONTROLS)
    assert events.look(request()) == [gr.skip()] * 9  # its own follower draws it: a late look must not overwrite that
    assert "under way" in events.run(request(), *CONTROLS)[NOTICE]
    events.stop(request())
    for _ in events.follow(request()):
        pass


def test_others_wait_for_their_turn_and_too_many_are_refused(events: SaguaroEvents, service: SaguaroService):
    service.pause = 0.05
    events.run(request("a"), *CONTROLS)
    events.run(request("b"), *CONTROLS)
    assert "another visitor's measurement" in next(events.follow(request("b")))[VIEW]["now"]
    assert "try again" in events.run(request("c"), *CONTROLS)[NOTICE]
    for page in ("b", "a"):
        events.leave(request(page))


def test_a_sweep_leaves_the_run_on_show(events: SaguaroEvents):
    finished(events)
    warm = (*CONTROLS[:6], 0.7, *CONTROLS[7:])
    assert events.sweep(request(), *warm)[NOTICE] == ""
    for _ in events.follow(request()):
        pass
    drawn = events.end(request())
    assert drawn[SWEPT_VIEW]["table"]["rows"]
    assert drawn[VIEW]["clocks"]["measured"]["lanes"]
    assert finished(events)[SWEPT_VIEW]["table"]["rows"]  # and a run leaves the sweep


def test_a_run_is_saved_and_loaded_as_recorded(events: SaguaroEvents, tmp_path: Path):
    finished(events)
    content, said = events.save(request())
    assert said == ""
    path = tmp_path / "run.json"
    path.write_text(content, encoding="utf-8")
    drawn = events.load([str(path)], request("b"))
    assert drawn[VIEW]["recorded"].startswith("Recorded on")
    assert len(drawn[VIEW]["clocks"]["computed"]["lanes"]) == 2
    assert events.save(request("c"))[1] == "There is nothing to save yet."


def test_a_trace_of_this_machine_is_laid_out_by_the_times_known_here(events: SaguaroEvents, tmp_path: Path):
    trace_file.save(saguaro_trace((FIRST, HIT, HIT)), tmp_path / "t.json")
    lone = events.load([str(tmp_path / "t.json")], request("b"))
    assert lone[VIEW]["clocks"]["computed"]["lanes"] == []
    finished(events)
    trace_file.save(saguaro_trace((FIRST, HIT, HIT)), tmp_path / "t.json")
    assert len(events.load([str(tmp_path / "t.json")], request("b"))[VIEW]["clocks"]["computed"]["lanes"]) == 1


def test_a_file_that_is_none_of_ours_is_refused_and_deleted(events: SaguaroEvents, tmp_path: Path):
    path = tmp_path / "odd.json"
    path.write_text("{}", encoding="utf-8")
    assert "not a trace" in events.load([str(path)], request())[NOTICE]
    assert not path.exists()


def test_a_page_that_left_stops_its_run(events: SaguaroEvents, service: SaguaroService):
    service.pause = 0.05
    events.run(request(), *CONTROLS)
    wait_until(lambda: bool(service.answers))
    events.leave(request())
    wait_until(lambda: service.answers[-1].trace.finish_reason == "cancelled")


def test_a_recorded_run_is_on_show_until_there_is_one_of_the_visitors_own(
    host: ServiceHost, service: SaguaroService, tmp_path: Path
):
    run = run_of(service)
    run.run()
    path = tmp_path / "recorded.json"
    path.write_text(saguaro_file.pack(run.state().found), encoding="utf-8")
    events = SaguaroEvents(host, InTurn(2), recorded=path)
    service.draft = None
    drawn = events.look(request())
    assert drawn[VIEW]["recorded"].startswith("Recorded on")
    assert "has no draft model" in drawn[VIEW]["now"]
    assert drawn[FIGURES]["panels"]
    assert not drawn[SAVE]["interactive"]
