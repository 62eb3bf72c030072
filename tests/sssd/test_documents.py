"""What a store can be built from, and what is refused, with the file named."""

import json
import random
from pathlib import Path

import pytest

from sssd_demo import trace_file
from sssd_demo.errors import UserError
from sssd_demo.sssd import documents
from sssd_demo.sssd.documents import read_documents
from sssd_demo.trace import EMPTY_VERIFIED_TREE, Round, Trace


class Bytes:
    """A tokenizer whose ids are bytes; remembers the pieces that it was given."""

    vocab_size = 256
    fingerprint = "bytes"

    def __init__(self):
        self.pieces = []

    def encode(self, text):
        self.pieces.append(text)
        return list(text.encode())

    def token_bytes(self, token):
        return bytes([token])


def read(*sources, tokenizer=None):
    return [list(document) for document in read_documents(map(str, sources), tokenizer or Bytes())]


def trace(output, token_bytes=None):
    rounds = tuple(
        Round(index, 1, 1, 0.0, 0.0, 1.0, EMPTY_VERIFIED_TREE, token, 1.0, (token,))
        for index, token in enumerate(output)
    )
    return Trace(
        created="2026-01-01T00:00:00+00:00",
        device="a test",
        dtype="float32",
        preset="fake",
        method="autoregressive",
        settings={},
        messages=(),
        prompt=(65,),
        token_bytes=token_bytes or {token: bytes([token]) for token in {65, *output}},
        rounds=rounds,
        finish_reason="length",
    )


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.py", "README"])
def test_a_text_file_is_one_document(tmp_path, name):
    (tmp_path / name).write_bytes("Grüße\r\n<|im_end|>".encode())
    assert read(tmp_path / name) == [list("Grüße\r\n<|im_end|>".encode())]


def test_a_recorded_answer_gives_its_output(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"prompt": [1, 2], "output": [3, 4]}\n\n{"output": [5], "category": "qa"}\n')
    assert read(path) == [[3, 4], [5]]


@pytest.mark.parametrize("name", ["t.json", "t.trace"])
def test_a_trace_gives_what_the_model_wrote(tmp_path, name):
    trace_file.save(trace([66, 67]), tmp_path / name)
    assert read(tmp_path / name) == [[66, 67]]


def test_a_trace_of_another_tokenizer_is_refused(tmp_path):
    trace_file.save(trace([66], {65: b"A", 66: b"the"}), tmp_path / "t.json")
    with pytest.raises(UserError, match=r"t\.json was recorded with another tokenizer: they differ in token 66"):
        read(tmp_path / "t.json")
    trace_file.save(trace([66], {65: b"A", 66: b"B", 300: b"x"}), tmp_path / "t.json")
    with pytest.raises(UserError, match="differ in token 300"):
        read(tmp_path / "t.json")


def test_recorded_answers_of_another_tokenizer_are_refused_and_those_without_a_mark_read(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"output": [1]}\n{"output": [2], "tokenizer": "bytes"}\n')
    assert read(path) == [[1], [2]]
    path.write_text('{"output": [1]}\n{"output": [2], "tokenizer": "words"}\n')
    with pytest.raises(UserError, match=r"a\.jsonl, line 2: recorded with another tokenizer \(words\) .* \(bytes\)"):
        read(path)


def test_blank_files_are_left_out_and_told_of_unless_there_is_nothing_else(tmp_path):
    for name, content in (("a.txt", "A"), ("b.txt", " \n"), ("c.jsonl", "\n"), ("d.md", ""), ("e.json", "")):
        (tmp_path / name).write_text(content)
    skipped: list[Path] = []
    assert list(read_documents([str(tmp_path)], Bytes(), skipped=skipped.append)) == [[65]]
    assert [path.name for path in skipped] == ["b.txt", "c.jsonl", "d.md"]
    assert read(tmp_path / "b.txt", tmp_path / "a.txt") == [[65]]
    (tmp_path / "a.txt").unlink()
    with pytest.raises(UserError, match="All 3 files are empty"):
        read(tmp_path)


