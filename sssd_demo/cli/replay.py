"""`replay`: measure drafting alone on recorded answers, without a model."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from sssd_demo.cli.options import s_q_list, store_name

DEFAULT_S_Q = "4,8,16,32"


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser("replay", help="measure drafting alone on recorded answers, without a model")
    parser.add_argument(
        "--answers", required=True, type=Path, metavar="FILE", help="JSON lines {prompt: [ids], output: [ids]}"
    )
    parser.add_argument("--store", type=store_name, default=None, metavar="NAME|none", help="store of past text")
    parser.add_argument("--s-q", type=s_q_list, default=DEFAULT_S_Q, metavar="N,N…", help="default: %(default)s")
    parser.add_argument("--setting", default="default", metavar="NAME", help="constants to draft with")
    parser.set_defaults(run=run, show=show)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Draft all answers once for each s_q."""
    from sssd_demo.experiments.held_out import check_held_out
    from sssd_demo.sssd.constants import find_setting
    from sssd_demo.sssd.recorded_answers import read_recorded_answers
    from sssd_demo.sssd.replay import replay
    from sssd_demo.stores import Stores

    settings = find_setting(args.setting)
    if args.store is None:
        stores, answers = [], read_recorded_answers(args.answers)
    else:
        store = Stores.usual().open(args.store)
        stores, answers = [store], read_recorded_answers(args.answers, store.id_limit, fingerprint=store.fingerprint)
        check_held_out(answers, store, args.store, f" of {args.answers.name}")
    result = {}
    for s_q in args.s_q:
        replayed = replay(answers, stores, s_q, settings, time.perf_counter)
        result[str(s_q)] = {
            "tokens_per_step": replayed.tokens_per_step,
            "draft_ms": {"median": replayed.median_ms, "p99": replayed.p99_ms},
        }
    return result


def show(result: dict[str, Any]) -> str:
    """A line for each s_q."""
    lines = ["s_q  tokens per step  draft ms: median    p99"]
    for s_q, figures in result.items():
        draft_ms = figures["draft_ms"]
        lines.append(
            f"{s_q:>3}  {figures['tokens_per_step']:15.3f}  {draft_ms['median']:16.3f}  {draft_ms['p99']:5.3f}"
        )
    return "\n".join(lines)
