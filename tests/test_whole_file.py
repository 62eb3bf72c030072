"""Files replaced whole: readers see the old or the new one, never half of it."""

import os
import stat
import sys

import pytest

from sssd_demo.whole_file import check_place, remove_unfinished, replacing, write_whole


def test_a_file_is_written_in_place_of_the_old_one_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "a.json"
    write_whole(path, "old")
    write_whole(path, "é")
    assert path.read_text(encoding="utf-8") == "é"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_what_cannot_be_written_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, failing):
    path = tmp_path / "a.json"
    write_whole(path, "old")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_found_out_beforehand_and_one_that_can_stays_as_it_is(tmp_path):
    path = tmp_path / "a.json"
    check_place(path)
    assert list(tmp_path.iterdir()) == []
    path.write_text("old")
    check_place(path)
    assert path.read_text() == "old"
    # The longest name a file may have leaves no room for the one it has while it is written.
    for wrong in (tmp_path, tmp_path / "no folder" / "a", *(tmp_path / ("n" * length) for length in (255, 300, 5000))):
        with pytest.raises(OSError, match=r"directory|too long"):
            check_place(wrong)
    assert list(tmp_path.iterdir()) == [path]


def test_until_the_block_ends_the_old_file_is_there_and_a_killed_writers_rest_can_be_removed(tmp_path):
    path = tmp_path / "a.store"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    (tmp_path / ".a.store.12ab.unfinished").write_bytes(b"half")
    remove_unfinished(path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such modes")
def test_a_store_is_for_its_owners_eyes_and_other_files_are_as_usual(tmp_path):
    with replacing(tmp_path / "a.store") as file:
        file.write(b"text")
    write_whole(tmp_path / "a.json", "{}")
    (tmp_path / "usual").touch()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes["a.store"] == 0o600
    assert modes["a.json"] == modes["usual"]