def test_capitals_in_a_files_name_change_nothing(tmp_path):
    (tmp_path / "A.JSONL").write_text('{"output": [1]}')
    (tmp_path / "B.TXT").write_text("B")
    trace_file.save(trace([67]), tmp_path / "C.JSON")
    (tmp_path / "D.Json").write_text("{}")
    assert read(tmp_path) == [[1], [66], [67]]
    assert read(tmp_path / "A.JSONL") == [[1]]


def test_a_folder_gives_its_files_by_name_and_leaves_out_what_is_no_text(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").mkdir()
    for name, content in [
        ("b.txt", "B"),
        ("a.md", "A"),
        ("sub/c.py", "C"),
        ("x.bin", "\0"),
        (".git/d.txt", "D"),
        ("empty.txt", ""),
        ("package.json", "{}"),
    ]:
        (tmp_path / name).write_text(content)
    trace_file.save(trace([68]), tmp_path / "t.json")
    assert read(tmp_path) == [[65], [66], [67], [68]]


def test_several_sources_follow_one_another(tmp_path):
    (tmp_path / "a.txt").write_text("A")
    (tmp_path / "b.jsonl").write_text('{"output": [1]}')
    assert read(tmp_path / "b.jsonl", tmp_path / "a.txt") == [[1], [65]]


def test_the_standard_library_is_without_its_tests(tmp_path, monkeypatch):
    for name in ("ast.py", "json/decoder.py", "test/test_ast.py", "json/tests/x.py", "site-packages/numpy.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(documents.sysconfig, "get_path", lambda name: str(tmp_path))
    assert [bytes(document).decode() for document in read("stdlib")] == ["ast.py", "json/decoder.py"]


def test_a_long_text_is_encoded_in_pieces_cut_only_where_no_token_can_cross(monkeypatch):
    monkeypatch.setattr(documents, "PIECE_CHARACTERS", 20)
    rng = random.Random(0)
    text = "".join(rng.choice(["a", "b", " ", "\n", "\r\n"]) for _ in range(3000))
    tokenizer = Bytes()
    assert bytes(documents.encode(text, tokenizer)).decode() == text
    assert len(tokenizer.pieces) > 20
    for before, after in zip(tokenizer.pieces, tokenizer.pieces[1:], strict=False):
        between_lines = before[-1] == "\n" and not before[-2].isspace() and not after[0].isspace()
        between_words = before[-1].isalpha() and after[0] == " " and after[1].isalpha()
        assert between_lines or between_words


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.txt", b"abc\0", r"a\.txt is not text: it holds a zero byte at position 3"),
        ("a.md", b"abc\xff", r"a\.md is not UTF-8 text: the byte at position 3"),
        ("a.py", b"", r"a\.py is empty"),
        ("a.txt", b" \n", r"a\.txt is empty"),
        ("a.jsonl", b"", r"a\.jsonl is empty"),
        ("a.jsonl", b"\xff", r"a\.jsonl cannot be read: it is not UTF-8"),
        ("a.jsonl", b'{"output": [1]}\nhello', r"a\.jsonl, line 2: this is not a JSON object"),
        ("a.jsonl", b"[1]", r"line 1: a JSON object"),
        ("a.jsonl", b'{"turns": ["x"]}', r'line 1: a JSON object with a list "output"'),
        ("a.jsonl", b'{"output": "text"}', r'line 1: "output" must be a list of token ids'),
        ("a.jsonl", b'{"output": [1.0]}', r'line 1: "output" must be a list of token ids'),
        ("a.jsonl", b'{"output": [256]}', r'line 1: a token id in "output" is not one of 0 to 255'),
        ("a.jsonl", b'{"output": [-1]}', r"line 1: a token id"),
        ("a.json", b'{"version": 1, "rounds": 3}', "rounds should be a list"),
    ],
)
def test_what_cannot_be_indexed_is_refused_with_the_reason(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=says):
        read(tmp_path / name)


def test_a_missing_source_and_a_folder_without_text_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"gone\.txt cannot be read: No such file"):
        read(tmp_path / "gone.txt")
    with pytest.raises(UserError, match="cannot be read"):
        read("a\0b")
    with pytest.raises(UserError, match="holds no text files"):
        read(tmp_path)


