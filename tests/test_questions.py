"""Reading question files, and saying what is wrong with a bad one."""

import json
from pathlib import Path

import pytest

from sssd_demo.errors import UserError
from sssd_demo.questions import Question, read_questions


def write(folder: Path, *lines: str) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def line(question_id: int, category: str, *turns: str) -> str:
    return json.dumps({"question_id": question_id, "category": category, "turns": list(turns)})


def test_questions_come_in_the_order_of_the_file(tmp_path: Path):
    path = write(tmp_path, line(9, "qa", "Who?"), "", line(3, "writing", "Write.", "Again."))
    assert read_questions(path) == [Question("9", "qa", ("Who?",)), Question("3", "writing", ("Write.", "Again."))]


def test_the_eight_mt_bench_categories_are_one_group(tmp_path: Path):
    categories = "writing roleplay reasoning math coding extraction stem humanities".split()
    questions = read_questions(write(tmp_path, *(line(n, c, "?") for n, c in enumerate(categories))))
    assert {question.group for question in questions} == {"mt_bench"}
    assert [question.category for question in questions] == categories
    assert Question("1", "math_reasoning", ("?",)).group == "math_reasoning"


def test_a_limit_is_spread_over_the_groups_and_keeps_the_order(tmp_path: Path):
    path = write(tmp_path, *(line(n, c, "?") for n, c in enumerate(["qa", "qa", "qa", "rag", "writing", "rag"])))
    assert [question.id for question in read_questions(path, limit=4)] == ["0", "1", "3", "4"]
    assert len(read_questions(path, limit=100)) == 6


def test_a_line_separator_inside_a_text_does_not_end_the_line(tmp_path: Path):
    path = write(tmp_path, '{"question_id": 1, "category": "qa", "turns": ["a\u2028b"]}')
    assert read_questions(path)[0].turns == ("a\u2028b",)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("{", "not a JSON object"),
        ("[1]", "not a JSON object"),
        ('{"question_id": 1, "category": "qa"}', "turns is missing"),
        ('{"question_id": 1, "turns": ["a"]}', "category is missing"),
        ('{"question_id": 1, "category": "qa", "turns": []}', "turns must be"),
        ('{"question_id": 1, "category": "qa", "turns": "Who?"}', "turns must be"),
        ('{"question_id": 1, "category": "qa", "turns": [" "]}', "turns must be"),
        ('{"question_id": 1, "category": "rag", "turns": ["What?"]}', "the question_id 1 was there before"),
    ],
)
def test_a_bad_line_is_named_with_file_and_line(tmp_path: Path, bad: str, says: str):
    path = write(tmp_path, line(1, "qa", "Who?"), bad)
    with pytest.raises(UserError, match=says) as refusal:
        read_questions(path)
    assert f"{path}, line 2:" in str(refusal.value)


def test_a_file_without_questions_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match="holds no questions"):
        read_questions(write(tmp_path, "", " "))


def test_a_missing_file_a_folder_and_bytes_are_refused(tmp_path: Path):
    with pytest.raises(UserError, match="No such file"):
        read_questions(tmp_path / "none.jsonl")
    with pytest.raises(UserError, match="Cannot read"):
        read_questions(tmp_path)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not UTF-8"):
        read_questions(tmp_path / "bytes")


def test_a_line_nested_too_deep_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match="line 1: not a JSON object"):
        read_questions(write(tmp_path, "[" * 100_000))
