"""The verdicts as tables: rows of columns by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.proofs.chi_square import Test
from tests.proofs.controls import CONTROLS
from tests.proofs.kinds import DTYPES
from tests.proofs.lengths import QUESTIONS, answer
from tests.proofs.overlapped import STRETCHES, beginnings, continuations, drafted_ahead, with_bug
from tests.proofs.setups import LINES
from tests.proofs.verdicts import COUNTED, SEEDS, Count, count, count_bug, expose, prove, prove_in_floats
from tests.proofs.wrong_overlap import BUGS, HARMLESS

Table = list[dict[str, Any]]


def exact_tables() -> dict[str, Table]:
    """The rules in fractions, their seeded bugs, and which rule accepts more."""
    exposed = [(control, expose(control)) for control in CONTROLS]
    rules: Table = []
    for line in LINES:
        verdict = prove(line)
        bugs = [found.wrong > 0 for control, found in exposed if control.line == line]
        rules.append(
            {
                "rule": line.name,
                "cases": verdict.cases,
                "exact": "all" if not verdict.wrong else f"all but {verdict.wrong}",
                "seeded bugs caught": f"{sum(bugs)} of {len(bugs)}",
            }
        )
    bugs_table: Table = [
        {
            "rule": control.line.name,
            "seeded bug": control.bug,
            "wrong in": f"{found.wrong} of {found.cases}",
            "largest total variation": f"{found.largest:.3f}",
        }
        for control, found in exposed
    ]
    lengths: Table = [
        {"accepted on average": gain.question.name, "more": gain.more, "equal": gain.equal, "less": gain.less}
        for gain in (answer(question, SEEDS) for question in QUESTIONS)
    ]
    return {"rules": rules, "bugs": bugs_table, "lengths": lengths}


def float_tables() -> dict[str, Table]:
    """The rules through `verify`."""
    found = [(line, prove_in_floats(line, SEEDS)) for line in LINES]
    return {
        "verify": [
            {"rule": line.name, "cases": each.cases, "largest total variation": f"{each.largest:.0e}"}
            for line, each in found
        ]
    }


def count_tables(runs: int) -> dict[str, Table]:
    """Answers written through `verify`, counted."""
    return {
        "answers": [_counted(each) for dtype in DTYPES for each in count(dtype, runs)],
        "answers with a seeded bug": [_counted(count_bug(control, runs)) for control in COUNTED],
    }


def overlap_tables(runs: int) -> dict[str, Table]:
    """Answers drafted ahead, written by the whole engine with its drafter, counted in stretches of K + 1 tokens."""
    answers = -(-runs // STRETCHES)
    rows: Table = []
    by_way = drafted_ahead(answers)
    everything = [answer for written in by_way.values() for answer in written]
    for (place, way), written in [*by_way.items(), (("either", "all of them"), everything)]:
        tests = {
            "beginning": beginnings(written),
            "after a hit": continuations(written, lambda stretch: stretch.hit),
            "after a miss": continuations(written, lambda stretch: not stretch.hit),
        }
        rows += [{"drafted ahead": way, "drafter": place, "what": what, **_of(test)} for what, test in tests.items()]
    bugs = [
        {"seeded bug": bug.name, "way": bug.way, "tokens": length, **_of(test)}
        for bug in [*BUGS, HARMLESS]
        for length, test in with_bug(bug, answers).items()
    ]
    return {"drafted ahead": rows, "drafted ahead with a seeded bug": bugs}


def _of(test: Test) -> dict[str, Any]:
    return {
        "counted": test.runs,
        "chi-square": f"{test.statistic:.1f}",
        "degrees of freedom": test.freedom,
        "p-value": f"{test.p_value:.2g}",
    }


def _counted(each: Count) -> dict[str, Any]:
    return {
        "rule": each.line,
        **({"seeded bug": each.bug} if each.bug else {"logits": each.dtype}),
        "answers": each.runs,
        "chi-square": f"{each.statistic:.1f}",
        "degrees of freedom": each.freedom,
        "p-value": f"{each.p_value:.2g}",
    }


def markdown(table: Table) -> str:
    columns = list(table[0])
    cells = [columns, *([str(row[column]) for column in columns] for row in table)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [" | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in cells]
    lines.insert(1, " | ".join("-" * width for width in widths))
    return "\n".join(f"| {line} |" for line in lines)


def printed(tables: Mapping[str, Table]) -> str:
    return "\n\n".join(map(markdown, tables.values())) + "\n"
