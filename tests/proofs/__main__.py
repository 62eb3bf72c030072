"""Proves the acceptance rules, and prints what came of it as tables.

python -m tests.proofs                 all outcomes counted in fractions, seconds
python -m tests.proofs --floats        all stretches of all coins through `verify`, half a minute
python -m tests.proofs --monte-carlo   answers written through `verify` and counted
python -m tests.proofs --ahead         answers drafted ahead, which the whole engine writes with its drafter in a thread
                                       and in a process, counted after hits and after misses; long, unless --runs is
                                       made smaller
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

import torch

from tests.proofs.tables import Table, count_tables, exact_tables, float_tables, overlap_tables, printed


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--floats", action="store_true", help="through verify, to float precision")
    parser.add_argument("--monte-carlo", action="store_true", help="through verify, by counting answers")
    parser.add_argument("--ahead", action="store_true", help="through engine and drafter, by counting stretches")
    parser.add_argument(
        "--runs", type=int, default=12_500, help="answers, or stretches, of each kind (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)  # the tensors are tiny
    tables: dict[str, Table] = {}
    if options.floats:
        tables |= float_tables()
    if options.monte_carlo:
        tables |= count_tables(options.runs)
    if options.ahead:
        tables |= overlap_tables(options.runs)
    tables = tables or exact_tables()
    sys.stdout.write(json.dumps(tables, indent=2) + "\n" if options.json else printed(tables))


if __name__ == "__main__":
    main()
