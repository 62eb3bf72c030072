"""`generate`: what it prints, keeps and refuses."""

import io
from pathlib import Path
from types import SimpleNamespace

import pytest

from sssd_demo.cli import generate, main
from sssd_demo.request import Finished
from sssd_demo.trace_file import load
from tests.toy_saguaro import FIRST, HIT, MISS, saguaro_trace

KEYS = (
    "method preset device dtype text prompt_tokens token_ids finish_reason rounds target_forwards tokens_per_forward "
    "seconds decode_seconds tokens_per_second drafted accepted rejected ignored "
    "hit_rate rolled_back fallbacks wait_ms"
).split()


def test_the_result_has_exactly_the_documented_keys(service, run_json):
    result = run_json("generate", "hello", "--method", "sssd")
    assert list(result) == KEYS
    assert result["text"] == "hello"
    assert result["token_ids"] == [*b"hello", 0]
    assert result["finish_reason"] == "end_of_text"
    assert result["prompt_tokens"] == 5
    assert (result["rounds"], result["target_forwards"]) == (4, 5)
    assert result["tokens_per_forward"] == pytest.approx(5 / 3)
    assert result["seconds"] == pytest.approx(0.04)
    assert result["decode_seconds"] == pytest.approx(0.03)
    assert result["tokens_per_second"] == pytest.approx(5 / 0.03)
    assert (result["drafted"], result["accepted"], result["rejected"], result["ignored"]) == (5, 2, 3, 0)
    assert (result["hit_rate"], result["fallbacks"], result["wait_ms"]) == (None, None, None)
    assert service.closed


def test_what_the_speculation_cache_did_is_in_the_result(service, monkeypatch, run_json, capsys):
    made = saguaro_trace([FIRST, HIT, HIT, MISS])
    answer = SimpleNamespace(trace=made, finished=Finished("length", 1, 0))
    monkeypatch.setattr(generate, "_follow", lambda *_args, **_named: None)
    monkeypatch.setattr(service, "ask", lambda *_args, **_named: answer)
    result = run_json("generate", "hello", "--method", "sssd")
    assert result["hit_rate"] == pytest.approx(2 / 3)
    assert result["fallbacks"] == {"immediate": 2}
    assert result["rolled_back"] == 0
    assert result["wait_ms"] > 0
    assert main(["generate", "hello", "--method", "sssd"]) == 0
    assert "0.67 of the outcomes were foreseen · instead: 2 immediate" in capsys.readouterr().out


def test_an_answer_of_one_token_has_no_rates(service, run_json):
    result = run_json("generate", "hello", "--max-new-tokens", 1)
    assert result["tokens_per_second"] is None
    assert result["tokens_per_forward"] is None
    assert result["finish_reason"] == "length"


def test_a_person_sees_the_text_grow_and_then_the_figures(service, capsys):
    assert main(["generate", "grüße 🔥", "--method", "sssd"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("grüße 🔥\n\n")
    assert "tokens per forward" in printed
    assert "accepted" in printed


def test_settings_reach_the_service(service, run_json):
    run_json(
        *["generate", "x", "--method", "sssd", "--s-q", 8, "--temperature", 0.5, "--top-k", 9],
        *["--top-p", 0.9, "--seed", 3, "--max-new-tokens", 7, "--datastore", "mine", "--raw"],
    )
    [(prompt, settings, raw)] = service.asked
    assert (prompt, raw) == ("x", True)
    assert (settings.method, settings.s_q, settings.datastore) == ("sssd", 8, "mine")
    assert (settings.temperature, settings.top_k, settings.top_p, settings.seed) == (0.5, 9, 0.9, 3)
    assert settings.max_new_tokens == 7


def test_auto_and_none_are_words(service, run_json):
    run_json("generate", "x", "--s-q", "auto", "--datastore", "none")
    [(_, settings, _)] = service.asked
    assert settings.s_q == "auto"
    assert settings.datastore is None


def test_the_trace_is_kept(service, run_json, tmp_path: Path):
    result = run_json("generate", "hello", "--trace", tmp_path / "t.json")
    assert load(tmp_path / "t.json").token_ids() == result["token_ids"]


def test_the_prompt_can_come_from_standard_input(service, run_json, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("from a pipe"))
    assert run_json("generate", "-")["text"] == "from a pipe"


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["  "], "prompt is empty"),
        (["x" * 300], "300 tokens, but the context holds 200"),
        (["\udcff"], "not valid UTF-8"),
        (["x", "--s-q", "many"], "auto, knee, roofline or a whole number"),
        (["x", "--temperature", "hot"], "invalid float value"),
        (["x", "--preset", "a", "--model", "b"], "not allowed with"),
        (["x", "--dtype", "int8"], "invalid choice"),
        (["x", "--context", "100"], "must be 1024 to 8192 tokens, but is 100"),
        (["x", "--context", "10000"], "must be 1024 to 8192 tokens, but is 10000"),
        (["x", "--context", "long"], "must be a whole number from 1"),
        (["x", "--trace", "/no/such/folder/t.json"], "no folder /no/such/folder"),
        (["x", "--trace", "n" * 300], "name too long"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(service, refusal, argv, says):
    assert says in refusal("generate", *argv)


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--temperature", "-1", "Temperature"),
        ("--temperature", "nan", "Temperature"),
        ("--top-p", "0", "Top-p"),
        ("--top-k", "-3", "Top-k"),
        ("--seed", "-1", "seed"),
        ("--max-new-tokens", "0", "length"),
        ("--s-q", "0", "s_q"),
        ("--method", "magic", "magic"),
    ],
)
def test_values_out_of_range_are_refused_before_a_model_is_loaded(monkeypatch, refusal, option, value, says):
    monkeypatch.setattr("sssd_demo.service.Service.open", lambda *args, **settings: pytest.fail("a model was loaded"))
    assert says in refusal("generate", "x", option, value)


def test_a_trace_that_cannot_be_written_is_refused_before_the_answer(service, refusal, tmp_path):
    assert "is a folder" in refusal("generate", "x", "--trace", tmp_path)
    assert not service.asked
