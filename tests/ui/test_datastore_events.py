"""The Datastore tab's handlers without a page: refusals, and what they leave on screen."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from sssd_demo.errors import UserError
from sssd_demo.ui import growth_events
from sssd_demo.ui.datastore_access import StoreAccess
from sssd_demo.ui.datastore_fill_events import FillEvents
from sssd_demo.ui.datastore_layout import MINE, RUN, store_choices
from sssd_demo.ui.datastore_lookup_events import LookupEvents
from sssd_demo.ui.growth_events import GrowthEvents
from sssd_demo.ui.growth_runs import GrowthRuns
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Sessions
from tests.ui.fakes import opens, wait_until
from tests.ui.store_fakes import StoreService

GROWTH, NOTICE, PLAY, PAUSE = 0, 1, 2, 3


def request(page: str) -> Any:
    return SimpleNamespace(session_hash=page)


@pytest.fixture
def service() -> StoreService:
    return StoreService(delay=0.05, base_text="the cat sat on the mat")


@pytest.fixture
def loading(service: StoreService) -> ServiceHost:
    """A host whose model is not there yet."""
    return ServiceHost(opens(service), "fake")


@pytest.fixture
def host(loading: ServiceHost) -> ServiceHost:
    loading.start()
    wait_until(lambda: loading.service is not None)
    return loading


def lookup(host: ServiceHost) -> LookupEvents:
    sessions = Sessions(forget=lambda conversation: None, drop_store=lambda page: None)
    return LookupEvents(StoreAccess(host), GrowthRuns(), sessions)


def test_before_the_model_is_there_everything_says_so(loading: ServiceHost, tmp_path: Path):
    access, upload = StoreAccess(loading), tmp_path / "a.txt"
    upload.write_text("words")
    assert "not ready yet" in GrowthEvents(access, GrowthRuns()).play("small", request("a"))[NOTICE]
    assert "not ready yet" in lookup(loading).look_up("cat", "base", request("a"))["said"]
    assert "not ready yet" in FillEvents(access).files([str(upload)], request("a"))[0]
    assert not upload.exists()
    assert access.own_map("a")["segments"] == []


def test_a_model_that_could_not_be_had_is_told_by_its_reason():
    def fail(model, progress):
        raise UserError("There is no model fake.")

    host = ServiceHost(fail, "fake")
    host.start()
    wait_until(lambda: host.loading.state == "failed")
    assert lookup(host).look_up("cat", "base", request("a"))["said"] == "There is no model fake."


def test_a_store_that_is_not_there_is_refused_by_name(host: ServiceHost):
    said = lookup(host).look_up("cat", "nonsense", request("a"))["said"]
    assert said == "There is no datastore 'nonsense'; the known ones are: base."


def test_what_is_no_text_is_refused_in_a_sentence(host: ServiceHost):
    odd: list[tuple[Any, Any]] = [(5, "base"), ("cat", {"name": "base"}), (["cat"], "base"), ("cat", 7), (True, None)]
    for text, store in odd:
        assert "must be texts" in lookup(host).look_up(text, store, request("a"))["said"]
        assert "must be texts" in lookup(host).given(text, store, request("a"))[1]["said"]


@pytest.mark.parametrize("page", [None, ""])
def test_a_request_without_a_page_has_no_store_at_all(host: ServiceHost, service: StoreService, page):
    """Programs that send none would all have the same one."""
    access, runs = StoreAccess(host), GrowthRuns()
    fill, growth = FillEvents(access), GrowthEvents(access, runs)
    for call in (
        lambda: lookup(host).look_up("cat", MINE, request(page)),
        lambda: fill.text("a secret", request(page)),
        lambda: growth.play("small", request(page)),
        lambda: fill.clear(request(page)),
    ):
        with pytest.raises(gr.Error, match="does not say which page"):
            call()
    assert service.session_stores == {}


def test_the_own_store_is_that_of_the_page_that_asks(host: ServiceHost, service: StoreService):
    service.session_store("a").append(service.words.encode("a purple cat"))
    assert service.session_store("a").wait(5)
    events = lookup(host)
    assert "occurs once" in events.look_up(" cat", MINE, request("a"))["said"]
    assert "empty" in events.look_up(" cat", MINE, request("b"))["said"]
    assert "press Play" in events.look_up(" cat", RUN, request("a"))["said"]


def test_no_name_of_a_store_can_be_taken_for_a_private_one(host: ServiceHost):
    choices = dict(store_choices(["base", "mine"], shared=True)).values()
    assert len(set(choices)) == len(choices)
    assert [choice for choice in choices if not choice.startswith("/")] == ["base", "mine"]


def test_starting_over_when_too_many_others_run_leaves_an_empty_picture_and_play(host: ServiceHost, monkeypatch):
    monkeypatch.setattr(growth_events, "prompts", lambda: ["one", "two"] * 50)
    runs = GrowthRuns(most_running=1)
    events = GrowthEvents(StoreAccess(host), runs)
    assert events.play("small", request("a"))[GROWTH]["phase"] == "running"
    refused = events.start_over("small", request("b"))
    assert refused[GROWTH]["phase"] == "idle"
    assert "growing now (1)" in refused[NOTICE]
    assert refused[PLAY]["interactive"]
    assert not refused[PAUSE]["interactive"]
    assert len(list(events.watch(request("b")))) == 1
    events.leave(request("a"))
    again = events.play("nonsense", request("b"))
    assert again[GROWTH]["phase"] == "running"
    events.leave(request("b"))


def test_emptying_a_store_drops_it_for_good(host: ServiceHost, service: StoreService):
    events = FillEvents(StoreAccess(host))
    events.text("some words", request("a"))
    assert len(list(events.follow(request("a")))) >= 1
    assert StoreAccess(host).own_map("a")["segments"]
    events.clear(request("a"))
    assert service.dropped_sessions == ["a"]
    assert StoreAccess(host).own_map("a")["segments"] == []


def test_a_page_that_leaves_while_text_is_added_leaves_no_store_behind(host: ServiceHost, service: StoreService):
    events = FillEvents(StoreAccess(host))
    events.text("some words", request("a"))
    followed = events.follow(request("a"))
    next(followed)
    events.leave(request("a"))
    service.drop_session("a")
    assert list(followed) == []
    assert service.session_stores == {}


def test_what_was_found_in_a_store_goes_when_that_store_is_emptied(host: ServiceHost):
    events = lookup(host)
    assert events.emptied(MINE)["query"] is None
    assert "Your store is empty" in events.emptied(MINE)["said"]
    assert "query" not in events.emptied("base")  # it stays


def test_after_text_was_added_one_looks_into_the_own_store(host: ServiceHost):
    events = FillEvents(StoreAccess(host))
    events.text("some words", request("a"))
    chosen = [drawn[3] for drawn in events.follow(request("a")) if "value" in drawn[3]]
    assert [choice["value"] for choice in chosen] == [MINE]
    events.text("", request("a"))
    assert not any("value" in drawn[3] for drawn in events.follow(request("a")))
