"""One sentence for what a program asks that cannot be meant, where the library would give none, or a bare 500."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr
from starlette.requests import Request
from starlette.responses import JSONResponse

from sssd_demo.ui.words import WORDS


class Page(gr.Blocks):
    """Blocks whose events say so when values are missing."""

    def validate_inputs(self, block_fn: Any, inputs: Sequence[Any]) -> None:
        needed, got = len(block_fn.inputs), len(inputs)
        if got < needed:
            raise gr.Error(WORDS["refuse.inputs"].format(needed=needed, got=got), print_exception=False)
        super().validate_inputs(block_fn, list(inputs))


async def not_understood(request: Request, error: Exception) -> JSONResponse:
    """The answer to a request that the server failed at; the fault itself is in its log."""
    return JSONResponse({"error": WORDS["refuse.request"]}, status_code=400)
