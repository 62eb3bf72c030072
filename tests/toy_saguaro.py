"""Answers of the Saguaro family made by hand on a clock of whole milliseconds, for tests that need no model.

One round: the drafter looks an outcome up in 0.5 ms, each message takes 0.25 ms, a forward of it 3 ms; the target
verifies in 20 ms, in which the drafter reads what is verified (4 ms) and prepares K tokens (3 ms a step).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sssd_demo.roofline import Profile
from sssd_demo.saguaro.alone_times import AloneTimes
from sssd_demo.trace import (
    EMPTY_VERIFIED_TREE,
    ROOT,
    Fallback,
    Fate,
    Law,
    MissReason,
    Round,
    SaguaroRound,
    Source,
    Span,
    Trace,
    VerifiedTree,
)

WORDS = (" the", " a", " cat", " dog", " sat", " lay", " on", " under", " mat", " rug", ".", "\n")
K = 2
LOOKUP, MESSAGE, STEP, GLUE, VERIFY, NGRAMS = 0.5, 0.25, 3.0, 4.0, 20.0, 0.125
# Alone, a draft model's forward takes 2 ms and 1 ms more for every 8 tokens, the target's 12 ms.
ALONE = AloneTimes(
    Profile({(1, 1, 64): 0.012, (1, 32, 64): 0.012}), Profile({(1, 1, 64): 0.0021250, (1, 9, 64): 0.003125})
)


@dataclass(frozen=True)
class Made:
    """How a round came about, and how many of its drafted tokens were accepted."""

    accepted: int
    hit: bool = True
    why: MissReason | None = None
    fallback: Fallback | None = None
    rank: int | None = 1
    fan_out: int = 2  # bonus tokens prepared for each number accepted


HIT = Made(2)
MISS = Made(1, hit=False, why="miss", fallback="immediate", rank=5)
FIRST = Made(1, hit=False, why="first", fallback="immediate", rank=None)


def saguaro_trace(made: Sequence[Made], method: str = "saguaro", temperature: float = 0.0) -> Trace:
    """A trace with the prompt's round, then `made`."""
    rounds = [Round(0, 1, 1, 0.0, 0.0, 50.0, EMPTY_VERIFIED_TREE, 0, 0.9, (0,))]
    outcome, verifying_from = (0, 0), 50.0
    for index, each in enumerate(made, 1):
        round_ = _round(index, each, outcome, rounds[-1].end_ms, verifying_from)
        verifying_from = round_.start_ms + round_.draft_ms
        outcome = (each.accepted, round_.bonus)
        rounds.append(round_)
    return _trace(rounds, method, temperature)


def speculative_trace(accepted: Sequence[int]) -> Trace:
    """The same language drafted in turn: K steps of the drafter in 3 ms each, then 14 ms of verification."""
    rounds = [Round(0, 1, 1, 0.0, 0.0, 50.0, EMPTY_VERIFIED_TREE, 0, 0.9, (0,))]
    for index, count in enumerate(accepted, 1):
        tree, bonus = chain(index, count)
        committed = (*tree.tokens[:count], bonus)
        start = rounds[-1].end_ms
        rounds.append(Round(index, 1, K + 1, start, STEP * K, 14.0, tree, bonus, 0.8, committed))
    return _trace(rounds, "speculative", 0.0)


def chain(index: int, accepted: int) -> tuple[VerifiedTree, int]:
    """A draft of K tokens, its first ones accepted, and the bonus after them."""
    tokens = tuple((3 * index + at) % len(WORDS) for at in range(K))
    point: Law = "point"
    source: Source = "model"
    fates: list[Fate] = [
        "accepted" if at < accepted else "rejected" if at == accepted else "ignored" for at in range(K)
    ]
    return (
        VerifiedTree(
            tokens=tokens,
            parents=tuple(range(ROOT, K - 1)),
            probs=(0.9,) * K,
            laws=(point,) * K,
            sources=(source,) * K,
            match_lengths=(0,) * K,
            target_probs=(0.8,) * K,
            coins=(None,) * K,
            fates=tuple(fates),
        ),
        (3 * index + K) % len(WORDS),
    )


def _round(index: int, made: Made, outcome: tuple[int, int], start: float, verifying_from: float) -> Round:
    prepared = made.why not in ("first", "rolled back", "no drafter")
    spans = []
    if prepared:
        ends = [verifying_from, verifying_from + GLUE, *(verifying_from + GLUE + STEP * at for at in range(1, K + 1))]
        width = made.fan_out * (K + 1)
        spans.append(Span("drafter", "glue", ends[0], ends[1], K + 1))
        spans += [Span("drafter", "branch", ends[at], ends[at + 1], width) for at in range(1, K + 1)]
    now = start + MESSAGE
    if prepared:
        spans.append(Span("drafter", "lookup", now, now + LOOKUP))
        now += LOOKUP
    if made.fallback in ("immediate", "batched"):
        for width in [40, 1] if made.why == "first" else [1 + (outcome[0] == K), 1]:
            spans.append(Span("drafter", "redraft", now, now + STEP, width))
            now += STEP
    now += MESSAGE
    if made.why == "no drafter":
        now = start
    if now > start:
        spans.append(Span("target", "wait", start, now))
    if made.fallback == "backup":  # looked up once there was nothing better
        spans.append(Span("target", "backup", now, now + NGRAMS))
        now += NGRAMS
    tree, bonus = chain(index, made.accepted)
    others = [token for token in range(len(WORDS)) if token != outcome[1]]
    guesses = dict.fromkeys(range(K + 1), others[: made.fan_out]) if prepared else {}
    if made.hit:
        guesses[outcome[0]][(made.rank or 1) - 1] = outcome[1]
    return Round(
        index=index,
        batch_size=1,
        s_q=K + 1,
        start_ms=start,
        draft_ms=now - start,
        verify_ms=VERIFY,
        tree=tree,
        bonus=bonus,
        bonus_prob=0.7,
        committed=(*tree.tokens[: made.accepted], bonus),
        saguaro=SaguaroRound(
            outcome=outcome,
            keys=tuple((k, token) for k, tokens in guesses.items() for token in tokens),
            hit=made.hit,
            fallback=made.fallback,
            spans=tuple(spans),
            why=made.why,
            rank=made.rank,
        ),
    )


def _trace(rounds: Sequence[Round], method: str, temperature: float) -> Trace:
    return Trace(
        created="2025-11-29T16:20:00+00:00",
        device="test bench, 2 threads",
        dtype="float32",
        preset="fake-1b",
        method=method,
        settings={"temperature": temperature, "method": method},
        messages=({"role": "user", "content": "Where is the cat?"},),
        prompt=(1, 2, 3),
        token_bytes={token: word.encode() for token, word in enumerate(WORDS)},
        rounds=tuple(rounds),
        finish_reason="length",
    )
