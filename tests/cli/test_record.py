"""`record`: answers kept, and asked only once."""

import fcntl
import json
import os
from pathlib import Path

from sssd_demo.cli import main
from sssd_demo.trace_file import load


def test_every_answer_becomes_a_trace_file(service, questions, run_json, tmp_path: Path):
    result = run_json("record", "--questions", questions, "--out", tmp_path / "traces")
    assert result == {"out": str(tmp_path / "traces"), "recorded": 4, "already_there": 0, "skipped": {}}
    traces = {path.name: load(path) for path in (tmp_path / "traces").iterdir()}
    assert sorted(traces) == ["1.json", "2.json", "3.json", "4.json"]
    assert bytes(traces["2.json"].token_ids()) == b"Write a line.\0"


def test_a_file_of_lines_holds_token_ids_and_the_category(service, questions, run_json, tmp_path: Path):
    run_json("record", "--questions", questions, "--out", tmp_path / "a.jsonl", "--batch", 2)
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [line["question_id"] for line in lines] == ["1", "2", "3", "4"]
    assert lines[3] == {
        "question_id": "4",
        "category": "roleplay",
        "tokenizer": "fake",
        "prompt": list(b"Be a tree."),
        "output": [*b"Be a tree.", 0],
        "top": [[[token, 0.75], [0, 0.25]] for token in (*b"Be a tree.", 0)],
    }


def test_what_is_there_is_not_asked_again(service, questions, run_json, tmp_path: Path):
    for out in (tmp_path / "traces", tmp_path / "a.jsonl"):
        first = run_json("record", "--questions", questions, "--out", out, "--limit", 3, "--temperature", 0.7)
        asked = len(service.asked)
        second = run_json("record", "--questions", questions, "--out", out, "--temperature", 0.7)
        assert (first["recorded"], second["recorded"], second["already_there"]) == (3, 1, 3)
        assert len(service.asked) == asked + 1


def test_each_answer_is_sampled_with_its_own_seed_whatever_was_there_before(service, questions, run_json, tmp_path):
    run_json("record", "--questions", questions, "--out", tmp_path / "a.jsonl", "--seed", 10)
    assert [settings.seed for _, settings, _ in service.asked] == [10, 11, 12, 13]
    lines = (tmp_path / "a.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_text(lines[0] + lines[2])
    run_json("record", "--questions", questions, "--out", tmp_path / "a.jsonl", "--seed", 10)
    assert [settings.seed for _, settings, _ in service.asked[4:]] == [11, 13]


def test_a_line_cut_short_by_a_crash_is_written_again(service, questions, run_json, tmp_path: Path):
    out = tmp_path / "a.jsonl"
    run_json("record", "--questions", questions, "--out", out)
    whole = out.read_text()
    out.write_text(whole[:-20])
    assert run_json("record", "--questions", questions, "--out", out)["recorded"] == 1
    assert out.read_text() == whole


def test_a_question_that_cannot_be_answered_does_not_stop_the_others(service, questions, run_json, tmp_path: Path):
    with questions.open("a") as file:
        file.write(json.dumps({"question_id": "a/b", "category": "qa", "turns": ["x" * 300]}) + "\n")
        file.write(json.dumps({"question_id": "../c", "category": "qa", "turns": ["Last?"]}) + "\n")
    result = run_json("record", "--questions", questions, "--out", tmp_path / "traces", "--batch", 1)
    assert result["recorded"] == 5
    assert "context holds 200" in result["skipped"]["a/b"]
    assert len(list((tmp_path / "traces").iterdir())) == 5


def test_a_whole_line_that_lost_only_its_end_is_kept(service, questions, run_json, tmp_path: Path):
    out = tmp_path / "a.jsonl"
    run_json("record", "--questions", questions, "--out", out, "--limit", 3)
    before = out.read_text()
    out.write_text(before.removesuffix("\n"))
    assert run_json("record", "--questions", questions, "--out", out)["already_there"] == 3
    assert out.read_text().startswith(before)
    assert len(out.read_text().splitlines()) == 4


def test_answers_of_another_tokenizer_are_neither_taken_for_this_ones_nor_added_to(
    service, questions, run_json, refusal, tmp_path: Path
):
    lines, traces = tmp_path / "A.JSONL", tmp_path / "traces"
    for out in (lines, traces):
        run_json("record", "--questions", questions, "--out", out)
    before = lines.read_bytes()
    service.text.fingerprint = "other"
    service.text.token_bytes = lambda token: b"?"
    said = refusal("record", "--questions", questions, "--out", lines)
    assert "A.JSONL, line 1: recorded with another tokenizer (fake) than the one expected (other)" in said
    assert "1.json was recorded with another tokenizer" in refusal("record", "--questions", questions, "--out", traces)
    assert lines.read_bytes() == before
    assert len(list(traces.iterdir())) == 4


def test_answers_recorded_before_there_was_a_mark_are_still_there(service, questions, run_json, tmp_path: Path):
    old = [{"question_id": id_, "category": "qa", "prompt": [65], "output": [66]} for id_ in (1, 2)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in old))
    assert run_json("record", "--questions", questions, "--out", tmp_path / "a.jsonl")["already_there"] == 2


