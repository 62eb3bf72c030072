"""What `bench` says on the terminal: a line for each method, and below what preparing drafts ahead was worth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

POSITIONS = 8  # of a draft, whose acceptance is shown

COLUMNS = {
    "tokens/s": ("tokens_per_second", "{:.1f}"),
    "speed-up": ("speedup_vs_autoregressive", "{:.2f}"),
    "tokens/forward": ("tokens_per_forward", "{:.2f}"),
    "draft ms": ("draft_ms", "{:.2f}"),
    "verify ms": ("verify_ms", "{:.1f}"),
    "first token ms": ("ttft_ms", "{:.0f}"),
}


def show(result: dict[str, Any]) -> str:
    """A table of medians with their quartiles, a line for each method."""
    lines = [["method", *COLUMNS, "same text"]]
    for name, figures in result["methods"].items():
        overall = figures["overall"]
        lines.append([name, *(_cell(overall[key], form) for key, form in COLUMNS.values()), _same(overall)])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    machine, settings = result["machine"], result["settings"]
    table.append("")
    for name, figures in result["methods"].items():
        shares = figures["overall"]["acceptance_by_position"]
        if shares:
            table.append(f"{name}: accepted by position " + " ".join(f"{share:.2f}" for share in shares[:POSITIONS]))
    for name, figures in result["methods"].items():
        table.extend(_clock_lines(name, figures["overall"]))
    table.append(f"{len(settings['asked'])} questions, {settings['repeats']} repeats; mean · median (p25 to p75)")
    table.append("{cpu}, {threads} threads, {dtype}, torch {torch}, {date}".format(**machine))
    return "\n".join(table)


def _cell(figure: dict[str, float] | None, form: str) -> str:
    if figure is None:
        return "-"
    mean, middle, low, high = (form.format(figure[key]) for key in ("mean", "median", "p25", "p75"))
    return f"{mean} · {middle} ({low} to {high})"


def _clock_lines(name: str, overall: dict[str, Any]) -> Iterator[str]:
    cache = overall.get("cache")
    if cache:
        rate = "-" if cache["hit_rate"] is None else f"{cache['hit_rate']:.2f}"
        waited, ngrams, exposed = (f"{cache[key]:.0f} ms" for key in ("wait_ms", "ngrams_ms", "ngrams_exposed_ms"))
        yield (
            f"{name}: hit rate {rate}, {waited} waited for drafts,"
            f" {ngrams} looked up n-grams, {exposed} of it after the drafter was done"
        )
    for clock, words in (("measured", "measured here"), ("two_devices", "computed for two devices from times alone")):
        ratio = overall.get(clock, {}).get("speedup_vs_speculative")
        if ratio:
            yield f"{name}: {_cell(ratio, '{:.2f}')} of speculative at its best K, {words}"
        prediction = overall.get(clock, {}).get("prediction")
        if prediction and prediction["predicted_vs_speculative"]:
            told, came = prediction["predicted_vs_speculative"], prediction["speedup_vs_speculative"]
            yield (
                f"{name}: {_cell(told, '{:.2f}')} of {prediction['speculative']} by the formula,"
                f" {_cell(came, '{:.2f}')} {words}"
            )


def _same(overall: dict[str, Any]) -> str:
    if overall["identical_to_autoregressive"] is None:
        return "same law"
    return "yes" if overall["identical_to_autoregressive"] else f"{len(overall['differences'])} differ"
