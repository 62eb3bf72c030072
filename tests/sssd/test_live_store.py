"""A store that grows: all that was appended is found, old text goes first, and nobody waits."""

import os
import random
import sys
import threading

import numpy as np
import pytest

from sssd_demo.errors import UserError
from sssd_demo.sssd import live_store, sorting
from sssd_demo.sssd.datastore import sample
from sssd_demo.sssd.live_store import LiveStore, conversation_document
from sssd_demo.sssd.merging import Limits
from sssd_demo.sssd.sub_index import SubIndex
from sssd_demo.sssd.suffix_array import peak_bytes
from sssd_demo.trace import Top

VOCABULARY = 500
PATIENCE = 20.0  # seconds; reached only when something is broken


@pytest.fixture
def made():
    """Makes stores that are closed when the test ends."""
    stores = []

    def make(**options):
        stores.append(LiveStore(fingerprint="abcd", vocab_size=VOCABULARY, **options))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


def random_documents(count, seed=0):
    rng = random.Random(seed)
    return [[rng.randrange(VOCABULARY) for _ in range(rng.randrange(4, 40))] for _ in range(count)]


def count(store, query):
    return sum(len(sub_index.find(query)) for sub_index in store.sub_indices)


def searchable(store):
    assert store.wait(PATIENCE)
    assert store.settle(PATIENCE)
    return store


def texts(store):
    return [text.tolist() for sub_index in store.sub_indices for text in sub_index.texts()]


def test_an_empty_store_has_nothing_to_search(made):
    store = made()
    assert store.sub_indices == ()
    assert store.wait(0)
    assert store.state().segments == ()


def test_a_document_is_searchable_once_it_was_waited_for(made):
    store = made()
    store.append([1, 2, 3, 4])
    assert store.wait(PATIENCE)
    assert sample(store.sub_indices, [2], most=10, length=5) == [[3, 4]]
    assert (store.state().tokens, store.state().documents, store.state().waiting) == (4, 1, 0)


@pytest.mark.parametrize("max_tokens", [64, 1000, 100_000])
def test_documents_stay_whole_in_order_and_apart_however_they_are_merged(made, max_tokens):
    store = made(limits=Limits(max_tokens=max_tokens, max_sub_indices=1000))
    documents = random_documents(300)
    for number, document in enumerate(documents):
        store.append(document)
        if number % 5 == 0:
            store.wait(PATIENCE)
    assert texts(searchable(store)) == documents
    for sub_index in store.sub_indices:
        assert len(sub_index.tokens) <= max_tokens
        assert sub_index.suffixes.tolist() == SubIndex.of(sub_index.tokens).suffixes.tolist()
    for one, other in zip(documents, documents[1:], strict=False):
        assert count(store, one) == 1
        assert count(store, [one[-1], other[0]]) == sum(
            pair == (one[-1], other[0]) for document in documents for pair in zip(document, document[1:], strict=False)
        ), "a match reaches over the border of two documents"


def test_past_the_maximum_the_oldest_sub_index_is_dropped(made):
    store = made(limits=Limits(max_tokens=200, max_sub_indices=3))
    documents = random_documents(200)
    for document in documents:
        store.append(document)
    state = searchable(store).state()
    assert [segment.kind for segment in state.segments][:3] == ["full"] * 3
    assert "full" not in [segment.kind for segment in state.segments][3:]
    assert state.dropped + state.documents == len(documents)
    assert texts(store) == documents[state.dropped :]
    assert {event.kind for event in state.events} >= {"built", "merged", "dropped"}


def test_sub_indices_stay_few(made):
    store = made()
    for document in random_documents(400):
        store.append([*document] * 10)
        store.wait(PATIENCE)
    assert len(searchable(store).sub_indices) <= 7


def test_a_document_longer_than_a_sub_index_is_cut_and_an_empty_one_left_out(made):
    store = made(limits=Limits(max_tokens=10))
    store.append(range(25))
    store.append([])
    assert texts(searchable(store)) == [[*range(9)], [*range(9, 18)], [*range(18, 25)]]


@pytest.mark.parametrize("document", [[-1], [VOCABULARY], [1.5]])
def test_what_is_no_token_id_is_refused_and_nothing_else_lost(made, document):
    store = made()
    store.append([1, 2])
    with pytest.raises(ValueError, match="token ids must be"):
        store.append(document)
    assert texts(searchable(store)) == [[1, 2]]


def test_arrays_and_lists_are_both_documents(made):
    store = made()
    store.append(np.array([1, 2, 3], np.int64)[::-1])
    store.append([3, 2])
    assert count(searchable(store), [3, 2]) == 2


