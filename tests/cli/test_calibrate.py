"""`calibrate` from its files to its table."""

import json
import random

import pytest

from sssd_demo.cli import main
from sssd_demo.sssd import calibration
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.stores import Stores, default_folder


@pytest.fixture(autouse=True)
def few_tries(monkeypatch, tmp_path):
    monkeypatch.setenv("SSSD_DEMO_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(calibration, "IDEAS", {"no lag": {"lag": False}})
    monkeypatch.setattr(calibration, "CONSTANTS", {"window": (8, 16)})
    rng = random.Random(0)
    for name in ("search", "check", "third", "other"):
        with (tmp_path / f"{name}.jsonl").open("w") as file:
            for _ in range(4):
                phrase = [rng.randrange(40) for _ in range(9)]
                top = [[[token, 0.5]] for token in phrase * 4]
                file.write(json.dumps({"prompt": phrase[:4], "output": phrase * 4, "top": top}) + "\n")
    document = [rng.randrange(40) for _ in range(200)]
    Stores(default_folder()).save("known", Datastore.build([document], fingerprint="f", vocab_size=100))


def test_the_table_holds_every_try_and_the_report_every_set(run_json, tmp_path):
    files = [tmp_path / f"{name}.jsonl" for name in ("search", "check", "other", "third")]
    out = tmp_path / "calibration.json"
    argv = ["calibrate", "--search", files[0], "--check", files[1], "--other-model", files[2], "--store", "known"]
    result = run_json(*argv, "--report", files[3], "--s-q", "4", "--out", out)
    assert json.loads(out.read_text()) == result
    assert [(one["stage"], one["name"]) for one in result["tries"]] == [
        ("each idea alone", "no lag"),
        ("ideas added up", "no lag"),
        ("constants", "window = 16"),
    ]
    won = {name: value for one in result["tries"] if one["adopted"] for name, value in one["changes"].items()}
    assert result["chosen"] == won
    assert result["answers"] == {"searched": 4, "checked": 4, "report": 4, "other_model": 2}
    for by_setting in result["report"].values():
        assert set(by_setting) == {"faithful", "chosen", "default"}
        for scores in by_setting.values():
            assert set(scores) == {"s_q 4, no store", "s_q 4, store"}
            assert all(value >= 1 for value in scores.values())


def test_a_person_sees_the_tries_and_the_choice(tmp_path, capsys):
    argv = ["calibrate", "--search", tmp_path / "search.jsonl", "--check", tmp_path / "check.jsonl", "--store", "known"]
    assert main([*map(str, argv), "--s-q", "4", "--limit", "2"]) == 0
    said = capsys.readouterr().out
    assert "no lag" in said
    assert "chosen: " in said
    assert "searched: 2 answers" in said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"--search": "missing.jsonl"}, "missing.jsonl cannot be read"),
        ({"--store": "nowhere"}, "no datastore 'nowhere'"),
        ({"--s-q": "0"}, "numbers from 1"),
        ({"--limit": "0"}, "whole number from 1"),
    ],
)
def test_bad_input_is_one_sentence(refusal, tmp_path, changes, said):
    options = {"--search": "search.jsonl", "--check": "check.jsonl", "--store": "known"} | changes
    argv = [part for name, value in options.items() for part in (name, value)]
    argv = [tmp_path / part if part.endswith(".jsonl") else part for part in argv]
    assert said in refusal("calibrate", *argv)


def test_a_store_that_knows_an_answer_is_refused(refusal, tmp_path):
    answer = json.loads((tmp_path / "check.jsonl").read_text().splitlines()[0])["output"]
    Stores(default_folder()).save("leak", Datastore.build([answer], fingerprint="f", vocab_size=100))
    argv = ["calibrate", "--search", tmp_path / "search.jsonl", "--check", tmp_path / "check.jsonl", "--store", "leak"]
    assert "leak holds an answer" in refusal(*argv)


def marked(path, tokenizer):
    lines = [json.loads(line) | {"tokenizer": tokenizer} for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_answers_of_another_tokenizer_than_the_stores_are_refused_but_not_those_of_the_other_model(
    run_json, refusal, tmp_path
):
    search, check, other = (tmp_path / f"{name}.jsonl" for name in ("search", "check", "other"))
    argv = ["calibrate", "--search", search, "--check", check, "--store", "known", "--s-q", "4"]
    run_json(*argv, "--other-model", marked(other, "g"))
    marked(check, "g")
    assert "check.jsonl, line 1: recorded with another tokenizer (g) than the one expected (f)" in refusal(*argv)


def test_what_is_related_to_an_answer_of_the_other_model_does_not_get_into_its_store(refusal, run_json, tmp_path):
    search, check, other = (tmp_path / f"{name}.jsonl" for name in ("search", "check", "other"))
    argv = ["calibrate", "--search", search, "--check", check, "--store", "known", "--s-q", "4"]
    first, second, *_ = other.read_text().splitlines()
    same = json.dumps(json.loads(second) | {"prompt": [1, 2, 3]})
    other.write_text(f"{same}\n{second}\n")
    assert "two answers to unrelated questions" in refusal(*argv, "--other-model", other)
    other.write_text(f"{same}\n{second}\n{first}\n")
    scores = run_json(*argv, "--other-model", other)["report"]["other_model"]["faithful"]
    assert scores["s_q 4, store"] == scores["s_q 4, no store"]


def test_tokens_held_likely_may_be_any_of_the_other_models(run_json, tmp_path):
    search, check, other = (tmp_path / f"{name}.jsonl" for name in ("search", "check", "other"))
    lines = [json.loads(line) for line in other.read_text().splitlines()]
    for line in lines:
        line["top"][0] = [[150_000, 0.5]]
    other.write_text("".join(json.dumps(line) + "\n" for line in lines))
    argv = ["calibrate", "--search", search, "--check", check, "--store", "known", "--s-q", "4"]
    run_json(*argv, "--other-model", other)


def test_ids_that_the_store_cannot_hold_are_refused(refusal, tmp_path):
    (tmp_path / "check.jsonl").write_text(json.dumps({"prompt": [70_000], "output": list(range(30))}))
    argv = ["calibrate", "--search", tmp_path / "search.jsonl", "--check", tmp_path / "check.jsonl", "--store", "known"]
    assert 'a token id in "prompt" is not one of 0 to 65534' in refusal(*argv)


def test_sets_that_share_a_question_are_refused(refusal, tmp_path):
    file = tmp_path / "search.jsonl"
    assert "share a question" in refusal("calibrate", "--search", file, "--check", file, "--store", "known")


def test_a_place_that_cannot_be_written_to_is_refused_before_the_work(refusal, tmp_path, monkeypatch):
    monkeypatch.setattr(calibration, "Calibration", None)
    argv = ["calibrate", "--search", tmp_path / "search.jsonl", "--check", tmp_path / "check.jsonl", "--store", "known"]
    assert "There is no folder" in refusal(*argv, "--out", tmp_path / "nowhere" / "x.json")
    assert "is a folder" in refusal(*argv, "--out", tmp_path)
    assert "name too long" in refusal(*argv, "--out", tmp_path / ("n" * 300))
    before = (tmp_path / "check.jsonl").read_text()
    assert "check.jsonl is read" in refusal(*argv, "--out", tmp_path / "check.jsonl")
    assert (tmp_path / "check.jsonl").read_text() == before
