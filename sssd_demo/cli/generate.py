"""`generate PROMPT`: one answer, streamed to the terminal, with its figures."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sssd_demo.cli.options import (
    add_answer_options,
    add_drafter_options,
    add_drafting_options,
    add_model_options,
    add_saguaro_options,
    check_has_use,
    open_service,
    prompt_text,
    s_q,
    settings_from,
)
from sssd_demo.errors import UserError
from sssd_demo.whole_file import check_place

if TYPE_CHECKING:
    from sssd_demo.answer import Answer
    from sssd_demo.text import Text


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser("generate", help="write one answer and say how it came about")
    parser.add_argument("prompt", metavar="PROMPT", help="what to ask; - reads it from standard input")
    parser.add_argument("--method", metavar="M", default=argparse.SUPPRESS, help="how to draft (default: sssd)")
    add_model_options(parser)
    add_answer_options(parser)
    add_drafting_options(parser)
    add_saguaro_options(parser)
    add_drafter_options(parser)
    parser.add_argument(
        "--s-q",
        type=s_q,
        metavar="auto|knee|roofline|N",
        default=argparse.SUPPRESS,
        help="tokens verified per round, root included",
    )
    parser.add_argument("--raw", action="store_true", help="continue the text itself, without the chat template")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="keep every round in this file")
    parser.set_defaults(run=run, show=show)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Answer the prompt; without --json the text appears while it is written."""
    settings = settings_from(args)
    check_has_use(args, settings.method)
    prompt = prompt_text(args.prompt)
    if args.trace:
        _check_place(args.trace)
    with open_service(args, [settings.method]) as service:
        answer = service.ask(prompt if args.raw else [{"role": "user", "content": prompt}], settings, raw=args.raw)
        _follow(answer, service.text, quiet=args.json)
        text = service.text.decode(answer.trace.token_ids())
    if args.trace:
        from sssd_demo.trace_file import save

        save(answer.trace, args.trace)
    return _result(answer, text)


def _check_place(path: Path) -> None:
    try:
        check_place(path)
    except FileNotFoundError as error:
        raise UserError(f"The trace cannot be written: there is no folder {path.absolute().parent}.") from error
    except IsADirectoryError as error:
        raise UserError(f"The trace cannot be written: {path} is a folder.") from error
    except OSError as error:
        raise UserError(f"The trace cannot be written to {path}: {error.strerror or error}.") from error


def _follow(answer: Answer, text: Text, *, quiet: bool) -> None:
    from sssd_demo.text import StreamDecoder

    decoder = StreamDecoder(text)
    for round_ in answer:
        if not quiet:
            _write(decoder.push(round_.committed))
    if not quiet:
        _write(decoder.finish() + "\n")


def _write(text: str) -> None:
    if hasattr(sys.stdout, "reconfigure"):  # a terminal that lacks a character shows a stand-in
        sys.stdout.reconfigure(errors="replace")
    print(text, end="", flush=True)


def _result(answer: Answer, text: str) -> dict[str, Any]:
    from sssd_demo.metrics import summarise
    from sssd_demo.saguaro.summary import summarise_cache

    trace = answer.trace
    cache = summarise_cache([trace])
    summary = summarise(trace, answer.finished.prefill_forwards)
    return {
        "method": trace.method,
        "preset": trace.preset,
        "device": trace.device,
        "dtype": trace.dtype,
        "text": text,
        "prompt_tokens": len(trace.prompt),
        "token_ids": trace.token_ids(),
        "finish_reason": trace.finish_reason,
        "rounds": summary.rounds,
        "target_forwards": summary.target_forwards,
        "tokens_per_forward": summary.tokens_per_forward,
        "seconds": summary.seconds,
        "decode_seconds": summary.decode_seconds,
        "tokens_per_second": summary.tokens_per_second,
        "drafted": summary.drafted,
        "accepted": summary.accepted,
        "rejected": summary.rejected,
        "ignored": summary.ignored,
        # of methods that prepare drafts ahead
        "hit_rate": cache.hit_rate if cache else None,
        "rolled_back": cache.rolled_back if cache else None,
        "fallbacks": dict(cache.fallbacks) if cache else None,
        "wait_ms": cache.wait_ms if cache else None,
    }


def show(result: dict[str, Any]) -> str:
    """The figures; the text itself has been shown already."""
    lines = ["", f"{len(result['token_ids'])} tokens from {result['target_forwards']} target forwards"]
    if result["tokens_per_second"]:
        lines[-1] += " · {tokens_per_second:.1f} tokens/s · {tokens_per_forward:.2f} tokens per forward".format(
            **result
        )
    if result["drafted"]:
        lines.append("{drafted} drafted: {accepted} accepted, {rejected} rejected, {ignored} ignored".format(**result))
    if result["hit_rate"] is not None:
        lines.append(_cache_line(result))
    lines.append("{method} on {preset}, {dtype}, {device}".format(**result))
    return "\n".join(lines)


def _cache_line(result: dict[str, Any]) -> str:
    """For example "0.82 of the outcomes were foreseen · instead: 3 immediate · the target waited 41 ms for drafts"."""
    parts = ["{hit_rate:.2f} of the outcomes were foreseen".format(**result)]
    if result["rolled_back"]:
        parts.append("{rolled_back} rounds rolled back".format(**result))
    if result["fallbacks"]:
        parts.append("instead: " + ", ".join(f"{count} {name}" for name, count in result["fallbacks"].items()))
    parts.append("the target waited {wait_ms:.0f} ms for drafts".format(**result))
    return " · ".join(parts)
