"""The journal: what was appended is there again, a cut-off record is nobody's, and damage is said."""

import os

import numpy as np
import pytest

from sssd_demo.errors import UserError
from sssd_demo.sssd.journal import Journal

DTYPE = np.dtype(np.uint16)
DOCUMENTS = [np.array(ids) for ids in ([1, 2, 3], [400], [5, 6])]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mine.journal"


def opened(path, covered=0, fingerprint="abcd", dtype=DTYPE):
    return Journal(path, fingerprint=fingerprint, dtype=dtype, covered=covered)


def written(path, documents=DOCUMENTS, covered=0):
    journal = opened(path, covered)
    journal.append(documents)
    journal.close()


def found(journal):
    return [document.tolist() for document in journal.documents]


def test_what_was_appended_is_found_again(path):
    journal = opened(path)
    journal.append(DOCUMENTS[:2])
    journal.append(DOCUMENTS[2:])
    again = opened(path)
    assert found(again) == [[1, 2, 3], [400], [5, 6]]
    assert again.next_number == 3
    assert (again.missing, again.damage) == (0, None)


def test_documents_that_the_store_holds_are_left_out(path):
    written(path)
    assert found(opened(path, covered=2)) == [[5, 6]]
    assert found(opened(path, covered=3)) == []


def test_forgetting_keeps_the_later_documents_and_goes_on(path):
    journal = opened(path)
    journal.append(DOCUMENTS)
    journal.forget(2)
    journal.append([np.array([7])])
    assert found(opened(path, covered=2)) == [[5, 6], [7]]
    journal.forget(4)
    journal.append([np.array([8])])
    again = opened(path, covered=4)
    assert found(again) == [[8]]
    assert again.next_number == 5


def test_a_record_cut_off_anywhere_was_never_kept_and_leaves_no_trace(path):
    written(path)
    whole = path.read_bytes()
    last = len(whole) - len(written_record_of_the_last(path))
    for length in range(last, len(whole)):
        path.write_bytes(whole[:length])
        journal = opened(path)
        assert found(journal) == [[1, 2, 3], [400]]
        assert journal.damage is None
        journal.append([np.array([9])])
        assert found(opened(path)) == [[1, 2, 3], [400], [9]]


def written_record_of_the_last(path):
    other = path.with_name("other.journal")
    written(other, DOCUMENTS[:2])
    return path.read_bytes()[len(other.read_bytes()) :]


def test_any_changed_byte_of_a_record_is_damage_said_in_a_sentence_and_what_stands_before_is_kept(path):
    written(path)
    whole = path.read_bytes()
    other = path.with_name("other.journal")
    written(other, [])
    for place in range(len(other.read_bytes()), len(whole)):
        spoilt = bytearray(whole)
        spoilt[place] ^= 0b10
        path.write_bytes(spoilt)
        journal = opened(path)
        assert journal.damage is not None
        assert journal.damage.startswith("The journal mine.journal is damaged after")
        kept = found(journal)
        assert kept == [[1, 2, 3], [400], [5, 6]][: len(kept)]
        assert len(kept) < 3
        aside = path.with_name("mine.journal.damaged-1")
        assert aside.name in journal.damage
        assert aside.read_bytes() == spoilt
        aside.unlink()
        assert found(opened(path)) == kept, "what was kept is clean"


def test_what_was_put_aside_before_stays(path):
    spoilt = []
    for last in (b"\1", b"\2", b"\3"):
        written(path)
        path.write_bytes(path.read_bytes()[:-1] + last)
        spoilt.append(path.read_bytes())
        opened(path)
        path.unlink()
    assert [path.with_name(f"mine.journal.damaged-{n}").read_bytes() for n in (1, 2, 3)] == spoilt


def test_a_journal_that_lags_behind_its_store_begins_anew(path):
    written(path)
    journal = opened(path, covered=10)
    journal.append([np.array([9])])
    assert found(opened(path, covered=10)) == [[9]]


def test_documents_between_store_and_journal_are_counted_as_missing(path):
    written(path, covered=10)
    journal = opened(path, covered=4)
    assert journal.missing == 6
    assert found(journal) == [[1, 2, 3], [400], [5, 6]]


def test_another_tokenizers_journal_is_refused(path):
    written(path)
    for other in ({"fingerprint": "ef01"}, {"dtype": np.dtype(np.uint32)}):
        with pytest.raises(
            UserError, match="journal mine.journal cannot be used: it was written for another tokenizer"
        ):
            opened(path, **other)


def test_another_file_is_not_taken_for_a_journal(path):
    path.write_text("my diary")
    with pytest.raises(UserError, match="it is not a journal"):
        opened(path)
    assert path.read_text() == "my diary"


def test_a_full_disk_is_said_and_the_document_does_not_count(path, monkeypatch):
    journal = opened(path)
    journal.append(DOCUMENTS[:1])

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"cannot be kept in mine.journal: No space left on device\."):
        journal.append(DOCUMENTS[1:])
    monkeypatch.undo()
    journal.append(DOCUMENTS[2:])
    assert found(opened(path)) == [[1, 2, 3], [5, 6]]


def test_a_rotation_that_fails_leaves_the_journal_as_it_was(path, monkeypatch):
    journal = opened(path)
    journal.append(DOCUMENTS)

    def fails(*paths):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="Input/output"):
        journal.forget(2)
    monkeypatch.undo()
    journal.append([np.array([9])])
    assert found(opened(path)) == [[1, 2, 3], [400], [5, 6], [9]]
    assert list(path.parent.iterdir()) == [path]
