"""A live store's files: what is saved, when, and what a store that is closed meanwhile leaves."""

import threading

import numpy as np
import pytest

from sssd_demo.sssd import store_disk, store_file
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.store_disk import StoreDisk, journal_beside

DTYPE = np.dtype(np.uint16)
DOCUMENTS = [np.arange(50), np.arange(60)]
PATIENCE = 20.0


def opened(path):
    return StoreDisk(path, fingerprint="abcd", dtype=DTYPE)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mine.live"


@pytest.fixture
def built():
    return Datastore.build(DOCUMENTS, fingerprint="abcd", vocab_size=100)


def test_what_was_appended_is_taken_once_when_opened_again(path):
    disk = opened(path)
    disk.append(DOCUMENTS)
    disk.close()
    disk = opened(path)
    kept, unsaved = disk.take()
    assert kept.documents == 0
    assert [each.tolist() for each in unsaved] == [each.tolist() for each in DOCUMENTS]
    disk.close()


def test_the_file_is_written_when_the_journal_has_grown_or_at_once(path, built, monkeypatch):
    disk = opened(path)
    disk.append(DOCUMENTS)
    assert not disk.save(built, at_once=False)
    assert store_file.load(path).documents == 0
    monkeypatch.setattr(store_disk, "JOURNAL_TOKENS", 100)
    before = journal_beside(path).stat().st_size
    assert disk.save(built, at_once=False)
    assert store_file.load(path).documents == 2
    assert journal_beside(path).stat().st_size < before
    assert not disk.save(built, at_once=False), "the journal holds nothing any more"
    assert disk.save(built, at_once=True)
    disk.close()


def test_closing_cancels_what_is_being_saved_and_loses_nothing(path, built, monkeypatch):
    disk = opened(path)
    disk.append(DOCUMENTS)
    closing = threading.Thread(target=disk.close)
    save = store_file.save

    def closed_meanwhile(datastore, path, cancelled):
        closing.start()
        while not cancelled():
            pass
        save(datastore, path, cancelled)

    monkeypatch.setattr(store_file, "save", closed_meanwhile)
    assert not disk.save(built, at_once=True)
    closing.join(PATIENCE)
    assert not disk.save(built, at_once=True), "it is closed"
    disk = opened(path)
    kept, unsaved = disk.take()
    assert (kept.documents, len(unsaved)) == (0, 2)
    disk.close()
