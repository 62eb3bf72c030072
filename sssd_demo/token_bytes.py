"""The exact bytes that a token stands for: a token may be half a character, so text is not enough."""

from __future__ import annotations

import re

from tokenizers import Tokenizer

_BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")


def byte_level_alphabet() -> dict[str, int]:
    """Character → byte, as in GPT-2's vocabulary: printable bytes stand for themselves, the rest for U+0100 and up.

    See Radford et al., "Language Models are Unsupervised Multitask Learners" (2019), section 2.2.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}


class TokenBytes:
    """Token id → bytes, for byte-level BPE and for vocabularies of the SentencePiece kind."""

    def __init__(self, tokenizer: Tokenizer, byte_level: bool) -> None:
        self._tokenizer = tokenizer
        self._added = {token: added.content for token, added in tokenizer.get_added_tokens_decoder().items()}
        self._alphabet = byte_level_alphabet() if byte_level else None
        self._known: dict[int, bytes] = {}

    def __getitem__(self, token: int) -> bytes:
        """The token's bytes; a control token gives its written form, an id that is not in use nothing."""
        if token not in self._known:
            self._known[token] = self._look_up(token)
        return self._known[token]

    def _look_up(self, token: int) -> bytes:
        if token in self._added:
            return self._added[token].encode()
        written = self._tokenizer.id_to_token(token) if 0 <= token < 2**32 else None
        if written is None:
            return b""
        if self._alphabet is None:
            byte = _BYTE_TOKEN.fullmatch(written)
            return bytes.fromhex(byte[1]) if byte else written.replace("▁", " ").encode()
        if all(character in self._alphabet for character in written):
            return bytes(self._alphabet[character] for character in written)
        return written.encode()
