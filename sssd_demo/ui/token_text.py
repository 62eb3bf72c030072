"""Bytes of tokens → what may be shown of them: never half a character, never U+FFFD in its place."""

from __future__ import annotations

import codecs
from collections.abc import Iterable

Piece = str | list[int]


def piece(data: bytes) -> Piece:
    """One token on its own: its text, or its byte values where they are not whole characters."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return list(data)


class TextStream:
    """Tokens in order → the text that each one completes.

    The bytes of a character cut over tokens wait; the token with the last of them shows the character and those
    before it show nothing. Bytes that can never become a character are left out.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("ignore")

    def push(self, tokens: Iterable[bytes]) -> list[str]:
        """The text of each of `tokens`; joined over all calls it is the whole text."""
        return [self._decoder.decode(data) for data in tokens]
