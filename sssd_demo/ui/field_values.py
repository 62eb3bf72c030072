"""What stands in a field, or is sent by anybody who calls a handler, as a number."""

from __future__ import annotations

from typing import Any

from sssd_demo.errors import UserError
from sssd_demo.ui.words import WORDS


def whole(value: Any, name: str) -> int:
    """`value` as a whole number. Raises `UserError` that names the field and what stands in it."""
    try:
        if int(value) == float(value):
            return int(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise UserError(WORDS["refuse.whole"].format(name=name, value=value))


def real(value: Any, name: str) -> float:
    """`value` as a number. Raises `UserError` that names the field and what stands in it."""
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise UserError(WORDS["refuse.number"].format(name=name, value=value)) from error


def real_or_blank(value: Any, name: str) -> float | None:
    """`value` as a number, None where the field is blank. Raises `UserError` like `real`."""
    return None if value is None or not str(value).strip() else real(value, name)