def test_a_snapshot_stays_what_it_was(made):
    store = made()
    store.append([1, 2])
    before = searchable(store).sub_indices
    store.append([1, 3])
    searchable(store)
    assert sum(len(sub_index.find([1])) for sub_index in before) == 1
    assert count(store, [1]) == 2


class Gate:
    """Stands before the sorting of anything of at least `size` tokens until it is opened."""

    def __init__(self, monkeypatch, size):
        self.reached = threading.Event()
        self.opened = threading.Event()
        sort = SubIndex.of

        def gated(tokens):
            if len(tokens) >= size:
                self.reached.set()
                assert self.opened.wait(PATIENCE)
            return sort(tokens)

        monkeypatch.setattr(sorting.SubIndex, "of", gated)


def test_new_documents_are_searchable_while_a_long_merge_runs(made, monkeypatch):
    store = made(limits=Limits(max_tokens=10_000))
    store.append([7] * 2000)
    assert store.wait(PATIENCE)
    gate = Gate(monkeypatch, 2500)
    store.append([8] * 1000)
    assert gate.reached.wait(PATIENCE)
    for token in range(100, 140):
        store.append([token] * 5)
        assert store.wait(PATIENCE)
        assert count(store, [token]) == 5
        assert count(store, [7]) == 2000
        assert count(store, [8]) == 1000
    assert store.state().building
    gate.opened.set()
    searchable(store)
    assert count(store, [7]) == 2000
    assert count(store, [120]) == 5
    assert len(store.sub_indices) <= 2


def burst(made, monkeypatch, documents, sort):
    """A store to which all `documents`, each a batch of its own, were appended before the first was `sort`ed."""
    monkeypatch.setattr(live_store, "BATCH_TOKENS", 1)
    appended = threading.Event()

    def waits(tokens):
        assert appended.wait(PATIENCE)
        return sort(tokens)

    monkeypatch.setattr(sorting.SubIndex, "of", waits)
    store = made(limits=Limits(max_tokens=1600))
    for document in documents:
        store.append(document)
    appended.set()
    return store


def test_what_came_in_a_burst_is_merged_once_when_all_of_it_is_searchable(made, monkeypatch):
    documents = [[token] * 99 for token in range(10)]
    store = searchable(burst(made, monkeypatch, documents, SubIndex.of))
    assert [event.kind for event in store.state().events] == ["built"] * 10 + ["merged"]
    assert texts(store) == documents
    assert len(store.sub_indices) == 1


def test_merging_does_not_wait_for_the_end_of_a_burst_that_makes_many_sub_indices(made, monkeypatch):
    monkeypatch.setattr(live_store, "MOST_UNMERGED", 4)
    merging = threading.Event()
    sort = SubIndex.of

    def last_waits_for_a_merge(tokens):
        if len(tokens) > 100:
            merging.set()
        elif tokens[0] == 9:
            assert merging.wait(PATIENCE)
        return sort(tokens)

    documents = [[token] * 99 for token in range(10)]
    store = searchable(burst(made, monkeypatch, documents, last_waits_for_a_merge))
    assert merging.is_set()
    assert texts(store) == documents
    assert store.state().problem is None


def test_what_was_searchable_when_a_build_failed_is_merged_though_documents_wait(made, monkeypatch):
    sort = SubIndex.of

    def fails_at_the_last_but_one(tokens):
        if 8 in tokens:
            raise MemoryError("no room")
        return sort(tokens)

    documents = [[token] * 99 for token in range(10)]
    store = burst(made, monkeypatch, documents, fails_at_the_last_but_one)
    assert not store.wait(PATIENCE)
    assert store.settle(PATIENCE)
    assert store.state().waiting == 2
    assert texts(store) == documents[:8]
    assert len(store.sub_indices) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_long_sorts_give_way_and_the_small_ones_after_them_do_not(made, monkeypatch):
    usual = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    if usual == 19:
        pytest.skip("nothing can give way any further")
    monkeypatch.setattr(sorting, "NICENESS", usual + 1)
    first_sorting, second_appended = threading.Event(), threading.Event()
    niceness = []
    sort = SubIndex.of

    def noted(tokens):
        niceness.append((len(tokens), os.getpriority(os.PRIO_PROCESS, threading.get_native_id())))
        first_sorting.set()
        assert second_appended.wait(PATIENCE)
        return sort(tokens)

    monkeypatch.setattr(sorting.SubIndex, "of", noted)
    store = made()
    store.append([1] * 50_000)
    assert first_sorting.wait(PATIENCE)
    store.append([2] * 9)
    second_appended.set()
    searchable(store)
    store.append([3] * 6000)  # merged with the small one
    searchable(store)
    assert niceness == [(50_001, usual + 1), (10, usual), (6001, usual + 1), (6011, usual + 1)]


