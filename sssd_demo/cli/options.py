"""Arguments that several commands share, and what they turn into."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

from sssd_demo.errors import UserError

if TYPE_CHECKING:  # the service imports torch, which --help need not wait for
    from sssd_demo.request import Length
    from sssd_demo.saguaro.options import SaguaroOptions
    from sssd_demo.service import Service, Settings

DTYPES = ("auto", "float32", "bfloat16", "float16")


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """--preset or --model, --draft, --dtype and --context."""
    model = parser.add_mutually_exclusive_group()
    model.add_argument("--preset", metavar="NAME", help="a model listed by the command `models`")
    model.add_argument("--model", metavar="PATH|HUB_ID", help="a folder or a hub id instead of a preset")
    parser.add_argument(
        "--draft", metavar="PATH|HUB_ID", help="draft model, with the same tokenizer (default: the preset's own)"
    )
    parser.add_argument("--dtype", choices=DTYPES, default="auto", help="auto: what this device is fast in (default)")
    parser.add_argument(
        "--context",
        type=context_tokens,
        metavar="N",
        help="longest text in tokens, question and answer; a shorter one leaves memory for more answers at once",
    )


def model_name(args: argparse.Namespace) -> str:
    """The model named in `args`, else the one this machine starts with."""
    from sssd_demo.models import default_name

    return str(args.model or args.preset or default_name())


def add_answer_options(parser: argparse.ArgumentParser) -> None:
    """What shapes an answer. Those left out are absent from the result, so that the service's defaults hold."""
    absent: dict[str, Any] = {"default": argparse.SUPPRESS}
    parser.add_argument("--max-new-tokens", type=int, metavar="N", help="longest answer", **absent)
    parser.add_argument("--temperature", type=float, metavar="T", help="0: always the most likely token", **absent)
    parser.add_argument("--top-k", type=int, metavar="K", help="keep the K most likely tokens; 0: all", **absent)
    parser.add_argument("--top-p", type=float, metavar="P", help="keep tokens up to this probability mass", **absent)
    parser.add_argument("--seed", type=int, metavar="S", help="of the random numbers when sampling", **absent)
    parser.add_argument("--datastore", type=store_name, metavar="NAME|none", help="store of past text", **absent)


def add_drafting_options(parser: argparse.ArgumentParser) -> None:
    """How a draft model drafts and is judged; for the methods that have one."""
    absent: dict[str, Any] = {"default": argparse.SUPPRESS}
    parser.add_argument("--k", type=draft_length, metavar="auto|K", help="tokens drafted in a row", **absent)
    parser.add_argument(
        "--rule",
        metavar="chain|block|tree|traversal",
        help="by which sampled drafts are judged; chain and block draft a chain, tree and traversal a small tree; "
        "block is what is also called hierarchical, made exact",
        **absent,
    )
    parser.add_argument(
        "--draft-temperature", type=float, metavar="T", help="of the draft model (default: the answer's)", **absent
    )


def add_saguaro_options(parser: argparse.ArgumentParser, *, several_budgets: bool = False) -> None:
    """How drafts are prepared ahead; for the Saguaro methods."""
    from sssd_demo.saguaro.options import BENDS, FALLBACK_POLICIES, FAN_OUTS

    absent: dict[str, Any] = {"default": argparse.SUPPRESS}
    group = parser.add_argument_group("Saguaro", "drafts prepared while the target verifies")
    group.add_argument("--fan-out", metavar="|".join(FAN_OUTS), help="how prepared outcomes are spread", **absent)
    if several_budgets:
        group.add_argument(
            "--budget",
            type=lambda text: [draft_length(part.strip()) for part in text.split(",")],
            default=["auto"],
            metavar="auto|B,…",
            dest="budgets",
            help="outcomes prepared in a round; of several, each is measured, as METHOD@bN",
        )
    else:
        group.add_argument(
            "--budget", type=draft_length, metavar="auto|B", help="outcomes prepared in a round", **absent
        )
    group.add_argument("--confidence", type=float, metavar="P", help="least probable outcome of `confident`", **absent)
    group.add_argument(
        "--bend", metavar="|".join(BENDS), help="Saguaro sampling: how the draft's law is bent", **absent
    )
    group.add_argument("--c", type=float, metavar="C", help="of --bend c, 0 to 1; 1 bends nothing", **absent)
    group.add_argument("--fallback", metavar="|".join(FALLBACK_POLICIES), help="what follows a miss", **absent)
    group.add_argument(
        "--nearest", action="store_true", help="after a miss, offer the draft of the most similar outcome", **absent
    )
    group.add_argument("--late-ms", type=float, metavar="MS", help="longest wait for a draft", **absent)
    group.add_argument(
        "--roll-back-after",
        type=int,
        metavar="N",
        help="misses in a row, then nothing is prepared for a while",
        **absent,
    )
    group.add_argument("--latency-ms", type=float, metavar="MS", help="longer rounds make drafts shorter", **absent)


