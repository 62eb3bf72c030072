"""What SSSD gains by recycling what the target held likely after rejected guesses too, in tokens per forward.

    python benchmarks/rejected.py --questions QUESTIONS.jsonl --limit 24 --out benchmarks/results/rejected.json

Recorded answers cannot tell, for nobody knows there what the target would have said after a guess that was not made; so
this asks the model. Greedy, without a datastore, the first turn of every question. No time is measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sssd_demo import models
from sssd_demo.cli.options import positive, s_q_list
from sssd_demo.engine import Engine
from sssd_demo.errors import UserError
from sssd_demo.length import LengthPlanner
from sssd_demo.questions import Question, read_questions
from sssd_demo.request import Request
from sssd_demo.speculators.sssd import Sssd
from sssd_demo.sssd.constants import DEFAULT
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.target import Target
from sssd_demo.text import Text

CONTEXT = 4096  # tokens
WITH, WITHOUT = "rejected too", "written only"


def main() -> int:
    """Ask every question with either setting at every length, print a line each, and keep the figures if asked to."""
    args = _arguments()
    try:
        questions = read_questions(args.questions, args.limit)
        model = models.load(args.preset, dtype=args.dtype)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    settings = {WITH: DEFAULT, WITHOUT: replace(DEFAULT, recycle_rejected=False)}
    engine = Engine(
        Target(model.model, rows=1, context_length=min(CONTEXT, model.context_length)),
        {name: Sssd(_no_store, setting) for name, setting in settings.items()},
        lengths=LengthPlanner(model.model.dtype.itemsize),
    )
    try:
        lines = [_compared(engine, model.text, questions, s_q, args.max_new_tokens) for s_q in args.s_q]
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    finally:
        engine.close()
    if args.out:
        result = {
            "preset": args.preset,
            "dtype": model.dtype,
            "questions": Path(args.questions).name,
            "asked": len(questions),
            "max_new_tokens": args.max_new_tokens,
            "date": datetime.now(UTC).date().isoformat(),
            "lengths": lines,
        }
        args.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--questions", required=True)
    parser.add_argument("--limit", type=positive)
    parser.add_argument("--preset", default="smollm2-135m")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--s-q", type=s_q_list, default=[8, 16])
    parser.add_argument("--max-new-tokens", type=positive, default=128)
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def _compared(
    engine: Engine, text: Text, questions: Sequence[Question], s_q: int, max_new_tokens: int
) -> dict[str, Any]:
    """Mean and median tokens per forward of either setting, and how many answers gained or lost by the change."""
    found: dict[str, list[float]] = {WITH: [], WITHOUT: []}
    for question in questions:
        prompt = tuple(text.encode_chat([{"role": "user", "content": question.turns[0]}]))
        for name, figures in found.items():
            rounds = list(engine.submit(Request(prompt, name, max_new_tokens, s_q=s_q, end_tokens=text.end_tokens)))
            figures.append(mean(len(round_.committed) for round_ in rounds[1:]) if rounds[1:] else 1.0)
    pairs = list(zip(found[WITH], found[WITHOUT], strict=True))
    line = {
        "s_q": s_q,
        "tokens_per_forward": {name: {"mean": mean(all_), "median": median(all_)} for name, all_ in found.items()},
        "ratio_of_means": mean(found[WITH]) / mean(found[WITHOUT]),
        "median_ratio": median(a / b for a, b in pairs),
        "more": sum(a > b for a, b in pairs),
        "fewer": sum(a < b for a, b in pairs),
    }
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
    return line


def _no_store(name: str) -> Datastore:
    raise UserError(f"There is no datastore {name!r} here.")


if __name__ == "__main__":
    sys.exit(main())