def test_a_failed_build_keeps_the_old_one_says_why_and_is_tried_again(made, monkeypatch):
    store = made()
    store.append([1, 2])
    searchable(store)

    def fails(tokens):
        raise MemoryError("no room")

    monkeypatch.setattr(sorting.SubIndex, "of", fails)
    store.append([3, 4])
    assert not store.wait(PATIENCE)
    state = store.state()
    assert (state.problem, state.waiting, state.building) == ("no room", 1, False)
    assert (state.events[-1].kind, state.events[-1].reason) == ("failed", "no room")
    assert texts(store) == [[1, 2]]
    monkeypatch.undo()
    store.append([5, 6])
    assert texts(searchable(store)) == [[1, 2], [3, 4], [5, 6]]
    assert store.state().problem is None


def test_a_failed_merge_keeps_what_it_would_have_merged(made, monkeypatch):
    store = made(limits=Limits(max_tokens=10_000))
    store.append([7] * 2000)
    assert store.wait(PATIENCE)
    sort = SubIndex.of

    def fails(tokens):
        if len(tokens) > 2500:
            raise RuntimeError("cosmic ray")
        return sort(tokens)

    monkeypatch.setattr(sorting.SubIndex, "of", fails)
    store.append([8] * 1000)
    searchable(store)
    assert store.state().problem == "cosmic ray"
    assert (count(store, [7]), count(store, [8])) == (2000, 1000)
    monkeypatch.undo()
    store.append([9])
    searchable(store)
    assert store.state().problem is None
    assert len(store.sub_indices) == 1


class Memory:
    """A machine whose free memory lets so many positions be sorted at once."""

    def __init__(self, monkeypatch, positions):
        self.positions = positions
        monkeypatch.setattr(sorting.psutil, "virtual_memory", lambda: self)

    @property
    def available(self):
        return int(self.positions * peak_bytes(1, np.dtype(np.uint16)) / sorting.MEMORY_SHARE) + 1


def test_too_little_memory_for_a_build_is_said_in_numbers(made, monkeypatch):
    Memory(monkeypatch, 0)
    store = made()
    store.append([1] * 1000)
    assert not store.wait(PATIENCE)
    assert "MiB of memory are needed" in (store.state().problem or "")


def test_what_memory_left_unmerged_before_a_full_sub_index_stays_in_its_place(made, monkeypatch, tmp_path):
    monkeypatch.setattr("sssd_demo.sssd.store_disk.JOURNAL_TOKENS", 100)
    memory = Memory(monkeypatch, 1150)
    limits = Limits(max_tokens=1000, max_sub_indices=3)
    store = made(path=tmp_path / "mine.live", limits=limits)
    documents = [[token] * size for token, size in enumerate([900, 300, 300, 300, 200], 1)]
    for document in documents:
        store.append(document)
        searchable(store)
    assert [len(sub_index.tokens) for sub_index in store.sub_indices] == [901, 903, 201]
    assert [segment.kind for segment in store.state().segments] == ["full", "full", "growing"]
    memory.positions = 10**6
    store.append(documents[-1])
    documents.append(documents[-1])
    assert texts(searchable(store)) == documents
    store = searchable(reopened(made, store, tmp_path / "mine.live", limits=limits))
    assert texts(store) == documents
    for token in range(10, 22):
        documents.append([token] * 300)
        store.append(documents[-1])
    state = searchable(store).state()
    assert [segment.kind for segment in state.segments].count("full") == 3
    assert state.dropped + state.documents == len(documents)
    assert texts(store) == documents[state.dropped :]


def test_a_store_remembers_no_more_places_than_it_may(made):
    store = made(limits=Limits(max_places=3))
    store.append([1, 2, 3, 4, 5], [Top((token,), (1.0,)) for token in (2, 3, 4, 5)])
    assert len(store.recycled()) == 3
    assert store.recalled((3, 4)) is not None
    assert store.recalled((1,)) is None


def test_a_closed_store_takes_no_more_and_can_be_closed_again(made):
    store = made()
    store.append([1])
    store.close()
    store.close()
    with pytest.raises(UserError, match="closed"):
        store.append([2])


def test_no_thread_is_left_when_there_is_nothing_to_do(made):
    store = made()
    for document in random_documents(20):
        store.append(document)
    searchable(store)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("store ")]


def test_threads_may_append_at_once(made):
    store = made(limits=Limits(max_tokens=5000, max_sub_indices=100))
    documents = random_documents(200)
    threads = [
        threading.Thread(target=lambda part: [store.append(document) for document in part], args=(documents[n::4],))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts(searchable(store))) == sorted(documents)


