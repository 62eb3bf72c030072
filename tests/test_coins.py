"""Coins are uniform, and no stream knows of another, though all have the same seed."""

from itertools import combinations, product

import pytest

from sssd_demo.coins import Coins, draft_coin
from tests.proofs.chi_square import chi_square
from tests.proofs.worlds import Text

STREAMS = {
    "position": lambda seed, at: Coins(seed).position(at),
    "residual": lambda seed, at: Coins(seed).residual(at),
    "accept": lambda seed, at: Coins(seed).accept(at, 0),
    "accept of the next node": lambda seed, at: Coins(seed).accept(at, 1),
    "accept of the next round": lambda seed, at: Coins(seed).accept(at + 1, 0),
    "accept with the next seed": lambda seed, at: Coins(seed + 1).accept(at, 0),
    "draft": lambda seed, at: draft_coin(seed, at, 0),
    "draft of the next node": lambda seed, at: draft_coin(seed, at, 1),
    "draft of the next round": lambda seed, at: draft_coin(seed, at + 1, 0),
}
TOSSES = 8000
ACCIDENT = 1e-6  # p-values below this are none: all seeds are fixed


def cells(streams, parts, *, over_seeds):
    """How well the tuples of coins of some streams fill a grid of `parts` cells each way evenly: a p-value."""
    counts: dict[Text, int] = {}
    for toss in range(TOSSES):
        seed, at = (toss, 5) if over_seeds else (7, toss)
        cell = tuple(int(parts * stream(seed, at)) for stream in streams)
        counts[cell] = counts.get(cell, 0) + 1
    even: dict[Text, float] = dict.fromkeys(product(range(parts), repeat=len(streams)), parts ** -len(streams))
    return chi_square(counts, even).p_value


@pytest.mark.parametrize("over_seeds", [False, True], ids=["one answer", "many seeds"])
@pytest.mark.parametrize("stream", STREAMS)
def test_coins_are_uniform(stream, over_seeds):
    assert cells([STREAMS[stream]], 50, over_seeds=over_seeds) > ACCIDENT


@pytest.mark.parametrize("over_seeds", [False, True], ids=["one answer", "many seeds"])
def test_any_two_streams_are_independent(over_seeds):
    for one, other in combinations(STREAMS, 2):
        assert cells([STREAMS[one], STREAMS[other]], 7, over_seeds=over_seeds) > ACCIDENT, (one, other)


def test_streams_that_hang_together_would_be_seen():
    def shifted(seed: int, at: int) -> float:
        return (Coins(seed).position(at) / 8 + Coins(seed).accept(at, 0)) % 1

    assert cells([shifted], 50, over_seeds=False) > ACCIDENT
    assert cells([shifted, STREAMS["accept"]], 7, over_seeds=False) < ACCIDENT


def test_a_coin_depends_on_nothing_but_its_seed_and_its_purpose():
    assert Coins(3).accept(10, 2) == Coins(3).accept(10, 2)
    coins = [
        coin
        for seed in range(10)
        for at in range(30)
        for coin in (
            Coins(seed).position(at),
            Coins(seed).residual(at),
            *(Coins(seed).accept(at, node) for node in range(20)),
            *(draft_coin(seed, at, node) for node in range(20)),
        )
    ]
    assert len(set(coins)) == len(coins) == 10 * 30 * 42


def test_the_largest_coin_times_any_mass_is_below_that_mass():
    largest = 1 - 2**-52
    assert all(largest * mass < mass for mass in (1e-300, 1e-9, 0.1, 1 / 3, 1 - 2**-53, 1.0, 1.0000001, 3.7))
    assert all(0 <= STREAMS[stream](1, at) <= largest for stream in STREAMS for at in range(500))
