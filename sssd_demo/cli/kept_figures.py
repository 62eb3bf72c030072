"""Where an experiment's figures are kept, and with which command they can be found again."""

from __future__ import annotations

import argparse
import json
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sssd_demo.errors import UserError

if TYPE_CHECKING:
    from sssd_demo.experiments.figure import Figure

FOLDER = Path("benchmarks/results")
_FILES = ("answers", "held_out", "own", "other")
_OPTIONS = ("store", "s_q", "setting", "preset", "model", "dtype")


def check_target(args: argparse.Namespace) -> None:
    """Refuses, before any work, a place where the result cannot be kept."""
    folder = (args.out or FOLDER / "x").parent
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder} to keep the result in; please name a file with --out.")
    if args.out and args.out.is_dir():
        raise UserError(f"{args.out} is a folder; please name a file with --out.")


def kept(
    args: argparse.Namespace, figures: list[Figure], device: str | None = None, model: str | None = None
) -> dict[str, Any]:
    """Keep every figure: the first in the file asked for, the others beside it, named by what they add.

    Without a `device` and a `model` that decoded, they are this machine and the one that had written the answers.
    """
    from sssd_demo.cpu_name import cpu_name
    from sssd_demo.experiments.figure import Origin
    from sssd_demo.whole_file import write_whole

    origin = Origin(device or cpu_name(), model or args.preset, datetime.now(UTC).date().isoformat(), _command(args))
    first = args.out or FOLDER / f"experiment_{args.experiment}.json"
    data, written = [], []
    for figure in figures:
        path = first.with_name(f"{first.stem}{figure.experiment.removeprefix(args.experiment)}{first.suffix}")
        data.append(figure.as_data(origin))
        try:
            write_whole(path, json.dumps(data[-1], indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            raise UserError(f"Cannot write {path}: {error.strerror or error}.") from error
        written.append(str(path))
    return {"written": written, "figures": data}


def _command(args: argparse.Namespace) -> str:
    """What to type to find the same again; of a file only its name, since folders differ from machine to machine."""
    words = ["python", "-m", "sssd_demo", "experiment", args.experiment, "--budget", args.budget]
    for name in (*_FILES, *_OPTIONS):
        value = getattr(args, name, None)
        if value is not None:
            words += [f"--{name.replace('_', '-')}", Path(value).name if name in (*_FILES, "model") else str(value)]
    return shlex.join(words)
