"""Commands are run in this process, on a scripted service in place of a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sssd_demo import models
from sssd_demo.cli import main
from sssd_demo.service import Service
from tests.cli.fakes import FakeService


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> FakeService:
    """The scripted service that every command opens."""
    fake = FakeService()
    monkeypatch.setattr(Service, "open", lambda *args, **settings: fake)
    monkeypatch.setattr(models, "load_text", lambda name: fake.text)
    return fake


@pytest.fixture
def run_json(capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    """Runs a command with --json and returns the object that it printed."""

    def run_json(*argv: object) -> dict[str, Any]:
        code = main([*map(str, argv), "--json"])
        printed = capsys.readouterr()
        assert code == 0, printed.err
        return json.loads(printed.out)

    return run_json


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command that must be refused and returns the line that it printed."""

    def refusal(*argv: object) -> str:
        assert main([*map(str, argv), "--json"]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.count("\n") == 1
        return printed.err

    return refusal


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """A file of four questions in three groups."""
    lines = [
        {"question_id": 1, "category": "qa", "turns": ["Who are you?", "And I?"]},
        {"question_id": 2, "category": "writing", "turns": ["Write a line."]},
        {"question_id": 3, "category": "rag", "turns": ["Given this, what?"]},
        {"question_id": 4, "category": "roleplay", "turns": ["Be a tree."]},
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