def test_places_that_hold_something_else_are_refused(service, questions, refusal, tmp_path: Path):
    (tmp_path / "notes").write_text("mine")
    assert "Cannot record to" in refusal("record", "--questions", questions, "--out", tmp_path / "notes")
    question = questions.read_text().splitlines()[0]
    for text in ("mine", "mine\n", "{}\n", question, f"{question}\n", "[" * 100_000):
        (tmp_path / "notes.jsonl").write_text(text)
        said = refusal("record", "--questions", questions, "--out", tmp_path / "notes.jsonl")
        assert "line 1: not a recorded answer" in said
        assert (tmp_path / "notes.jsonl").read_text() == text
    assert (tmp_path / "notes").read_text() == "mine"
    assert service.asked == []


def test_a_file_that_another_program_records_to_is_refused(service, questions, refusal, run_json, tmp_path: Path):
    out = tmp_path / "a.jsonl"
    with out.open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert "Another program is recording to" in refusal("record", "--questions", questions, "--out", out)
    assert service.asked == []
    assert run_json("record", "--questions", questions, "--out", out)["recorded"] == 4


def test_a_path_below_a_folder_that_is_not_there_makes_none(service, questions, refusal, tmp_path: Path):
    for out in ("nope/a.jsonl", "nope/traces", "n" * 300 + "/a.jsonl"):
        assert "there is no folder" in refusal("record", "--questions", questions, "--out", tmp_path / out)
    assert not (tmp_path / "nope").exists()
    assert service.asked == []


def test_an_id_may_be_any_text(service, run_json, refusal, tmp_path: Path):
    ids = ["", ".", "..", ".hidden", "a/b", "a.b", "%2E", "\ud800", "\0", "é"]
    path = tmp_path / "odd.jsonl"
    path.write_text("".join(json.dumps({"question_id": id_, "category": "", "turns": ["Hm?"]}) + "\n" for id_ in ids))
    for out in (tmp_path / "traces", tmp_path / "a.jsonl"):
        assert run_json("record", "--questions", path, "--out", out)["recorded"] == len(ids)
        assert run_json("record", "--questions", path, "--out", out)["already_there"] == len(ids)
    kept = [found for found in (tmp_path / "traces").iterdir() if not found.name.startswith(".")]
    assert len(kept) == len(ids)
    path.write_text(json.dumps({"question_id": "a" * 300, "category": "", "turns": ["Hm?"]}))
    assert "is too long to name a file" in refusal("record", "--questions", path, "--out", tmp_path / "traces")
    assert run_json("record", "--questions", path, "--out", tmp_path / "a.jsonl")["recorded"] == 1


def test_a_folder_that_cannot_be_written_to_is_refused_before_anything_is_asked(
    service, questions, refusal, tmp_path: Path, monkeypatch
):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    said = refusal("record", "--questions", questions, "--out", tmp_path / "traces")
    assert "traces: Permission denied" in said
    assert service.asked == []


def test_no_place_at_all_is_refused(service, questions, refusal):
    assert "must name a folder, or a file" in refusal("record", "--questions", questions, "--out", "")


def test_when_no_question_at_all_could_be_answered_the_command_fails(service, tmp_path: Path, capsys):
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps({"question_id": 1, "category": "qa", "turns": ["x" * 300]}) + "\n")
    assert main(["record", "--questions", str(path), "--out", str(tmp_path / "a.jsonl")]) == 2
    assert "No question could be answered" in capsys.readouterr().err.splitlines()[-1]


def test_a_missing_question_file_is_named(service, refusal, tmp_path: Path):
    assert "none.jsonl" in refusal("record", "--questions", tmp_path / "none.jsonl", "--out", tmp_path / "a.jsonl")
