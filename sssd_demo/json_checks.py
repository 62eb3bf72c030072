"""Take values out of JSON that nobody vouches for: each function returns the value or says what is wrong.

`where` names the place for the reader of the message, for example "rounds[3].s_q".
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from sssd_demo.errors import UserError

T = TypeVar("T")
MAX_INT = 2**53  # beyond it, JavaScript would round
MAX_DEPTH = 16


class Unusable(UserError):
    """A value that cannot be what it stands for; `what` says which and why, without naming the file's kind."""

    def __init__(self, what: str) -> None:
        super().__init__(f"This is not a usable trace: {what}.")
        self.what = what


def wrong(where: str, problem: str) -> Unusable:
    """The error for the value at `where`, to be raised by the caller."""
    return Unusable(f"{where} {problem}")


def member(container: dict[str, Any], key: str, where: str) -> Any:
    """`container[key]`. Raises `UserError` if it is not there."""
    if key not in container:
        raise wrong(where, f'lacks the entry "{key}"')
    return container[key]


def mapping(value: Any, where: str) -> dict[str, Any]:
    """A JSON object. Raises `UserError` for anything else."""
    if not isinstance(value, dict):
        raise wrong(where, "should be an object")
    return value


def items(value: Any, where: str, check: Callable[[Any, str], T]) -> tuple[T, ...]:
    """A JSON array whose entries all pass `check(entry, where)`. Raises `UserError` otherwise."""
    if not isinstance(value, list):
        raise wrong(where, "should be a list")
    return tuple(check(entry, f"{where}[{index}]") for index, entry in enumerate(value))


def whole(value: Any, where: str, low: int = 0, high: int = MAX_INT) -> int:
    """A whole number from `low` to `high`. Raises `UserError` otherwise."""
    if type(value) is not int or not low <= value <= high:  # bool is a subclass of int
        raise wrong(where, f"should be a whole number of at least {low}" + (f" and at most {high}" * (high != MAX_INT)))
    return value


def real(value: Any, where: str, low: float = 0.0, high: float = 1e15) -> float:
    """A finite number from `low` to `high`. Raises `UserError` otherwise, also for NaN and infinity."""
    if type(value) not in (int, float) or not low <= value <= high:
        raise wrong(where, f"should be a number of at least {low:g}" + (f" and at most {high:g}" * (high != 1e15)))
    return float(value)


def flag(value: Any, where: str) -> bool:
    """True or false. Raises `UserError` otherwise."""
    if not isinstance(value, bool):
        raise wrong(where, "should be true or false")
    return value


def text(value: Any, where: str) -> str:
    """A string that can be shown and stored. Raises `UserError` for anything else, also half surrogate pairs."""
    if not isinstance(value, str):
        raise wrong(where, "should be a text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise wrong(where, "holds characters that are not valid Unicode") from error
    return value


def moment(value: Any, where: str) -> str:
    """A date and time in ISO 8601, as written. Raises `UserError` otherwise."""
    written = text(value, where)
    try:
        datetime.fromisoformat(written)
    except ValueError as error:
        raise wrong(where, "should be a date and time in ISO 8601") from error
    return written


def one_of(value: Any, where: str, known: tuple[str, ...]) -> Any:
    """One of the strings in `known`. Raises `UserError` that lists them otherwise."""
    if not isinstance(value, str) or value not in known:
        raise wrong(where, f"should be one of {', '.join(known)}")
    return value


def base64_bytes(value: Any, where: str) -> bytes:
    """Bytes written as base64. Raises `UserError` otherwise."""
    try:
        return base64.b64decode(text(value, where), validate=True)
    except ValueError as error:
        raise wrong(where, "should be base64") from error


def plain(value: Any, where: str, depth: int = 0) -> Any:
    """Any JSON value, with finite numbers, valid text and bounded nesting. Raises `UserError` otherwise."""
    if depth > MAX_DEPTH:
        raise wrong(where, "is nested too deeply")
    if isinstance(value, dict):
        return {text(key, where): plain(entry, f"{where}.{key}", depth + 1) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry, f"{where}[{index}]", depth + 1) for index, entry in enumerate(value)]
    if isinstance(value, str):
        return text(value, where)
    if isinstance(value, float) and not math.isfinite(value):
        raise wrong(where, "should be a finite number")
    return value
