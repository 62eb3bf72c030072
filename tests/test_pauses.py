"""Whether drafting is left alone where it loses, and taken up again where it wins."""

import pytest

from sssd_demo.pauses import COMPARED, LONGEST, SHORTEST, STALE, Pauses

PLAIN = 0.1  # seconds of a round without drafts
COSTLY = 1.2 * PLAIN


def play(pauses, batch, rounds, *, tokens, seconds, method="sssd", new=0):
    """Which of so many rounds drafted, where a draft brings `tokens` a round in `seconds`; `new` joined at first."""
    methods, drafted = [method] * batch, []
    for _ in range(rounds):
        drafts = not pauses.pausing(methods, new)
        new = 0
        drafted.append(drafts)
        figures = {"tokens": tokens, "seconds": seconds} if drafts else {"tokens": batch, "seconds": PLAIN}
        pauses.observe(methods, drafted=drafts, **figures)
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
    drafted = play(Pauses(), batch, 500, tokens=batch, seconds=COSTLY)
    assert lengths(drafted, kind=False)[:5] == [COMPARED, SHORTEST, 2 * SHORTEST, 4 * SHORTEST, LONGEST]
    assert set(lengths(drafted, kind=True)) <= {-(-12 // batch)}, "and each trial is short"


def test_drafts_that_pay_stay_though_they_bring_little():
    pauses = lengths(play(Pauses(), 2, 300, tokens=2.4, seconds=1.1 * PLAIN), kind=False)
    assert pauses == [COMPARED] * len(pauses)
    assert len(pauses) <= 1 + 300 // STALE


def test_drafts_that_bring_much_are_not_doubted_and_cost_no_round_to_compare_with():
    assert all(play(Pauses(), 1, 300, tokens=2, seconds=5 * PLAIN))


def test_a_text_that_becomes_easy_is_drafted_for_again_after_at_most_one_pause():
    pauses = Pauses()
    play(pauses, 4, 400, tokens=4, seconds=COSTLY)
    assert sum(play(pauses, 4, 2 * LONGEST, tokens=8, seconds=COSTLY)) >= LONGEST


def test_batches_of_another_size_or_method_are_judged_apart():
    pauses = Pauses()
    play(pauses, 16, 100, tokens=16, seconds=COSTLY)
    assert all(play(pauses, 2, 5, tokens=2, seconds=COSTLY))
    assert play(pauses, 16, 1, tokens=16, seconds=COSTLY, method="rest") == [True]


@pytest.mark.parametrize(("batch", "new", "left"), [(1, 1, 0), (2, 1, 4), (16, 1, 7), (16, 16, 0)])
def test_newcomers_shorten_a_pause_by_their_share_of_the_batch(batch, new, left):
    pauses, trial = Pauses(), -(-12 // batch)
    play(pauses, batch, trial + COMPARED + trial, tokens=batch, seconds=COSTLY)  # a pause of the shortest comes next
    assert SHORTEST == 8
    assert play(pauses, batch, 20, tokens=batch, seconds=COSTLY, new=new).index(True) == left


def test_rounds_in_which_no_method_had_a_guess_are_those_to_compare_with():
    pauses = Pauses()
    for _ in range(COMPARED):
        pauses.observe(["sssd"], drafted=False, tokens=1, seconds=PLAIN)
    assert lengths(play(pauses, 1, 40, tokens=1, seconds=COSTLY), kind=False)[0] == SHORTEST
