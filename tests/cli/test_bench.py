"""`bench`: which lanes there are, what is reported, what is refused. The figures themselves are in tests/bench."""

import json
from types import SimpleNamespace

import pytest

from sssd_demo.cli import main

FIGURES = "tokens_per_second tokens_per_forward speedup_vs_autoregressive draft_ms verify_ms ttft_ms tpot_ms".split()


def test_plain_decoding_is_measured_even_when_not_asked_for(service, questions, run_json):
    result = run_json("bench", "--questions", questions, "--methods", "sssd", "--repeats", 2)
    assert set(result) == {"machine", "settings", "methods"}
    assert list(result["methods"]) == ["autoregressive", "sssd"]
    overall = result["methods"]["sssd"]["overall"]
    assert overall["answers"] == 8
    for key in FIGURES:
        assert set(overall[key]) == {"mean", "median", "p25", "p75"}
    assert overall["speedup_vs_autoregressive"]["median"] > 1.5
    assert overall["identical_to_autoregressive"] is True
    assert set(result["methods"]["sssd"]["categories"]) == {"qa", "mt_bench", "rag"}
    assert result["methods"]["autoregressive"]["overall"]["speedup_vs_autoregressive"]["median"] == 1.0


def test_the_machine_and_the_settings_stand_beside_the_figures(service, questions, run_json):
    result = run_json("bench", "--questions", questions, "--limit", 2, "--max-new-tokens", 5)
    assert {"cpu", "device", "threads", "dtype", "torch", "transformers", "date"} <= set(result["machine"])
    settings = result["settings"]
    assert settings["asked"] == ["1", "2"]
    assert settings["max_new_tokens"] == 5
    assert settings["temperature"] == 0
    assert settings["s_q"] == {"sssd": "auto"}


def test_the_figures_can_be_kept_in_a_file(service, questions, run_json, refusal, tmp_path):
    kept = tmp_path / "kept.json"
    result = run_json("bench", "--questions", questions, "--limit", 1, "--out", kept)
    assert json.loads(kept.read_text()) == result
    assert result["settings"]["questions"] == questions.name
    asked = len(service.asked)
    for place in (tmp_path, tmp_path / "none" / "kept.json", tmp_path / ("n" * 300)):
        assert "cannot be written" in refusal("bench", "--questions", questions, "--out", place)
    assert len(service.asked) == asked


def test_several_lengths_make_a_lane_each(service, questions, run_json):
    result = run_json("bench", "--questions", questions, "--methods", "sssd,sssd@6", "--s-q", "4,auto", "--limit", 1)
    assert list(result["methods"]) == ["autoregressive", "sssd@4", "sssd@auto", "sssd@6"]
    lengths = {(settings.method, settings.s_q) for _, settings, _ in service.asked}
    assert lengths == {("autoregressive", "auto"), ("sssd", 4), ("sssd", "auto"), ("sssd", 6)}


def test_one_length_keeps_the_methods_name(service, questions, run_json):
    result = run_json("bench", "--questions", questions, "--methods", "autoregressive,sssd", "--s-q", 8, "--limit", 1)
    assert result["settings"]["s_q"] == {"sssd": 8}


@pytest.fixture
def pair(service):
    """The scripted service, with a draft model."""
    service.draft = SimpleNamespace(name="small")
    return service


def test_several_draft_lengths_and_rules_make_a_lane_each(pair, questions, run_json):
    result = run_json(
        *["bench", "--questions", questions, "--methods", "sssd,speculative", "--limit", 1, "--draft", "small"],
        *["--k", "1,auto", "--rule", "chain,block", "--temperature", 1],
    )
    assert list(result["methods"]) == [
        *("autoregressive", "sssd", "speculative@k1-chain", "speculative@k1-block"),
        *("speculative@kauto-chain", "speculative@kauto-block"),
    ]
    assert result["settings"]["drafting"]["speculative@k1-block"] == {"k": 1, "rule": "block", "temperature": None}
    assert result["settings"]["draft_model"] == "small"


def test_sampled_drafts_are_not_compared_text_by_text(pair, questions, run_json):
    pair.answers = {"speculative": b"Who am I?"}
    ask = ["bench", "--questions", questions, "--methods", "speculative", "--limit", 1, "--draft", "small"]
    sampled = run_json(*ask, "--temperature", 1)["methods"]["speculative"]["overall"]
    assert sampled["identical_to_autoregressive"] is None
    assert sampled["differences"] == []
    # A greedy draft is a point mass and keeps the text, so there a difference tells.
    for point_mass in (["--temperature", 1, "--draft-temperature", 0], []):
        compared = run_json(*ask, *point_mass)["methods"]["speculative"]["overall"]
        assert compared["identical_to_autoregressive"] is False


