"""What the Roofline tab shows of profiles, yields and results, without a page."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest

from sssd_demo.device_presets import DEVICES
from sssd_demo.guess_yield import MeasuredYield
from sssd_demo.length import LengthPlanner
from sssd_demo.profile_file import save_profile
from sssd_demo.roofline import Profile
from sssd_demo.service import Service
from sssd_demo.ui.roofline_board import Board, Boards
from sssd_demo.ui.roofline_chart import Axis, Chart, Series, bounds
from sssd_demo.ui.roofline_devices import devices_value
from sssd_demo.ui.roofline_job import Job, JobState, run_batches
from sssd_demo.ui.roofline_live import Live, live
from sssd_demo.ui.roofline_machine import machine_value
from sssd_demo.ui.roofline_plan import Plans, Wanted
from sssd_demo.ui.roofline_run import run_value
from tests.ui.fakes import make_trace
from tests.ui.roofline_fakes import FULL, QUICK, RooflineService

MOST_BYTES = 14_000  # of a view on its way to the browser


def board_of(service: RooflineService) -> Board:
    return Boards().of(cast(Service, service))


def ran(service: RooflineService, batches=(1, 2, 4)) -> Board:
    board = board_of(service)
    job = Job("run", "page", board, partial(run_batches, batches=batches, methods=("sssd",)))
    job.join(30)
    return board


def rows(value: dict[str, Any]) -> dict[str, list[str]]:
    """Rule → its row, by the rule's letter."""
    return {row[0][0]: row for row in value["table"]["rows"]}


def chart(value: dict[str, Any], word: str) -> dict[str, Any]:
    return next(each for each in value["charts"] if word in each["title"])


# ---- this machine ----


def test_before_there_is_a_model_every_view_says_so():
    assert "being loaded" in machine_value(None)["now"]
    assert "being loaded" in Plans().value(None, Wanted())["said"]
    assert "being loaded" in run_value(None)["said"]


def test_an_unmeasured_machine_offers_to_be_measured():
    board = board_of(RooflineService(Profile({})))
    assert "Nothing has been measured" in machine_value(board)["notes"][0]
    assert "Nothing is known" in Plans().value(board, Wanted())["said"]
    assert run_value(board)["charts"]


def test_facts_tell_peaks_and_knee_and_whether_all_batches_were_timed():
    board = board_of(RooflineService())
    save_profile(board.service.profile_key(), FULL)
    value = machine_value(board)
    figures = {label: number for number, label in value["facts"]}
    assert figures["operations a byte at the knee"] == "16.0"
    assert figures["tokens in a forward at the knee, by the weights alone"] == "32.0"  # four bytes a weight
    assert "1 to 32 sequences" in value["notes"][0]
    assert "UTC" in value["notes"][0]
    assert "one sequence were timed" in machine_value(board_of(RooflineService(QUICK)))["notes"][0]


def test_a_disturbed_measurement_is_told_by_how_fast_plain_decoding_was():
    disturbed = Profile({point: 4 * seconds for point, seconds in FULL.forward_seconds.items()})
    notes = machine_value(board_of(RooflineService(disturbed)))["notes"]
    assert "one token took 80 ms, but 33 ms" in notes[1]
    assert len(machine_value(board_of(RooflineService()))["notes"]) == 1


def test_a_measurement_under_way_shows_how_far_it_has_come():
    state = JobState("measure", "running", "Measuring: 2 × 4 tokens", 0.25)
    value = machine_value(board_of(RooflineService()), state)
    assert (value["phase"], value["share"]) == ("running", 0.25)
    assert "share" not in machine_value(board_of(RooflineService()), replace(state, phase="done"))
    assert machine_value(board_of(RooflineService()), replace(state, kind="run"))["now"] == ""


# ---- the plan ----


def test_moving_the_batch_plans_all_rules_anew():
    board, plans = board_of(RooflineService()), Plans()
    few, many = (plans.value(board, Wanted(batch=batch)) for batch in (1, 16))
    assert rows(few)["R"][1] == "32"
    assert rows(many)["R"][1] == "2"
    assert rows(few)["K"][1] == "32"
    assert rows(many)["K"][1] == "2"
    assert float(rows(few)["G"][1]) > float(rows(many)["G"][1])
    assert "32.0 tokens at the knee ÷ 16 = 2.0" in rows(many)["R"][-1]
    assert "At 16 sequences" in many["said"]
    assert "instead of" in few["said"]


def test_an_assumption_is_called_one_and_shown():
    value = Plans().value(board_of(RooflineService()), Wanted())
    note = next(note for note in value["notes"] if "assumed" in note)
    assert "calibration.json" in note
    assert "2.20 tokens at s_q = 8" in note
    assert "if the assumption below holds" in rows(value)["G"][-1]


