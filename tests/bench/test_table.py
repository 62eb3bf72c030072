"""Figures that were kept, as a table in a document."""

import json

import pytest

from sssd_demo.bench.table import markdown, put_into, read_report
from sssd_demo.cli import main
from sssd_demo.errors import UserError


def spread(value):
    return {"mean": value + 0.5, "median": value, "p25": value - 1, "p75": value + 1}


def overall(speedup, identical, differences=()):
    return {
        "speedup_vs_autoregressive": spread(speedup) if speedup else None,
        "tokens_per_second": spread(30.0),
        "tokens_per_forward": spread(2.0),
        "draft_ms": None,
        "verify_ms": spread(25.0),
        "identical_to_autoregressive": identical,
        "differences": list(differences),
    }


REPORT = {
    "machine": {"device": "a test", "dtype": "float32", "torch": "2", "date": "2026-01-02"},
    "settings": {
        **{"asked": ["1", "2"], "questions": "few.jsonl", "repeats": 3, "batch": 4, "datastore": "mine"},
        **{"temperature": 0.0, "max_new_tokens": 64},
    },
    "methods": {
        "sssd": {"overall": overall(2.0, True)},
        "speculative": {"overall": overall(None, None)},
        "rest": {"overall": overall(1.5, False, ["one"])},
    },
}


@pytest.fixture
def kept(tmp_path):
    path = tmp_path / "kept.json"
    path.write_text(json.dumps(REPORT))
    return path


def test_every_method_has_a_row_and_the_circumstances_stand_below():
    rows = markdown(REPORT).splitlines()
    assert rows[2] == "| `sssd` | 2.00 (1.00 to 3.00) · 2.50 | 30.0 | 2.00 | – | 25.0 | yes |"
    assert rows[3] == "| `speculative` | – | 30.0 | 2.00 | – | 25.0 | same law |"
    assert rows[4].endswith("| all but 1 |")
    assert rows[6].startswith(
        "2 questions of few.jsonl, 3 repeats, 4 at once, store mine, greedy, at most 64 new tokens;"
    )
    assert "a test, float32, torch 2, 2026-01-02" in rows[6]


def test_a_table_replaces_the_one_before_and_nothing_else():
    document = "above\n<!-- results: kept.json -->\nold\n<!-- end of results -->\nbelow\n"
    changed = put_into(document, "kept.json", "new")
    assert changed == "above\n<!-- results: kept.json -->\nnew\n<!-- end of results -->\nbelow\n"
    assert put_into(changed, "kept.json", "new") == changed
    with pytest.raises(UserError, match="no place for this table"):
        put_into(document, "other.json", "new")


def test_the_command_puts_it_into_a_document(kept, tmp_path, capsys):
    document = tmp_path / "README.md"
    document.write_text("<!-- results: kept.json -->\n<!-- end of results -->\n")
    assert main(["results", str(kept), "--into", str(document)]) == 0
    assert capsys.readouterr().out.strip() == markdown(REPORT)
    assert markdown(REPORT) in document.read_text()


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"methods": {}}', '{"methods": 3, "machine": {}, "settings": {}}']
)
def test_what_is_no_measurement_is_refused(tmp_path, content, capsys):
    path = tmp_path / "odd.json"
    path.write_text(content)
    with pytest.raises(UserError, match="holds no measurement that bench kept"):
        read_report(path)
    assert main(["results", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_missing_file_or_document_is_refused(kept, tmp_path, capsys):
    assert main(["results", str(tmp_path / "none.json")]) == 2
    assert main(["results", str(kept), "--into", str(tmp_path / "none.md")]) == 2
    assert "cannot be changed" in capsys.readouterr().err
