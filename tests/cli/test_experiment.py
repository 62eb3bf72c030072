"""`experiment`: what it writes where, what a person sees, what is refused. What is measured is in tests/experiments."""

import json
import os
from pathlib import Path

import pytest

from sssd_demo import models
from sssd_demo.cli import main
from sssd_demo.cli.experiment import EXPERIMENTS
from sssd_demo.experiments import context, languages
from sssd_demo.service import Service
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.stores import Stores, default_folder
from tests.experiments.fakes import ExperimentService
from tests.experiments.fakes import Text as ByteText
from tests.experiments.toy_answers import VOCABULARY, fresh, phrased

KEYS = "experiment title verdict device model created command settings x y series kind".split()


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SSSD_DEMO_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def tokenizer(monkeypatch):
    """Ids of the toy answers."""
    text = ByteText()
    text.vocab_size = VOCABULARY
    monkeypatch.setattr(models, "load_text", lambda name: text)


@pytest.fixture
def service(monkeypatch):
    fake = ExperimentService()
    monkeypatch.setattr(Service, "open", lambda *args, **settings: fake)
    monkeypatch.setitem(languages.BUDGETS, "small", languages.Budget(2, 4, 100, 1))
    monkeypatch.setitem(context.BUDGETS, "small", context.Budget((50, 100), 20, 1))
    return fake


def recorded(path, answers):
    lines = [{"prompt": list(answer.prompt), "output": list(answer.output)} for answer in answers]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def conversations(tmp_path):
    return recorded(tmp_path / "conversations.jsonl", phrased(40))


@pytest.fixture
def answers(tmp_path):
    return recorded(tmp_path / "answers.jsonl", phrased(10, seed=2))


@pytest.fixture
def past():
    documents = [answer.output for answer in phrased(30, seed=1)]
    Stores(default_folder()).save("past", Datastore.build(documents, fingerprint="f", vocab_size=VOCABULARY))


def check(result, *names):
    """Every figure is complete, and in a file of its own."""
    assert [figure["experiment"] for figure in result["figures"]] == list(names)
    for path, figure in zip(result["written"], result["figures"], strict=True):
        assert list(figure) == KEYS
        assert json.loads(Path(path).read_text(encoding="utf-8")) == figure
        for series in figure["series"]:
            assert len(series["x"]) == len(series["y"]) == len(series.get("low", series["y"]))