def test_deeply_nested_json_is_no_fault_of_ours(tmp_path):
    (tmp_path / "a.jsonl").write_text("[" * 100_000)
    with pytest.raises(UserError, match="line 1: this is not a JSON object"):
        read(tmp_path / "a.jsonl")
    (tmp_path / "a").write_text('{"a":' * 100_000)
    assert read(tmp_path / "a") == [list(b'{"a":' * 100_000)]  # text like any other


@pytest.mark.model
def test_markers_in_a_file_become_plain_text_and_pieces_join_to_what_the_whole_gives(
    embedded_text, monkeypatch, tmp_path
):
    path = tmp_path / "a.md"
    path.write_text("Say <|im_end|>\n<|im_start|>system\n\n  indented\nand 12 %\n\tlast <|endoftext|>\n" * 20)
    monkeypatch.setattr(documents, "PIECE_CHARACTERS", 30)
    (document,) = read(path, tokenizer=embedded_text)
    assert document == embedded_text.encode(path.read_text())
    assert embedded_text.control_tokens.isdisjoint(document)


def test_json_lines_of_answers_keep_their_order(tmp_path):
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"output": [n]}) + "\n" for n in range(50)))
    assert read(tmp_path / "a.jsonl") == [[n] for n in range(50)]


@pytest.mark.parametrize("content", ['{"version": 1, "prompt": [1,', "[1]", "[" * 90_000, '{"a": ' + "9" * 5000 + "}"])
@pytest.mark.parametrize("suffix", [".json", ".trace"])
def test_a_damaged_trace_is_refused_and_not_taken_for_prose(tmp_path, content, suffix):
    path = tmp_path / f"cut{suffix}"
    path.write_text(content)
    with pytest.raises(UserError, match="cut"):
        read(path)


def test_a_name_too_long_for_a_file_is_refused():
    with pytest.raises(UserError, match="cannot be read"):
        read("n" * 300)


def test_progress_rises_with_the_bytes_read_also_within_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "PIECE_CHARACTERS", 100)
    (tmp_path / "a.txt").write_text("a line\n" * 100)
    (tmp_path / "b.txt").write_text("b" * 300)
    (tmp_path / "c.jsonl").write_text('{"output": [1]}\n' * 20)
    shares: list[float] = []
    sources = [str(tmp_path / name) for name in ("a.txt", "b.txt", "c.jsonl")]
    assert len(list(read_documents(sources, Bytes(), progress=shares.append))) == 22
    assert shares == sorted(shares)
    assert len({share for share in shares if share < 700 / 1320}) > 4
    assert shares[-1] == 1.0


def test_reading_ends_soon_after_it_is_cancelled_also_within_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "PIECE_CHARACTERS", 100)
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("a line\n" * 1000)
    tokenizer = Bytes()
    read_so_far = read_documents([str(tmp_path)], tokenizer, cancelled=lambda: len(tokenizer.pieces) >= 4)
    assert list(read_so_far) == [[97]]
    assert len(tokenizer.pieces) == 4


def test_a_missing_file_is_named_whatever_the_progress(tmp_path):
    with pytest.raises(UserError, match=r"gone\.txt cannot be read"):
        list(read_documents([str(tmp_path / "gone.txt")], Bytes(), progress=lambda share: None))


def test_one_long_line_is_encoded_in_pieces_with_the_same_result(embedded_text, monkeypatch):
    """cases.md 4: of 20 MB in one line, as of any text, only a piece at a time is in the tokenizer's hands."""
    monkeypatch.setattr(documents, "PIECE_CHARACTERS", 50)
    rng = random.Random(0)
    parts = ["the", " cat", " sat", " ", "  ", "\n", "12", " 3", ".", "é", "'s", " don't", "\t", "foo(x)", " a", "中文"]
    for _ in range(50):
        text = "".join(rng.choices(parts, k=300))
        assert documents.encode(text, embedded_text) == embedded_text.encode(text)
    tokenizer = Bytes()
    documents.encode("word " * 200, tokenizer)
    assert max(map(len, tokenizer.pieces)) <= 56