def add_drafter_options(parser: argparse.ArgumentParser) -> None:
    """Where the drafter of the Saguaro methods computes."""
    parser.add_argument("--target-device", metavar="DEVICE", help="such as cpu or cuda:0 (default: the GPU if any)")
    parser.add_argument("--draft-device", metavar="DEVICE", help="of the Saguaro methods' drafter (default: cpu)")
    parser.add_argument(
        "--draft-cores", metavar="0,2-3", help="cores that the drafter alone computes on while the target verifies"
    )


def settings_from(args: argparse.Namespace, **changes: Any) -> Settings:
    """The service's settings from those given in `args` and from `changes`.

    Raises `UserError` for a value out of range or an unknown method, so that no model is loaded in vain.
    """
    from sssd_demo.service import Settings
    from sssd_demo.speculators.registry import METHODS

    settings = Settings(**({"saguaro": saguaro_from(args)} | _given(args, Settings) | changes))
    if settings.method not in METHODS:
        raise UserError(f"There is no method called {settings.method!r}; the methods are {', '.join(METHODS)}.")
    return settings


def saguaro_from(args: argparse.Namespace) -> SaguaroOptions:
    """Those given in `args`. Raises `UserError` for a value out of range, and for one that would change nothing."""
    from sssd_demo.saguaro.options import SaguaroOptions

    options = SaguaroOptions(**_given(args, SaguaroOptions))
    if hasattr(args, "c") and options.bend != "c":
        raise UserError("--c is the constant of one kind of Saguaro sampling; please add --bend c.")
    if hasattr(args, "confidence") and options.fan_out != "confident":
        raise UserError("--confidence is that of one fan-out policy; please add --fan-out confident.")
    budgets = getattr(args, "budgets", [options.budget])
    if options.fan_out == "sized" and budgets != ["auto"]:
        raise UserError("--fan-out sized finds its budget itself; please leave --budget out.")
    return options


def check_has_use(args: argparse.Namespace, method: str) -> None:
    """Raises `UserError` for an option given in `args` that `method` has no use for."""
    from sssd_demo.saguaro.options import SaguaroOptions
    from sssd_demo.speculators.needs import NEEDS

    needs = NEEDS[method]
    drafting = ("draft", "k", "rule", "draft_temperature")
    ahead = ("draft_device", "draft_cores", *(field.name for field in fields(SaguaroOptions)))
    for options, has_use, others in (
        (drafting, needs.draft_model, [name for name, each in NEEDS.items() if each.draft_model]),
        (ahead, needs.drafter, [name for name, each in NEEDS.items() if each.drafter]),
    ):
        given = [name for name in options if getattr(args, name, None) is not None]
        if given and not has_use:
            option = "--" + given[0].replace("_", "-")
            raise UserError(f"The method {method} has no use for {option}; those that have are {', '.join(others)}.")


def _given(args: argparse.Namespace, kind: Any) -> dict[str, Any]:
    """The fields of a dataclass that are among the arguments."""
    return {field.name: getattr(args, field.name) for field in fields(kind) if hasattr(args, field.name)}


