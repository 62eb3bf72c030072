"""A chat template rendered such that its own text and the messages' text stay apart.

A template is a program over the messages' contents and returns one string, in which a marker that a visitor typed
looks like one that the template wrote. So the template never sees the contents: it is rendered with stand-ins, and
the contents are put in their places afterwards. What a visitor writes can thus not steer the template either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from sssd_demo.errors import UserError

ROLES = ("system", "user", "assistant")

# The white space around a stand-in shows how the template trims a content: not at all, line breaks, or all of it.
# An em space, because no template writes one itself.
_STAND_IN = "\n\u2003\ue000{}\ue001\u2003\n"
_FOUND = re.compile("(\n?\u2003)?\ue000([0-9]+)\ue001(\u2003\n?)?")
_TRIMMED = {2: "", 1: "\n", 0: None}  # white space that is left on one side → the argument of lstrip or rstrip


@dataclass(frozen=True)
class Piece:
    """A stretch of the rendered conversation, written by the template or by a participant."""

    text: str
    from_template: bool


def render(
    tokenizer: PreTrainedTokenizerBase, messages: Sequence[dict[str, str]], generation_prompt: bool = True
) -> list[Piece]:
    """The conversation as the model's template words it, in order.

    Joined, the pieces equal the template's own rendering unless the template looks into the contents.
    Raises `UserError` if there is no template, or if it refuses this order of roles.
    """
    if not tokenizer.chat_template:
        raise UserError("This model has no chat template; it can only continue raw text.")
    for message in messages:
        if message["role"] not in ROLES:  # templates copy the role unchecked
            raise UserError(f"A message's role must be one of {', '.join(ROLES)}.")
    stand_ins = [{"role": m["role"], "content": _STAND_IN.format(index)} for index, m in enumerate(messages)]
    try:
        rendered = tokenizer.apply_chat_template(stand_ins, tokenize=False, add_generation_prompt=generation_prompt)
    except TemplateError as error:
        raise UserError(f"The model's chat template refuses this conversation: {error}") from error
    pieces, end = [], 0
    for found in _FOUND.finditer(str(rendered)):
        content = messages[int(found[2])]["content"]
        content = content.lstrip(_TRIMMED[len(found[1] or "")]).rstrip(_TRIMMED[len(found[3] or "")])
        pieces += [Piece(str(rendered)[end : found.start()], True), Piece(content, False)]
        end = found.end()
    return [*pieces, Piece(str(rendered)[end:], True)]
