"""Text into a store: all of it or nothing, and a sentence for everything that is wrong."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from sssd_demo.errors import UserError
from sssd_demo.sssd.live_store import LiveStore
from sssd_demo.sssd.merging import Limits
from sssd_demo.ui import datastore_fill
from sssd_demo.ui.datastore_fill import FillJob, FillJobs, FillState, pasted, uploaded
from tests.ui.store_fakes import StoreService


@pytest.fixture
def service() -> StoreService:
    return StoreService()


@pytest.fixture
def store(service: StoreService) -> LiveStore:
    return service.session_store("a page")


def last(job: FillJob) -> FillState:
    return list(job.watch(0.01))[-1]


def test_pasted_text_is_one_document_that_can_be_found(service, store):
    state = last(FillJob(store, pasted("the cat sat on the mat", service.text), "the pasted text"))
    assert state.phase == "done"
    assert state.said.startswith("Added 1 document, 6 tokens from the pasted text")
    assert store.sub_indices[0].find(service.words.encode(" cat sat"))


def test_files_are_added_and_their_copies_here_deleted(service, store, tmp_path: Path):
    paths = [tmp_path / "a.txt", tmp_path / "b.jsonl"]
    paths[0].write_text("the cat sat")
    paths[1].write_text('{"output": [101, 102]}\n{"output": [103]}\n')
    sources = [str(path) for path in paths]
    job = FillJob(store, uploaded(sources, service.text), "two files", uploads=sources)
    assert last(job).said.startswith("Added 3 documents, 6 tokens")
    assert not any(path.exists() for path in paths)


def test_a_blank_file_keeps_none_of_the_others_out(service, store, tmp_path: Path):
    good, blank = tmp_path / "a.txt", tmp_path / "b.txt"
    good.write_text("the cat sat")
    blank.write_text(" \n")
    sources = [str(good), str(blank)]
    assert last(FillJob(store, uploaded(sources, service.text), "files", uploads=sources)).phase == "done"
    blank.write_text(" \n")
    state = last(FillJob(store, uploaded(sources[1:], service.text), "files", uploads=sources))
    assert (state.phase, "b.txt is empty" in state.said) == ("stopped", True)


@pytest.mark.parametrize(("content", "said"), [(b"\x89PNG\0\0", "not text"), (b"caf\xe9 au lait", "not UTF-8")])
def test_what_is_not_text_is_refused_by_name_and_nothing_is_lost(service, store, tmp_path: Path, content, said):
    store.append([1, 2, 3])
    path = tmp_path / "photo.txt"
    path.write_bytes(content)
    good = tmp_path / "good.txt"
    good.write_text("good words")
    sources = [str(good), str(path)]
    state = last(FillJob(store, uploaded(sources, service.text), "files", uploads=sources))
    assert state.phase == "stopped"
    assert said in state.said
    assert "photo.txt" in state.said
    assert str(tmp_path) not in state.said
    assert store.wait(5)
    assert store.state().documents == 1
    assert not path.exists()


def test_too_much_is_refused_before_it_is_read(service, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(datastore_fill, "MOST_MEGABYTES", 1)
    with pytest.raises(UserError, match=r"2.0 MB, and at most 1 MB"):
        pasted("a" * 2_000_000, service.text)
    path = tmp_path / "big.txt"
    path.write_bytes(b"a" * 2_000_000)
    with pytest.raises(UserError, match="too much at once"):
        uploaded([str(path)], service.text)


def test_more_tokens_than_a_store_takes_at_a_time_are_cut_and_it_is_said(service, store):
    read = pasted("a b c d e f g h", service.text)
    state = last(FillJob(store, read, "x", most_tokens=5))
    assert "5 tokens" in state.said
    assert "cut there" in state.said
    assert store.state().tokens == 5


def test_a_cancelled_job_adds_nothing(store):
    reading, go_on = threading.Event(), threading.Event()

    def read(progress, cancelled):
        yield [1, 2, 3]
        progress(0.5)
        reading.set()
        go_on.wait(5)
        if not cancelled():
            yield [4]

    jobs = FillJobs()
    job = jobs.begin("a page", lambda: FillJob(store, read, "a long text"))
    assert reading.wait(5)
    assert job.state().said == "Reading a long text: 50% · 3 tokens so far"
    with pytest.raises(UserError, match="already"):
        jobs.begin("a page", lambda: FillJob(store, read, "another"))
    jobs.cancel("a page")
    go_on.set()
    assert "Cancelled; nothing was added" in last(job).said
    assert store.state().documents == 0


def test_nothing_to_add_and_a_fault_are_sentences(service, store):
    assert last(FillJob(store, pasted(" \n", service.text), "x")).said == "There is no text to add."

    def fail(progress, cancelled):
        raise RuntimeError("/secret/path")

    assert "/secret" not in last(FillJob(store, fail, "x")).said


def test_what_a_full_store_drops_is_said(service):
    store = service.session_store("a small one", Limits(max_tokens=100, max_sub_indices=2))
    said = last(FillJob(store, lambda progress, cancelled: [[1] * 90] * 12, "x")).said
    dropped = store.state().dropped
    assert dropped > 0
    assert f"room for, some 200 tokens, so the oldest were dropped ({dropped} documents)" in said
