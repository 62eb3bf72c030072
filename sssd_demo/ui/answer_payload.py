"""A trace → the data that the answer view draws: tokens with fates, one bar a round, one tree a round.

What is sent for a round has short keys and columns instead of rows, since it travels while the answer streams. A
round is written once and never changed, so a growing answer costs one "add" on the wire. A token is told by its place
in `vocabulary`, a list of [id, piece] that begins with the prompt's tokens and grows by what each round brings.

    keys of a round     k  how many tokens it appended            b, bp  the bonus and its probability
                        t, q, d  per node: token, target's and drafter's probability
                        p, m, s, f  per node one letter each: parent, match length, source, fate
                        w  what the vocabulary grows by           x  texts, where a character is cut over tokens
                        ms  start, draft and verify time          h  guesses that may not be shown
                        u  per node: the coin that was compared, in sampled rounds only

Probabilities are in thousandths. Small numbers are letters from "0" on, and a parent is told by parent + 1, so that
"0" is the root.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sssd_demo.trace import Fate, Round, Source, Trace
from sssd_demo.ui.token_text import Piece, TextStream, piece

SOURCE_LETTERS: dict[Source, str] = {
    "prompt": "P",
    "output": "O",
    "datastore": "D",
    "recycled": "R",
    "model": "M",
    "jacobi": "J",
}
FATE_LETTERS: dict[Fate, str] = {"accepted": "a", "rejected": "r", "ignored": "i"}


class AnswerPayload:
    """The answer view's data for one trace, live or from a file. Call `update` as the trace grows.

    `end_tokens` are ids that end an answer and have no text; a finished trace also says so itself.
    """

    def __init__(self, trace: Trace, end_tokens: frozenset[int] = frozenset(), recorded: bool = False) -> None:
        self._end_tokens = end_tokens
        self._places: dict[int, int] = {}  # of tokens in the vocabulary
        self._stream = TextStream()
        self._rounds: list[dict[str, Any]] = []
        self._texts: list[str] = []
        self.date = readable_date(trace.created)
        vocabulary = self._added(sorted(set(trace.prompt)), trace.token_bytes)
        self._head = {
            "created": trace.created,
            "recorded": {"device": trace.device, "date": self.date} if recorded else None,
            "method": trace.method,
            "question": next((m["content"] for m in reversed(trace.messages) if m["role"] == "user"), ""),
            "prompt": [self._places[token] for token in trace.prompt],
            "vocabulary": vocabulary,
        }
        self.update(trace)

    def update(self, trace: Trace) -> dict[str, Any]:
        """The data for `trace`, which may have more rounds than last time."""
        for round_ in trace.rounds[len(self._rounds) :]:
            is_last = round_.index == len(trace.rounds) - 1
            ends = self._end_tokens
            if is_last and trace.finish_reason == "end_of_text" and round_.committed:
                ends |= {round_.committed[-1]}
            self._rounds.append(self._round(round_, trace.token_bytes, ends))
        return {**self._head, "rounds": list(self._rounds), "end": trace.finish_reason}

    @property
    def text(self) -> str:
        """The answer's text so far, without the end-of-text token and without half a character."""
        return "".join(self._texts)

    def _round(self, round_: Round, token_bytes: dict[int, bytes], ends: frozenset[int]) -> dict[str, Any]:
        tree = round_.tree
        new = self._added([*tree.tokens, round_.bonus], token_bytes)
        texts = self._stream.push(b"" if token in ends else token_bytes[token] for token in round_.committed)
        self._texts.extend(texts)
        data: dict[str, Any] = {
            "k": len(round_.committed),
            "b": self._places[round_.bonus],
            "bp": _thousandths(round_.bonus_prob),
            "ms": [round(round_.start_ms), round(round_.draft_ms, 2), round(round_.verify_ms, 1)],
        }
        if len(tree):
            data |= {
                "t": [self._places[token] for token in tree.tokens],
                "p": _letters(parent + 1 for parent in tree.parents),
                "q": [_thousandths(p) for p in tree.target_probs],
                "d": [_thousandths(p) for p in tree.probs],
                "m": _letters(tree.match_lengths),
                "s": "".join(SOURCE_LETTERS[source] for source in tree.sources),
                "f": "".join(FATE_LETTERS[fate] for fate in tree.fates),
            }
            if any(coin is not None for coin in tree.coins):
                data["u"] = [None if coin is None else _thousandths(coin) for coin in tree.coins]
        if new:
            data["w"] = new
        if round_.withheld:
            data["h"] = round_.withheld
        if texts != [piece(token_bytes[token]) for token in round_.committed]:
            data["x"] = texts
        return data

    def _added(self, tokens: Iterable[int], token_bytes: dict[int, bytes]) -> list[tuple[int, Piece]]:
        """Give those of `tokens` that are new a place in the vocabulary; returns what it grows by."""
        new = [token for token in dict.fromkeys(tokens) if token not in self._places]
        for token in new:
            self._places[token] = len(self._places)
        return [(token, piece(token_bytes[token])) for token in new]


def _letters(numbers: Iterable[int]) -> str:
    return "".join(chr(ord("0") + number) for number in numbers)


def _thousandths(probability: float) -> int:
    return round(1000 * probability)


def readable_date(created: str) -> str:
    """A trace's `created`, as in "2025-11-29 16:20 UTC"."""
    moment = datetime.fromisoformat(created)
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
