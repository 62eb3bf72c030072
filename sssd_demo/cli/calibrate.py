"""`calibrate`: search SSSD's constants and try ideas on recorded answers, and keep the table of all tries."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sssd_demo.cli.kept_figures import check_place, keep
from sssd_demo.cli.options import positive, s_q_list
from sssd_demo.errors import UserError

if TYPE_CHECKING:
    from sssd_demo.sssd.calibration import Material, Score, Try
    from sssd_demo.sssd.recorded_answers import RecordedAnswer

DEFAULT_STORE = "base"
SPREAD_EVERY = 7  # answers of each file are taken in strides, so that a limit takes some of every category


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser("calibrate", help="search SSSD's constants on recorded answers, without a model")
    parser.add_argument("--search", required=True, type=Path, metavar="FILE", help="recorded answers to search on")
    parser.add_argument(
        "--check", required=True, type=Path, metavar="FILE", help="others, that a change must win on too"
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="others again, without a part in the choice")
    parser.add_argument("--other-model", type=Path, metavar="FILE", help="answers of another model, to report on")
    parser.add_argument(
        "--store", default=DEFAULT_STORE, metavar="NAME", help="of other answers (default: %(default)s)"
    )
    parser.add_argument("--s-q", type=s_q_list, default="8,16", metavar="N,N…", help="default: %(default)s")
    parser.add_argument("--limit", type=positive, metavar="N", help="at most so many answers of each file")
    parser.add_argument("--out", type=Path, metavar="FILE", help="keep the table of all tries here")
    parser.set_defaults(run=run, show=show)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Try everything; progress goes to stderr."""
    from sssd_demo.experiments.held_out import check_held_out
    from sssd_demo.sssd.calibration import Calibration, Material
    from sssd_demo.sssd.constants import DEFAULT, FAITHFUL
    from sssd_demo.sssd.recorded_answers import read_recorded_answers
    from sssd_demo.stores import Stores

    if args.out:
        check_place(args.out, (args.search, args.check, args.report, args.other_model))
    store = Stores.usual().open(args.store)
    files = {"searched": args.search, "checked": args.check} | ({"report": args.report} if args.report else {})
    sets = {}
    for name, path in files.items():
        recorded = read_recorded_answers(path, store.id_limit, fingerprint=store.fingerprint)
        sets[name] = Material(_long_enough(recorded, path)[: args.limit], store)
    for name, material in sets.items():
        check_held_out(material.answers, store, args.store, f" of the set {name}")
    _check_apart(sets)
    if args.other_model:
        sets["other_model"] = _split(_long_enough(read_recorded_answers(args.other_model), args.other_model))
    calibration = Calibration(sets["searched"], sets["checked"], args.s_q, time.perf_counter, _tell)
    alone = list(calibration.each_alone())
    chosen, tries = calibration.search()
    result = {
        "created": time.strftime("%Y-%m-%d"),
        "files": {name: path.name for name, path in (files | {"other_model": args.other_model}).items() if path},
        "store": {"name": args.store, "tokens": store.tokens, "documents": store.documents},
        "answers": {name: len(material.answers) for name, material in sets.items()},
        "tries": [_told(one) for one in (*alone, *tries)],
        "chosen": _changes(asdict(chosen)),
        "report": {
            name: {
                "faithful": _scores(calibration.score(material, FAITHFUL)),
                "chosen": _scores(calibration.score(material, chosen)),
                "default": _scores(calibration.score(material, DEFAULT)),
            }
            for name, material in sets.items()
        },
    }
    if args.out:
        keep(args.out, result)
    return result


def show(result: dict[str, Any]) -> str:
    """All tries, and what came of the choice on every set."""
    lines = []
    stage = ""
    for one in result["tries"]:
        if one["stage"] != stage:
            stage = one["stage"]
            lines += ["", f"{stage}: tokens per step against what was there before, on the set searched and the other"]
        checked = "     -" if one["checked_gain"] is None else f"{one['checked_gain']:6.3f}"
        lines.append(f"{one['searched_gain']:6.3f} {checked}  {'+' if one['adopted'] else ' '} {one['name']}")
    lines += ["", "chosen: " + (", ".join(f"{k} = {v}" for k, v in result["chosen"].items()) or "the authors' own")]
    for name, by_setting in result["report"].items():
        lines += ["", f"{name}: {result['answers'][name]} answers, tokens per step"]
        for key, before in by_setting["faithful"].items():
            chosen, default = by_setting["chosen"][key], by_setting["default"][key]
            lines.append(
                f"  {key:22} faithful {before:.3f}  chosen {chosen:.3f} ({chosen / before:.3f}x)  "
                f"default {default:.3f} ({default / before:.3f}x)"
            )
    return "\n".join(lines[1:])


def _long_enough(recorded: list[RecordedAnswer], path: Path) -> list[RecordedAnswer]:
    """Those that can be drafted, in strides."""
    from sssd_demo.sssd.replay import SHORTEST_ANSWER

    answers = [answer for answer in recorded if len(answer.output) >= SHORTEST_ANSWER]
    if not answers:
        raise UserError(f"No answer in {path} has {SHORTEST_ANSWER} tokens or more.")
    return [answer for start in range(SPREAD_EVERY) for answer in answers[start::SPREAD_EVERY]]


def _split(answers: Sequence[RecordedAnswer]) -> Material:
    """Half of another model's answers as a store for the other half, without those that are related to it."""
    from sssd_demo.experiments.held_out import unrelated
    from sssd_demo.sssd.calibration import Material
    from sssd_demo.sssd.datastore import Datastore
    from sssd_demo.sssd.recycled import Recycled

    asked = answers[1::2]
    known = unrelated(answers[::2], asked)
    if not (asked and known):
        raise UserError(
            "Of the other model at least two answers to unrelated questions are needed: one half is the store of the "
            "other."
        )
    recycled = Recycled()
    for answer in known:
        recycled.learn((*answer.prompt, *answer.output), answer.top)
    vocab_size = 1 + max(max(_ids(answer)) for answer in known)
    store = Datastore.build([answer.output for answer in known], fingerprint="", vocab_size=vocab_size)
    return Material(asked, store.with_recycled(recycled))


def _ids(answer: RecordedAnswer) -> set[int]:
    return {*answer.prompt, *answer.output, *(token for top in answer.top for token in top.tokens)}


def _check_apart(sets: dict[str, Material]) -> None:
    """Raises `UserError` if two sets share a question."""
    asked: dict[tuple[int, ...], str] = {}
    for name, material in sets.items():
        for answer in material.answers:
            if answer.prompt and asked.setdefault(answer.prompt, name) != name:
                raise UserError(f"The sets {asked[answer.prompt]} and {name} share a question.")


def _told(one: Try) -> dict[str, Any]:
    checked_gain = None
    if one.checked is not None and one.checked_before is not None:
        checked_gain = one.checked.mean / one.checked_before.mean
    return {
        "stage": one.stage,
        "name": one.name,
        "changes": one.changes,
        "searched": _scores(one.searched),
        "searched_gain": one.searched.mean / one.searched_before.mean,
        "checked": _scores(one.checked) if one.checked else None,
        "checked_gain": checked_gain,
        "adopted": one.adopted,
    }


def _scores(score: Score) -> dict[str, float]:
    return {
        f"s_q {s_q}, {'store' if with_store else 'no store'}": value
        for (s_q, with_store), value in score.tokens_per_step.items()
    }


def _changes(settings: dict[str, Any]) -> dict[str, Any]:
    from sssd_demo.sssd.constants import FAITHFUL

    return {name: value for name, value in settings.items() if value != getattr(FAITHFUL, name)}


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
