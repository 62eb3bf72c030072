"""The Compare tab's handlers without a page: what is begun, refused, shown, saved and replayed."""

from __future__ import annotations

import base64
import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sssd_demo.compare.in_turn import InTurn
from sssd_demo.compare.plan import Lane
from sssd_demo.errors import UserError
from sssd_demo.ui import compare_events
from sssd_demo.ui.compare_events import CompareEvents
from sssd_demo.ui.datastore_access import StoreAccess
from sssd_demo.ui.service_host import ServiceHost
from tests.compare.fakes import CompareService, comparing, plan
from tests.ui.fakes import opens, wait_until

RACE, RESULTS, NOTICE, RUN, STOP, SAVE_TABLE, SAVE_ALL, SHOWN = range(8)
# ticked, s_q, k, store, longest, repeats, temperature, top_k, top_p, seed, draft temperature
USUAL: list[Any] = [["autoregressive", "sssd"], ["auto"], ["auto"], "none", 64, 1, 0, 0, 1, 0, ""]


def request(page: str = "a") -> Any:
    return SimpleNamespace(session_hash=page)


def asked(**changes: Any) -> list[Any]:
    names = "ticked s_q k store longest repeats temperature top_k top_p seed draft".split()
    return [changes.get(name, value) for name, value in zip(names, USUAL, strict=True)]


@pytest.fixture
def service() -> CompareService:
    return CompareService(base_text="quite another text")


@pytest.fixture
def host(service: CompareService) -> ServiceHost:
    host = ServiceHost(opens(service), "fake")
    host.start()
    wait_until(lambda: host.service is not None)
    return host


@pytest.fixture
def events(host: ServiceHost) -> CompareEvents:
    return CompareEvents(StoreAccess(host), InTurn(6))


def run(events: CompareEvents, prompt: str = "a cat", page: str = "a", **changes: Any) -> list[Any]:
    """Press Run and look on until it is over; the page's last state."""
    begun = events.compare(prompt, request(page), *asked(**changes))
    assert begun[NOTICE] == ""
    list(events.look_on(request(page)))
    ended = events.end(request(page))
    assert ended[RACE]["phase"] == "ended", ended[RACE]["now"]
    return ended


def refused(events: CompareEvents, prompt: str | None = "a cat", **changes: Any) -> str:
    """Press Run; the sentence it is refused with. Nothing else of the page may change."""
    drawn = events.compare(prompt, request(), *asked(**changes))
    assert all(isinstance(part, dict) and part.get("__type__") == "update" for part in drawn[:2] + drawn[3:])
    return drawn[NOTICE]


def test_a_run_ends_with_lanes_results_and_buttons_to_save(events: CompareEvents):
    page = run(events)
    assert [lane["name"] for lane in page[RACE]["lanes"]] == ["autoregressive", "sssd"]
    assert page[RESULTS]["same"]["state"] == "same"
    assert [page[part]["interactive"] for part in (RUN, STOP, SAVE_TABLE, SAVE_ALL)] == [True, False, True, True]
    assert page[SHOWN]["visible"] is False


def test_several_lengths_make_a_lane_each_and_a_draft_model_goes_by_its_own(
    events: CompareEvents, service: CompareService
):
    page = run(events, ticked=["sssd", "speculative/block"], s_q=["4", "auto"], k=["2", "3"])
    assert [lane["name"] for lane in page[RACE]["lanes"]] == [
        *("autoregressive", "sssd · s_q 4", "sssd", "speculative · block · K 2", "speculative · block · K 3")
    ]
    assert {(settings.method, settings.rule) for _, settings, _ in service.asked} >= {("speculative", "block")}


def test_lanes_stand_in_the_order_in_which_they_are_offered_whatever_was_ticked_first(events: CompareEvents):
    page = run(events, ticked=["speculative/chain", "prompt-lookup", "sssd"])
    assert [lane["name"] for lane in page[RACE]["lanes"]] == [
        *("autoregressive", "sssd", "prompt-lookup", "speculative · chain")
    ]