def test_an_answers_document_begins_with_the_end_of_its_prompt():
    assert conversation_document([1, 2, 3, 4, 5], [6, 7]) == [3, 4, 5, 6, 7]
    assert conversation_document([1], [6]) == [1, 6]


# on disk


def reopened(made, store, path, **options):
    store.close()
    return made(path=path, **options)


def test_what_was_appended_is_there_after_reopening_saved_or_not(made, tmp_path, monkeypatch):
    monkeypatch.setattr("sssd_demo.sssd.store_disk.JOURNAL_TOKENS", 300)
    path = tmp_path / "mine.live"
    limits = Limits(max_tokens=400, max_sub_indices=2)
    documents = random_documents(90)
    store = made(path=path, limits=limits)
    for number, document in enumerate(documents):
        store.append(document)
        if number % 20 == 10:
            store = reopened(made, store, path, limits=limits)
    searchable(store)
    assert path.exists()
    store = searchable(reopened(made, store, path, limits=limits))
    state = store.state()
    assert state.dropped + state.documents == len(documents)
    assert texts(store) == documents[state.dropped :]
    assert state.dropped > 0


def test_a_store_may_be_reopened_with_smaller_sub_indices(made, tmp_path):
    path = tmp_path / "mine.live"
    store = made(path=path, limits=Limits(max_tokens=1000))
    documents = [[7] * 300, *random_documents(20), [8] * 300]
    for document in documents:
        store.append(document)
    store = searchable(reopened(made, store, path, limits=Limits(max_tokens=100, max_sub_indices=100)))
    store.append([9])
    assert texts(searchable(store)) == [*documents, [9]]


def test_the_journal_is_short_after_saving(made, tmp_path, monkeypatch):
    monkeypatch.setattr("sssd_demo.sssd.store_disk.JOURNAL_TOKENS", 1000)
    store = made(path=tmp_path / "mine.live", limits=Limits(max_tokens=20_000))
    for document in random_documents(400):
        store.append(document)
        store.wait(PATIENCE)
    searchable(store)
    assert "saved" in {event.kind for event in store.state().events}
    assert (tmp_path / "mine.journal").stat().st_size < 0.5 * (tmp_path / "mine.live").stat().st_size


def test_a_save_that_fails_is_said_and_loses_nothing(made, tmp_path, monkeypatch):
    monkeypatch.setattr("sssd_demo.sssd.store_disk.JOURNAL_TOKENS", 10)
    path = tmp_path / "mine.live"
    store = made(path=path, limits=Limits(max_tokens=500))

    def fails(*args):
        raise UserError("The datastore mine cannot be written: No space left on device.")

    monkeypatch.setattr("sssd_demo.sssd.store_file.save", fails)
    documents = random_documents(10)
    for document in documents:
        store.append(document)
        store.wait(PATIENCE)
    searchable(store)
    assert "No space left" in (store.state().problem or "")
    assert texts(searchable(reopened(made, store, path))) == documents


def test_a_second_process_is_refused_while_the_store_is_open(made, tmp_path):
    path = tmp_path / "mine.live"
    first = made(path=path)
    with pytest.raises(UserError, match=r"^The datastore mine is in use by another process\.$"):
        made(path=path)
    first.append([1, 2])
    assert texts(searchable(reopened(made, first, path))) == [[1, 2]]


def test_what_a_killed_process_left_unfinished_is_removed(made, tmp_path):
    left = tmp_path / ".mine.live.abc.unfinished"
    other = tmp_path / ".other.live.abc.unfinished"
    left.write_bytes(b"x")
    other.write_bytes(b"x")
    made(path=tmp_path / "mine.live")
    assert not left.exists()
    assert other.exists()


def test_a_damaged_journal_is_said_and_the_store_goes_on(made, tmp_path):
    path = tmp_path / "mine.live"
    store = made(path=path)
    store.append([1, 2, 3])
    store.append([4, 5, 6])
    store.close()
    journal = path.with_suffix(".journal")
    content = journal.read_bytes()
    journal.write_bytes(content[:-10] + b"\xff" + content[-9:])
    store = searchable(made(path=path))
    assert texts(store) == [[1, 2, 3]]
    assert "damaged" in (store.state().problem or "")
    store.append([7])
    assert texts(searchable(store)) == [[1, 2, 3], [7]]


def test_another_tokenizers_store_is_refused_and_can_be_opened_by_its_own(made, tmp_path):
    path = tmp_path / "mine.live"
    made(path=path).close()
    with pytest.raises(UserError, match="another tokenizer"):
        LiveStore(fingerprint="ef01", vocab_size=VOCABULARY, path=path)
    made(path=path)
