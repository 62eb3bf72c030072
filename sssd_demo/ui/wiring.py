"""How controls are wired to handlers, the same in every tab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

WAIT = 1.5  # seconds between looks at whether the model is there

QUIET: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
AT_ONCE: dict[str, Any] = {**QUIET, "queue": False}  # for what is done in a moment, however many wait for answers


def put_text(button: gr.Button, text: str, box: gr.Textbox) -> None:
    """A click puts `text` into `box`."""
    button.click(lambda: text, None, [box], **AT_ONCE)


def save_file(
    button: gr.Button, make: Callable[..., Any], carrier: gr.Textbox, said: gr.HTML, *, name: str, binary: bool = False
) -> None:
    """A click makes a file, which the browser saves as `name`.

    `make` gives [the file, what is said about it]: the file as text, or in base64 if it is `binary`, or empty if there
    is none. The file passes through `carrier`, which is never seen; what is said is shown by `said`.
    """
    save = "saveBytes" if binary else "save"
    button.click(make, None, [carrier, said], **AT_ONCE).then(
        None, [carrier], js=f"(data) => window.sssdDemo.{save}('{name}', data)", **AT_ONCE
    )
