"""`serve`: the app in the browser. The page is there at once; the model loads behind it."""

from __future__ import annotations

import argparse
from typing import Any

from sssd_demo.cli.options import add_model_options, model_name, positive
from sssd_demo.model_sources import Progress


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser("serve", help="start the app")
    add_model_options(parser)
    parser.add_argument("--host", metavar="ADDRESS", help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=port, metavar="N", help="port to listen on (default: the first free from 7860)")
    parser.add_argument("--threads", type=positive, metavar="N", help="threads the model may use (default: all cores)")
    parser.set_defaults(run=run, show=show)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Serve until interrupted; the address is printed as soon as the page can be opened."""
    from sssd_demo.service import Service
    from sssd_demo.ui.launch import launch

    model = model_name(args)

    def open_model(name: str, progress: Progress) -> Service:
        draft = args.draft if name == model else None  # another one, chosen on the page, has its own
        return Service.open(
            name, draft=draft, dtype=args.dtype, threads=args.threads, context=args.context, progress=progress
        )

    running = launch(
        open_model,
        model,
        host=args.host,
        port=args.port,
    )
    print(f"The app is at {running.url} (Ctrl+C ends it)", flush=True)
    running.wait()
    return {"url": running.url}


def show(result: dict[str, Any]) -> str:
    """Nothing: the address was shown when it could be used."""
    return ""


def port(text: str) -> int:
    """A port number."""
    number = positive(text)
    if number > 65535:
        raise argparse.ArgumentTypeError(f"must be a port from 1 to 65535, but is {text}")
    return number
