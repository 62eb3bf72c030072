"""Whether drafting is left alone where it loses, and taken up again where it wins."""

import pytest

from sssd_demo.pauses import COMPARED, LONGEST, SHORTEST, STALE, Pauses

PLAIN = 0.1  # seconds of a round without drafts


def play(pauses, batch, rounds, *, tokens, seconds):
    """Which of so many rounds drafted, where a draft brings `tokens` a round in `seconds`."""
    drafted = []
    for _ in range(rounds):
        drafts = not pauses.pausing(batch)
        drafted.append(drafts)
        pauses.observe(batch, drafted=drafts, tokens=tokens if drafts else batch, seconds=seconds if drafts else PLAIN)
    return drafted


def lengths(drafted, kind):
    """Of the runs of rounds of one kind."""
    runs, count = [], 0
    for each in [*drafted, not kind]:
        if each == kind:
            count += 1
        elif count:
            runs.append(count)
            count = 0
    return runs


@pytest.mark.parametrize("batch", [1, 4, 16])
def test_drafts_that_cost_more_than_they_bring_are_left_out_longer_and_longer(batch):
    drafted = play(Pauses(), batch, 500, tokens=batch, seconds=1.2 * PLAIN)
    assert lengths(drafted, kind=False)[:5] == [COMPARED, SHORTEST, 2 * SHORTEST, 4 * SHORTEST, LONGEST]
    assert set(lengths(drafted, kind=True)) <= {max(1, -(-12 // batch))}, "and each trial is short"


def test_drafts_that_pay_stay_though_they_bring_little():
    drafted = play(Pauses(), 2, 300, tokens=2.4, seconds=1.1 * PLAIN)
    assert lengths(drafted, kind=False) == [COMPARED] * len(lengths(drafted, kind=False))
    assert len(lengths(drafted, kind=False)) <= 1 + 300 // STALE


def test_drafts_that_bring_much_are_not_doubted_and_cost_no_round_to_compare_with():
    assert all(play(Pauses(), 1, 300, tokens=2, seconds=5 * PLAIN))


def test_a_text_that_becomes_easy_is_drafted_for_again_after_at_most_one_pause():
    pauses = Pauses()
    play(pauses, 4, 400, tokens=4, seconds=1.2 * PLAIN)
    assert sum(play(pauses, 4, 2 * LONGEST, tokens=8, seconds=1.2 * PLAIN)) >= LONGEST


def test_batches_of_another_size_are_judged_apart():
    pauses = Pauses()
    play(pauses, 16, 100, tokens=16, seconds=1.2 * PLAIN)
    assert all(play(pauses, 2, 5, tokens=2, seconds=1.2 * PLAIN))


def test_rounds_in_which_no_method_had_a_guess_are_those_to_compare_with():
    pauses = Pauses()
    for _ in range(COMPARED):
        pauses.observe(1, drafted=False, tokens=1, seconds=PLAIN)
    drafted = play(pauses, 1, 40, tokens=1, seconds=1.2 * PLAIN)
    assert lengths(drafted, kind=False)[0] == SHORTEST
