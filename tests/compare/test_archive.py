"""A comparison as a file: what is written is read again, and what is damaged or claims too much is refused."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sssd_demo import trace_file
from sssd_demo.compare import archive
from sssd_demo.compare.archive import HEAD, load, pack
from sssd_demo.compare.comparison import Comparison, Cost, Memory
from sssd_demo.compare.figures import lane_figures
from sssd_demo.compare.plan import Lane
from sssd_demo.compare.table import csv_table
from sssd_demo.errors import UserError
from tests.compare.fakes import CompareService, compared, plan

LANES = (Lane("sssd", s_q=8), Lane("prompt-lookup"))


@pytest.fixture(scope="module")
def whole() -> Comparison:
    service = CompareService(base_text="quite another text")
    made = compared(service, plan("a cat", "a dog", lanes=LANES, repeats=2, datastore="base", seed=2**62))
    cost = Cost(True, (Memory("draft_model", 10_000, "small"), Memory("draft_cache", 20)))
    return replace(made, costs=(*made.costs[:2], cost), skipped={1: "too long"}, known=frozenset({0}))


@pytest.fixture
def saved(whole: Comparison, tmp_path: Path) -> Path:
    path = tmp_path / "comparison.zip"
    path.write_bytes(pack(whole))
    return path


def altered(path: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """The same archive with `change` done to its files."""
    with zipfile.ZipFile(path) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    change(files)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return path


def with_head(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    def alter(files: dict[str, bytes]) -> None:
        head = json.loads(files[HEAD])
        change(head)
        files[HEAD] = json.dumps(head).encode()

    return altered(path, alter)


def with_trace(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    def alter(files: dict[str, bytes]) -> None:
        name = next(name for name in files if name.startswith("traces/"))
        trace = json.loads(files[name])
        change(trace)
        files[name] = json.dumps(trace).encode()

    return altered(path, alter)


def test_a_saved_comparison_is_read_as_it_was(whole: Comparison, saved: Path):
    assert load(saved) == whole
    assert lane_figures(load(saved)) == lane_figures(whole)


def test_every_answer_in_it_is_a_trace_file_and_the_table_is_beside(whole: Comparison, saved: Path, tmp_path: Path):
    with zipfile.ZipFile(saved) as packed:
        packed.extractall(tmp_path / "out")
    files = sorted((tmp_path / "out" / "traces").iterdir())
    assert len(files) == len(whole.runs)
    assert {trace_file.load(path).method for path in files} == {lane.method for lane in whole.plan.lanes}
    assert (tmp_path / "out" / "table.csv").read_text() == csv_table(whole)


def test_the_table_has_a_line_for_each_lane_with_numbers_in_full(whole: Comparison):
    rows = list(csv.DictReader(io.StringIO(csv_table(whole))))
    figures = lane_figures(whole)
    assert [row["lane"] for row in rows] == [lane.name for lane in whole.plan.lanes]
    for row, lane in zip(rows, figures, strict=True):
        assert lane.ratio is not None
        assert float(row["times_autoregressive_median"]) == pytest.approx(lane.ratio.median, rel=1e-5)
        assert int(row["drafted"]) == lane.drafted
        assert row["training_needed"] == ("yes" if lane.cost.trained else "no")
    assert rows[2]["extra_memory_bytes"] == "10000"
    assert float(rows[1]["accepted_at_1"]) == pytest.approx(figures[1].places[0].share, rel=1e-5)
    assert rows[0]["accepted_at_1"] == ""


def test_a_spreadsheet_computes_nothing_that_a_file_says(whole: Comparison):
    assert "'=HYPERLINK" in csv_table(replace(whole, device='=HYPERLINK("x")'))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda head: head.update(kind="another"), "of version 1"),
        (lambda head: head.update(version=2), "of version 1"),
        (lambda head: head.pop("lanes"), 'lacks the entry "lanes"'),
        (lambda head: head["lanes"][1].update(method="=cmd()"), "not the name of a method"),
        (lambda head: head["lanes"][1].update(rule="coin"), "lanes.1..rule should be one of"),
        (lambda head: head["lanes"][1].update(s_q="many"), "s_q should be one of"),
        (lambda head: head["lanes"][1].update(method="rest"), "was written by sssd, not by rest"),
        (lambda head: head["lanes"].reverse(), "first lane .* autoregressive"),
        (lambda head: head["settings"].update(temperature=9), "Temperature must lie"),
        (lambda head: head["settings"].update(max_new_tokens=3), "longer than its settings allow"),
        (lambda head: head.update(runs=[]), "holds no answers"),
        (lambda head: head["runs"].append(head["runs"][0]), "holds an answer twice"),
        (lambda head: head["runs"][0].update(lane=7), "should be a whole number"),
        (lambda head: head["runs"][0].update(question=1), "not asked the same|answer twice"),
        (lambda head: head["runs"][0].update(trace="../../etc/passwd"), "not a saved comparison"),
        (lambda head: head.update(device="another"), "another machine"),
        (lambda head: head.update(created="yesterday"), "ISO 8601"),
        (lambda head: head.update(skipped={"x": "no"}), "skipped should be"),
        (lambda head: head.update(known=[5]), "known"),
    ],
)
def test_a_head_that_cannot_be_is_refused_with_what_is_wrong(saved: Path, change: Callable, said: str):
    with pytest.raises(UserError, match=said):
        load(with_head(saved, change))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda trace: trace.pop("rounds"), 'traces/.*lacks the entry "rounds"'),
        (lambda trace: trace.update(finish_reason=None), "is not a whole answer"),
        (lambda trace: trace["rounds"][2].update(start_ms=0), "back in time"),
        (lambda trace: trace["rounds"][2].update(bonus="x"), "traces/.*bonus should be"),
        (lambda trace: trace.update(version=7), "only version 1 can be read"),
    ],
)
def test_a_damaged_trace_is_refused_with_its_name(saved: Path, change: Callable, said: str):
    with pytest.raises(UserError, match=said):
        load(with_trace(saved, change))


def test_what_is_no_archive_or_was_cut_off_is_refused_by_its_name(saved: Path, tmp_path: Path):
    saved.write_bytes(saved.read_bytes()[:-300])
    with pytest.raises(UserError, match="comparison.zip is not a saved comparison"):
        load(saved)
    for content in (b"", b"PK\x03\x04", b"\x89PNG"):
        other = tmp_path / "upload-8f3c"
        other.write_bytes(content)
        with pytest.raises(UserError, match="mine.zip is not a saved comparison"):
            load(other, called="mine.zip")
    with pytest.raises(UserError, match="cannot be read"):
        load(tmp_path / "missing.zip")


def test_a_file_that_unpacks_to_too_much_is_refused_both_ways(
    whole: Comparison, saved: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(archive, "MAX_BYTES", 20_000)
    with pytest.raises(UserError, match="more than 20,000 bytes when unpacked"):
        load(saved)
    with pytest.raises(UserError, match="the table can be saved"):
        pack(whole)


def test_an_archive_with_a_bomb_in_it_is_not_unpacked(saved: Path):
    def fill(files: dict[str, bytes]) -> None:
        name = next(name for name in files if name.startswith("traces/"))
        files[name] = b" " * (archive.MAX_BYTES + 1)

    with pytest.raises(UserError, match="too many to be shown"):
        load(altered(saved, fill))
