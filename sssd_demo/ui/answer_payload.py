"""A trace → the data that the answer view draws: tokens with fates, one bar a round, one tree a round.

What is sent for a round has short keys and columns instead of rows, since it travels while the answer streams. A
round is written once and never changed, so a growing answer costs one "add" on the wire. A token is told by its place
in `vocabulary`, a list of [id, piece] that begins with the prompt's tokens and grows by what each round brings.

    keys of a round     k  how many tokens it appended            b, bp  the bonus and its probability
                        t, q, d  per node: token, target's and drafter's probability
                        p, m, s, f  per node one letter each: parent, match length, source, fate
                        w  what the vocabulary grows by           x  texts, where a character is cut over tokens
                        ms  start, draft and verify time          h  guesses that may not be shown
                        c  tokens computed beside the tree and not tested, such as Lookahead's window
                        a  of a draft prepared ahead: hit or why not, outcomes prepared, what was served instead
                        u  per node: the coin that was compared, in sampled rounds only
                        g  how the bonus was drawn: its coin, start and length of its stretch, and 1 if from a residual
                        r, v  the rule, and its tests in order where drafts were sampled (else t, f and u say it all)
                        z  what does not agree when the verification is done again: mostly absent

Probabilities are in thousandths, except in g and v. Small numbers are letters from "0" on, and a parent is told by
parent + 1, so that "0" is the root.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from sssd_demo.rechecked import Recheck, Step, recheck
from sssd_demo.trace import Fate, Held, Round, SaguaroRound, Source, Trace
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

MOST_LEFT = 6  # tokens whose shares are shown of what a refusal left
MOST_PROBLEMS = 5


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
        checked = recheck(round_)
        left = _left(round_, checked)
        held = [held.token for tokens in left.values() for held in tokens]
        new = self._added([*tree.tokens, round_.bonus, *held], token_bytes)
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
            if round_.decisions:
                data |= {"r": round_.rule, "v": [self._test(step, left.get(step.node, [])) for step in checked.steps]}
            elif any(coin is not None for coin in tree.coins):
                data["u"] = [None if coin is None else _thousandths(coin) for coin in tree.coins]
        if round_.draw is not None:
            drawn = [_short(number) for number in (round_.draw.coin, round_.draw.start, round_.draw.prob)]
            data["g"] = [*drawn, 1] if checked.residual else drawn
        if checked.problems:
            data["z"] = [
                [problem.what, problem.node, problem.recorded, problem.found]
                for problem in checked.problems[:MOST_PROBLEMS]
            ]
        if new:
            data["w"] = new
        if round_.withheld:
            data["h"] = round_.withheld
        if round_.scratch:
            data["c"] = round_.scratch
        if round_.saguaro is not None:
            data["a"] = _ahead(round_.saguaro)
        if texts != [piece(token_bytes[token]) for token in round_.committed]:
            data["x"] = texts
        return data

    def _test(self, step: Step, left: list[Held]) -> list[Any]:
        """[node, passed, coin, threshold, p, q, weight, mass] and four for each token left: place, p, q, residual."""
        numbers = (step.coin or 0.0, step.threshold, step.p, step.q, step.weight, step.mass)
        shares = [[self._places[held.token], *map(_short, (held.p, held.q, held.residual))] for held in left]
        return [step.node, int(step.passed), *map(_short, numbers), *chain.from_iterable(shares)]

    def _added(self, tokens: Iterable[int], token_bytes: dict[int, bytes]) -> list[tuple[int, Piece]]:
        """Give those of `tokens` that are new a place in the vocabulary; returns what it grows by."""
        new = [token for token in dict.fromkeys(tokens) if token not in self._places]
        for token in new:
            self._places[token] = len(self._places)
        return [(token, piece(token_bytes[token])) for token in new]


def _left(round_: Round, checked: Recheck) -> dict[int, list[Held]]:
    """By refused node, the tokens that weigh most in what it left, its own and the bonus among them."""
    tree = round_.tree
    left = {}
    for step in checked.steps:
        if step.passed or not step.mass or (round_.rule == "block" and step.node != len(checked.path)):
            continue  # of a block, only the first node that was not kept leaves something to draw from
        shown = {tree.tokens[step.node], round_.bonus}
        weight = {held.token: (held.token in shown, max(held.p, held.q, held.residual)) for held in step.held}
        left[step.node] = sorted(step.held, key=lambda held: weight[held.token], reverse=True)[:MOST_LEFT]
    return left


def _ahead(work: SaguaroRound) -> list[Any]:
    return ["hit" if work.hit else work.why or "miss", len(work.keys), work.fallback or "nothing"]


def _letters(numbers: Iterable[int]) -> str:
    return "".join(chr(ord("0") + number) for number in numbers)


def _thousandths(probability: float) -> int:
    return round(1000 * probability)


def _short(number: float) -> float:
    """Four digits of it; a whole one as such."""
    rounded = float(f"{number:.4g}")
    return int(rounded) if rounded.is_integer() else rounded


def readable_date(created: str) -> str:
    """A trace's `created`, as in "2025-11-29 16:20 UTC"."""
    moment = datetime.fromisoformat(created)
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
