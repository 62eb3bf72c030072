"""`experiment`: what SSSD's authors report, tried on this machine, and kept as data that the app draws."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sssd_demo.cli.kept_figures import FOLDER, check_target, kept
from sssd_demo.cli.options import add_model_options, open_service, settings_from, store_name
from sssd_demo.errors import UserError
from sssd_demo.request import MAX_S_Q

if TYPE_CHECKING:  # torch, numpy and tokenizers are loaded by the experiment that needs them
    from sssd_demo.sssd.recorded_answers import RecordedAnswer
    from sssd_demo.text import Text

EXPERIMENTS = {
    "cold-start": "tokens per forward while a store grows from nothing",
    "additivity": "the gains of prompt and datastore, alone and together",
    "own-text": "a store of the model's own answers against stores of other text",
    "languages": "other languages with an English store, by tokens and by characters",
    "context": "drafting time and speed-up at contexts of 0.5 k, 2 k and 8 k tokens",
}
DEFAULT_STORE = "base"
DEFAULT_PRESET = "smollm2-135m"
S_Q = 8
LINES = "JSON lines {prompt: [ids], output: [ids]}"


def add_parser(subparsers: Any) -> None:
    """Declare the command, and each experiment as one of its actions."""
    parser = subparsers.add_parser("experiment", help="try what SSSD's authors report")
    actions = parser.add_subparsers(metavar="NAME")

    listing = actions.add_parser("list", help="the experiments that there are")
    listing.set_defaults(run=list_experiments, show=show_list)

    cold_start = _add(actions, "cold-start", run_cold_start)
    _add_answers(cold_start, "conversations in the order in which they were held")
    cold_start.add_argument(
        "--held-out", type=Path, metavar="FILE", help="answers drafted at each size; default: the last tenth"
    )

    additivity = _add(actions, "additivity", run_additivity)
    _add_answers(additivity, "answers that the store does not know")
    _add_store(additivity, DEFAULT_STORE)

    own_text = _add(actions, "own-text", run_own_text)
    _add_answers(own_text, "answers that none of the stores knows")
    own_text.add_argument(
        "--own", required=True, type=Path, metavar="FILE", help="other answers of the same model, for its own store"
    )
    own_text.add_argument("--other", type=Path, metavar="FILE", help="one more text to compare with")

    languages = _add(actions, "languages", run_languages, decodes=True)
    _add_store(languages, DEFAULT_STORE)

    context = _add(actions, "context", run_context, decodes=True)
    _add_store(context, None)
    context.add_argument("--method", default="sssd", metavar="M", help="how to draft (default: %(default)s)")


def list_experiments(args: argparse.Namespace) -> dict[str, Any]:
    """Names, and what each shows."""
    return {"experiments": EXPERIMENTS}


def run_cold_start(args: argparse.Namespace) -> dict[str, Any]:
    """Conversations drafted again in their order, with a store that grows by them."""
    from sssd_demo.experiments.cold_start import BUDGETS, run
    from sssd_demo.models import load_text
    from sssd_demo.sssd.constants import find_setting
    from sssd_demo.sssd.live_store import LiveStore

    check_target(args)
    settings = find_setting(args.setting)
    text = load_text(args.preset)
    answers = _recorded(args.answers, text)
    held_out = _recorded(args.held_out, text) if args.held_out else None
    store = LiveStore(fingerprint=text.fingerprint, vocab_size=text.vocab_size)
    try:
        figures = run(
            answers, held_out, store, budget=BUDGETS[args.budget], s_q=args.s_q, settings=settings, tell=_tell
        )
    finally:
        store.close()
    return kept(args, figures)


def run_additivity(args: argparse.Namespace) -> dict[str, Any]:
    """Held-out answers drafted again with each source alone and with both."""
    from dataclasses import replace

    from sssd_demo.experiments.additivity import BUDGETS, run
    from sssd_demo.models import load_text
    from sssd_demo.sssd.constants import find_setting
    from sssd_demo.stores import Stores

    check_target(args)
    if args.store is None:
        raise UserError("There is nothing to add up without a store; please name one with --store.")
    settings = find_setting(args.setting)
    text = load_text(args.preset)
    answers = _recorded(args.answers, text)
    store = Stores.usual(text.fingerprint).open(args.store)
    budget = BUDGETS[args.budget]
    if args.s_q is not None:
        budget = replace(budget, s_qs=(args.s_q,))
    return kept(args, run(answers, store, args.store, budget=budget, settings=settings, tell=_tell))


def run_own_text(args: argparse.Namespace) -> dict[str, Any]:
    """Held-out answers drafted again with stores of equal size made of different texts."""
    from sssd_demo.experiments.own_text import BUDGETS, run
    from sssd_demo.experiments.prose import python_documentation
    from sssd_demo.models import load_text
    from sssd_demo.sssd.constants import find_setting
    from sssd_demo.sssd.documents import STDLIB, read_documents

    check_target(args)
    settings = find_setting(args.setting)
    text = load_text(args.preset)
    answers = _recorded(args.answers, text)
    own = _recorded(args.own, text)
    texts = {
        "Python's documentation": map(text.encode, python_documentation()),
        "Python's library": read_documents([STDLIB], text),
    }
    if args.other:
        texts[args.other.name] = read_documents([str(args.other)], text)
    figures = run(
        answers,
        own,
        texts,
        vocab_size=text.vocab_size,
        budget=BUDGETS[args.budget],
        s_q=args.s_q,
        settings=settings,
        tell=_tell,
    )
    return kept(args, figures)


def run_languages(args: argparse.Namespace) -> dict[str, Any]:
    """The same questions in several languages, decoded by the model."""
    check_target(args)
    if args.store is None:
        raise UserError("This experiment starts from an English store; please name one with --store.")
    from sssd_demo.experiments.language_prompts import LANGUAGE_PROMPTS
    from sssd_demo.experiments.languages import BUDGETS, run

    with open_service(args) as service:
        figures = run(
            service, LANGUAGE_PROMPTS, store=args.store, budget=BUDGETS[args.budget], s_q=args.s_q, tell=_tell
        )
        return kept(args, figures, service.model.device_name, service.model.name)


def run_context(args: argparse.Namespace) -> dict[str, Any]:
    """Real text of several lengths, continued by the model."""
    check_target(args)
    settings_from(argparse.Namespace(), method=args.method)  # refuses an unknown one before a model is loaded
    from sssd_demo.experiments.context import BUDGETS, run
    from sssd_demo.experiments.prose import python_documentation

    with open_service(args, [args.method]) as service:
        figures = run(
            service,
            python_documentation(),
            store=args.store,
            budget=BUDGETS[args.budget],
            s_q=args.s_q,
            tell=_tell,
            method=args.method,
        )
        return kept(args, figures, service.model.device_name, service.model.name)


def show(result: dict[str, Any]) -> str:
    """Each figure's verdict and numbers, and where they were written."""
    from sssd_demo.experiments.figure_text import figure_text

    parts = [figure_text(figure) for figure in result["figures"]]
    return "\n\n".join([*parts, f"Written to {', '.join(result['written'])}."])


