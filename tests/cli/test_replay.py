"""`replay`: figures for each speculation length, without a model."""

import json

import pytest

from sssd_demo.cli import main
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.stores import Stores, default_folder


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SSSD_DEMO_DATA", str(tmp_path / "data"))


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.jsonl"
    lines = [{"prompt": [99, 0], "output": list(range(1, 25)), "category": "qa"}, {"prompt": [1], "output": [2]}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def keep_store(name, document):
    Stores(default_folder()).save(name, Datastore.build([document], fingerprint="f", vocab_size=100))


def test_every_length_has_its_figures(run_json, answers):
    keep_store("copy", [*range(12), 50, *range(9, 40)])  # nearly the answer
    result = run_json("replay", "--answers", answers, "--store", "copy", "--s-q", "1,4,6", "--setting", "faithful")
    assert {s_q: figures["tokens_per_step"] for s_q, figures in result.items()} == {"1": 1.0, "4": 4.0, "6": 6.0}
    for figures in result.values():
        assert 0 < figures["draft_ms"]["median"] <= figures["draft_ms"]["p99"]


def test_a_store_that_knows_an_answer_or_its_prompt_is_refused(refusal, answers, tmp_path):
    keep_store("copy", range(40))
    said = refusal("replay", "--answers", answers, "--store", "copy")
    assert "copy holds an answer to question 1 of answers.jsonl" in said
    keep_store("prompts", range(60, 90))
    asked = tmp_path / "asked.jsonl"
    asked.write_text(json.dumps({"prompt": list(range(62, 75)), "output": list(range(24, 0, -1))}))
    said = refusal("replay", "--answers", asked, "--store", "prompts")
    assert "prompts holds 13 tokens in a row of question 1 of asked.jsonl" in said


def test_answers_of_another_tokenizer_than_the_stores_are_refused(run_json, refusal, tmp_path):
    keep_store("past", range(50, 90))
    marked = tmp_path / "marked.jsonl"
    line = {"prompt": [1], "output": list(range(30)), "tokenizer": "f"}
    marked.write_text(json.dumps(line) + "\n")
    run_json("replay", "--answers", marked, "--store", "past")
    marked.write_text(json.dumps(line | {"tokenizer": "g"}) + "\n")
    run_json("replay", "--answers", marked)
    said = refusal("replay", "--answers", marked, "--store", "past")
    assert "marked.jsonl, line 1: recorded with another tokenizer (g) than the one expected (f)" in said


def test_ids_that_the_store_cannot_hold_are_refused(run_json, refusal, tmp_path):
    keep_store("past", range(50, 90))
    large = tmp_path / "large.jsonl"
    large.write_text(json.dumps({"output": [*range(30), 70_000]}))
    run_json("replay", "--answers", large)
    assert "is not one of 0 to 65534" in refusal("replay", "--answers", large, "--store", "past")


def test_a_file_with_answers_of_two_tokenizers_is_refused(refusal, tmp_path):
    mixed = tmp_path / "mixed.jsonl"
    lines = [{"output": [1]}, {"output": [1], "tokenizer": "f"}, {"output": [1]}, {"output": [1], "tokenizer": "g"}]
    mixed.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "line 4: recorded with another tokenizer (g)" in refusal("replay", "--answers", mixed)


def test_without_a_store_the_prompt_is_the_only_source(run_json, answers):
    for none in ([], ["--store", "none"]):
        assert run_json("replay", "--answers", answers, "--s-q", "4", *none)["4"]["tokens_per_step"] == 1.0


def test_a_person_gets_a_table(answers, capsys):
    assert main(["replay", "--answers", str(answers)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["s_q", "4", "8", "16", "32"]


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--store", "gone"], "no datastore 'gone'"),
        (["--setting", "best"], "no setting 'best'; the known ones are: faithful, default"),
        (["--s-q", "0"], "must be numbers from 1 to 64"),
        (["--s-q", "4,x"], "must be numbers from 1 to 64"),
        (["--s-q", "65"], "must be numbers from 1 to 64"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_2(refusal, answers, argv, says):
    assert says in refusal("replay", "--answers", answers, *argv)


def test_bad_files_are_one_line_and_exit_2(refusal, tmp_path):
    assert "gone.jsonl cannot be read" in refusal("replay", "--answers", tmp_path / "gone.jsonl")
    (tmp_path / "a.jsonl").write_text('{"prompt": [1], "output": [2]}\n{"prompt": [1.5], "output": [2]}')
    assert 'line 2: "prompt" must be a list of token ids' in refusal("replay", "--answers", tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text('{"prompt": [1], "output": [2]}')
    assert "no answer has 20 tokens" in refusal("replay", "--answers", tmp_path / "a.jsonl")