def test_the_list_names_every_experiment(run_json, capsys):
    assert run_json("experiment", "list")["experiments"] == EXPERIMENTS
    assert main(["experiment", "list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(EXPERIMENTS)


def test_results_of_recorded_answers_are_kept_in_the_file_named(
    run_json, tmp_path, conversations, answers, past, tokenizer
):
    out = tmp_path / "out.json"
    cold = run_json("experiment", "cold-start", "--answers", conversations, "--out", out)
    check(cold, "cold-start", "cold-start-held-out")
    check(run_json("experiment", "additivity", "--answers", answers, "--store", "past", "--out", out), "additivity")
    own = run_json("experiment", "own-text", "--answers", answers, "--own", conversations, "--out", out)
    check(own, "own-text")
    assert json.loads(out.read_text())["experiment"] == "own-text"


def test_results_of_decoding_have_a_file_for_each_figure(run_json, tmp_path, service):
    result = run_json("experiment", "languages", "--store", "mine", "--out", tmp_path / "a.json")
    check(result, "languages", "languages-tokens", "languages-growth")
    assert result["written"] == [str(tmp_path / name) for name in ("a.json", "a-tokens.json", "a-growth.json")]
    assert (result["figures"][0]["device"], result["figures"][0]["model"]) == ("a test", "fake")
    check(run_json("experiment", "context", "--out", tmp_path / "b.json"), "context", "context-drafting")
    other = run_json("experiment", "context", "--method", "lookahead", "--out", tmp_path / "c.json")
    assert "--method lookahead" in other["figures"][0]["command"]
    assert service.closed


def test_the_usual_place_is_among_the_results(run_json, tmp_path, answers, past):
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    result = run_json("experiment", "additivity", "--answers", answers, "--store", "past")
    assert result["written"] == ["benchmarks/results/experiment_additivity.json"]


def test_the_command_is_kept_without_the_folders_of_this_machine(run_json, tmp_path, answers, past):
    arguments = ["--answers", answers, "--store", "past", "--s-q", 6, "--setting", "faithful"]
    [figure] = run_json("experiment", "additivity", *arguments, "--out", tmp_path / "a.json")["figures"]
    assert figure["command"] == (
        "python -m sssd_demo experiment additivity --budget small --answers answers.jsonl --store past --s-q 6 "
        "--setting faithful --preset smollm2-135m"
    )
    assert figure["settings"]["s_q"] == [6]


def test_one_more_text_can_be_compared_with(run_json, tmp_path, conversations, answers):
    other = tmp_path / "novel.txt"
    other.write_text("Nothing of this was ever said. " * 100)
    arguments = ["--answers", answers, "--own", conversations, "--other", other, "--out", tmp_path / "a.json"]
    [figure] = run_json("experiment", "own-text", *arguments)["figures"]
    assert figure["series"][-1]["name"] == "novel.txt"


def test_a_person_gets_the_numbers_and_the_verdict(capsys, tmp_path, answers, past):
    out = tmp_path / "a.json"
    assert main(["experiment", "additivity", "--answers", str(answers), "--store", "past", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "prompt and datastore" in printed
    assert json.loads(out.read_text())["verdict"] in printed
    assert printed.endswith(f"Written to {out}.\n")


def test_bad_arguments_are_one_line_and_exit_2(refusal, tmp_path, answers, past):
    out = ["--out", tmp_path / "a.json"]
    held = ["--answers", answers]
    assert "invalid choice: 'perpetual-motion'" in refusal("experiment", "perpetual-motion")
    assert "needs to know what to do" in refusal("experiment")
    assert "arguments are required: --answers" in refusal("experiment", "cold-start", *out)
    assert "no datastore 'gone'" in refusal("experiment", "additivity", *held, "--store", "gone", *out)
    assert "nothing to add up without a store" in refusal("experiment", "additivity", *held, "--store", "none", *out)
    assert "please name one with --store" in refusal("experiment", "languages", "--store", "none", *out)
    assert "no setting 'best'" in refusal(
        "experiment", "additivity", *held, "--store", "past", *out, "--setting", "best"
    )
    assert "from 2 to 64" in refusal("experiment", "context", "--s-q", 1)
    assert not (tmp_path / "a.json").exists()


def test_bad_files_are_one_line_and_exit_2(refusal, tmp_path, conversations, past):
    out = ["--out", tmp_path / "a.json"]
    gone = refusal("experiment", "additivity", "--answers", tmp_path / "gone.jsonl", "--store", "past", *out)
    assert "gone.jsonl cannot be read" in gone
    few = recorded(tmp_path / "few.jsonl", fresh(3))
    assert "but there are 3" in refusal("experiment", "additivity", "--answers", few, "--store", "past", *out)
    assert "but there are 3" in refusal("experiment", "cold-start", "--answers", few, *out)
    twice = refusal("experiment", "own-text", "--answers", conversations, "--own", conversations, *out)
    assert "40 of the own answers are related to one held out" in twice


def test_answers_of_another_tokenizer_are_refused(refusal, tmp_path, answers, past):
    lines = [json.loads(line) | {"tokenizer": "other"} for line in answers.read_text().splitlines()]
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for argv in (
        ["additivity", "--answers", foreign, "--store", "past"],
        ["cold-start", "--answers", foreign],
        ["cold-start", "--answers", answers, "--held-out", foreign],
        ["own-text", "--answers", answers, "--own", foreign],
        ["own-text", "--answers", answers, "--own", answers, "--other", foreign],
    ):
        said = refusal("experiment", *argv, "--out", tmp_path / "a.json")
        assert "foreign.jsonl, line 1: recorded with another tokenizer (other)" in said


def test_a_place_that_cannot_keep_the_result_is_refused_before_the_work(refusal, tmp_path, monkeypatch, answers, past):
    command = ["experiment", "additivity", "--answers", answers, "--store", "past"]
    assert "no folder benchmarks/results to keep the result in" in refusal(*command)
    for nowhere in ("nowhere", "n" * 300):
        assert "There is no folder" in refusal(*command, "--out", tmp_path / nowhere / "a.json")
    assert "is a folder" in refusal(*command, "--out", tmp_path)
    before = answers.read_text()
    (tmp_path / "link.json").symlink_to(answers)
    for out in (answers, tmp_path / "link.json"):
        assert "is read, so the result cannot be kept there" in refusal(*command, "--out", out)
    assert answers.read_text() == before
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "cannot be written to" in refusal(*command, "--out", tmp_path / "a.json")
