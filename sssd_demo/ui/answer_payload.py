"""A trace → the data that the answer view draws: tokens with fates, one bar a round, one tree a round.

What is sent for a round has short keys and columns instead of rows, since it travels while the answer streams. A
round is written once and never changed, so a growing answer costs one "add" on the wire.

    keys of a round     k  how many tokens it appended            b, bp  the bonus and its probability
                        t, p, q, d, m  per node: token, parent, target's and drafter's probability, match length
                        s, f  per node one letter each: source, fate
                        w  pieces of tokens not seen before       x  texts, where a character is cut over tokens
                        z  the round's s_q                        ms  start, draft and verify time
                        u  per node: the coin that was compared, in sampled rounds only
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sssd_demo.trace import Fate, Round, Source, Trace
from sssd_demo.ui.token_text import TextStream, piece

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
        self._known = set(trace.prompt)
        self._stream = TextStream()
        self._rounds: list[dict[str, Any]] = []
        self._texts: list[str] = []
        self.date = readable_date(trace.created)
        self._head = {
            "created": trace.created,
            "recorded": {"device": trace.device, "date": self.date} if recorded else None,
            "method": trace.method,
            "question": next((m["content"] for m in reversed(trace.messages) if m["role"] == "user"), ""),
            "prompt": list(trace.prompt),
            "pieces": {str(token): piece(trace.token_bytes[token]) for token in sorted(self._known)},
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
        drawn = dict.fromkeys([*tree.tokens, *round_.committed, round_.bonus])
        new = [token for token in drawn if token not in self._known and token in token_bytes]
        self._known.update(new)
        texts = self._stream.push(b"" if token in ends else token_bytes[token] for token in round_.committed)
        self._texts.extend(texts)
        data: dict[str, Any] = {
            "k": len(round_.committed),
            "b": round_.bonus,
            "bp": _short(round_.bonus_prob),
            "z": round_.s_q,
            "ms": [round(round_.start_ms), round(round_.draft_ms, 2), round(round_.verify_ms, 1)],
        }
        if len(tree):
            data |= {
                "t": list(tree.tokens),
                "p": list(tree.parents),
                "q": [_short(p) for p in tree.target_probs],
                "d": [_short(p) for p in tree.probs],
                "m": list(tree.match_lengths),
                "s": "".join(SOURCE_LETTERS[source] for source in tree.sources),
                "f": "".join(FATE_LETTERS[fate] for fate in tree.fates),
            }
            if any(coin is not None for coin in tree.coins):
                data["u"] = [None if coin is None else _short(coin) for coin in tree.coins]
        if new:
            data["w"] = {str(token): piece(token_bytes[token]) for token in new}
        if texts != [piece(token_bytes[token]) for token in round_.committed]:
            data["x"] = texts
        return data


def _short(probability: float) -> float:
    return round(probability, 3)


def readable_date(created: str) -> str:
    """A trace's `created`, as in "2025-11-29 16:20 UTC"."""
    moment = datetime.fromisoformat(created)
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
