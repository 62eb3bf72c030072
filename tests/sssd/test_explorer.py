"""What the explorer counts, against a scan of the documents."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from sssd_demo.sssd import explorer
from sssd_demo.sssd.constants import FAITHFUL
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.explorer import explore
from sssd_demo.trace import ROOT

DOCUMENTS = [[1, 2, 3, 4], [9, 1, 2, 3, 5], [2, 3], [300, 2, 3, 4, 7]]


def store(documents=DOCUMENTS, max_tokens: int = 2**20) -> Datastore:
    return Datastore.build(documents, fingerprint="toy", vocab_size=1000, max_tokens=max_tokens)


def scan(documents, query):
    """(document, position) of every occurrence."""
    return [
        (number, at)
        for number, document in enumerate(documents)
        for at in range(len(document) - len(query) + 1)
        if document[at : at + len(query)] == list(query)
    ]


def test_every_length_says_how_often_it_occurs_and_what_followed():
    found = explore(store().sub_indices, [8, 1, 2, 3], settings=FAITHFUL)
    assert [(match.length, match.count) for match in found.matches] == [(4, 0), (3, 2), (2, 4), (1, 4)]
    assert found.longest is not None
    assert {(f.token, f.count) for f in found.longest.followers} == {(4, 1), (5, 1)}
    shortest = found.matches[-1]
    assert [(f.token, f.count) for f in shortest.followers] == [(4, 2), (5, 1)]
    assert shortest.ended == 1


@pytest.mark.parametrize("max_tokens", [8, 40, 10_000])
def test_counts_and_followers_are_those_of_a_plain_scan_whatever_the_sub_indices(max_tokens: int):
    rng = random.Random(max_tokens)
    documents = [[rng.randrange(4) for _ in range(rng.randrange(1, 8))] for _ in range(60)]
    sub_indices = store(documents, max_tokens).sub_indices
    for _ in range(50):
        query = [rng.randrange(4) for _ in range(rng.randrange(1, 5))]
        for match in explore(sub_indices, query).matches:
            tail = query[len(query) - match.length :]
            places = scan(documents, tail)
            follows = [documents[d][at + len(tail)] for d, at in places if at + len(tail) < len(documents[d])]
            assert match.count == sum(match.per_sub_index) == len(places)
            assert {f.token: f.count for f in match.followers} == Counter(follows)
            assert match.ended == len(places) - len(follows)


def test_a_place_names_document_and_position_and_shows_its_document_only():
    found = explore(store().sub_indices, [2, 3])
    places = sorted(found.matches[0].places, key=lambda place: place.document)
    assert [(place.document, place.position) for place in places] == scan(DOCUMENTS, [2, 3])
    assert [place.before for place in places] == [(1,), (9, 1), (), (300,)]
    assert [place.after for place in places] == [(4,), (5,), (), (4, 7)]


def test_places_are_few_and_from_all_sub_indices():
    sub_indices = store([[1, 2]] * 40, max_tokens=30).sub_indices
    places = explore(sub_indices, [1]).matches[0].places
    assert len(places) == explorer.MOST_PLACES
    assert {place.sub_index for place in places} == set(range(len(sub_indices)))


def test_of_very_many_occurrences_evenly_spaced_ones_are_looked_at(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(explorer, "MOST_COUNTED", 10)
    match = explore(store([[1, 2], [1, 3]] * 50).sub_indices, [1]).matches[0]
    assert (match.count, match.looked_at) == (100, 10)
    assert [(f.token, f.count) for f in match.followers] == [(2, 5), (3, 5)]


def test_the_trie_holds_the_samples_most_frequent_first():
    found = explore(store([[1, 2, 3]] * 3 + [[1, 4]]).sub_indices, [1])
    assert found.samples == 4
    assert [(branch.token, branch.count, branch.parent) for branch in found.branches] == [
        (2, 3, ROOT),
        (3, 3, 0),
        (4, 1, ROOT),
    ]


def test_the_trie_is_bounded():
    rng = random.Random(1)
    documents = [[1, *(rng.randrange(2, 50) for _ in range(9))] for _ in range(300)]
    branches = explore(store(documents).sub_indices, [1]).branches
    assert len(branches) == explorer.MOST_BRANCHES
    assert all(branch.parent < place for place, branch in enumerate(branches))


def test_only_the_last_tokens_are_looked_up():
    found = explore(store().sub_indices, [5, 5, 5, 9, 1, 2, 3], settings=FAITHFUL)
    assert found.query == (9, 1, 2, 3)
    assert len(found.matches) == FAITHFUL.longest_match


@pytest.mark.parametrize("ids", [[], [77], [65535]])
def test_nothing_found_is_an_answer_too(ids):
    found = explore(store().sub_indices, ids)
    assert found.longest is None
    assert found.branches == ()
    assert explore((), ids).longest is None


def test_it_is_said_which_lengths_the_samples_of_the_trie_are_from():
    few = explore(store().sub_indices, [8, 1, 2, 3])
    assert few.sampled_lengths == (3, 2, 1)
    many = explore(store([[1, 2, 3]] * 100).sub_indices, [1, 2])
    assert many.sampled_lengths == (2,)