def show_list(result: dict[str, Any]) -> str:
    """A line for each experiment."""
    return "\n".join(f"{name:<11} {what}" for name, what in result["experiments"].items())


def _add(
    actions: Any, name: str, run: Callable[[argparse.Namespace], dict[str, Any]], *, decodes: bool = False
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=EXPERIMENTS[name])
    parser.add_argument("--budget", choices=("small", "full"), default="small", help="default: %(default)s")
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"default: {FOLDER}/experiment_{name}.json")
    parser.add_argument(
        "--s-q",
        type=_length,
        default=None if name == "additivity" else S_Q,
        metavar="N",
        help="tokens verified per round",
    )
    if decodes:
        add_model_options(parser)
    else:
        parser.add_argument("--setting", default="default", metavar="NAME", help="constants to draft with")
        parser.add_argument(
            "--preset", default=DEFAULT_PRESET, metavar="NAME", help="the model that wrote the answers: %(default)s"
        )
    parser.set_defaults(run=run, show=show, experiment=name)
    return parser


def _recorded(path: Path, text: Text) -> list[RecordedAnswer]:
    from sssd_demo.sssd.recorded_answers import read_recorded_answers

    return read_recorded_answers(path, text.vocab_size, fingerprint=text.fingerprint)


def _add_answers(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--answers", required=True, type=Path, metavar="FILE", help=f"{what}: {LINES}")


def _add_store(parser: argparse.ArgumentParser, default: str | None) -> None:
    parser.add_argument(
        "--store", type=store_name, default=default, metavar="NAME|none", help=f"default: {default or 'none'}"
    )


def _length(text: str) -> int:
    try:
        length = int(text)
    except ValueError:
        length = 0
    if not 2 <= length <= MAX_S_Q:
        raise argparse.ArgumentTypeError(f"must be a whole number from 2 to {MAX_S_Q}, but is {text!r}")
    return length


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
