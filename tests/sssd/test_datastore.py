"""The datastore finds exactly what a scan finds, for all ids and kinds of array, and never crosses a document's end."""

import math
import random
import tracemalloc

import numpy as np
import pytest
from numpy.typing import NDArray

from sssd_demo.sssd import sub_index as sub_index_module
from sssd_demo.sssd.datastore import Datastore, sample, token_dtype
from sssd_demo.sssd.sub_index import SubIndex, cut, joined
from sssd_demo.sssd.suffix_array import suffix_array

VOCABULARY = 49152


def build(documents, vocab_size=VOCABULARY, **limits):
    return Datastore.build(documents, fingerprint="f", vocab_size=vocab_size, **limits)


def sub_lists(documents, longest=4):
    return {
        tuple(document[i : i + n])
        for document in map(list, documents)
        for n in range(1, longest + 1)
        for i in range(len(document) - n + 1)
    }


def scan(documents, query):
    """How often `query` stands in `documents`, counted one place after another."""
    n = len(query)
    return sum(tuple(d[i : i + n]) == tuple(query) for d in map(list, documents) for i in range(len(d) - n + 1))


def test_ids_whose_bytes_look_alike_are_told_apart():
    documents = [[257, 257], [1, 257, 1], [256, 1, 0, 1], [49151, 1]]
    store = build(documents)
    for query in sub_lists(documents) | {(257, 1, 257), (1, 1), (0,), (256,), (0, 1, 256), (1, 0), (48, 0)}:
        assert store.count(query) == scan(documents, query), query
    assert store.count([1]) == 5
    assert store.count([257, 257, 1]) == 0  # the end of one document and the start of the next


@pytest.mark.parametrize("vocab_size", [200, 300, 49152, 65535, 65536, 151_936, 2**31])
def test_counts_equal_a_scan_for_big_random_ids_of_every_type_and_layout(vocab_size):
    rng = np.random.default_rng(vocab_size)
    # Few distinct ids, spread over the whole vocabulary and differing in single bytes, so that queries repeat.
    ids = rng.integers(0, vocab_size, 6)
    ids = np.unique([*ids, *(ids ^ 1), *(ids ^ 256), *(ids >> 8), vocab_size - 1, 0]).clip(0, vocab_size - 1)
    drawn = rng.choice(ids, 240)
    arrays: list[NDArray] = [
        drawn[:60].astype(np.int32 if vocab_size < 2**31 else np.uint32),
        drawn[60:120].astype(np.int64)[::-1],
        drawn[:120].astype(np.uint64)[::2],
        drawn[120:180].astype(">i8"),
        np.asfortranarray(drawn[180:].reshape(12, 5))[:, 2],
    ]
    documents = [array.tolist() for array in arrays]
    store = build(arrays, vocab_size)
    queries = sub_lists(documents)
    for query in queries | {(*query[:-1], int(rng.choice(ids))) for query in queries}:
        assert store.count(query) == scan(documents, query), query


def test_the_suffix_array_is_in_the_order_of_ids_whatever_the_layout():
    rng = np.random.default_rng(0)
    drawn = rng.choice([0, 1, 255, 256, 257, 65280, 65535], 100)
    for whole in (drawn.astype(np.uint16), drawn.astype(np.uint32)):
        for tokens in (whole, whole[::-1], whole[::2], whole[5:6], whole[:0], np.zeros_like(whole)):
            suffixes = [tokens[i:].tolist() for i in range(len(tokens))]
            assert suffix_array(tokens).tolist() == sorted(range(len(tokens)), key=suffixes.__getitem__)


def test_the_separator_can_be_neither_stored_nor_found():
    store = build([[65534, 3]], vocab_size=65535)
    assert store.dtype == np.uint16
    assert store.count([65535]) == 0
    assert store.count([3, 65535]) == 0
    with pytest.raises(ValueError, match="from 0 to 65534"):
        SubIndex.build([[65535]], np.dtype(np.uint16))
    assert token_dtype(65535) == np.uint16
    assert token_dtype(65536) == np.uint32


@pytest.mark.parametrize("bad", [[-1], [VOCABULARY], [3, 2**40], [1.5]])
def test_ids_that_are_no_tokens_are_refused(bad):
    with pytest.raises(ValueError, match="whole numbers from 0 to 49151"):
        build([[1, 2], bad])


def test_a_continuation_ends_with_its_document_and_would_go_on_without_the_border():
    apart, joined = build([[1, 2, 3], [4, 5]]), build([[1, 2, 3, 4, 5]])
    assert sample(apart.sub_indices, [2], 10, 6) == [[3]]
    assert sample(joined.sub_indices, [2], 10, 6) == [[3, 4, 5]]
    assert (apart.count([3, 4]), joined.count([3, 4])) == (0, 1)
    assert sample(apart.sub_indices, [5], 10, 6) == [[]]  # the end of all: nothing follows, nothing is read beyond it


