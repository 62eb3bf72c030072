"""Stores on disk: equal after loading, refused when damaged anywhere, never half replaced."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sssd_demo.errors import UserError
from sssd_demo.sssd import store_file
from sssd_demo.sssd.datastore import Datastore, sample
from sssd_demo.sssd.recycled import Recycled
from sssd_demo.sssd.store_file import load, read_header, save
from sssd_demo.trace import Top

DOCUMENTS = [[5, 6, 7], [256, 6, 7, 8], [6, 7]]


def build(documents=DOCUMENTS, vocab_size=49152, **limits):
    return Datastore.build(documents, fingerprint="abcd", vocab_size=vocab_size, **limits)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "mine.store"
    save(build(), path)
    return path


@pytest.mark.parametrize("vocab_size", [49152, 151_936])
@pytest.mark.parametrize("max_tokens", [5, 100])
def test_what_is_loaded_equals_what_was_saved(tmp_path, vocab_size, max_tokens):
    built = build(vocab_size=vocab_size, max_tokens=max_tokens)
    save(built, tmp_path / "a.store")
    loaded = load(tmp_path / "a.store", "abcd")
    assert (loaded.fingerprint, loaded.dtype, loaded.documents) == ("abcd", built.dtype, 3)
    for one, other in zip(built.sub_indices, loaded.sub_indices, strict=True):
        assert np.array_equal(one.tokens, other.tokens)
        assert np.array_equal(one.suffixes, other.suffixes)
        assert other.suffixes.dtype == np.int32
    assert loaded.count([6, 7]) == 3
    assert sorted(sample(loaded.sub_indices, [6], 10, 3)) == [[7], [7], [7, 8]]


def top_of(found):
    assert found is not None
    return found


def test_tokens_and_suffixes_are_mapped_not_read(path):
    (sub_index,) = load(path).sub_indices
    for column in (sub_index.tokens, sub_index.suffixes):
        assert isinstance(column, np.memmap)
        assert not column.flags.writeable


def test_the_header_tells_sizes_without_the_contents(path):
    header = read_header(path)
    assert (header.tokens, header.documents, header.fingerprint, header.dtype.name) == (9, 3, "abcd", "uint16")
    assert header.bytes == path.stat().st_size


def test_an_empty_store_can_be_kept(tmp_path):
    save(build([]), tmp_path / "a.store")
    assert load(tmp_path / "a.store").sub_indices == ()


def test_a_change_of_any_byte_is_noticed_and_the_store_named(path):
    whole = path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0b100
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=r"^The datastore mine cannot be used: .*\.$"):
            load(path)


def test_a_file_cut_anywhere_or_too_long_is_refused(path):
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(UserError, match=r"^The datastore mine cannot be used: "):
            load(path)
    path.write_bytes(whole + b"\0" * 64)
    with pytest.raises(UserError, match="bytes instead of"):
        load(path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda whole: b"", "it is empty"),
        (lambda whole: b"Just some text, of whatever length.", "not a datastore file"),
        (lambda whole: whole[:8] + b"\x09\0\0\0" + whole[12:], "format version 9, but only version 2"),
        (lambda whole: whole[:60], "cut off after 60 bytes"),
        (lambda whole: whole.replace(b"uint16", b"uint32"), "header is damaged"),
        (lambda whole: whole[:-64], "bytes instead of"),
        (lambda whole: whole[:-100] + b"\1" + whole[-99:], "contents are damaged"),
    ],
)
def test_the_message_says_what_is_wrong(path, change, says):
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(UserError, match=says):
        load(path)


def test_another_tokenizers_store_is_refused_by_name(path):
    with pytest.raises(UserError, match=r"datastore mine .* another tokenizer \(abcd\) than this model's \(ef01\)"):
        load(path, "ef01")


def test_a_missing_file_is_a_users_error(tmp_path):
    with pytest.raises(UserError, match="datastore gone cannot be used: its file cannot be read"):
        load(tmp_path / "gone.store")


@pytest.mark.parametrize("failing", ["_write", "os.fsync", "os.replace"])
def test_a_save_that_fails_keeps_the_old_store_and_leaves_nothing_behind(path, monkeypatch, failing):
    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os if failing.startswith("os.") else store_file, failing.removeprefix("os."), fail)
    with pytest.raises(UserError, match="datastore mine cannot be written: No space left"):
        save(build([[1]]), path)
    monkeypatch.undo()
    assert load(path).tokens == 9
    assert list(path.parent.iterdir()) == [path]


def test_a_process_killed_before_the_renaming_leaves_the_old_store(path):
    code = f"""
import os, pathlib
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.store_file import save
os.replace = lambda *paths: os.kill(os.getpid(), 9)
save(Datastore.build([[1]], fingerprint="abcd", vocab_size=9), pathlib.Path({str(path)!r}))
"""
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", code], cwd=root, check=False)
    assert killed.returncode == -9
    assert load(path).tokens == 9
    assert len(list(path.parent.iterdir())) == 2  # the unfinished file has another name and is no store


def test_a_store_in_use_survives_its_replacement(path):
    before = load(path)
    save(build([[1, 2]]), path)
    assert before.count([6, 7]) == 3
    assert load(path).count([6, 7]) == 0


def remembered():
    recycled = Recycled()
    recycled.learn([5, 6, 7, 300], [Top((7, 9), (0.75, 0.2)), Top((300,), (0.5,))])
    return recycled


def test_what_the_target_held_likely_is_kept_with_the_texts(tmp_path):
    built = build(vocab_size=49152).with_recycled(remembered())
    save(built, tmp_path / "a.store")
    loaded = load(tmp_path / "a.store", "abcd")
    assert read_header(tmp_path / "a.store").recycled == 4
    for tokens in ((6,), (7,), (5, 6), (6, 7), (8,), (6, 5)):
        assert loaded.recalled(tokens) == built.recalled(tokens)
    assert top_of(loaded.recalled((5, 6))).tokens == (7, 9)
    assert top_of(loaded.recalled((5, 6))).probs == pytest.approx((0.75, 0.2), abs=0.003)
    assert loaded.recalled((6, 5)) is None
    assert [loaded.count([6, 7])] == [3]


def test_a_damaged_memory_is_refused_like_damaged_texts(tmp_path):
    path = tmp_path / "a.store"
    save(build().with_recycled(remembered()), path)
    content = bytearray(path.read_bytes())
    content[-70] ^= 1
    path.write_bytes(content)
    with pytest.raises(UserError, match="damaged"):
        load(path)