def test_settings_are_common_to_all_lanes(events: CompareEvents, service: CompareService):
    run(events, store="base", longest=8, temperature=0.5, top_k=5, top_p=0.9, seed=7, draft="0.2")
    measured = [settings for messages, settings, _ in service.asked if messages[-1]["content"] == "a cat"]
    common = {
        (s.datastore, s.max_new_tokens, s.temperature, s.top_k, s.top_p, s.seed, s.draft_temperature) for s in measured
    }
    assert common == {("base", 8, 0.5, 5, 0.9, 7, 0.2)}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ticked": []}, "at least one method"),
        ({"ticked": ["autoregressive"]}, "at least one method"),
        ({"s_q": ["many"]}, "must be a whole number"),
        ({"s_q": ["65"]}, "must be 1 to 64"),
        ({"s_q": [str(n) for n in range(2, 12)]}, "1 to 8 methods"),
        ({"ticked": ["speculative/coin"]}, "no acceptance rule called 'coin'"),
        ({"ticked": ["speculative/chain"], "k": ["17"]}, "1 to 16 tokens"),
        ({"store": "nowhere"}, "no datastore 'nowhere'"),
        ({"longest": 5000}, "at most 1024 tokens"),
        ({"longest": 1024, "s_q": [str(n) for n in range(2, 9)], "repeats": 5}, "40,960 tokens in all"),
        ({"repeats": 9}, "1 to 5 repeats"),
        ({"temperature": 9}, "Temperature must lie"),
        ({"draft": "x"}, "must be a number"),
    ],
)
def test_a_wrong_setting_is_a_sentence_and_changes_nothing(events: CompareEvents, changes: dict[str, Any], said: str):
    run(events)
    assert said in refused(events, **changes)
    assert events.save_table(request())[0]  # what was there before is still there


@pytest.mark.parametrize("prompt", ["", "  \n", None])
def test_an_empty_question_is_refused(events: CompareEvents, prompt: str | None):
    assert "question is empty" in refused(events, prompt)


def test_before_the_model_is_there_run_says_so(service: CompareService):
    events = CompareEvents(StoreAccess(ServiceHost(opens(service), "fake")), InTurn(6))
    assert "not ready yet" in refused(events)


def test_while_one_runs_another_is_refused_and_stop_ends_it(events: CompareEvents, service: CompareService):
    service.delay = 0.05
    begun = events.compare("a cat", request(), *asked())
    assert [begun[part]["interactive"] for part in (RUN, STOP, SAVE_ALL)] == [False, True, False]
    assert "runs already" in refused(events, prompt="a dog")
    assert service.asked_methods("a dog") == []  # nor is the one that runs disturbed
    events.stop(request())
    list(events.look_on(request()))
    ended = events.end(request())
    assert ended[RACE]["phase"] == "stopped"
    assert ended[RUN]["interactive"] is True


def test_results_travel_only_when_there_are_new_ones(events: CompareEvents, service: CompareService, monkeypatch):
    monkeypatch.setattr(compare_events, "SHOW_EVERY", 0.01)
    service.delay = 0.01
    events.compare("a cat", request(), *asked())
    seen = list(events.look_on(request()))
    with_results = [update for update in seen if update[RESULTS] is None or "rows" in update[RESULTS]]
    assert len(seen) > 10
    assert len(with_results) <= 3


def test_a_page_that_is_closed_stops_its_comparison(events: CompareEvents, service: CompareService):
    service.delay = 0.05
    events.compare("a cat", request(), *asked())
    wait_until(lambda: len(service.asked) == 3)  # both lanes were checked, and the first one warms up
    events.leave(request())
    wait_until(service.answers[-1].closed.is_set)
    assert len(service.asked) == 3


def test_visitors_wait_for_each_other_and_too_many_are_refused(host: ServiceHost, service: CompareService):
    events = CompareEvents(StoreAccess(host), InTurn(2))
    service.delay = 0.05
    events.compare("a cat", request("a"), *asked())
    events.compare("a cat", request("b"), *asked())
    assert "another visitor's measurement" in next(events.look_on(request("b")))[RACE]["now"]
    assert "run or wait already" in events.compare("a cat", request("c"), *asked())[NOTICE]
    events.stop(request("b"))
    assert next(events.look_on(request("b")))[RACE]  # over already: what is on show stays
    events.compare("a cat", request("c"), *asked())  # b's place is free
    for page in "abc":
        events.leave(request(page))


def test_one_that_was_stopped_while_it_waited_does_not_hold_up_the_next(service: CompareService):
    service.delay = 0.02
    turns = InTurn(most=3)
    first, second, third = (comparing(service, plan(lanes=(Lane("sssd"),))) for _ in range(3))
    for each in (first, second, third):
        turns.add(each)
    assert [turns.ahead(each) for each in (first, second, third)] == [0, 1, 2]
    with pytest.raises(UserError, match="3 measurements of other visitors"):
        turns.add(comparing(service, plan()))
    second.stop()
    assert turns.ahead(third) == 1
    wait_until(lambda: third.progress().phase == "ended", 20)
    assert [each.progress().phase for each in (first, second, third)] == ["ended", "stopped", "ended"]
    turns.add(fourth := comparing(service, plan()))  # the thread had ended; another one is begun
    wait_until(lambda: fourth.progress().phase == "ended", 20)


# --- own questions


