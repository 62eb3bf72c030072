"""Starts the app's server, the same way from the command line, from `app.py` and on a hosted Space."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass
from typing import Any

import gradio as gr

from sssd_demo import models
from sssd_demo.errors import UserError
from sssd_demo.ui import components, palette
from sssd_demo.ui.frame import build
from sssd_demo.ui.odd_requests import not_understood
from sssd_demo.ui.service_host import OpenService, ServiceHost
from sssd_demo.ui.words import WORDS

MOST_WAITING = 64  # events in the queue; more are refused with a message
LARGEST_UPLOAD = "32mb"
# A forward is hundreds of short operations, and after each the engine's thread asks for Python's lock again. While a
# page's update is being prepared, every one of them could wait this long: by default 5 ms.
GIL_SECONDS = 0.0002


def default_host() -> str:
    """The address to listen on: everywhere inside a Space's container, else this machine only."""
    return os.environ.get("GRADIO_SERVER_NAME") or ("0.0.0.0" if os.environ.get("SPACE_ID") else "127.0.0.1")


@dataclass(frozen=True)
class RunningApp:
    """The app while its server runs in threads of its own."""

    demo: gr.Blocks
    host: ServiceHost
    url: str

    def wait(self) -> None:
        """Return when interrupted, with everything closed."""
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Stop serving, and end running answers."""
        self.demo.close(verbose=False)
        self.host.close()


def launch(open_service: OpenService, model: str, *, host: str | None = None, port: int | None = None) -> RunningApp:
    """Serve the app and begin to load `model`; returns once the page can be opened.

    Raises `UserError` if the port is taken.
    """
    sys.setswitchinterval(GIL_SECONDS)
    service_host = ServiceHost(open_service, model)
    # On a hosted Space one stranger must not change the model under the others.
    demo = build(service_host, models=[] if os.environ.get("SPACE_ID") else models.fitting_presets())
    demo.queue(max_size=MOST_WAITING, default_concurrency_limit=4)
    try:
        _, url, _ = demo.launch(
            server_name=host or default_host(), server_port=port, prevent_thread_lock=True, **_look(), **_rules()
        )
    except OSError as error:
        raise UserError(WORDS["refuse.port" if port else "refuse.no_port"].format(port=port)) from error
    service_host.start()
    return RunningApp(demo, service_host, url)


def _look() -> dict[str, Any]:
    return {
        "theme": gr.themes.Base(
            primary_hue="blue",
            neutral_hue="slate",
            text_size="sm",
            spacing_size="sm",
            font=["ui-sans-serif", "system-ui", "sans-serif"],  # nothing is fetched from elsewhere
            font_mono=["ui-monospace", "monospace"],
        ),
        "css": palette.css_variables(),
        "css_paths": [components.STATIC / name for name in components.STYLES],
        "head": components.script_head(),
    }


def _rules() -> dict[str, Any]:
    return {
        "quiet": True,
        "show_error": False,  # handlers say what went wrong; nothing else of an exception is shown
        "app_kwargs": {"exception_handlers": {Exception: not_understood}},
        "ssr_mode": False,
        "run_history": False,
        "footer_links": [],
        "max_file_size": LARGEST_UPLOAD,
        "share": False,
    }