def test_measured_guesses_take_the_place_of_the_assumption():
    value = Plans().value(ran(RooflineService()), Wanted(batch=2))
    note = next(note for note in value["notes"] if "was measured here" in note)
    assert "16 answers" in note
    assert "chosen anew every round" in rows(value)["G"][-1]
    assert rows(value)["G"][3] == "2.00 tokens"


def test_the_sentence_says_when_guessing_is_not_planned_to_pay():
    service = RooflineService()
    service.brings = lambda method: 0
    value = Plans().value(ran(service), Wanted(batch=16))
    assert "not planned to pay" in value["said"]
    assert "The Roofline's rule chooses alike" in value["said"]
    costly = ran(service)
    costly.yields["sssd"] = replace(cast(MeasuredYield, costly.yields["sssd"]), draft_seconds=0.001)
    assert "Drafting takes 16.0 ms of a round" in Plans().value(costly, Wanted(batch=16))["said"]
    few = Plans().value(board_of(RooflineService(replace(FULL, flops=4e11))), Wanted(batch=4))
    assert "The Roofline's rule would take 4, and be planned at 1.74×" in few["said"]
    many = Plans().value(board_of(RooflineService(replace(FULL, bandwidth=4e11))), Wanted(batch=8))
    assert "would switch guessing off" in many["said"]


def test_without_peaks_the_roofs_rule_and_picture_are_left_out():
    board = board_of(RooflineService(replace(FULL, flops=None, bandwidth=None)))
    value = Plans().value(board, Wanted())
    assert "were not measured" in rows(value)["R"][-1]
    assert rows(value)["K"][1] == "4"
    assert chart(value, "roof")["series"] == []
    assert chart(value, "forward")["series"]


def test_a_mixture_of_experts_keeps_its_measured_times():
    service = RooflineService()
    service.model.model.config.num_local_experts = 8
    value = Plans().value(board_of(service), Wanted())
    assert "mixture of experts" in chart(value, "roof")["said"]
    assert chart(value, "forward")["series"]
    assert "mixture of experts" in machine_value(board_of(service))["notes"][-1]


def test_the_roof_tells_what_holds_a_forward_up():
    board, plans = board_of(RooflineService()), Plans()
    wide = board_of(RooflineService(replace(FULL, flops=8e12)))
    one = chart(plans.value(wide, Wanted(batch=1, context=64)), "roof")
    assert "more tokens are nearly free" in one["said"]
    assert "% of the roof" in one["said"]
    assert [level["x"] for level in one["levels"]] == [160]
    narrow = board_of(RooflineService(replace(FULL, flops=4e11)))
    many = chart(plans.value(narrow, Wanted(batch=2, context=64)), "roof")
    assert "arithmetic takes the time" in many["said"]
    full = chart(plans.value(board, Wanted(batch=64, context=64)), "roof")
    assert "With 1 token of 64 sequences" in full["said"]


def test_the_curves_say_how_many_tokens_are_nearly_free():
    board, plans = board_of(RooflineService()), Plans()
    assert "up to 4 tokens take at most 20 % longer" in chart(plans.value(board, Wanted(batch=8)), "forward")["said"]
    assert "not even a second token" in chart(plans.value(board, Wanted(batch=64)), "forward")["said"]
    quick = chart(plans.value(board_of(RooflineService(QUICK)), Wanted(batch=8)), "forward")
    assert "Only one sequence was timed" in quick["said"]


@pytest.mark.parametrize("device", [device.name for device in DEVICES])
def test_another_machine_is_labelled_as_computed_everywhere(device: str):
    value = Plans().value(board_of(RooflineService()), Wanted(hardware=device, model="8B", bits="4"))
    assert value["notes"][0].startswith("**Computed from the vendor's figures, not measured:**")
    assert "8B with 4-bit weights" in value["notes"][0]
    assert all("omputed from the vendor's figures" in each["said"] for each in value["charts"])
    names = [series.get("name", "") for series in chart(value, "roof")["series"]]
    assert f"roof of {device}, computed" in names
    assert "roof of this machine, measured" in names


def test_what_does_not_fit_is_said():
    value = Plans().value(board_of(RooflineService()), Wanted(hardware="T4", model="70B", bits="16"))
    assert "would not fit into the 16 GB" in value["notes"][0]


def test_nonsense_in_the_controls_is_this_machine():
    board, plans = board_of(RooflineService()), Plans()
    assert plans.value(board, Wanted(hardware="abacus", model="?", bits="?")) == plans.value(board, Wanted())


def test_every_device_is_in_the_table_with_its_source_and_what_it_would_choose():
    board = board_of(RooflineService())
    value = devices_value(Plans().shape(board, "8B", "8"), 1.0, 32, 2048)
    table = {row[0]: row for row in value["table"]["rows"]}
    assert len(table) == len(DEVICES)
    l4 = table["NVIDIA L4, 24 GB"]
    assert l4[4] == "202"
    assert l4[5] == "6"
    assert l4[6] == "yes"
    assert l4[7].startswith("https://")
    assert "With 8-bit weights and 32 sequences" in value["said"]
    assert devices_value(None, 2.0, 1, 64)["table"]["rows"][0][6] == "–"


