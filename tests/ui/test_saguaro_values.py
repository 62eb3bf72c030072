"""What the Saguaro tab draws of a run: timelines, caches, figures, verdicts, theory; and runs as files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from sssd_demo import trace_file
from sssd_demo.errors import UserError
from sssd_demo.saguaro.prediction import Inputs
from sssd_demo.trace import Fallback, MissReason, Source, Trace
from sssd_demo.ui import saguaro_file
from sssd_demo.ui.answer_payload import AnswerPayload
from sssd_demo.ui.saguaro_figures import figures, sweep_figures
from sssd_demo.ui.saguaro_found import Found, SweepPoint
from sssd_demo.ui.saguaro_picture import picture, shown
from sssd_demo.ui.saguaro_theory import theory
from sssd_demo.ui.saguaro_verdict import because, verdict
from sssd_demo.ui.words import WORDS, browser_words
from tests.toy_saguaro import ALONE, FIRST, HIT, MISS, Made, saguaro_trace, speculative_trace
from tests.ui.saguaro_fakes import SCRIPT

ROLLED_BACK = Made(1, hit=False, why="rolled back", fallback="immediate", rank=None)


def found(made: tuple[Made, ...] = SCRIPT, **changes: Any) -> Found:
    run = Found(
        created="2025-11-29T16:20:00+00:00",
        device="test bench, 2 threads",
        dtype="float32",
        preset="fake-1b",
        cores=2,
        in_turn=speculative_trace([each.accepted for each in made]),
        ahead=saguaro_trace(made),
        alone=ALONE,
        plain_speed=30.0,
    )
    return replace(run, **changes)


def drawn(run: Found | None) -> dict[str, Any]:
    return picture(run, phase="ended", now="Finished.")


def cache_of(value: dict[str, Any], n: int) -> dict[str, Any]:
    return next(round_ for round_ in value["rounds"] if round_["n"] == n)


# ---- the picture


def test_both_lanes_stand_on_each_clock_and_the_clocks_are_not_the_same():
    value = drawn(found())
    for name in ("measured", "computed"):
        assert [lane["key"] for lane in value["clocks"][name]["lanes"]] == ["in_turn", "ahead"]
    totals = [[lane["total"] for lane in value["clocks"][name]["lanes"]] for name in ("measured", "computed")]
    assert totals[0] != totals[1]
    assert "Computed for two devices" in value["clocks"]["computed"]["note"]
    assert "measured" not in value["clocks"]["computed"]["verdict"]


def test_a_bar_tells_who_did_what_when_and_for_which_round():
    lane = drawn(found((FIRST, HIT)))["clocks"]["measured"]["lanes"][1]
    assert ["d", "l", 26.75, 27.25, 2] in lane["bars"]
    assert ["t", "v", 6.5, 26.5, 1] in lane["bars"]
    assert [hit for _, _, hit in lane["hands"]] == [None, True]


def test_a_hit_is_framed_among_the_guesses_of_its_row():
    value = cache_of(drawn(found((FIRST, HIT))), 2)
    row = next(row for row in value["rows"] if row["k"] == 1)
    assert row["guesses"][row["came"]] == shown(saguaro_trace((FIRST,)), 5)
    assert row["path"] == shown(saguaro_trace((FIRST,)), 3)
    assert value["mark"] == "hit"
    assert "1 of 6" not in value["said"]
    assert "one of 6 that had been prepared" in value["said"]
    assert [row["k"] for row in value["rows"]] == [0, 1, 2]


def test_a_miss_shows_what_the_bonus_really_was_and_its_rank():
    value = cache_of(drawn(found((FIRST, MISS))), 2)
    row = next(row for row in value["rows"] if row["k"] == 1)
    assert "came" not in row
    assert row["missed"].endswith("(rank 5)")
    assert "2 tokens had been prepared, and it was none of them" in value["said"]
    assert "waited" in value["said"]


def test_a_round_for_which_nothing_was_prepared_has_no_grid():
    value = drawn(found((FIRST, ROLLED_BACK)))
    assert cache_of(value, 1)["rows"] == []
    assert cache_of(value, 1)["mark"] == "first"
    assert "too many misses in a row" in cache_of(value, 2)["said"]


def test_an_outcome_whose_number_was_not_prepared_at_all_gets_a_row_of_its_own():
    run = found((FIRST, MISS))
    assert run.ahead is not None
    work = run.ahead.rounds[2].saguaro
    assert work is not None
    object.__setattr__(work, "keys", tuple(key for key in work.keys if key[0] == 0))
    rows = cache_of(drawn(run), 2)["rows"]
    assert [(row["k"], len(row["guesses"])) for row in rows] == [(0, 2), (1, 0)]


def test_tokens_without_a_known_text_or_with_half_a_character_are_still_named():
    trace = replace(saguaro_trace((FIRST,)), token_bytes={7: b"\xf0\x9f", 8: b" a\n"})
    assert [shown(trace, token) for token in (7, 8, 9)] == ["F0 9F", "·a⏎", "#9"]


def test_before_anything_ran_the_picture_is_empty_and_says_what_to_do():
    value = picture(None, phase="idle", now="Nothing has run yet.")
    assert value["clocks"] == {}
    assert value["rounds"] == []


def test_while_the_first_answer_runs_only_its_lane_is_there():
    value = drawn(found(ahead=None))
    assert [lane["key"] for lane in value["clocks"]["measured"]["lanes"]] == ["in_turn"]
    assert "no answer that was prepared ahead" in value["clocks"]["measured"]["verdict"]


def test_without_times_measured_alone_there_is_no_computed_clock_and_it_says_why():
    value = drawn(found(alone=None))
    assert value["clocks"]["computed"]["lanes"] == []
    assert "times of forwards measured alone" in value["clocks"]["computed"]["note"]
    recorded = drawn(found(alone=None, recorded=True))
    assert "the file has none" in recorded["clocks"]["computed"]["note"]
    assert recorded["recorded"].startswith("Recorded on test bench")


# ---- verdicts


def test_a_win_says_how_much_and_what_was_hidden():
    run = found((FIRST, *[HIT] * 20))
    text = verdict(run, "computed")
    assert text.startswith("Overlap would win 1.")
    assert "100% of the outcomes were foreseen" in text


def test_a_win_that_overlap_did_not_bring_is_not_put_down_to_it():
    slow = speculative_trace([1] * 6)
    rounds = (slow.rounds[0], *(replace(r, draft_ms=0.0, verify_ms=90.0) for r in slow.rounds[1:]))
    text = verdict(found((FIRST, *[HIT] * 5), in_turn=replace(slow, rounds=rounds)), "measured")
    assert "Overlap won" in text
    assert "No drafting was hidden" in text
    assert "-" not in text


def test_a_loss_is_explained_by_what_costs_most():
    text = verdict(found(), "measured")  # verification takes 20 ms beside the drafter and 14 ms without it
    assert text.startswith("Overlap lost on this machine, 0.")
    assert "Verification took 1.4× as long, because drafter and target share 2 cores of one machine." in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"p": 0.3, "t_b": 0.5}, "Only 30% of the outcomes were foreseen"),
        ({"t_p": 1.7}, "Preparing took 1.7× as long as verification"),
        ({"s": 1.4}, "Verification took 1.4× as long"),
        ({}, "there was little to hide"),
    ],
)
def test_every_cause_has_its_words(changes: dict[str, float], words: str):
    base = {"p": 0.9, "d": 0.1, "e_hit": 3.0, "e_miss": 2.0, "t_p": 0.5, "t_b": 0.1, "s": 1.0, "verify_ms": 20.0}
    run = found()
    clocked = run.clock("measured")
    assert clocked is not None
    assert clocked.in_turn is not None
    said = because(run, Inputs(**{**base, **changes}), clocked.in_turn, clocked.in_turn, "measured")
    assert words in said


def test_fewer_tokens_a_round_are_named_too():
    run = found(in_turn=speculative_trace([2] * 12))
    assert "tokens instead of 3.0" in verdict(run, "measured")


def test_one_answer_alone_has_no_verdict():
    assert "no answer drafted in turn" in verdict(found(in_turn=None), "measured")


# ---- figures and theory


def test_figures_are_told_with_their_counts():
    value = figures(found())
    titles = [panel["title"] for panel in value["panels"]]
    assert titles == ["Hits by the number kept", "Hits by fan-out", "Rank of the bonus", "Served instead, and why"]
    by_k = {bar["label"]: bar["value"] for bar in value["panels"][0]["bars"]}
    assert by_k["0 kept"] == "1.00 (2 of 2)"
    assert any(bar["label"] == "because: miss" for bar in value["panels"][3]["bars"])
    assert "No power law from 11" in value["charts"][0]["said"]


def test_with_enough_ranks_a_power_law_is_drawn():
    made = [FIRST, *[HIT] * 20, *[Made(1, rank=2)] * 6, *[MISS] * 4]
    chart = figures(found(tuple(made)))["charts"][0]
    assert len(chart["series"]) == 2
    assert "F^−" in chart["said"]


def test_high_ranks_are_drawn_on_a_logarithmic_axis():
    ranks = [FIRST, *[Made(1, hit=False, why="miss", fallback="immediate", rank=4000)] * 3, HIT]
    assert figures(found(tuple(ranks)))["charts"][0]["x"]["scale"] == "log"
    assert figures(found())["charts"][0]["x"]["scale"] == "linear"


def test_nothing_looked_up_has_no_figures():
    assert figures(None)["panels"] == []
    assert figures(found((FIRST,)))["panels"] == []


def test_theory_stands_next_to_what_came_out_on_either_clock():
    table = theory(found())["table"]
    assert table["head"][1:3] == ["measured here", "two devices, computed"]
    rows = {row[0]: row[1:] for row in table["rows"]}
    assert rows["p"][:2] == ["0.82", "0.82"]
    assert rows["s"][0] == "1.43"
    assert rows["s"][1] == "1.00"
    assert rows["against drafting in turn, predicted"][0].endswith("×")
    assert rows["… as it came out"][0].endswith("×")
    assert rows["s + (1 − p) · T_b < 1 + d"][:2] == ["1.48 ≥ 1.43", "1.05 < 1.36"]
    assert theory(None)["table"] is None


def test_a_sweep_is_a_curve_with_its_constants():
    points = (SweepPoint(1.0, 6, 10, 30, 40, 2.6), SweepPoint(0.25, 8, 10, 22, 40, 2.1))
    value = sweep_figures(points)
    assert value["charts"][0]["series"][0]["labels"] == ["C 1", "C 0.25"]
    assert "from 0.60 to 0.80" in value["charts"][0]["said"]
    assert [row[0] for row in value["table"]["rows"]] == ["1", "0.25"]
    assert sweep_figures((), "C = 1: 3 tokens so far.", 0.2) == {
        "now": "C = 1: 3 tokens so far.", "charts": [], "table": None, "notes": [], "share": 0.2,
    }  # fmt: skip


# ---- files


def test_a_run_comes_back_as_it_was_and_says_that_it_is_recorded(tmp_path: Path):
    run = found()
    path = tmp_path / "run.json"
    path.write_text(saguaro_file.pack(run), encoding="utf-8")
    again = saguaro_file.load([path])
    assert again == replace(run, recorded=True)


def test_plain_traces_are_told_apart_by_what_they_hold(tmp_path: Path):
    paths = []
    for name, trace in (("a.json", saguaro_trace(SCRIPT)), ("b.json", speculative_trace([1, 2]))):
        trace_file.save(trace, tmp_path / name)
        paths.append(tmp_path / name)
    for order in (paths, paths[::-1]):
        both = saguaro_file.load(order)
        assert both.ahead is not None
        assert both.in_turn is not None
        assert both.recorded


def other(trace: Trace) -> Trace:
    prompt: Source = "prompt"
    rounds = [replace(r, tree=replace(r.tree, sources=(prompt,) * len(r.tree))) for r in trace.rounds]
    return replace(trace, rounds=tuple(rounds))


def test_a_trace_of_another_method_is_refused_by_name(tmp_path: Path):
    trace_file.save(other(speculative_trace([1])), tmp_path / "pld.json")
    with pytest.raises(UserError, match="pld.json holds neither"):
        saguaro_file.load([tmp_path / "pld.json"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 9}, "version 9"),
        ({"cores": 0}, "cores should be a whole number"),
        ({"alone": {"target": [[1, 1, 64]], "draft": []}}, "four entries"),
        ({"alone": {"target": [], "draft": []}}, "alone.target is empty"),
        ({"in_turn": {"version": 1}}, "lacks the entry"),
        ({"created": "yesterday"}, "ISO 8601"),
    ],
)
def test_a_damaged_run_is_refused_in_a_sentence(tmp_path: Path, change: dict[str, Any], said: str):
    data = json.loads(saguaro_file.pack(found())) | change
    path = tmp_path / "run.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(UserError, match=said):
        saguaro_file.load([path])


def test_swapped_answers_are_noticed(tmp_path: Path):
    data = json.loads(saguaro_file.pack(found()))
    data["in_turn"], data["ahead"] = data["ahead"], data["in_turn"]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(UserError, match="another method"):
        saguaro_file.load([path])


def test_what_is_no_file_of_ours_is_refused(tmp_path: Path):
    for content in (b"\xff\xfe", b"{", b"[1, 2]"):
        path = tmp_path / "x.json"
        path.write_bytes(content)
        with pytest.raises(UserError):
            saguaro_file.load([path])
    with pytest.raises(UserError, match="nothing to save"):
        saguaro_file.pack(found(in_turn=None, ahead=None))


# ---- marks in the Chat and Compare tabs


def test_the_answer_view_hears_of_every_round_whether_its_draft_was_prepared():
    trace = saguaro_trace((FIRST, HIT, MISS, ROLLED_BACK))
    drawn_rounds = AnswerPayload(trace).update(trace)["rounds"]
    assert "a" not in drawn_rounds[0]
    assert [each["a"] for each in drawn_rounds[1:]] == [
        ["first", 0, "immediate"],
        ["hit", 6, "nothing"],
        ["miss", 6, "immediate"],
        ["rolled back", 0, "immediate"],
    ]


def test_every_kind_of_round_has_its_words_in_the_browser():
    words = browser_words()
    for state in ("hit", *get_args(MissReason)):
        assert words[f"view.cache.{state.replace(' ', '_')}"]
    for served in get_args(Fallback):
        assert words[f"view.cache.served.{served}"]
        assert WORDS[f"sag.served.{served}"]
        assert WORDS[f"sag.fallback.{served}"]
    for why in get_args(MissReason):
        assert WORDS[f"sag.why.{why}"]
        assert WORDS[f"sag.said.{why}"]
