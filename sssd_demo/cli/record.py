"""`record`: answers to a file of questions, kept as traces for stores, calibration, training and galleries."""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sssd_demo.cli.options import (
    add_answer_options,
    add_model_options,
    model_name,
    open_service,
    positive,
    s_q,
    settings_from,
)
from sssd_demo.errors import UserError
from sssd_demo.questions import Question, read_questions

if TYPE_CHECKING:
    from sssd_demo.answer import Answer
    from sssd_demo.service import Service, Settings
    from sssd_demo.trace import Trace

DEFAULT_AHEAD = 16


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser("record", help="answer a file of questions and keep the traces")
    parser.add_argument("--questions", required=True, metavar="FILE", help="lines of question_id, category, turns")
    parser.add_argument("--out", required=True, type=_place, metavar="PATH", help="a folder, or a file named .jsonl")
    parser.add_argument("--method", metavar="M", default=argparse.SUPPRESS, help="how to draft (default: sssd)")
    parser.add_argument(
        "--s-q", type=s_q, metavar="auto|knee|roofline|N", default=argparse.SUPPRESS, help="tokens per round"
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="so many questions, spread over the categories")
    parser.add_argument(
        "--batch", type=positive, default=DEFAULT_AHEAD, metavar="B", help="questions handed to the engine at once"
    )
    add_model_options(parser)
    add_answer_options(parser)
    parser.set_defaults(run=run, show=show)


def _place(text: str) -> Path:
    if not text:  # which would mean the folder that one happens to be in
        raise argparse.ArgumentTypeError("must name a folder, or a file named .jsonl")
    return Path(text)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Answer the first turn of every question that is not in the recording yet; progress goes to stderr."""
    questions = read_questions(args.questions, args.limit)
    settings = settings_from(args)
    from sssd_demo.models import load_text
    from sssd_demo.recording import open_recording

    text = load_text(model_name(args))
    skipped: dict[str, str] = {}
    with open_recording(args.out, text) as recording:
        # Every answer has a seed of its own, the same however often the command is interrupted.
        missing = [
            (question, replace(settings, seed=settings.seed + index))
            for index, question in enumerate(questions)
            if not recording.has(question)
        ]
        if missing:
            with open_service(args) as service:
                for done, (question, outcome) in enumerate(_answers(service, missing, args.batch), start=1):
                    if isinstance(outcome, UserError):
                        skipped[question.id] = str(outcome)
                    else:
                        recording.keep(question, outcome)
                    print(f"{done} of {len(missing)}", file=sys.stderr, flush=True)
    if len(skipped) == len(questions):
        raise UserError(f"No question could be answered: {next(iter(skipped.values()))}")
    return {
        "out": str(args.out),
        "recorded": len(missing) - len(skipped),
        "already_there": len(questions) - len(missing),
        "skipped": skipped,
    }


def show(result: dict[str, Any]) -> str:
    """What was kept and what was not."""
    lines = ["{recorded} answers recorded in {out}, {already_there} were there already".format(**result)]
    lines += [f"question {question} was skipped: {why}" for question, why in result["skipped"].items()]
    return "\n".join(lines)


def _answers(
    service: Service, todo: Sequence[tuple[Question, Settings]], ahead: int
) -> Iterator[tuple[Question, Trace | UserError]]:
    """The answers in order, or why there is none.

    The engine is always told of `ahead` questions, so that its rows stay full.
    """
    asked: deque[tuple[Question, Answer | UserError]] = deque()
    for question, settings in todo:
        if len(asked) == ahead:
            yield _finished(*asked.popleft())
        messages = [{"role": "user", "content": question.turns[0]}]
        try:
            asked.append((question, service.ask(messages, settings, keep_top=True)))
        except UserError as error:
            asked.append((question, error))
    while asked:
        yield _finished(*asked.popleft())


def _finished(question: Question, answer: Answer | UserError) -> tuple[Question, Trace | UserError]:
    if isinstance(answer, UserError):
        return question, answer
    try:
        for _ in answer:
            pass  # the trace grows with the rounds
    except UserError as error:
        return question, error
    return question, answer.trace
