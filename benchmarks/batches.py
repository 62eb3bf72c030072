"""Batches as the Roofline tab runs them: tokens per second of all sequences, next to what the plan said beforehand.

    python benchmarks/batches.py --batches 1,2,4,8,16 --repeats 3 --out benchmarks/results/batches.json

Forward times are measured first if nobody has done so on this machine (`probe`). A batch is decoded plainly and by each
method in turn, as often as `--repeats` says; figures are medians, of ratios too. Prompts are this project's own, each
answer 64 tokens and more, with the store that the tab uses.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sssd_demo.bench.machine import machine_facts
from sssd_demo.cli.options import context_tokens
from sssd_demo.errors import UserError
from sssd_demo.service import Service
from sssd_demo.ui.roofline_board import PLAIN, SWEEP, Board, offered
from sssd_demo.ui.roofline_job import Job, measure_machine, run_batches

STORE = "base"


def main() -> int:
    """Measure, print a line for each batch and method, and keep the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="smollm2-135m")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--context", type=context_tokens, help="shorter leaves room for more at once")
    parser.add_argument("--batches", type=lambda text: [int(part) for part in text.split(",")], default=list(SWEEP))
    parser.add_argument("--methods", type=lambda text: text.split(","), default=["sssd"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    service = Service.open(args.preset, dtype=args.dtype, context=args.context)
    try:
        if max(args.batches) > service.engine.capacity or not set(args.methods) <= set(offered(service)):
            raise UserError(f"Batches up to {service.engine.capacity}, of {', '.join(offered(service))}, can be run.")
        board = Board(service, STORE)
        if board.quick:
            run(Job("measure", "", board, measure_machine))
        repeats = []
        for _ in range(args.repeats):
            run(Job("run", "", board, lambda job: run_batches(job, args.batches, args.methods)))
            repeats.append(figures(board))
        result = {
            "machine": machine_facts(service, datetime.now(UTC).date().isoformat()),
            "settings": {
                "preset": args.preset,
                "datastore": STORE,
                "s_q": "auto",
                "temperature": 0,
                "repeats": args.repeats,
            },
            "batches": [_medians(lines) for lines in zip(*repeats, strict=True)],
        }
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    finally:
        service.close()
    for line in result["batches"]:
        sys.stdout.write(json.dumps(line) + "\n")
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


def run(job: Job) -> None:
    """Wait for a job, telling what it does. Raises `UserError` where it fails."""
    said = ""
    for state in job.watch(every=1.0):
        if state.said != said:
            said = state.said
            sys.stderr.write(f"{state.share:.0%} {said}\n")
        if state.phase == "failed":
            raise UserError(state.said)


def _medians(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of the same batch and method in every repeat; the ratio to plain decoding with its least and most."""
    found = {
        key: median(line[key] for line in lines) if isinstance(first, float) else first
        for key, first in lines[0].items()
    }
    ratios = [line["times_plain"] for line in lines if line["times_plain"]]
    return found | {"times_plain_range": [min(ratios), max(ratios)] if ratios else None}


def figures(board: Board) -> list[dict[str, Any]]:
    """A line for each batch and method that was run."""
    one = board.measured.get((PLAIN, 1))
    lines = []
    for (method, batch), measured in sorted(board.measured.items(), key=lambda item: item[0][::-1]):
        result, planned = measured.result, measured.plan
        speed = result.tokens_per_second
        lines.append(
            {
                "batch": batch,
                "method": method,
                "tokens_per_second": round(speed, 2),
                "times_one_plain_sequence": round(speed / one.result.tokens_per_second, 3) if one else None,
                "times_plain": gain and round(gain, 3) if (gain := board.gain(method, batch)) else None,
                "planned_tokens_per_second": planned and round(planned.tokens_per_second, 2),
                "measured_over_planned": planned and round(speed / planned.tokens_per_second, 3),
                "tokens_per_forward": round(result.tokens_per_forward, 3),
                "s_q": round(result.s_q, 2),
                "forwards": result.forwards,
                "context": result.context,
                "draft_ms": round(result.draft_ms, 2),
                "verify_ms": round(result.verify_ms, 1),
            }
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
