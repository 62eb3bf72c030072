"""python -m tests.proofs: proves the rules and prints what came of it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from tests.proofs.controls import CONTROLS
from tests.proofs.lengths import QUESTIONS, answer
from tests.proofs.setups import LINES
from tests.proofs.verdicts import SEEDS, expose, prove

Table = list[dict[str, Any]]  # rows, by column name


def exact_tables() -> dict[str, Table]:
    found = [(control, expose(control)) for control in CONTROLS]
    rules: Table = []
    for line in LINES:
        verdict = prove(line)
        bugs = [bug.found for control, bug in found if control.line == line.name]
        rules.append(
            {
                "rule": line.name,
                "cases": verdict.cases,
                "exact": "all" if verdict.exact else f"not in {verdict.wrong}",
                "seeded bugs caught": f"{sum(bugs)} of {len(bugs)}",
            }
        )
    bugs_by_rule: Table = [
        {
            "rule": control.line,
            "seeded bug": control.bug,
            "wrong in": f"{verdict.caught} of {verdict.cases}",
            "largest total variation": f"{float(verdict.largest):.3f}",
        }
        for control, verdict in found
    ]
    lengths: Table = [
        {"accepted on average": gain.question.name, "more": gain.more, "equal": gain.equal, "less": gain.less}
        for gain in (answer(question, SEEDS) for question in QUESTIONS)
    ]
    return {"rules": rules, "bugs": bugs_by_rule, "lengths": lengths}


def markdown(table: Table) -> str:
    columns = list(table[0])
    cells = [columns, *([str(row[column]) for column in columns] for row in table)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [" | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in cells]
    lines.insert(1, " | ".join("-" * width for width in widths))
    return "\n".join(f"| {line} |" for line in lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args(arguments)
    tables = exact_tables()
    if options.json:
        sys.stdout.write(json.dumps(tables, indent=2) + "\n")
    else:
        sys.stdout.write("\n\n".join(map(markdown, tables.values())) + "\n")


if __name__ == "__main__":
    main()
