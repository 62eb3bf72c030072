"""`train-draft` on a toy target: from recorded answers to a folder that drafts, with its card."""

from __future__ import annotations

import json

import pytest

from sssd_demo import models
from sssd_demo.exit_draft.record import RECORD_FILE
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.stores import Stores
from tests.toy_models import save_toy_model

FEW = ("--steps", "3", "--copied", "0", "--trained", "1", "--vocabulary", "100", "--batch-tokens", "200")


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    return save_toy_model(tmp_path_factory.mktemp("target"))


def write(path, answers):
    path.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    return path


def answer(start):
    return {"prompt": [1, start, start + 1, 2], "output": [(start + 3 * n) % 90 for n in range(20)]}


@pytest.fixture
def recorded(tmp_path):
    return write(tmp_path / "answers.jsonl", [answer(3 * n + 4) for n in range(25)])


def test_a_folder_comes_out_that_loads_and_tells_how_it_was_made(run_json, target, recorded, tmp_path):
    out = tmp_path / "small"
    result = run_json("train-draft", "--preset", target, "--answers", recorded, "--out", out, "--seed", "7", *FEW)
    card = json.loads((out / RECORD_FILE).read_text())["card"]
    assert result == {"out": str(out), "bytes": result["bytes"], "card": card}
    assert (card["steps"], card["seed"], card["vocabulary"]) == (3, 7, 100)
    assert card["data"] == [{"answers": "answers.jsonl", "count": 23, "tokens": 460}]  # every 20th is measured on
    assert card["tokens"] > 0
    assert card["measured_on"]["answers"] == 2
    assert len(card["agreement"]) == 4
    assert card["step_ms"] > 0
    assert models.load(str(out), device="cpu", dtype="float32").model.config.num_hidden_layers == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.jsonl", "small"]  # nothing unfinished


def test_it_is_measured_again_without_being_trained(run_json, target, recorded, tmp_path):
    out = tmp_path / "small"
    command = ("train-draft", "--preset", target, "--answers", recorded, "--out", out, *FEW)
    before = run_json(*command)["card"]
    others = write(tmp_path / "others.jsonl", [answer(5), answer(7), answer(11)])
    again = run_json("train-draft", "--preset", target, "--out", out, "--measure", others, "--measure-only")["card"]
    assert again["measured_on"]["answers"] == 3
    assert {key: again[key] for key in ("steps", "tokens", "data")} == {
        key: before[key] for key in ("steps", "tokens", "data")
    }


def test_what_is_measured_on_is_not_learnt(run_json, refusal, target, tmp_path):
    long = [*range(10, 30)]
    learnt = write(
        tmp_path / "learnt.jsonl", [{"prompt": [1, *long, 2], "output": [5] * 20}, answer(40), answer(50), answer(60)]
    )
    measured = write(tmp_path / "measured.jsonl", [{"prompt": [1, 99, *long[3:], 2], "output": [6] * 20}])
    command = ("train-draft", "--preset", target, "--measure", measured, "--out", tmp_path / "small", *FEW)
    assert run_json(*command, "--answers", learnt)["card"]["data"][0]["count"] == 3

    fingerprint = models.load_text(str(target)).fingerprint
    Stores.usual(fingerprint).save("mine", Datastore.build([long], fingerprint=fingerprint, vocab_size=512))
    assert "13 tokens in a row of question 1" in refusal(*command, "--store", "mine")


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ([], "nothing to measure on"),
        (["--answers", "missing.jsonl"], "missing.jsonl cannot be read"),
        (["--answers", "ANSWERS", "--store", "nosuch"], "nosuch"),
        (["--answers", "ANSWERS", "--out", "no/such/folder/x"], "there is no folder no/such/folder"),
        (["--answers", "ANSWERS", "--trained", "9"], "has no layers 0,9"),
        (["--answers", "ANSWERS", "--trained", "one"], "must be numbers of layers"),
        (["--answers", "ANSWERS", "--trained", ""], "must be numbers of layers"),
        (["--answers", "ANSWERS", "--steps", "0"], "whole number from 1"),
        (["--measure", "ANSWERS"], "nothing to learn from"),
        (["--measure", "ANSWERS", "--measure-only"], "no trained draft model in"),
        (["--answers", "ANSWERS", "--preset", "nobody"], "Unknown model 'nobody'"),
    ],
)
def test_what_cannot_be_trained_is_said_in_one_line(refusal, target, recorded, tmp_path, argv, says):
    argv = [str(recorded) if word == "ANSWERS" else word for word in argv]
    assert says in refusal("train-draft", "--preset", target, "--out", tmp_path / "small", *argv)
