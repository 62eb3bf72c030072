"""The commands on the embedded model, from arguments to figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from sssd_demo.trace_file import load

pytestmark = pytest.mark.model

EXACT = ["--preset", "smollm2-135m", "--dtype", "float32"]  # where equal computations give equal tokens
PROMPT = "Write the sentence 'The cat sat on the mat.' three times."


@pytest.fixture(autouse=True)
def own_data(embedded_model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSSD_DEMO_DATA", str(tmp_path / "data"))


def test_drafting_changes_no_token_of_a_greedy_answer(run_json, tmp_path: Path):
    ask = ["generate", PROMPT, *EXACT, "--max-new-tokens", 24]
    plain = run_json(*ask, "--method", "autoregressive")
    drafted = run_json(*ask, "--method", "sssd", "--s-q", 8, "--trace", tmp_path / "t.json")
    assert drafted["token_ids"] == plain["token_ids"]
    assert drafted["text"] == plain["text"]
    assert drafted["rounds"] <= plain["rounds"]
    assert load(tmp_path / "t.json").token_ids() == drafted["token_ids"]
    assert drafted["drafted"] == drafted["accepted"] + drafted["rejected"] + drafted["ignored"] > 0


def test_a_raw_prompt_is_continued_without_the_template(run_json):
    result = run_json("generate", "One, two, three, four,", *EXACT, "--raw", "--max-new-tokens", 8, "--s-q", 4)
    assert result["prompt_tokens"] < 15
    assert result["text"].startswith(" five")


def test_bfloat16_works_on_every_processor(run_json):
    """Slowly where its instructions are lacking; nobody waits minutes for the first token."""
    ask = ["generate", "One, two, three, four,", "--preset", "smollm2-135m", "--dtype", "bfloat16", "--raw"]
    result = run_json(*ask, "--max-new-tokens", 4, "--s-q", 4)
    assert result["dtype"] == "bfloat16"
    assert result["text"].startswith(" five")


def test_the_library_itself_says_the_same(run_json, questions: Path):
    result = run_json(
        *["bench", "--questions", questions, "--limit", 2, "--max-new-tokens", 12, *EXACT],
        *["--methods", "sssd,transformers-generate,transformers-prompt-lookup", "--s-q", 4],
    )
    assert list(result["methods"]) == ["autoregressive", "sssd", "transformers-generate", "transformers-prompt-lookup"]
    for figures in result["methods"].values():
        assert figures["overall"]["identical_to_autoregressive"] is True