def test_acceptance_is_told_by_position(service, questions, run_json):
    service.answers = {"sssd": b"abcdefg"}
    overall = run_json("bench", "--questions", questions, "--methods", "sssd")["methods"]["sssd"]["overall"]
    assert overall["acceptance_by_position"] == [3 / 4]  # rounds of a token and a bonus, and one that only ends


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--k", "0"], "K must be 1 to 16 tokens or auto, but is 0"),
        (["--k", "17"], "K must be 1 to 16 tokens or auto, but is 17"),
        (["--k", "many"], "must be auto or a whole number, but is 'many'"),
        (["--rule", "best"], "no acceptance rule called 'best'; the rules are chain, block, tree, traversal"),
        (["--rule", "hierarchical"], "is the rule called block"),
        (["--draft-temperature", "3"], "draft's temperature must lie between 0 and 2, but is 3"),
    ],
)
def test_odd_drafting_is_refused(pair, questions, refusal, argv, says):
    ask = ["bench", "--questions", questions, "--methods", "speculative", "--draft", "small", *argv]
    assert says in refusal(*ask)


def test_a_method_with_a_draft_model_is_refused_where_there_is_none(service, questions, refusal):
    says = refusal("bench", "--questions", questions, "--methods", "speculative", "--model", "nobody/model")
    assert "speculative needs a draft model, and nobody/model comes without one" in says
    assert "qwen2.5-coder" in says
    assert not service.asked


def test_only_the_first_turn_is_asked_unless_all_are(service, questions, run_json):
    first = run_json("bench", "--questions", questions)
    every = run_json("bench", "--questions", questions, "--turns", "all")
    assert first["methods"]["sssd"]["overall"]["answers"] == 4
    assert every["methods"]["sssd"]["overall"]["answers"] == 5


def test_a_differing_answer_is_reported(service, questions, run_json):
    service.answers = {"sssd": b"Who am I?"}
    overall = run_json("bench", "--questions", questions, "--limit", 1)["methods"]["sssd"]["overall"]
    assert overall["identical_to_autoregressive"] is False
    [difference] = overall["differences"]
    assert (difference["question_id"], difference["position"]) == ("1", 5)
    assert (difference["probability"], difference["probability_autoregressive"]) == (0.5, 1.0)
    sampled = run_json("bench", "--questions", questions, "--temperature", 1)["methods"]["sssd"]["overall"]
    assert sampled["identical_to_autoregressive"] is False


def test_a_question_beyond_the_context_is_left_out_and_named(service, questions, run_json):
    with questions.open("a") as file:
        file.write(json.dumps({"question_id": 5, "category": "qa", "turns": ["x" * 300]}) + "\n")
    settings = run_json("bench", "--questions", questions)["settings"]
    assert settings["asked"] == ["1", "2", "3", "4"]
    assert "context holds 200" in settings["skipped"]["5"]


def test_a_person_sees_a_table(service, questions, capsys):
    assert main(["bench", "--questions", str(questions), "--methods", "sssd"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0].split()[:2] == ["method", "tokens/s"]
    assert lines[1].startswith("autoregressive")
    assert lines[2].startswith("sssd")
    assert "question" in printed.err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--methods", ","], "names no method"),
        (["--s-q", "4,x"], "or a whole number"),
        (["--methods", "sssd@x"], "or a whole number"),
        (["--repeats", "0"], "whole number from 1"),
        (["--limit", "-2"], "whole number from 1"),
        (["--methods", "transformers-generate", "--batch", "2"], "one question at a time"),
        (["--methods", "transformers-generate", "--temperature", "1"], "decodes greedily"),
        (["--methods", "sssd,transformers-prompt-lookup", "--batch", "2"], "transformers-prompt-lookup answers one"),
        (["--methods", "transformers-assisted", "--draft", "x", "--temperature", "1"], "transformers-assisted decodes"),
        (
            ["--methods", "transformers-assisted", "--model", "nobody/model"],
            "transformers-assisted needs a draft model",
        ),
    ],
)
def test_what_cannot_be_measured_is_said_in_one_line(service, questions, refusal, argv, says):
    assert says in refusal("bench", "--questions", questions, *argv)
    assert service.asked == []


def test_a_batch_beyond_what_is_decoded_together_is_refused(service, questions, refusal):
    assert "at most 2 answers at once" in refusal("bench", "--questions", questions, "--batch", 99999)
    assert service.asked == []


def test_a_store_that_knows_a_question_is_refused(service, questions, refusal):
    service.stores.text = b"... Write a line. ..."
    assert "13 tokens in a row of question 2" in refusal("bench", "--questions", questions, "--datastore", "mine")
    assert service.asked == []


def test_a_store_that_knows_an_answer_is_refused_at_the_first_one(service, questions, capsys, run_json):
    ask = ["bench", "--questions", str(questions), "--datastore", "mine"]
    service.answers = {"autoregressive": b"I am a small fake.", "sssd": b"I am a small fake."}
    service.stores.text = b"I am something else"
    assert run_json(*ask)["settings"]["datastore"] == "mine"
    service.stores.text = b"Hello, I am a small fake."
    service.asked.clear()
    assert main(ask) == 2
    assert "holds an answer to question 1" in capsys.readouterr().err.splitlines()[-1]
    assert len(service.asked) == 3


def test_an_unknown_store_is_refused(service, questions, refusal):
    assert "no datastore 'other'" in refusal("bench", "--questions", questions, "--datastore", "other")
