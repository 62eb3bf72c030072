"""Text → token ids → text, exactly: nothing a visitor writes becomes a control token, no byte is lost on the way."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Container, Iterable, Sequence
from functools import cached_property
from typing import Any

from tokenizers import AddedToken, Tokenizer
from transformers import PreTrainedTokenizerBase

from sssd_demo.chat_template import Piece, render
from sssd_demo.errors import UserError
from sssd_demo.token_bytes import TokenBytes

# Rows that converters add to fill a vocabulary up; they differ between siblings that share every real token.
_FILLER = re.compile(r"\[PAD\d+\]")


class Text:
    """A model's tokenizer and chat template. Thread-safe.

    `end_ids` are the ids that end an answer by the model's own configuration; the tokenizer's end-of-text and
    the template's end-of-turn are added to them. Raises `UserError` if the tokenizer is not of the fast kind.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, end_ids: Iterable[int] = ()) -> None:
        backend = getattr(tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise UserError("This model's tokenizer exists only in slow form, which cannot be used here.")
        self._tokenizer = tokenizer
        # Asked directly: the library's own call changes settings that another thread would see half done.
        self._full: Tokenizer = backend
        self._full.no_padding()
        self._full.no_truncation()
        layout = json.loads(self._full.to_str())
        self._bytes = TokenBytes(self._full, byte_level='"ByteLevel"' in json.dumps(layout["decoder"]))
        added = self._full.get_added_tokens_decoder()
        self._controls: dict[int, AddedToken] = {id_: token for id_, token in added.items() if _is_control(token)}
        self._ids = {token.content: id_ for id_, token in self._controls.items()}
        self._plain = _without_added(layout, self._ids)
        longest_first = sorted(self._ids, key=len, reverse=True)
        self._marker = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        self._configured_ends = frozenset(end_ids)

    def encode(self, text: str) -> list[int]:
        """Token ids of plain text: markers in it stay text, and nothing is added.

        Raises `UserError` for half a surrogate pair.
        """
        _check_unicode(text)
        return self._encode_plain(text)

    def encode_chat(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """The prompt for the model's next turn after `messages`, [{"role", "content"}, …].

        The only control tokens are those of the template itself, whatever the contents hold. Raises `UserError`
        for half a surrogate pair, without a template, or if the template refuses the order of roles.
        """
        for message in messages:
            _check_unicode(message["content"])
        pieces = render(self._tokenizer, messages)
        encoding = self._full.encode("".join(piece.text for piece in pieces), add_special_tokens=False)
        if self._controls_are_the_templates(encoding.ids, encoding.offsets, pieces):
            return encoding.ids
        return self._encode_apart(pieces)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids` without end tokens; bytes that are no UTF-8 become U+FFFD."""
        decoder = StreamDecoder(self)
        return decoder.push(ids) + decoder.finish()

    def token_bytes(self, token: int) -> bytes:
        """The exact bytes of one id: perhaps part of a character, a control token's written form, or nothing."""
        return self._bytes[token]

    @cached_property
    def end_tokens(self) -> frozenset[int]:
        """The ids that end an answer."""
        ends = {*self._configured_ends, self._tokenizer.eos_token_id, self._end_of_turn()}
        return frozenset(token for token in ends if token is not None)

    @cached_property
    def control_tokens(self) -> frozenset[int]:
        """The ids that no plain text is ever encoded to."""
        return frozenset(self._controls)

    @cached_property
    def vocab_size(self) -> int:
        """One more than the highest id; a model's logits may be padded beyond it."""
        return max(self._full.get_vocab().values()) + 1

    @cached_property
    def fingerprint(self) -> str:
        """Equal exactly when two tokenizers map the same tokens to the same ids: 16 hexadecimal digits."""
        tokens = sorted(item for item in self._full.get_vocab().items() if not _FILLER.fullmatch(item[0]))
        return hashlib.sha256(json.dumps(tokens).encode()).hexdigest()[:16]

    def _controls_are_the_templates(
        self, ids: Sequence[int], offsets: Sequence[tuple[int, int]], pieces: Sequence[Piece]
    ) -> bool:
        text = "".join(piece.text for piece in pieces)
        contents, position = [], 0
        for piece in pieces:
            if not piece.from_template:
                contents.append((position, position + len(piece.text)))
            position += len(piece.text)
        for token, (start, end) in zip(ids, offsets, strict=True):
            if token in self._controls:
                start += len(text[start:end]) - len(text[start:end].lstrip())  # some swallow the space around them
                end = start + len(text[start:end].rstrip())
                if any(start < content_end and content_start < end for content_start, content_end in contents):
                    return False
        return True

    def _encode_apart(self, pieces: Sequence[Piece]) -> list[int]:
        """Cut at the template's own markers and encode what lies between as plain text.

        Template text and content are encoded together, since tokens can cross their border.
        """
        runs, markers = [""], []
        for piece in pieces:
            start = 0
            for found in self._marker.finditer(piece.text if piece.from_template else ""):
                runs[-1] += piece.text[start : found.start()]
                markers.append(self._ids[found[0]])
                runs.append("")
                start = found.end()
            runs[-1] += piece.text[start:]
        for index, marker in enumerate(markers):
            if self._controls[marker].lstrip:
                runs[index] = runs[index].rstrip()
            if self._controls[marker].rstrip:
                runs[index + 1] = runs[index + 1].lstrip()
        ids = self._encode_plain(runs[0])
        for marker, run in zip(markers, runs[1:], strict=True):
            ids += [marker, *self._encode_plain(run)]
        return ids

    def _encode_plain(self, text: str) -> list[int]:
        ids = self._plain.encode(text, add_special_tokens=False).ids
        if not self._controls.keys().isdisjoint(ids):
            raise UserError("This model's tokenizer cannot write a control marker as plain text; please remove it.")
        return ids

    def _end_of_turn(self) -> int | None:
        """The first marker that the template writes after an answer."""
        if not self._tokenizer.chat_template:
            return None
        turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]
        try:
            after = render(self._tokenizer, turns, generation_prompt=False)[-1].text
        except UserError:
            return None
        found = self._marker.search(after)
        return self._ids[found[0]] if found else None


class StreamDecoder:
    """Tokens in, text out, never half a character: bytes wait until their character is complete."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, ids: Iterable[int]) -> str:
        """The text that `ids` complete; may be empty. End tokens have no text."""
        return self._decoder.decode(
            b"".join(self._text.token_bytes(token) for token in ids if token not in self._text.end_tokens)
        )

    def finish(self) -> str:
        """What still waits, with U+FFFD in place of a character that never became complete."""
        return self._decoder.decode(b"", final=True)


def _is_control(token: AddedToken) -> bool:
    # Not all markers are flagged as special: of Qwen's, <tool_call> and <|fim_prefix|> are not.
    return token.special or (token.content.startswith("<") and token.content.endswith(">"))


def _without_added(layout: dict[str, Any], contents: Container[str]) -> Tokenizer:
    kept = [token for token in layout["added_tokens"] if token["content"] not in contents]
    return Tokenizer.from_str(json.dumps(layout | {"added_tokens": kept, "post_processor": None}))


def _check_unicode(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UserError("The text holds half of a surrogate pair, which is not valid Unicode.") from error
