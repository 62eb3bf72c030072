"""`results FILE`: a measurement that `bench` kept, as a table; also straight into a document such as the README."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sssd_demo.errors import UserError


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser("results", help="show what bench has measured and kept")
    parser.add_argument("file", type=Path, metavar="FILE", help="what `bench --out` wrote")
    parser.add_argument(
        "--into",
        type=Path,
        metavar="DOCUMENT",
        help="put the table there, after the line <!-- results: NAME --> with the file's name",
    )
    parser.set_defaults(run=run, show=show)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """The table as Markdown, and the file's own content."""
    from sssd_demo.bench.table import markdown, put_into, read_report
    from sssd_demo.whole_file import write_whole

    report = read_report(args.file)
    table = markdown(report)
    if args.into:
        try:
            document = put_into(args.into.read_text(encoding="utf-8"), args.file.name, table)
            write_whole(args.into, document)
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{args.into} cannot be changed: {getattr(error, 'strerror', None) or error}.") from error
    return {"table": table, "report": report}


def show(result: dict[str, Any]) -> str:
    """The table."""
    return str(result["table"])
