"""The visible conversation ↔ the messages that the model is asked with.

The page holds the conversation, not the server: what is asked is exactly what is visible, and a page that was left
open over a restart of the server can go on. Texts are shown as Markdown in which tags stay text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sssd_demo.ui import markdown_text

History = list[dict[str, Any]]  # as gr.Chatbot holds it


def entry(role: str, text: str) -> dict[str, Any]:
    """One bubble. A plain string would be re-indented by Gradio, a text part is left alone."""
    return {"role": role, "content": [{"type": "text", "text": markdown_text.shown(text)}]}


def text_of(message: dict[str, Any]) -> str:
    """What was written in one bubble."""
    content = message["content"]
    parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    return markdown_text.plain("".join(parts))


def messages(history: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """The conversation as the model gets it."""
    return [{"role": message["role"], "content": text_of(message)} for message in history]
