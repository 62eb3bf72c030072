r"""Model and visitor text for a Markdown view: tags and pictures in it are shown as written, not obeyed.

Outside of code a backslash goes before whatever would open a tag, load a picture or be an entity, which is Markdown's own way to
say "literally". `plain` takes the backslashes away again, so what the model is asked is what was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable

# A fenced block, closed or still open, or a code span: Markdown shows their contents as written.
_CODE = re.compile(
    r"(?P<fence>^[ ]{0,3}(?P<mark>`{3,}|~{3,})[^\n]*\n(?:.*?^[ ]{0,3}(?P=mark)[`~]*[ \t]*$|.*))"
    r"|(?<![`\\])(?P<ticks>`+)(?!`)(?P<span>(?:(?!\n[ \t]*\n).)*?)(?<!`)(?P=ticks)(?!`)",
    re.DOTALL | re.MULTILINE,
)
# Tags, pictures, entities. Backslashes may already stand before the "!" of "<![".
_OPENERS = r"<(?=\\*[A-Za-z/!?])|!(?=\[)|&(?=#?[A-Za-z0-9]+;)"
_LITERAL = re.compile(rf"(\\*)({_OPENERS})")


def shown(text: str) -> str:
    """`text` as Markdown in which no HTML and no picture is left outside of code."""
    # k backslashes and an opener are written as 2k + 1 backslashes and the opener, which Markdown shows as k.
    return _outside_code(text, lambda found: found[1] * 2 + "\\" + found[2])


def plain(text: str) -> str:
    """What `shown` was given."""
    return _outside_code(text, lambda found: found[1][: len(found[1]) // 2] + found[2])


def _outside_code(text: str, replace: Callable[[re.Match[str]], str]) -> str:
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [_LITERAL.sub(replace, text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, _LITERAL.sub(replace, text[end:])])
