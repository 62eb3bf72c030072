import re
from dataclasses import replace

import pytest

from sssd_demo.metrics import summarise
from sssd_demo.roofline import Profile
from sssd_demo.trace import Trace
from sssd_demo.ui.figures import Yardstick, figures
from tests.ui.fakes import make_trace

PLAIN = Yardstick(30.0, "14:02")
COPIED = make_trace("say it twice", "the cat sat on the mat. the cat sat on the mat. the cat sat on the mat.")


def test_the_live_figure_ends_at_the_final_one_and_is_never_zero_in_between():
    for count in range(2, len(COPIED.rounds) + 1):
        part = replace(COPIED, rounds=COPIED.rounds[:count], finish_reason=None)
        shown = float(figures(part, PLAIN)["main"][1][0])
        tokens = sum(len(round_.committed) for round_ in part.rounds[1:])
        seconds = (part.rounds[-1].end_ms - part.rounds[0].end_ms) / 1000
        assert shown == pytest.approx(tokens / seconds, abs=0.05)
    assert shown == pytest.approx(summarise(COPIED).tokens_per_second, abs=0.05)


def test_figures_that_are_not_there_yet_are_dashes():
    begun = replace(COPIED, rounds=COPIED.rounds[:1], finish_reason=None)
    assert [number for number, _ in figures(begun, None)["main"]] == ["–", "–", "–"]
    assert figures(begun, PLAIN)["verdict"] == ""


def test_the_baseline_says_when_it_was_measured():
    assert "30.0 tokens per second, measured 14:02" in figures(COPIED, PLAIN)["main"][2][1]
    assert "not measured yet" in figures(COPIED, None)["main"][2][1]


def verdict(trace: Trace, speed: float = 30.0) -> str:
    return figures(trace, Yardstick(speed, "14:02"))["verdict"]


def test_the_verdict_is_honest():
    assert "Faster here: 2" in verdict(COPIED)
    assert "Slower here: 0." in verdict(COPIED, speed=200.0)
    assert "right guesses" in verdict(COPIED)
    assert "the answer itself" in verdict(COPIED)
    assert "Speculation off" in verdict(make_trace("q", "some words here", method="autoregressive"))
    assert "No match found" in verdict(make_trace("q", "a b c d e f"))
    assert "switched itself off" in verdict(make_trace("q", "a b c d e f", s_q=1))
    assert "None of" in verdict(make_trace("a b a c", "a d"))
    assert verdict(replace(COPIED, finish_reason="cancelled")).startswith("Stopped after")
    assert "Too short" in verdict(make_trace("q", ""))


def test_a_slow_answer_is_not_blamed_on_its_guesses():
    told = verdict(COPIED, speed=200.0)
    assert "tokens per forward" in told
    assert "busier" not in told
    assert "cost" not in told


def test_a_busy_machine_is_named_only_where_the_forwards_took_longer_than_their_tokens_explain():
    def told(drafted_ms: float, plain_ms: float) -> str:
        """By the profile a forward of guesses takes five times as long as one of one token, which took 17 ms."""
        curve = {(1, length, 64): 0.03 * (5 if length > 1 else 1) for length in (1, 2, 8)}
        rounds = (replace(each, verify_ms=drafted_ms if len(each.tree) else plain_ms) for each in COPIED.rounds)
        trace = replace(COPIED, rounds=(*rounds,))
        return figures(trace, Yardstick(60.0, "14:02", Profile(curve)))["verdict"]

    assert "busier" not in told(drafted_ms=5 * 17, plain_ms=17)
    assert "busier than when plain decoding was measured (14:02)" in told(drafted_ms=10 * 17, plain_ms=2 * 17)


def test_the_counts_add_up():
    counts = figures(COPIED, PLAIN)["counts"]
    summary = summarise(COPIED)
    assert summary.drafted == summary.accepted + summary.rejected + summary.ignored
    assert f"guessed {summary.drafted} = accepted {summary.accepted}" in counts


def test_guesses_that_may_not_be_shown_are_counted_apart():
    rounds = tuple(round_.withholding("output") for round_ in COPIED.rounds)
    n = sum(round_.withheld for round_ in rounds)
    assert figures(replace(COPIED, rounds=rounds), PLAIN)["counts"].endswith(f"+ not shown {n}")


def test_the_counts_are_the_division_that_gives_tokens_per_forward():
    shown = figures(COPIED, PLAIN)
    tokens, forwards = re.findall(r"(\d+) tokens ÷ (\d+) forwards", shown["counts"])[0]
    assert f"{int(tokens) / int(forwards):.2f}" == shown["main"][0][0]
    begun = replace(COPIED, rounds=COPIED.rounds[:1], finish_reason=None)
    assert figures(begun, None)["counts"] == "first token after 90 ms"


def test_figures_of_a_recorded_answer_say_so():
    assert figures(COPIED, None, recorded=True)["recorded"]
    assert not figures(COPIED, PLAIN)["recorded"]
