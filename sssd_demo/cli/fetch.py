"""`fetch PRESET`: get a model onto this machine, so that the first start needs no wait."""

from __future__ import annotations

import argparse
from typing import Any

from tqdm import tqdm  # type: ignore[import-untyped]

from sssd_demo import models


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser("fetch", help="download a preset's models and unpack them")
    parser.add_argument("preset", metavar="PRESET", help="a preset listed by the command `models`, or a hub id")
    parser.set_defaults(run=run, show=show)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Fetch target and draft model, with a progress bar on stderr if that is a terminal."""
    with tqdm(total=1.0, bar_format="{desc} {percentage:3.0f}% {elapsed}", leave=False, disable=None) as bar:

        def progress(stage: str, fraction: float | None) -> None:
            bar.n = fraction or 0.0
            bar.set_description_str(stage)

        found = models.fetch(args.preset, progress)
    return {"preset": args.preset, "models": [{"path": str(one.path), "source": one.source} for one in found]}


def show(result: dict[str, Any]) -> str:
    """Where each model lies and came from."""
    return "\n".join(f"{model['path']}\n  from {model['source']}" for model in result["models"])
