"""`bench`: which lanes there are, what is reported, what is refused. The figures themselves are in tests/bench."""

import json

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


def test_several_lengths_make_a_lane_each(service, questions, run_json):
    result = run_json("bench", "--questions", questions, "--methods", "sssd,sssd@6", "--s-q", "4,auto", "--limit", 1)
    assert list(result["methods"]) == ["autoregressive", "sssd@4", "sssd@auto", "sssd@6"]
    lengths = {(settings.method, settings.s_q) for _, settings, _ in service.asked}
    assert lengths == {("autoregressive", "auto"), ("sssd", 4), ("sssd", "auto"), ("sssd", 6)}


def test_one_length_keeps_the_methods_name(service, questions, run_json):
    result = run_json("bench", "--questions", questions, "--methods", "autoregressive,sssd", "--s-q", 8, "--limit", 1)
    assert result["settings"]["s_q"] == {"sssd": 8}


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
