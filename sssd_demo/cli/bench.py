"""`bench`: methods side by side on the same questions, against measured plain decoding."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sssd_demo.bench import ASSISTED, BASELINE, LIBRARY
from sssd_demo.cli.bench_table import show
from sssd_demo.cli.options import (
    add_answer_options,
    add_drafter_options,
    add_model_options,
    add_saguaro_options,
    check_draft_model,
    draft_length,
    open_service,
    positive,
    s_q,
    saguaro_from,
    settings_from,
)
from sssd_demo.errors import UserError
from sssd_demo.questions import Question, read_questions
from sssd_demo.whole_file import check_place, write_whole

if TYPE_CHECKING:
    from sssd_demo.bench.figures import Sample
    from sssd_demo.bench.lanes import Lane
    from sssd_demo.request import Length
    from sssd_demo.service import Service, Settings


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser("bench", help="measure methods side by side on a file of questions")
    parser.add_argument("--questions", required=True, metavar="FILE", help="lines of question_id, category, turns")
    parser.add_argument(
        "--methods",
        type=_names,
        default=["sssd"],
        metavar="A,B,…",
        help=f"{BASELINE} is always measured as well; {', '.join(LIBRARY)} are the library's own decoding",
    )
    parser.add_argument(
        "--s-q",
        type=_lengths,
        default=["auto"],
        metavar="auto|knee|roofline|N,…",
        dest="lengths",
        help="tokens verified per round; of several, each is measured, as METHOD@N",
    )
    parser.add_argument(
        "--k",
        type=_draft_lengths,
        default=["auto"],
        metavar="auto|K,…",
        dest="ks",
        help="tokens that a draft model drafts in a row; of several, each is measured, as METHOD@kN",
    )
    parser.add_argument(
        "--rule",
        type=_acceptance_rules,
        default=["chain"],
        metavar="chain|block|tree|traversal,…",
        dest="rules",
        help="by which its drafts are judged; of several, each is measured, as METHOD@RULE",
    )
    parser.add_argument(
        "--draft-temperature",
        type=float,
        metavar="T",
        default=argparse.SUPPRESS,
        help="of the draft model (default: the answer's)",
    )
    add_saguaro_options(parser, several_budgets=True)
    add_drafter_options(parser)
    parser.add_argument("--limit", type=positive, metavar="N", help="so many questions, spread over the categories")
    parser.add_argument("--turns", choices=("first", "all"), default="first", help="of each question")
    parser.add_argument("--repeats", type=positive, default=1, metavar="R")
    parser.add_argument("--batch", type=positive, default=1, metavar="B", help="questions asked at once")
    parser.add_argument("--out", type=Path, metavar="FILE", help="keep the figures in this file")
    add_model_options(parser)
    add_answer_options(parser)
    parser.set_defaults(run=run, show=show)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure; progress goes to stderr."""
    questions = read_questions(args.questions, args.limit)
    if args.out:
        _place(args.out, check_place)
    settings = _settings(args)
    for name in [name for name in LIBRARY if name in settings]:
        if args.batch > 1:
            raise UserError(f"{name} answers one question at a time; please leave --batch out.")
        if settings[name].temperature > 0:
            raise UserError(f"{name} decodes greedily; please leave --temperature out.")
    if ASSISTED in settings:
        check_draft_model(args, ASSISTED)
    from sssd_demo.bench.figures import report
    from sssd_demo.bench.machine import machine_facts
    from sssd_demo.bench.runner import measure
    from sssd_demo.speculators.needs import WITH_DRAFTER

    with open_service(args, [one.method for one in settings.values()]) as service:
        if args.batch > service.engine.capacity:
            raise UserError(
                f"This machine decodes at most {service.engine.capacity} answers at once, so --batch {args.batch} would"
                " measure the queue; please choose a smaller one."
            )
        outcome = measure(
            _lanes(args, service, settings),
            questions,
            repeats=args.repeats,
            all_turns=args.turns == "all",
            batch=args.batch,
            tell=_tell,
            inspect=_inspector(service, questions, settings[BASELINE].datastore),
        )
        if not outcome.samples:
            raise UserError(f"No question could be answered: {next(iter(outcome.skipped.values()))}")
        result = {
            "machine": machine_facts(service, datetime.now(UTC).date().isoformat()),
            "settings": _told(args, service, settings, questions, outcome.skipped),
            "methods": report(
                outcome.samples, list(settings), law_only={name for name, one in settings.items() if _law_only(one)}
            ),
        }
        if any(one.method in WITH_DRAFTER for one in settings.values()):
            _add_clocks(result["methods"], service, settings, outcome.samples)
    if args.out:
        content = json.dumps(result, indent=1) + "\n"
        _place(args.out, lambda path: write_whole(path, content))
    return result


def _add_clocks(
    methods: dict[str, Any], service: Service, settings: dict[str, Settings], samples: list[Sample]
) -> None:
    """What the drafter's cache was worth, by the clock of this machine and by that of two devices."""
    from sssd_demo.bench.clocks import clock_figures
    from sssd_demo.saguaro.alone_times import measure as measure_alone

    _tell("timing the forwards of both models alone")
    alone = measure_alone(service.time_forward, service.time_draft)
    own = {name: one for name, one in settings.items() if name not in LIBRARY}
    for name, figures in clock_figures(samples, own, alone).items():
        methods[name]["overall"] |= figures