def questions(path: Path, count: int) -> Path:
    rows = [{"question_id": n, "category": f"c{n % 2}", "turns": [f"question {n}", "and then?"]} for n in range(count)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_a_question_file_takes_the_place_of_the_question_until_it_is_dropped(
    events: CompareEvents, service: CompareService, tmp_path: Path
):
    path = questions(tmp_path / "my_*questions*.jsonl", 3)
    told, drop, notice = events.question_file(str(path), request())
    assert told == "**my\\_\\_questions\\_.jsonl**: 3 of 3 questions are asked instead of the one above."
    assert drop["interactive"] is True
    assert notice == ""
    assert not path.exists()
    page = run(events, prompt="", repeats=2)
    assert [label for label, _ in page[SHOWN]["choices"]][:2] == ["question 0, repeat 1", "question 0, repeat 2"]
    assert page[SHOWN]["visible"] is True
    assert page[SHOWN]["value"] == "2/1"
    assert {messages[-1]["content"] for messages, *_ in service.asked} >= {"question 0", "question 2"}
    shown = events.show("1/0", request())
    assert shown[RACE]["asked"] == "Asked: “question 1”"
    assert events.end(request())[SHOWN]["value"] == "1/0"
    told, drop, _ = events.drop_file(request())
    assert "No question file" in told
    assert drop["interactive"] is False
    run(events, prompt="a dog")
    assert service.asked[-1][0][-1]["content"] == "a dog"


def test_of_a_large_file_some_are_asked_and_a_useless_one_is_refused_without_its_folder(
    events: CompareEvents, tmp_path: Path
):
    told, *_ = events.question_file(str(questions(tmp_path / "many.jsonl", 60)), request())
    assert "48 of 60 questions" in told
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"question_id": 1, "category": "a"}')
    *_, notice = events.question_file(str(bad), request())
    assert notice == "bad.jsonl, line 1: turns is missing."
    photo = tmp_path / "photo.jsonl"
    photo.write_bytes(b"\x89PNG\xff")
    *_, notice = events.question_file(str(photo), request())
    assert notice == "The question file photo.jsonl is not UTF-8 text."
    huge = tmp_path / "huge.jsonl"
    huge.write_bytes(b" " * 5_000_000)
    *_, notice = events.question_file(str(huge), request())
    assert "5.0 MB; a question file may have at most 4 MB" in notice
    assert not any(tmp_path.iterdir())


# --- files


def test_what_is_saved_is_replayed_as_recorded_with_device_and_date(events: CompareEvents, tmp_path: Path):
    assert "no finished comparison" in events.save_all(request())[1]
    whole = run(events, repeats=2)
    data, notice = events.save_all(request())
    assert notice == ""
    saved = tmp_path / "saved.zip"
    saved.write_bytes(base64.b64decode(data))
    page = events.load(str(saved), request("b"))
    assert page[RACE]["phase"] == "recorded"
    assert "Recorded on test bench, 2 threads" in page[RACE]["now"]
    assert page[RESULTS] == whole[RESULTS]
    assert [lane["answer"] for lane in page[RACE]["lanes"]] != []
    assert page[SHOWN]["value"] == "0/0"
    assert page[RUN]["interactive"] is True
    assert not saved.exists()
    again, _ = events.save_all(request("b"))  # a replayed one can be saved again, and is the same
    saved.write_bytes(base64.b64decode(again))
    assert events.load(str(saved), request("c"))[RESULTS] == whole[RESULTS]


def test_the_table_is_saved_as_csv(events: CompareEvents):
    run(events)
    data, _ = events.save_table(request())
    rows = list(csv.DictReader(io.StringIO(base64.b64decode(data).decode())))
    assert [row["lane"] for row in rows] == ["autoregressive", "sssd"]


def test_a_damaged_file_is_a_sentence_and_what_is_on_show_stays(events: CompareEvents, tmp_path: Path):
    run(events)
    bad = tmp_path / "bad.zip"
    bad.write_bytes(b"PK\x03\x04 nothing")
    drawn = events.load(str(bad), request())
    assert drawn[NOTICE] == "bad.zip is not a saved comparison, or it was cut off."
    assert "rows" not in drawn[RESULTS]
    assert events.save_table(request())[0]
    assert not bad.exists()


def test_nothing_is_replayed_over_a_comparison_that_runs(
    events: CompareEvents, service: CompareService, tmp_path: Path
):
    run(events)
    saved = tmp_path / "saved.zip"
    saved.write_bytes(base64.b64decode(events.save_all(request())[0]))
    service.delay = 0.05
    events.compare("a cat", request(), *asked())
    assert "runs already" in events.load(str(saved), request())[NOTICE]
    events.leave(request())
