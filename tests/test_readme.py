"""The README is also a Space's configuration: what it promises must agree with the rest of the project."""

import re
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from sssd_demo.bench.table import markdown, read_report
from sssd_demo.cli import COMMANDS
from sssd_demo.questions import read_questions

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FRONT_MATTER = README.split("---\n")[1]


def field(name: str) -> str:
    found = re.search(rf"^{name}: *(.+)$", FRONT_MATTER, re.MULTILINE)
    assert found, f"the front matter lacks {name}"
    return found[1].strip('"')


def test_the_front_matter_comes_first():
    assert README.startswith("---\ntitle: ")


@pytest.mark.parametrize(
    "name",
    "title emoji colorFrom colorTo sdk sdk_version app_file python_version suggested_hardware short_description "
    "license".split(),
)
def test_the_front_matter_is_complete(name: str):
    assert field(name)
    assert len(field("short_description")) <= 60


def test_the_space_runs_the_gradio_that_requirements_allow():
    line = re.search(r"^gradio(.+)$", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert line
    assert field("sdk_version") in SpecifierSet(line[1])


def test_the_two_commands_are_named_and_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in ("demo", "test"):
        assert f"make {target}\n" in README
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_every_command_shown_exists():
    shown = re.findall(r"python -m sssd_demo (\w+)", README)
    assert shown
    assert set(shown) <= set(COMMANDS)


def test_the_shipped_questions_can_be_read():
    assert {question.group for question in read_questions(ROOT / "benchmarks" / "questions.jsonl")} == {
        *("mt_bench", "translation", "summarization", "qa", "math_reasoning", "rag")
    }


def test_tables_made_from_a_kept_measurement_are_what_the_command_makes_of_it():
    named = re.findall(r"<!-- results: (\S+) -->\n(.*?)<!-- end of results -->", README, re.DOTALL)
    assert named
    for name, table in named:
        assert table.strip() == markdown(read_report(ROOT / "benchmarks" / "results" / name))
