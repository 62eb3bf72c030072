"""The Roofline tab's handlers without a page: refusals, what they draw, who may stop what."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import gradio as gr
import pytest

from sssd_demo.errors import UserError
from sssd_demo.service import Answer
from sssd_demo.ui import roofline_events
from sssd_demo.ui.roofline_events import RooflineEvents
from sssd_demo.ui.roofline_plan import HERE, Wanted
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Sessions
from tests.ui.fakes import make_trace, opens, wait_until
from tests.ui.roofline_fakes import RooflineService

MACHINE, PLAN, RUN, DEVICES, METHODS = range(5)
CONTROLS = (8, "128", HERE, "this", "as here")


def request(page: str = "a") -> Any:
    return SimpleNamespace(session_hash=page)


@pytest.fixture
def service() -> RooflineService:
    return RooflineService()


@pytest.fixture
def loading(service: RooflineService) -> ServiceHost:
    return ServiceHost(opens(service), "fake")


@pytest.fixture
def host(loading: ServiceHost) -> ServiceHost:
    loading.start()
    wait_until(lambda: loading.service is not None)
    return loading


def events_of(host: ServiceHost) -> RooflineEvents:
    return RooflineEvents(host, sessions())


def sessions() -> Sessions:
    return Sessions(forget=lambda conversation: None, drop_store=lambda page: None)


def test_before_the_model_is_there_everything_says_so(loading: ServiceHost):
    events = events_of(loading)
    drawn = events.look(request(), *CONTROLS)
    assert "being loaded" in drawn[MACHINE]["now"]
    assert "being loaded" in drawn[RUN]["said"]
    assert "not ready yet" in events.run(8, ["sssd"], request())[0]
    assert "not ready yet" in events.sweep(["sssd"], request())[0]
    assert "not ready yet" in events.measure(request())[0]


def test_a_model_that_could_not_be_had_is_told_by_its_reason():
    def fail(model, progress):
        raise UserError("There is no model fake.")

    host = ServiceHost(fail, "fake")
    host.start()
    wait_until(lambda: host.loading.state == "failed")
    assert events_of(host).measure(request())[0] == "There is no model fake."


def test_once_it_is_there_the_tab_is_filled_and_methods_are_offered(host: ServiceHost):
    drawn = events_of(host).look(request(), *CONTROLS)
    assert drawn[MACHINE]["facts"]
    assert "At 8 sequences" in drawn[PLAN]["said"]
    assert drawn[DEVICES]["table"]["rows"]
    assert drawn[METHODS]["choices"] == ["sssd", "lookahead", "speculative"]


def test_moving_the_slider_plans_again_and_names_the_button(host: ServiceHost):
    plan, devices, label = events_of(host).replan(3, *CONTROLS[1:])
    assert "At 3 sequences" in plan["said"]
    assert "3 sequences" in devices["said"]
    assert label["value"] == "Run b = 3"


@pytest.mark.parametrize("batch", ["many", None, -4, 10**9, float("inf"), float("nan"), [1]])
def test_nonsense_from_a_program_is_no_fault(host: ServiceHost, batch: Any):
    plan, _devices, label = events_of(host).replan(batch, {"x": 1}, 5, None, [])
    assert plan["charts"]
    assert label["value"].startswith("Run b = ")


def test_a_run_is_followed_to_its_end_and_shown_to_others(host: ServiceHost):
    events = events_of(host)
    begun = events.run(2, ["sssd"], request())
    assert begun[0] == ""
    assert not begun[2]["interactive"]
    assert begun[4]["interactive"]
    *_, last = events.follow_run(request(), 2, *CONTROLS[1:])
    assert "At 2 sequences this machine writes" in last[0]["said"]
    assert "was measured here" in " ".join(last[1]["notes"])
    assert last[3]["interactive"]
    assert not last[5]["interactive"]
    assert list(events.follow_run(request("b"), *CONTROLS)) == []
    assert "At 2 sequences this machine writes" in events.look(request(), *CONTROLS)[RUN]["said"]


def test_more_sequences_than_there_is_room_for_are_refused_by_number(host: ServiceHost):
    events = events_of(host)
    assert "at most 16 sequences at once, so 17 cannot be run" in events.run(17, ["sssd"], request())[0]
    assert "no method called 'magic'" in events.run(2, ["magic"], request())[0]
    assert "no method called 5" in events.run(2, [5], request())[0]


def test_without_methods_plain_decoding_is_run_alone(host: ServiceHost, service: RooflineService):
    events = events_of(host)
    events.run(2, None, request())
    list(events.follow_run(request(), *CONTROLS))
    assert {settings.method for settings in service.settings} == {"autoregressive"}


def test_a_sweep_stays_within_what_the_machine_decodes_at_once(service: RooflineService, host: ServiceHost):
    service.engine.capacity = 4
    events = events_of(host)
    events.sweep(["sssd"], request())
    *_, last = events.follow_run(request(), *CONTROLS)
    assert {row[0] for row in last[0]["table"]["rows"]} == {"1", "2", "4"}


def test_missing_prompts_are_a_sentence(host: ServiceHost, monkeypatch: pytest.MonkeyPatch):
    def missing() -> list[str]:
        raise UserError("Cannot read the question file x.")

    monkeypatch.setattr(roofline_events, "batch_prompts", missing)
    assert "Cannot read" in events_of(host).run(2, ["sssd"], request())[0]


def test_a_second_measurement_waits_and_only_its_own_page_stops_one(host: ServiceHost, service: RooflineService):
    service.delay = 0.01
    events = events_of(host)
    events.run(4, ["sssd"], request("a"))
    refused = events.run(2, ["sssd"], request("b"))
    assert "Another measurement" in refused[0]
    assert "Another measurement" in events.measure(request("b"))[0]
    assert "Another visitor" in events.look(request("b"), *CONTROLS)[RUN]["now"]
    # Its own follower draws it: a late look must not overwrite the end.
    assert events.look(request("a"), *CONTROLS)[RUN] == gr.skip()
    events.stop(request("b"))
    followed = events.follow_run(request("a"), *CONTROLS)
    next(followed)
    events.leave(request("a"))
    *_, last = followed
    assert "Stopped" in last[0]["now"]
    assert last[3]["interactive"]


def test_live_follows_the_visitors_and_moves_the_slider(host: ServiceHost, service: RooflineService):
    pages = sessions()
    events = RooflineEvents(host, pages)
    idle = events.live(*CONTROLS)
    assert "nobody is being answered" in idle[0]["now"]
    assert idle[2]["value"] == 8
    service.engine.busy = 3
    trace = make_trace("Write it three times.", "The cat sat on the mat. " * 3)
    pages.get("x").running = cast(Answer, SimpleNamespace(trace=trace))
    drawn = events.live(*CONTROLS)
    assert "3 sequences being answered now" in drawn[0]["now"]
    assert drawn[2]["value"] == 1  # so many shared the last forward
    assert drawn[3]["value"] == "Run b = 1"
    assert "cat" not in str(drawn)
    context = len(trace.prompt) + len(trace.token_ids())
    assert drawn[0]["charts"] == events.replan(1, context, *CONTROLS[2:])[0]["charts"]
    assert drawn[0]["charts"] != events.replan(1, *CONTROLS[1:])[0]["charts"]


def test_nobody_without_a_page_can_begin_anything(host: ServiceHost):
    import gradio as gr

    with pytest.raises(gr.Error, match="does not say which page"):
        events_of(host).run(2, ["sssd"], request(""))


def test_what_is_wanted_by_default_is_what_the_controls_show():
    assert Wanted() == Wanted(int(CONTROLS[0]), int(CONTROLS[1]), *CONTROLS[2:])