def test_a_text_cut_into_sub_indices_gives_the_samples_of_one():
    rng = random.Random(1)
    documents = [[rng.randrange(4) for _ in range(rng.randint(1, 30))] for _ in range(40)]
    whole, cut = build(documents), build(documents, max_tokens=64)
    assert len(cut.sub_indices) > 5
    assert all(len(sub_index.tokens) <= 64 for sub_index in cut.sub_indices)
    assert (whole.tokens, whole.documents) == (cut.tokens, cut.documents)
    for query in sub_lists(documents, longest=3):
        assert whole.count(query) == cut.count(query)
        everything = [sorted(sample(store.sub_indices, query, 10**6, 5)) for store in (whole, cut)]
        assert everything[0] == everything[1]
        assert len(sample(cut.sub_indices, query, 7, 5)) == min(7, cut.count(query))


def test_samples_are_spread_evenly_and_each_sub_index_has_its_share():
    store = build([[1, n] for n in range(100, 500)], max_tokens=900)  # 300 documents in one, 100 in the other
    assert [len(sub_index.find([1])) for sub_index in store.sub_indices] == [300, 100]
    followers = [run[0] for run in sample(store.sub_indices, [1], 40, 1)]
    assert followers == list(range(100, 500, 10))


def test_a_document_longer_than_a_sub_index_is_cut():
    store = build([[7] * 25], max_tokens=11)
    assert [len(sub_index.tokens) for sub_index in store.sub_indices] == [11, 11, 6]
    assert store.tokens == 25


def test_a_store_of_nothing_finds_nothing():
    store = build([])
    assert (store.tokens, store.documents, store.count([1])) == (0, 0, 0)
    assert sample(store.sub_indices, [1], 100, 5) == []
    assert build([[]]).documents == 0


class Counted:
    """A sequence that counts how often it is read."""

    def __init__(self, items):
        self.items = items
        self.reads = 0

    def __len__(self):
        return len(self.items)

    def __getitem__(self, place):
        self.reads += 1
        return self.items[place]


@pytest.mark.parametrize("kind", ["one token", "a cycle", "random"])
def test_finding_takes_a_logarithmic_number_of_reads(kind):
    length = 40_000
    text = {
        "one token": lambda: [7] * length,
        "a cycle": lambda: [n % 3 for n in range(length)],
        "random": lambda: np.random.default_rng(0).integers(0, 50, length).tolist(),
    }[kind]()
    (sub_index,) = build([text]).sub_indices
    sub_index._tokens = reads = Counted(sub_index._tokens)
    query = text[100:104]
    assert len(sub_index.find(query)) > 0
    assert reads.reads <= 2 * len(query) * (math.log2(length) + 2)


@pytest.mark.parametrize(("dtype", "bytes_per_token"), [(np.uint16, 16), (np.uint32, 28)])
def test_sorting_takes_no_more_memory_than_it_says(dtype, bytes_per_token):
    tokens = np.random.default_rng(0).integers(0, VOCABULARY, 200_000).astype(dtype)
    tracemalloc.start()
    suffix_array(tokens)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.9 < peak / (bytes_per_token * len(tokens)) < 1.1


def test_added_documents_fill_up_the_last_sub_index_and_then_new_ones():
    first = build([[1] * 4, [2] * 4, [3] * 4], max_tokens=10)
    assert [len(sub_index.tokens) for sub_index in first.sub_indices] == [10, 5]
    more = first.with_documents([[4] * 4, [5] * 4], vocab_size=VOCABULARY)
    assert [[text[0] for text in sub_index.texts()] for sub_index in more.sub_indices] == [[1, 2], [3, 4], [5]]
    assert more.sub_indices[0] is first.sub_indices[0], "a full one is not built again"
    assert [more.count([token]) for token in range(1, 6)] == [4] * 5
    assert first.count([4]) == 0


def test_texts_are_the_documents_without_separators():
    documents = [[1, 2], [3], [4, 5, 6]]
    (sub_index,) = build(documents).sub_indices
    assert [text.tolist() for text in sub_index.texts()] == documents
    assert SubIndex.build([], np.dtype(np.uint16)).texts() == []


@pytest.mark.parametrize(
    ("capacity", "runs"), [(100, [[1, 2, 3]]), (6, [[1, 2], [3]]), (5, [[1], [2], [3]]), (2, [[1], [2], [3]])]
)
def test_tokens_are_cut_between_documents(capacity, runs):
    tokens = joined([[1, 1], [2, 2], [3, 3, 3]], np.dtype(np.uint16))
    assert [[text[0] for text in SubIndex.of(run).texts()] for run in cut(tokens, capacity)] == runs


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
def test_large_sub_indices_find_and_continue_as_small_ones_do(monkeypatch, dtype):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 30, rng.integers(1, 40)) for _ in range(200)]
    small = SubIndex.build(documents, np.dtype(dtype))
    monkeypatch.setattr(sub_index_module, "TABLE_FROM", 0)
    monkeypatch.setattr(sub_index_module, "FEW", 0)
    monkeypatch.setattr(sub_index_module, "_CHUNK", 100)
    large = SubIndex.build(documents, np.dtype(dtype))
    assert large.nbytes > small.nbytes == small.tokens.nbytes + small.suffixes.nbytes
    for query in [*sub_lists(documents, 2), (30,), (29, 30), (500_000,)]:
        assert large.find(query) == small.find(query) or not len(small.find(query))
        assert len(large.find(query)) == len(small.find(query))
        for length in (1, 5, 50):
            ranks = [*small.find(query)]
            assert large.continuations(ranks, len(query), length) == [
                small.continuations([rank], len(query), length)[0] for rank in ranks
            ]