# ---- live ----


def test_live_sums_up_what_visitors_are_doing():
    assert live(0, 16, []) is None
    assert live(3, 16, []) == Live(3, 3, 0, 0)
    trace = make_trace("Write it three times.", "The cat sat on the mat. " * 3)
    found = live(2, 16, [trace])
    assert found is not None
    assert (found.answers, found.batch) == (2, 1)
    assert found.context == len(trace.prompt) + len(trace.token_ids())
    assert found.tokens > 1
    assert found.s_q > 1


def test_live_is_told_next_to_the_plan():
    board, plans = board_of(RooflineService()), Plans()
    now = Live(3, 2, 100, 12, 4.0, 1.8, 25.0)
    value = plans.value(board, Wanted(batch=2), now, live=True)
    assert "3 sequences being answered now, in the last forward together: 2 sequences" in value["now"]
    assert "s_q 4.0, 1.80 tokens a forward of each, 25.0 ms a forward; the profile says 20.0" in value["now"]
    assert "nobody is being answered" in plans.value(board, Wanted(), None, live=True)["now"]
    assert plans.value(board, Wanted())["now"] == ""


# ---- the run ----


def test_before_a_run_there_is_the_plan_alone():
    value = run_value(board_of(RooflineService()))
    assert "Nothing has been run" in value["now"]
    assert value["table"] is None
    assert all("planned" in series["look"] for each in value["charts"] for series in each["series"])
    assert all("Only the plan" in each["said"] for each in value["charts"])


def test_after_a_run_plan_and_truth_stand_side_by_side():
    value = run_value(ran(RooflineService()), batch=2)
    assert "At 2 sequences this machine writes" in value["said"]
    looks = [series["look"] for series in chart(value, "All sequences")["series"]]
    assert looks == ["plain is-planned", "plain", "first is-planned", "first"]
    gain = chart(value, "Gain")
    assert [level["y"] for level in gain["levels"]] == [1.0]
    assert [point[0] for series in gain["series"] for point in series["points"] if "planned" not in series["look"]] == [
        1, 2, 4,
    ]  # fmt: skip
    assert "at every batch size" in gain["said"]
    assert len(chart(value, "waits")["series"][1]["tops"]) == 3
    assert chart(value, "both at once")["series"][1]["labels"] == ["1", "2", "4"]
    assert len(value["table"]["rows"]) == 6
    assert "planned" in value["table"]["rows"][1][6]


def test_a_run_below_one_is_in_the_picture():
    service = RooflineService()
    service.brings = lambda method: 0
    gain = chart(run_value(ran(service, batches=(16,))), "Gain")
    measured = next(series for series in gain["series"] if "planned" not in series["look"])
    assert measured["points"][0][1] < 0.6
    assert gain["y"]["low"] < measured["points"][0][1]


def test_load_of_others_is_in_the_table():
    service = RooflineService()
    service.others = 3
    value = run_value(ran(service, batches=(2,)))
    assert all("under load" in row[-2] for row in value["table"]["rows"])


def test_another_visitors_run_is_called_that():
    state = JobState("run", "running", "2 sequences, sssd", 0.5)
    board = board_of(RooflineService())
    assert "Another visitor" in run_value(board, state, own=False)["now"]
    assert run_value(board, state, own=True)["now"] == "2 sequences, sssd"


def test_answers_that_ended_too_early_are_a_note():
    board = board_of(RooflineService())
    board.too_short.add(("sssd", 4))
    assert "4 sequences with sssd: the answers ended too early" in run_value(board)["notes"][0]


# ---- payload ----


def test_views_are_cheap_enough_to_follow_a_slider():
    board = ran(RooflineService(), batches=(1, 2, 4, 8, 16))
    for value in (Plans().value(board, Wanted(hardware="L4")), run_value(board), machine_value(board)):
        assert len(json.dumps(value).encode()) < MOST_BYTES


def test_a_plan_that_was_made_is_not_made_again(monkeypatch: pytest.MonkeyPatch):
    board = ran(RooflineService())
    plans = Plans()
    first = plans.value(board, Wanted(batch=5))
    monkeypatch.setattr(LengthPlanner, "best", None)  # whoever plans anew fails
    assert plans.value(board, Wanted(batch=5)) == first


def test_numbers_are_shortened_and_what_is_empty_is_left_out():
    value = Chart("t", Axis("x"), Axis("y", low=0.0), [Series([(1.23456789, 2.0)], "plain")]).value()
    assert value["series"] == [{"points": [[1.2346, 2.0]], "look": "plain", "line": True}]
    assert value["y"] == {"label": "y", "scale": "linear", "low": 0.0}
    assert bounds([]) == (1.0, 10.0)
    assert bounds([2.0, 8.0], 2) == (1.0, 16.0)
