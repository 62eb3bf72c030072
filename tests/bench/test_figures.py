"""From samples to figures."""

from dataclasses import replace

import pytest

from sssd_demo.bench.figures import Sample, report, spread
from sssd_demo.bench.lanes import Reply
from sssd_demo.questions import Question
from tests.bench.fakes import reply

HARD = Question("1", "qa", ("?",))
EASY = Question("2", "writing", ("?",))


def sample(lane: str, question: Question, answer: Reply, repeat: int = 0) -> Sample:
    return Sample(lane, question, 0, repeat, answer)


def test_spread_of_what_there_is():
    assert spread([4, None, 1, 2, 3, 5]) == {"mean": 3, "median": 3, "p25": 2, "p75": 4}
    assert spread([7.0]) == {"mean": 7.0, "median": 7.0, "p25": 7.0, "p75": 7.0}
    assert spread([None]) is None


def test_speed_ups_are_ratios_of_pairs_not_of_medians():
    samples = [
        *(sample("autoregressive", HARD, reply("abc", rate), n) for n, rate in enumerate([1.0, 10.0, 100.0])),
        *(sample("sssd", HARD, reply("abc", rate), n) for n, rate in enumerate([3.0, 20.0, 110.0])),
    ]
    overall = report(samples, ["sssd"])["sssd"]["overall"]
    assert overall["speedup_vs_autoregressive"]["median"] == 2.0
    assert overall["tokens_per_second"]["median"] == 20.0


def test_an_answer_too_short_to_time_has_no_ratio():
    samples = [sample("autoregressive", HARD, reply("a", None)), sample("sssd", HARD, reply("a", None))]
    overall = report(samples, ["sssd"])["sssd"]["overall"]
    assert overall["speedup_vs_autoregressive"] is None
    assert overall["answers"] == 1


def test_categories_are_groups():
    samples = [
        *(sample("autoregressive", question, reply("abc", 1.0)) for question in (HARD, EASY)),
        *(sample("sssd", question, reply("abc", rate)) for question, rate in ((HARD, 1.5), (EASY, 3.0))),
    ]
    categories = report(samples, ["sssd"])["sssd"]["categories"]
    assert list(categories) == ["qa", "mt_bench"]
    assert categories["mt_bench"]["speedup_vs_autoregressive"]["median"] == 3.0


@pytest.mark.parametrize(("text", "position"), [("abX", 2), ("ab", 2), ("abcd", 3), ("Xbc", 0)])
def test_a_text_that_differs_is_named_with_the_first_difference(text: str, position: int):
    samples = [sample("autoregressive", HARD, reply("abc")), sample("sssd", HARD, reply(text))]
    overall = report(samples, ["sssd"])["sssd"]["overall"]
    assert overall["identical_to_autoregressive"] is False
    [difference] = overall["differences"]
    assert (difference["question_id"], difference["turn"], difference["repeat"]) == ("1", 0, 0)
    assert difference["position"] == position


def test_a_difference_says_how_likely_both_tokens_were():
    ours, theirs = replace(reply("abX"), probs=(0.9, 0.8, 0.31)), replace(reply("abc"), probs=(0.9, 0.8, 0.32))
    samples = [sample("autoregressive", HARD, theirs), sample("sssd", HARD, ours)]
    [difference] = report(samples, ["sssd"])["sssd"]["overall"]["differences"]
    assert (difference["probability"], difference["probability_autoregressive"]) == (0.31, 0.32)


def test_equal_texts_are_identical():
    samples = [sample("autoregressive", HARD, reply("abc")), sample("sssd", HARD, reply("abc"))]
    assert report(samples, ["sssd"])["sssd"]["overall"]["identical_to_autoregressive"] is True
