"""Verdicts follow the numbers, whichever way they went."""

from sssd_demo.experiments.phrases import compared, listed, moved


def test_a_figure_rises_falls_or_stays():
    assert moved(1.5, 2) == "rose from 1.50 to 2.00"
    assert moved(2, 1.5) == "fell from 2.00 to 1.50"
    assert moved(1.5, 1.501) == "stayed at 1.50"


def test_a_figure_is_more_less_or_as_much():
    assert compared(1.35, 1) == "35 % more than"
    assert compared(0.9, 1) == "10 % less than"
    assert compared(1, 1.001) == "as much as"
    assert compared(0.5, 0) == "more (0.50 against 0.00) than"
    assert compared(0, 0) == "as much as"


def test_a_list_reads_like_a_sentence():
    assert [listed([*"abc"[:n]]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