def _place(path: Path, use: Callable[[Path], None]) -> None:
    try:
        use(path)
    except OSError as error:
        raise UserError(f"The figures cannot be written to {path}: {error.strerror or error}.") from error


def _settings(args: argparse.Namespace) -> dict[str, Settings]:
    """Lane name → settings: the baseline first, then each method, once for each value of what it is measured by."""
    lanes = {BASELINE: settings_from(args, method=BASELINE)}
    for name in args.methods:
        method, _, length = name.partition("@")
        if name in LIBRARY:
            lanes[name] = settings_from(args, method=BASELINE)
        elif method != BASELINE:
            lengths = [s_q(length)] if length else args.lengths
            for lane, changes in _variants(name, method, lengths, args):
                lanes[lane] = settings_from(args, method=method, **changes)
    return lanes


def _variants(
    name: str, method: str, lengths: list[Length], args: argparse.Namespace
) -> Iterator[tuple[str, dict[str, Any]]]:
    """A lane's name, which tells what there are several values of, and these values."""
    from sssd_demo.speculators.needs import WITH_DRAFT_MODEL, WITH_DRAFTER

    drafts = method in WITH_DRAFT_MODEL
    ks, rules = (args.ks, args.rules) if drafts else (["auto"], ["chain"])
    common = saguaro_from(args)
    budgets = args.budgets if method in WITH_DRAFTER else ["auto"]
    for k, rule, length, budget in product(ks, rules, lengths, budgets):
        told = [f"k{k}"] * (len(ks) > 1) + [f"b{budget}"] * (len(budgets) > 1)
        told += [rule] * (len(rules) > 1) + [str(length)] * (len(lengths) > 1)
        changes = {"s_q": length} | ({"k": k, "rule": rule} if drafts else {})
        changes["saguaro"] = replace(common, budget=budget)
        yield "@".join([name, "-".join(told)]) if told else name, changes


def _law_only(settings: Settings) -> bool:
    """Whether drafts are sampled: the text then has autoregressive's law, but is not the very text."""
    from sssd_demo.speculators.needs import WITH_DRAFT_MODEL

    return settings.method in WITH_DRAFT_MODEL and settings.temperature > 0 and settings.draft_temperature != 0


def _lanes(args: argparse.Namespace, service: Service, settings: dict[str, Settings]) -> list[Lane]:
    from sssd_demo.bench.lanes import ServiceLane
    from sssd_demo.bench.library import library_lanes

    library = library_lanes(
        settings,
        service.model,
        settings[BASELINE].max_new_tokens,
        run=lambda answer: service.engine.call(lambda target: answer()),
        draft=_draft_name(args, service, settings),
    )
    return [library[name] if name in library else ServiceLane(name, service, one) for name, one in settings.items()]


def _draft_name(args: argparse.Namespace, service: Service, settings: dict[str, Settings]) -> str | None:
    """The draft model that is measured with, ours or the library's."""
    if service.draft:
        return service.draft.name
    return args.draft or service.model.draft if ASSISTED in settings else None


def _inspector(service: Service, questions: list[Question], store: str | None) -> Callable[[Sample], None]:
    """Refuses a store that knows a question, now, or an answer, as soon as the baseline has given it."""
    if store is None:
        return lambda sample: None
    from sssd_demo.bench.contamination import check_answer, check_question

    count = service.stores.open(store).count
    for question in questions:
        for turn in question.turns:
            check_question(question.id, service.text.encode(turn), count, store)

    def inspect(sample: Sample) -> None:
        if sample.lane == BASELINE:
            answer = [token for token in sample.reply.token_ids if token not in service.text.end_tokens]
            check_answer(sample.question.id, answer, count, store)

    return inspect


def _told(
    args: argparse.Namespace,
    service: Service,
    settings: dict[str, Settings],
    questions: list[Question],
    skipped: dict[str, str],
) -> dict[str, Any]:
    """All that somebody needs to measure the same again."""
    from sssd_demo.speculators.needs import WITH_DRAFT_MODEL, WITH_DRAFTER

    common = settings[BASELINE]
    return {
        "questions": Path(args.questions).name,
        "limit": args.limit,
        "asked": [question.id for question in questions if question.id not in skipped],
        "skipped": skipped,
        "turns": args.turns,
        "repeats": args.repeats,
        "batch": args.batch,
        "s_q": {name: one.s_q for name, one in settings.items() if name not in (BASELINE, *LIBRARY)},
        "drafting": {
            name: {"k": one.k, "rule": one.rule, "temperature": one.draft_temperature}
            | ({"saguaro": asdict(one.saguaro)} if one.method in WITH_DRAFTER else {})
            for name, one in settings.items()
            if one.method in WITH_DRAFT_MODEL
        },
        "draft_model": _draft_name(args, service, settings),
        "max_new_tokens": common.max_new_tokens,
        "temperature": common.temperature,
        "top_k": common.top_k,
        "top_p": common.top_p,
        "seed": common.seed,
        "datastore": common.datastore,
    }


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("names no method")
    for name in names:
        _, at, length = name.partition("@")
        if at:
            s_q(length)
    return names


def _lengths(text: str) -> list[Length]:
    return [s_q(part.strip()) for part in text.split(",")]


def _draft_lengths(text: str) -> list[int | Literal["auto"]]:
    return [draft_length(part.strip()) for part in text.split(",")]


def _acceptance_rules(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]