def check_draft_model(args: argparse.Namespace, method: str) -> None:
    """Raises `UserError` where `method` needs a draft model, none is named in `args` and the preset has none."""
    from sssd_demo.model_sources import find_preset, no_draft_model

    name = model_name(args)
    preset = find_preset(name)
    if not args.draft and not (preset and preset.draft):
        raise no_draft_model(name, method)


@contextmanager
def open_service(args: argparse.Namespace, methods: Iterable[str] = ()) -> Iterator[Service]:
    """The model named in `args`, loaded for `methods`, with its engine running until the block ends.

    Raises `UserError` where a method needs a draft model and the preset has none, so that no model is loaded in vain.
    """
    from sssd_demo.models import check_device
    from sssd_demo.saguaro.cores import cores_of
    from sssd_demo.service import Service
    from sssd_demo.speculators.needs import WITH_DRAFT_MODEL, WITH_DRAFTER

    methods = list(methods)
    name = model_name(args)
    drafting = next((method for method in methods if method in WITH_DRAFT_MODEL), None)
    if drafting:
        check_draft_model(args, drafting)
    draft_device = getattr(args, "draft_device", None)
    draft_cores = getattr(args, "draft_cores", None)
    if draft_device is not None:
        check_device(draft_device)
    try:
        service = Service.open(
            name,
            draft=args.draft,
            needs_draft=drafting is not None,
            device=getattr(args, "target_device", None),
            dtype=args.dtype,
            draft_device=draft_device,
            draft_cores=cores_of(draft_cores) if draft_cores is not None else None,
            progress=_show_progress,
            context=args.context,
        )
    finally:
        _show_progress("", None)
    try:
        if service.cores.note and any(method in WITH_DRAFTER for method in methods):
            print(service.cores.note, file=sys.stderr)
        yield service
    finally:
        service.close()


def _show_progress(stage: str, fraction: float | None) -> None:
    """One line on the terminal that is written over and over; nothing where nobody watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{stage}{'' if fraction is None else f' {fraction:.0%}'}", end="", file=sys.stderr, flush=True)


def s_q(text: str) -> Length:
    """A speculation length: a rule's name or a number of tokens."""
    from sssd_demo.request import RULES

    for rule in RULES:
        if text == rule:
            return rule
    try:
        return int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be {', '.join(RULES)} or a whole number, but is {text!r}") from error


def draft_length(text: str) -> int | Literal["auto"]:
    """K: auto or a number of tokens."""
    if text == "auto":
        return "auto"
    try:
        return int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be auto or a whole number, but is {text!r}") from error


def s_q_list(text: str) -> list[int]:
    """Speculation lengths, such as 4,8."""
    from sssd_demo.request import MAX_S_Q

    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(1 <= one <= MAX_S_Q for one in found):
        raise argparse.ArgumentTypeError(f"must be numbers from 1 to {MAX_S_Q} such as 4,8, but is {text!r}")
    return found


def store_name(text: str) -> str | None:
    """A datastore's name; `none` is None."""
    return None if text == "none" else text


def context_tokens(text: str) -> int:
    """The longest text, in tokens."""
    from sssd_demo.service import MAX_CONTEXT, MIN_CONTEXT

    tokens = positive(text)
    if not MIN_CONTEXT <= tokens <= MAX_CONTEXT:
        raise argparse.ArgumentTypeError(f"must be {MIN_CONTEXT} to {MAX_CONTEXT} tokens, but is {text}")
    return tokens


def positive(text: str) -> int:
    """A whole number from 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, but is {text!r}")
    return number


def prompt_text(text: str) -> str:
    """The prompt itself, or standard input for `-`. Raises `UserError` if it is empty or no UTF-8."""
    from sssd_demo.request import EMPTY_PROMPT

    try:
        if text == "-":
            text = sys.stdin.read()
        text.encode()
    except UnicodeError as error:
        raise UserError("The prompt is not valid UTF-8.") from error
    if not text.strip():
        raise UserError(EMPTY_PROMPT)
    return text
