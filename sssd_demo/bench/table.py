"""A measurement that `bench` kept, as a Markdown table, and such a table's place in a document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sssd_demo.bench import BASELINE
from sssd_demo.errors import UserError

HEAD = ("method", f"× `{BASELINE}`", "tokens/s", "tokens per forward", "draft ms", "verify ms", "same text")


def read_report(path: Path) -> dict[str, Any]:
    """What `bench --out` wrote. Raises `UserError` if it cannot be read or is something else."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        markdown(report)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} holds no measurement that bench kept.") from error
    return report


def markdown(report: dict[str, Any]) -> str:
    """A row for each method, medians with quartiles and means; below it where and how it was measured."""
    lines = [_row(HEAD), _row(["---"] * len(HEAD))]
    lines += [_row(_cells(name, figures["overall"])) for name, figures in report["methods"].items()]
    machine, settings = report["machine"], report["settings"]
    batch = f", {settings['batch']} at once" if settings["batch"] > 1 else ""
    store = f", store {settings['datastore']}" if settings["datastore"] else ""
    warmth = f"temperature {settings['temperature']:g}" if settings["temperature"] else "greedy"
    measured = (
        f"{len(settings['asked'])} questions of {settings['questions']}, {settings['repeats']} repeats{batch}",
        f"{store}, {warmth}, at most {settings['max_new_tokens']} new tokens; ",
        "{device}, {dtype}, torch {torch}, {date}. ".format(**machine),
        "Speed-ups are medians of paired ratios (quartiles), then the mean; the other columns are medians.",
    )
    lines += ["", "".join(measured)]
    return "\n".join(lines)


def put_into(document: str, name: str, table: str) -> str:
    """`document` with `table` between the lines `<!-- results: NAME -->` and `<!-- end of results -->`.

    Raises `UserError` where these lines are missing.
    """
    begin, end = f"<!-- results: {name} -->\n", "<!-- end of results -->"
    before, found, rest = document.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise UserError(f"The document has no place for this table: a line {begin.strip()} and, below it, {end}.")
    return f"{before}{begin}{table}\n{end}{after}"


def _row(cells: Any) -> str:
    return "| " + " | ".join(cells) + " |"


def _cells(name: str, overall: dict[str, Any]) -> list[str]:
    same = overall["identical_to_autoregressive"]
    return [
        f"`{name}`",
        _speedup(overall["speedup_vs_autoregressive"]),
        _median(overall["tokens_per_second"], "{:.1f}"),
        _median(overall["tokens_per_forward"], "{:.2f}"),
        _median(overall["draft_ms"], "{:.2f}"),
        _median(overall["verify_ms"], "{:.1f}"),
        "same law" if same is None else "yes" if same else f"all but {len(overall['differences'])}",
    ]


def _speedup(figure: dict[str, float] | None) -> str:
    return "{median:.2f} ({p25:.2f} to {p75:.2f}) · {mean:.2f}".format(**figure) if figure else "–"


def _median(figure: dict[str, float] | None, form: str) -> str:
    return form.format(figure["median"]) if figure else "–"
