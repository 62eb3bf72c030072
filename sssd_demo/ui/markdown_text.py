r"""Model and visitor text for a Markdown view: tags and pictures in it are shown as written, not obeyed.

Outside of code a backslash goes before whatever would open a tag, load a picture or be an entity, which is
Markdown's own way to say "literally". `plain` takes the backslashes away again, so what the model is asked is what
was written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

# Tags, pictures, entities. Backslashes may already stand before the "!" of "<![".
_OPENERS = r"<(?=\\*[A-Za-z/!?])|!(?=\[)|&(?=#?[A-Za-z0-9]+;)"
_LITERAL = re.compile(rf"(\\*)({_OPENERS})")
_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,}).*$", re.MULTILINE)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_TICKS = re.compile(r"`+")


def shown(text: str) -> str:
    """`text` as Markdown in which no HTML and no picture is left outside of code."""
    # k backslashes and an opener are written as 2k + 1 backslashes and the opener, which Markdown shows as k.
    return _outside_code(text, lambda found: found[1] * 2 + "\\" + found[2])


def plain(text: str) -> str:
    """What `shown` was given."""
    return _outside_code(text, lambda found: found[1][: len(found[1]) // 2] + found[2])


def _outside_code(text: str, replace: Callable[[re.Match[str]], str]) -> str:
    parts, end = [], 0
    for code_start, code_end in _code(text):
        parts += [_LITERAL.sub(replace, text[end:code_start]), text[code_start:code_end]]
        end = code_end
    return "".join([*parts, _LITERAL.sub(replace, text[end:])])


def _code(text: str) -> Iterator[tuple[int, int]]:
    """Where Markdown shows `text` as written: fenced blocks, closed or still open, and spans between backticks."""
    position = 0
    while fence := _FENCE.search(text, position):
        yield from _spans(text, position, fence.start())
        mark = fence[1]
        closing = re.compile(rf"^ {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*$", re.MULTILINE).search(text, fence.end())
        position = closing.end() if closing else len(text)
        yield fence.start(), position
    yield from _spans(text, position, len(text))


def _spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Code spans in `text[start:end]`: from a run of backticks to the next run of the same length in its paragraph."""
    breaks = [found.start() for found in _BLANK_LINE.finditer(text, start, end)]
    for paragraph_start, paragraph_end in zip([start, *breaks], [*breaks, end], strict=True):
        runs = [found.span() for found in _TICKS.finditer(text, paragraph_start, paragraph_end)]
        by_length: dict[int, list[int]] = {}
        for index, (run_start, run_end) in enumerate(runs):
            by_length.setdefault(run_end - run_start, []).append(index)
        done = -1
        for index, (run_start, run_end) in enumerate(runs):
            if index <= done or text[run_start - 1 : run_start] == "\\":
                continue
            same = by_length[run_end - run_start]
            at = bisect_right(same, index)
            if at < len(same):
                done = same[at]
                yield run_start, runs[done][1]
