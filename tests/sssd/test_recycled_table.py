"""The memory in a store's file: the same answers as the one it was made from."""

import random

import numpy as np
import pytest

from sssd_demo.sssd import datastore
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.recycled import Recycled
from sssd_demo.sssd.recycled_table import RecycledTable
from sssd_demo.trace import Top


def top_of(found):
    assert found is not None
    return found


def test_every_place_is_found_and_no_other():
    rng, recycled = random.Random(0), Recycled()
    for _ in range(50):
        tokens = [rng.randrange(300) for _ in range(20)]
        recycled.learn(tokens, [Top((rng.randrange(300), 300), (0.6, 0.3)) for _ in range(12)])
    known = recycled.most_seen(len(recycled))
    table = RecycledTable.build(known.items(), np.dtype(np.uint16))
    assert len(table) == len(known)
    assert dict(table.items()).keys() == known.keys()
    for key in [*known, *((rng.randrange(300), rng.randrange(300)) for _ in range(200)), (299,), (0,)]:
        found = table.after(key)
        if key not in known:
            assert found is None
            continue
        assert found is not None
        assert found.tokens == known[key].tokens[: len(found.tokens)]
        assert found.probs == pytest.approx(known[key].probs[: len(found.probs)], abs=0.002)
        assert all(probability < 0.003 for probability in known[key].probs[len(found.probs) :])


def test_one_token_and_two_are_different_places():
    table = RecycledTable.build([((0,), Top((1,), (1.0,))), ((0, 0), Top((2,), (1.0,)))], np.dtype(np.uint16))
    assert top_of(table.after((0,))).tokens == (1,)
    assert top_of(table.after((0, 0))).tokens == (2,)


def test_a_store_that_learns_more_replaces_what_it_knew_of_the_same_places():
    def learnt(token):
        recycled = Recycled()
        recycled.learn([1, 2, token], [Top((token,), (0.8,))])
        return recycled

    store = Datastore.build([[1, 2]], fingerprint="f", vocab_size=100).with_recycled(learnt(7))
    more = store.with_recycled(learnt(9))
    assert top_of(more.recalled((1, 2))).tokens == (9,)
    assert top_of(store.recalled((1, 2))).tokens == (7,)
    assert store.with_recycled(Recycled()) is store


def test_a_store_keeps_the_places_seen_most_often_and_then_those_it_knew_before(monkeypatch):
    monkeypatch.setattr(datastore, "MOST_KEPT", 2)

    def learnt(*texts):
        recycled = Recycled(most_places=None)
        for text in texts:
            recycled.learn(text, [Top((text[-1],), (0.8,))])
        return recycled

    store = Datastore.build([[1, 2]], fingerprint="f", vocab_size=100)
    before = store.with_recycled(learnt([1, 5], [2, 6], [3, 7], [2, 6], [3, 7]))
    assert before.recycled is not None
    assert [key for key, _ in before.recycled.items()] == [(2,), (3,)]
    after = before.with_recycled(learnt([3, 9]))
    assert after.recycled is not None
    assert [(key, top.tokens) for key, top in after.recycled.items()] == [((2,), (6,)), ((3,), (9,))]
