"""What the Compare tab draws and says of a comparison, without a page."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sssd_demo.compare.comparing import Progress
from sssd_demo.compare.comparison import Comparison, Cost, Memory, Run
from sssd_demo.compare.plan import Lane, Step
from sssd_demo.trace import Law, Trace
from sssd_demo.ui.compare_lanes import LanesDrawing, nothing_yet, told
from sssd_demo.ui.compare_layout import first_lanes, lane_choices, method_and_rule
from sssd_demo.ui.compare_results import results_value, size_text
from sssd_demo.ui.components import STATIC
from sssd_demo.ui.palette import COLOURS
from tests.compare.fakes import CompareService, compared, plan
from tests.compare.test_figures import TEXT, comparison, plain, timed
from tests.ui.fakes import make_trace


def pair_of(plain: Trace, other: Trace, *, dtype: str = "float32", **settings: Any) -> Comparison:
    runs = [(Step(0, 0, 0), plain), (Step(0, 0, 1), other)]
    return replace(comparison(plan(**settings), runs), dtype=dtype)


def results(comparison: Comparison) -> dict[str, Any]:
    value = results_value(comparison)
    assert value is not None
    return value


# --- lanes and race


def test_lanes_wait_run_and_are_done_in_their_own_order():
    whole = compared(CompareService(), plan("a cat", lanes=(Lane("sssd"), Lane("prompt-lookup"))))
    done, running = whole.runs[0], whole.runs[1]
    half = replace(running.trace, rounds=running.trace.rounds[:2], finish_reason=None)
    progress = Progress("running", "", running.step, half, replace(whole, runs=(done,)))
    value = LanesDrawing().running(progress, 0, None)
    assert [lane["state"] for lane in value["lanes"]] == ["done", "running", "waiting"]
    assert [lane["told"] for lane in value["lanes"]] == ["", "", "waits for its turn"]
    assert [len(lane["answer"]["rounds"]) if lane["answer"] else 0 for lane in value["lanes"]] == [
        *(len(done.trace.rounds), 2, 0)
    ]
    assert value["now"] == "sssd is answering: answer 2 of 3."
    assert value["verdict"] == ""


def test_a_payload_is_written_once_and_only_grows():
    whole = compared(CompareService(), plan())
    drawing = LanesDrawing()
    trace = whole.runs[1].trace
    seen = []
    for count in range(1, len(trace.rounds)):
        part = replace(trace, rounds=trace.rounds[:count], finish_reason=None)
        value = drawing.running(Progress("running", "", whole.runs[1].step, part, replace(whole, runs=())), 0, None)
        seen.append(value["lanes"][1]["answer"]["rounds"])
    assert all(later[: len(earlier)] == earlier for earlier, later in zip(seen, seen[1:], strict=False))
    assert seen[-1][0] is seen[0][0]


def test_lanes_that_were_stopped_or_never_ran_say_so_and_stay_comparable():
    whole = compared(CompareService(), plan("a cat", lanes=(Lane("sssd"), Lane("rest"))))
    stopped = Progress("stopped", "", Step(0, 0, 2), None, replace(whole, runs=whole.runs[:2]))
    value = LanesDrawing().running(stopped, 0, (0, 0))
    assert [lane["state"] for lane in value["lanes"]] == ["done", "done", "none"]
    assert value["lanes"][2]["told"] == "was not measured"
    assert value["now"] == "Stopped after 2 of 3 answers."
    assert "finished first" in value["verdict"]


def test_a_recorded_comparison_says_where_and_when_it_was_made():
    whole = compared(CompareService(), plan("a", "b"))
    value = LanesDrawing().recorded(whole, (1, 0))
    assert value["phase"] == "recorded"
    assert re.search(r"Recorded on test bench, 2 threads · float32 · fake-1b, \d{4}-\d\d-\d\d .* UTC: 4", value["now"])
    assert value["asked"] == "Asked: “b”"


@pytest.mark.parametrize(
    ("phase", "ahead", "said"),
    [
        ("queued", 0, "About to begin"),
        ("queued", 1, "another visitor's measurement runs"),
        ("queued", 3, "3 measurements of other visitors come first"),
        ("warming", 0, "Warming up sssd"),
        ("waiting", 0, "until others have been answered"),
        ("ended", 0, "Finished: 2 answers"),
        ("failed", 0, "Ended after 2 of 2 answers: The reason."),
    ],
)
def test_every_phase_has_its_sentence(phase: Any, ahead: int, said: str):
    whole = compared(CompareService(), plan())
    assert said in told(Progress(phase, "The reason.", Step(0, 0, 1), None, whole), ahead)


def test_before_anything_ran_there_is_one_sentence_and_no_lane():
    assert nothing_yet()["lanes"] == []
    assert "press Run" in nothing_yet()["now"]


def test_the_race_is_won_by_seconds_and_not_told_where_answers_differ_in_length():
    base = plain()

    def verdict(other: Trace) -> str:
        return LanesDrawing().recorded(pair_of(base, other), (0, 0))["verdict"]

    seconds = Run(Step(0, 0, 0), base, 1, False).summary.seconds
    assert seconds is not None
    assert verdict(timed(base, 2.0)) == (
        f"sssd finished first, after {seconds / 2:.1f} s; autoregressive took {seconds:.1f} s."
    )
    assert "nothing was gained" in verdict(timed(base, 0.5))
    assert "differ in length" in verdict(replace(base, rounds=base.rounds[:-2]))


def test_every_finished_lane_says_what_guessing_did_for_it():
    lanes = LanesDrawing().recorded(pair_of(plain(), timed(make_trace("say", TEXT), 2.0)), (0, 0))["lanes"]
    assert "This is the yardstick" in lanes[0]["verdict"]
    assert re.search(r"^Faster here: \d.\d\d×\. \d+ of \d+ tokens .* were right guesses", lanes[1]["verdict"])
    silent = LanesDrawing().recorded(pair_of(plain(), replace(plain(), method="sssd")), (0, 0))["lanes"]
    assert "No match found" in silent[1]["verdict"]


def test_a_lane_knows_where_it_leaves_the_yardsticks_text_and_a_drawn_one_does_not_promise_to_keep_it():
    base, other = plain("The cat sat on the mat."), plain("The cat sat on cat mat.")
    shown = LanesDrawing().recorded(pair_of(base, other), (0, 0))["lanes"]
    assert [lane["differs"] for lane in shown] == [None, 4]
    assert [lane["differs"] for lane in LanesDrawing().recorded(pair_of(base, drawn(other)), (0, 0))["lanes"]] == [
        *(None, None)
    ]


def drawn(trace: Trace) -> Trace:
    """The same answer as if a draft model had drawn its guesses."""
    law: Law = "sampled"
    guessing = make_trace("say", TEXT)
    tree = max((round_.tree for round_ in guessing.rounds), key=len)
    rounds = (*trace.rounds[:-1], replace(trace.rounds[-1], tree=replace(tree, laws=(law,) * len(tree))))
    return replace(trace, rounds=rounds, token_bytes=trace.token_bytes | guessing.token_bytes)


# --- the table


def test_every_column_has_a_cell_in_every_row():
    value = results(compared(CompareService(), plan("a", "b", lanes=(Lane("sssd"), Lane("speculative")))))
    assert all(len(row["cells"]) == len(value["columns"]) for row in value["rows"])
    assert [row["plain"] for row in value["rows"]] == [True, False, False]
    assert [row["cells"][0][0] for row in value["rows"]] == ["autoregressive", "sssd", "speculative · chain"]


def test_numbers_are_those_of_the_comparison_and_quartiles_are_shown_where_there_are_some():
    base = plain()
    runs = [(Step(r, 0, lane), timed(base, 2.0 if lane else 1.0)) for r in range(3) for lane in range(2)]
    value = results(comparison(plan(repeats=3), runs))
    cells = dict(zip(value["columns"], value["rows"][1]["cells"], strict=True))
    assert cells["× plain"] == ["2.00×", "2.00 to 2.00"]
    assert cells["tokens / forward"][0] == "1.00"
    assert cells["guessed = accepted + rejected + ignored"] == ["–"]
    assert results(pair_of(base, base))["rows"][1]["cells"][2] == ["1.00×"]


def test_training_and_memory_are_told_and_what_is_not_known_is_not_claimed():
    whole = compared(CompareService(), plan(lanes=(Lane("sssd"), Lane("speculative"), Lane("new-one"))))
    costs = (
        Cost(False),
        Cost(False, (Memory("datastore", 1_500_000, "base"),)),
        Cost(True, (Memory("draft_model", 269_000_000, "small"), Memory("draft_cache", 23_040))),
        Cost(None),
    )
    value = results(replace(whole, costs=costs))
    assert [[cell[0] for cell in row["cells"][-2:]] for row in value["rows"]] == [
        ["no", "none"],
        ["no", "1.5 MB datastore base"],
        ["yes: a draft model", "269 MB draft model + 23 kB per token"],
        ["not stated", "not stated"],
    ]


@pytest.mark.parametrize(
    ("size", "text"),
    [(18, "18 B"), (2_400, "2.4 kB"), (23_040, "23 kB"), (1_549_000, "1.5 MB"), (3 * 10**9, "3.0 GB")],
)
def test_sizes_are_short(size: int, text: str):
    assert size_text(size) == text


# --- whether the texts are the same


def same(comparison: Comparison) -> dict[str, str]:
    return results(comparison)["same"]


def test_identical_texts_are_said_to_be():
    assert same(pair_of(plain(), plain())) == {
        "state": "same",
        "text": "Identical text: every method wrote plain decoding's answer, token for token (1 compared).",
    }


def test_a_difference_is_told_exactly_and_called_a_tie_only_where_rounding_can_be_one():
    base, other = plain("The cat sat on the mat."), plain("The cat sat on cat mat.")
    exact = same(pair_of(base, other))
    assert exact["state"] == "differs"
    assert (
        "sssd: first difference at token 5: “ cat” (0.8100) where plain decoding wrote “ the” (0.8100)"
        in (exact["text"])
    )
    assert "more than rounding explains" in exact["text"]
    rounded = same(pair_of(base, other, dtype="bfloat16"))
    assert rounded["state"] == "tie"
    assert "gap 0.0000: a near-tie that the rounding of bfloat16 decided" in rounded["text"]
    far = replace(other, rounds=tuple(replace(each, bonus_prob=0.3) for each in other.rounds))
    assert same(pair_of(base, far, dtype="bfloat16"))["state"] == "differs"
    assert "The same coin decided" in same(pair_of(base, far, dtype="bfloat16", temperature=0.7))["text"]


def test_an_answer_that_ended_sooner_is_no_tie():
    base = plain()
    told = same(pair_of(base, replace(base, rounds=base.rounds[:3]), dtype="bfloat16"))
    assert told["state"] == "differs"
    assert "end of the answer" in told["text"]


def test_drawn_guesses_promise_the_law_only():
    base = plain()
    told = same(pair_of(base, drawn(plain("The cat sat on cat mat."))))
    assert told["state"] == "law"
    assert "same law" in told["text"]


# --- sentences under the pictures


def test_speed_is_told_with_what_is_slower_and_how_much_one_answer_says():
    base = plain()
    lanes = (Lane("sssd"), Lane("rest"))
    runs = [(Step(0, 0, 0), base), (Step(0, 0, 1), timed(base, 1.5)), (Step(0, 0, 2), timed(base, 0.8))]
    told = results(comparison(plan(lanes=lanes), runs))["speed"]["verdict"]
    assert told == (
        "sssd was the fastest here: 1.50× plain decoding. Slower than plain decoding: rest (0.80×)."
        " One answer each: a few per cent may be chance; repeats tell."
    )
    runs = [(Step(0, 0, 0), base), (Step(0, 0, 1), timed(base, 1.01)), (Step(0, 0, 2), timed(base, 0.8))]
    assert "Nothing was clearly faster" in results(comparison(plan(lanes=lanes), runs))["speed"]["verdict"]


def test_the_most_tokens_per_forward_need_not_be_the_fastest():
    base, many = plain(), make_trace("say", TEXT, method="sssd")
    lanes = (Lane("sssd"), Lane("rest"))
    runs = [(Step(0, 0, 0), base), (Step(0, 0, 1), timed(many, 0.1)), (Step(0, 0, 2), timed(base, 2.0))]
    told = results(comparison(plan(lanes=lanes), runs))["forward"]["verdict"]
    assert "sssd got the most out of a forward" in told
    assert "not the fastest all the same" in told
    assert "No method got more" in results(pair_of(base, base))["forward"]["verdict"]


def test_acceptance_is_told_where_enough_was_guessed():
    assert "Nobody guessed" in results(pair_of(plain(), plain()))["places"]["verdict"]
    value = results(compared(CompareService(), plan("a", "b", "c")))["places"]
    assert re.search(r"Of sssd's guesses for the very next token \d+% were right, of those", value["verdict"])
    assert value["lanes"][0]["places"][0][0] >= value["lanes"][0]["places"][0][1]


def test_load_known_answers_and_questions_left_out_are_noted():
    service = CompareService()
    service.engine.busy = 2
    assert "Under load" in results(compared(service, plan()))["notes"][0]
    whole = compared(CompareService(), plan("a", "b", datastore="base"))
    noted = replace(whole, known=frozenset({0}), skipped={1: "The prompt has 5,000 tokens."})
    assert results(noted)["notes"] == [
        "The datastore base holds the answers to 1 of 2 questions already, so methods that draw from it look better"
        " here than on new text.",
        "1 questions were left out, for all methods alike: The prompt has 5,000 tokens.",
    ]
    assert results(whole)["notes"] == []


def test_forwards_that_compute_the_same_and_take_very_different_times_are_noted():
    base = plain()
    rounds = tuple(replace(each, verify_ms=each.verify_ms * (3 if each.index % 3 else 1)) for each in base.rounds)
    assert results(pair_of(replace(base, rounds=rounds), base))["notes"] == [
        "Unsteady: plain decoding's forwards took from 30 to 90 ms, though each computes the same. Something else was"
        " using this machine, so its times mean little."
    ]
    assert results(pair_of(base, replace(base, rounds=rounds)))["notes"] == []


def test_with_one_lane_only_there_is_nothing_to_draw():
    alone = comparison(plan(), [(Step(0, 0, 0), plain())])
    assert results_value(alone) is None
    assert results_value(cast(Comparison, SimpleNamespace(runs=(), plan=plan(), costs=()))) is None


# --- the controls, the words, the style sheet


def test_every_method_can_be_ticked_and_one_with_a_draft_model_once_for_each_rule():
    choices = lane_choices(["autoregressive", "sssd", "a-later-one", "speculative"])
    assert [label for label, _ in choices] == [
        *("autoregressive", "sssd", "a-later-one"),
        *(f"speculative · {rule}" for rule in ("chain", "block", "tree", "traversal")),
    ]
    assert [method_and_rule(value) for _, value in choices][-3:] == [
        *(("speculative", "block"), ("speculative", "tree"), ("speculative", "traversal"))
    ]


def test_what_is_ticked_at_first_goes_by_whether_there_is_a_draft_model():
    assert first_lanes(["autoregressive", "sssd", "rest"]) == ["autoregressive", "sssd"]
    assert first_lanes(["autoregressive", "sssd", "speculative"])[-1] == "speculative/chain"


def test_every_colour_of_the_tabs_style_sheet_is_in_the_palette():
    used = set(re.findall(r"var\(--c-([a-z-]+)\)", (STATIC / "compare.css").read_text()))
    assert used <= set(COLOURS)
