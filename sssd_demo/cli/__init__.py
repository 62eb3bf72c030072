"""The command line: one file per command, imported only when it is asked for.

A command file has three functions:

* `add_parser(subparsers)` declares its arguments and ends with `parser.set_defaults(run=run, show=show)`;
* `run(args)` does the work and returns what `--json` prints;
* `show(result)` turns that into text for a person.

Exit codes: 0 success, 1 a fault of ours, 2 bad input, 130 interrupted. Only this package prints.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from sssd_demo.errors import UserError

PROGRAM = "python -m sssd_demo"
COMMANDS = {
    "generate": "write one answer and say how it came about",
    "bench": "measure methods side by side on a file of questions",
    "results": "show what bench has measured and kept",
    "record": "answer a file of questions and keep the traces",
    "replay": "measure drafting alone on recorded answers, without a model",
    "calibrate": "search the constants of drafting on recorded answers",
    "experiment": "try what SSSD's authors report, and keep what was found",
    "train-draft": "train a draft model from the target's own first layers",
    "probe": "measure this machine and say how much to speculate",
    "datastore": "build, list and inspect stores of past text",
    "models": "list the models, where they come from and whether they are here",
    "fetch": "get a model ready",
    "serve": "start the app",
}


class Parser(argparse.ArgumentParser):
    """Every parser, nested ones too, knows --json and --verbose, and says what is wrong in one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)
        # SUPPRESS: a nested parser's default must not overwrite what the outer one was given.
        self.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object and nothing else"
        )
        self.add_argument("--verbose", action="store_true", default=argparse.SUPPRESS, help="say more on stderr")

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (try: {self.prog} --help)")


def main(argv: Sequence[str]) -> int:
    """Run one command with its arguments `argv` and return its exit code."""
    verbose = "--verbose" in argv
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # what its encoding has not is no reason to fail
    logging.basicConfig(stream=sys.stderr, format="%(message)s", level=logging.INFO if verbose else logging.WARNING)
    try:
        args = _parse(argv)
        if args.json:
            with contextlib.redirect_stdout(sys.stderr):  # whatever libraries print, stdout holds one object
                result = args.run(args)
            print(json.dumps(result or {}), flush=True)
        else:
            text = args.show(args.run(args) or {})
            if text:
                print(text, flush=True)
    except UserError as error:
        return _fail(2, str(error))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader went away; without this the interpreter complains when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if verbose:
            traceback.print_exc()
        return _fail(1, f"{type(error).__name__}: {error} (--verbose shows where)")
    return 0


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser(
        prog=PROGRAM,
        description="Lossless speculative decoding on a real model.",
        epilog="commands:\n" + "\n".join(f"  {name:<11} {what}" for name, what in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s [--json] [--verbose] COMMAND …",
    )
    name = next((word for word in argv if not word.startswith("-")), None)
    if name in COMMANDS:
        subparsers = parser.add_subparsers(prog=PROGRAM, dest="command", metavar="COMMAND", help=argparse.SUPPRESS)
        # Importing a command may load much; the others are left alone.
        importlib.import_module(f"sssd_demo.cli.{name.replace('-', '_')}").add_parser(subparsers)
    elif name is not None:
        raise UserError(f"There is no command {name!r}; the commands are: {', '.join(COMMANDS)}.")
    args = parser.parse_args(argv, argparse.Namespace(json=False, verbose=False, run=None))
    if name is None:
        raise UserError(f"Please name a command: {', '.join(COMMANDS)}.")
    if args.run is None:
        raise UserError(f"{name} needs to know what to do (try: {PROGRAM} {name} --help)")
    return args


def _fail(code: int, message: str) -> int:
    print(" ".join(message.split()), file=sys.stderr)
    return code
