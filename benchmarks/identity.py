"""Every method's text against autoregressive decoding's, in float32: alone, and in batches that mix the methods.

    python benchmarks/identity.py --questions QUESTIONS.jsonl --limit 24 --out benchmarks/results/identity.json

Greedy, and sampled at a temperature: with coins keyed by position, point-mass drafts change no token then either.
Methods that sample their drafts promise the law only; they are compared when greedy. Of those that draft ahead, it is
counted too how many rounds were served from what was prepared: without any, the comparison would prove nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sssd_demo.answer import Answer
from sssd_demo.bench.machine import machine_facts
from sssd_demo.cli.options import s_q_list, store_name
from sssd_demo.errors import UserError
from sssd_demo.questions import Question, read_questions
from sssd_demo.saguaro.options import SaguaroOptions
from sssd_demo.service import Service, Settings
from sssd_demo.speculators.needs import WITH_DRAFT_MODEL

PLAIN = "autoregressive"


class _Lane(NamedTuple):
    """A method, and the length of its drafts where one was asked for."""

    method: str
    s_q: int | None = None

    @property
    def name(self) -> str:
        return f"{self.method}@{self.s_q}" if self.s_q else self.method


_PLAIN = _Lane(PLAIN)


def main() -> int:
    """Compare, print what differs, and keep the counts if asked to."""
    args = _arguments()
    try:
        questions = read_questions(args.questions, args.limit)
        service = Service.open(args.preset, draft=args.draft, dtype="float32")
        methods = _methods(args.methods, service.methods())
    except UserError as error:
        _tell(str(error))
        return 2
    try:
        result = {
            "machine": machine_facts(service, datetime.now(UTC).date().isoformat()),
            "settings": {
                "preset": args.preset,
                "draft": service.draft.name if service.draft else None,
                "questions": Path(args.questions).name,
                "asked": len(questions),
                "s_q": args.s_q,
                "max_new_tokens": args.max_new_tokens,
                "batch": args.batch,
                "datastore": args.datastore,
            },
            "identical": {
                str(temperature): _compared(service, questions, methods, args, temperature)
                for temperature in (0.0, *([args.temperature] if args.temperature else []))
            },
        }
    finally:
        service.close()
    sys.stdout.write(json.dumps(result["identical"], indent=1) + "\n")
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--questions", required=True)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--methods", help="separated by commas (default: all)")
    parser.add_argument("--preset", default="smollm2-135m")
    parser.add_argument("--draft")
    parser.add_argument("--datastore", type=store_name, default=None)
    parser.add_argument("--s-q", type=s_q_list, help="every method with each of these (default: 4, 8 and 16 in turn)")
    parser.add_argument("--max-new-tokens", type=int, default=64)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--temperature", type=float, default=0.8, help="besides greedy; 0: greedy only")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def _methods(wanted: str | None, known: Sequence[str]) -> list[str]:
    methods = [name.strip() for name in wanted.split(",")] if wanted else list(known)
    for name in methods:
        if name not in known:
            raise UserError(f"There is no method {name!r}; there are {', '.join(known)}.")
    return [name for name in methods if name != PLAIN]


def _compared(
    service: Service, questions: Sequence[Question], wanted: Sequence[str], args: argparse.Namespace, temperature: float
) -> dict[str, Any]:
    """Lane → of how many questions the text is the same, alone and in mixed batches."""
    methods = [m for m in wanted if not (temperature and m in WITH_DRAFT_MODEL)]
    lanes = [_Lane(method, s_q) for method in methods for s_q in args.s_q or [None]]

    def settings(lane: _Lane, at: int) -> Settings:
        return Settings(
            method=lane.method,
            max_new_tokens=args.max_new_tokens,
            temperature=temperature,
            seed=at,
            datastore=args.datastore,
            # A length that drafts in every round: what is left to the machine may draft nothing.
            s_q=lane.s_q or (4, 8, 16)[at % 3],
            k=(2, 3, 4)[at % 3],
            saguaro=SaguaroOptions(budget=6, roll_back_after=0),  # something is prepared in every round
        )

    def ask(lane: _Lane, at: int) -> Answer:
        return service.ask([{"role": "user", "content": questions[at].turns[0]}], settings(lane, at))

    places = range(len(questions))
    expected = [_tokens(ask(_PLAIN, at)) for at in places]
    found: dict[str, Any] = {}
    for lane in lanes:
        _tell(f"temperature {temperature:g}: {lane.name} alone")
        same, served = 0, Counter[str]()
        for at in places:
            answer = ask(lane, at)
            same += _tokens(answer) == expected[at]
            served += _served(answer)
        found[lane.name] = {"alone": same, "of": len(questions), **served}
    _tell(f"temperature {temperature:g}: all together in batches of {args.batch}")
    jobs = [(lane, at) for at in places for lane in (*lanes, _PLAIN)]
    Random(0).shuffle(jobs)  # so that a batch holds several questions
    mixed = Counter[str]()
    for start in range(0, len(jobs), args.batch):
        running = [(lane, at, ask(lane, at)) for lane, at in jobs[start : start + args.batch]]
        for lane, at, answer in running:
            mixed[lane.name] += _tokens(answer) == expected[at]
    for lane in (*lanes, _PLAIN):
        found.setdefault(lane.name, {"of": len(questions)})["mixed"] = mixed[lane.name]
    return found


def _served(answer: Answer) -> Counter[str]:
    """How many rounds had a drafter ahead of them, and how many found their draft prepared."""
    rounds = [round.saguaro for round in answer.trace.rounds if round.saguaro is not None]
    return Counter(rounds=len(rounds), hits=sum(round.hit for round in rounds))


def _tokens(answer: Answer) -> list[int]:
    for _ in answer:
        pass
    return answer.trace.token_ids()


def _tell(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
