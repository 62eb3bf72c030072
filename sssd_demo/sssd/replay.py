"""Recorded answers drafted again without a model: how many tokens at a time would have come, and how fast.

At each step the draft is compared with what the model did write; this is exact for greedy answers, since a target
accepts a draft exactly where it agrees with its own choice. Two ways of counting share the same `steps`:

* `replay` counts **tokens per step**, as the authors' own program does (found by comparing with its results on the same
  answers): the whole prompt is known before the first step, which drafts the first token too; a step counts its
  accepted tokens + 1, also the last one, whose bonus may lie beyond the end of the recording.
* `decode_again` counts **tokens per forward**, as `metrics` does of an answer that is decoded: the first token comes
  with the prompt and is not drafted, and no more tokens count than were written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from sssd_demo.errors import UserError
from sssd_demo.sssd.constants import Settings
from sssd_demo.sssd.drafter import Drafter, Store
from sssd_demo.sssd.recorded_answers import RecordedAnswer
from sssd_demo.trace import ROOT, DraftTree

SHORTEST_ANSWER = 20  # tokens; what is shorter is skipped


@dataclass(frozen=True)
class Step:
    """One draft and what was right of it."""

    accepted: int
    draft_ms: float  # learning from the last step, looking up, merging


@dataclass(frozen=True)
class Yielded:
    """What decode forwards came to. As in `metrics`, the first token is the prefill's and does not count."""

    tokens: int
    forwards: int

    @property
    def per_forward(self) -> float | None:
        return self.tokens / self.forwards if self.forwards else None


@dataclass(frozen=True)
class Replayed:
    """What drafting for a set of answers came to."""

    steps: int
    tokens: int  # accepted + 1 of every step
    draft_ms: tuple[float, ...]  # one per step

    @property
    def tokens_per_step(self) -> float:
        return self.tokens / self.steps

    @property
    def median_ms(self) -> float:
        return median(self.draft_ms)

    @property
    def p99_ms(self) -> float:
        return quantiles(self.draft_ms, n=100, method="inclusive")[-1] if self.steps > 1 else self.draft_ms[0]


def replay(
    answers: Iterable[RecordedAnswer],
    stores: Sequence[Store],
    s_q: int,
    settings: Settings,
    clock: Callable[[], float],
) -> Replayed:
    """Draft every answer of at least `SHORTEST_ANSWER` tokens with `s_q` tokens a step, root included.

    `clock` counts seconds. Raises `UserError` if no answer is long enough.
    """
    taken: list[Step] = []
    for answer in answers:
        if len(answer.output) >= SHORTEST_ANSWER:
            taken += steps(answer, stores, s_q, settings, clock)
    if not taken:
        raise UserError(f"There is nothing to replay: no answer has {SHORTEST_ANSWER} tokens or more.")
    tokens = sum(step.accepted + 1 for step in taken)
    return Replayed(len(taken), tokens, tuple(step.draft_ms for step in taken))


def decode_again(
    answer: RecordedAnswer, stores: Sequence[Store], s_q: int, settings: Settings, longest: int | None = None
) -> Yielded:
    """What the engine would have come to with `stores`, `s_q` tokens a forward; `longest` was its limit, if any."""
    taken = sum(1 for _ in steps(answer, stores, s_q, settings, _still, first=1, longest=longest))
    return Yielded(max(0, len(answer.output) - 1), taken)


def steps(
    answer: RecordedAnswer,
    stores: Sequence[Store],
    s_q: int,
    settings: Settings,
    clock: Callable[[], float],
    *,
    first: int = 0,
    longest: int | None = None,
) -> Iterator[Step]:
    """Draft `answer` to its end; its `first` tokens are there before.

    What could not be kept any more in an answer of at most `longest` tokens is not drafted.
    """
    drafter = Drafter(answer.prompt, stores, settings)
    whole = [*answer.prompt, *answer.output]
    written = learnt = first
    while written < len(answer.output):
        known = whole[: len(answer.prompt) + written]
        allowed = s_q if longest is None else min(s_q, longest - written)
        started = clock()
        drafter.update(known, answer.top[learnt:written])
        tree = drafter.draft(known, allowed)
        draft_ms = 1000 * (clock() - started)
        step = Step(accepted_length(tree, whole[len(known) :]), draft_ms)
        learnt, written = written, written + step.accepted + 1
        yield step


def accepted_length(tree: DraftTree, follows: Sequence[int]) -> int:
    """How many tokens of `follows` the tree holds as a path from its root."""
    nodes = {edge: node for node, edge in enumerate(zip(tree.parents, tree.tokens, strict=True))}
    node, accepted = ROOT, 0
    for token in follows:
        if (node, token) not in nodes:
            break
        node = nodes[node, token]
        accepted += 1
    return accepted


def _still() -> float:
    return 0.0  # for those who do not ask how long drafting took
