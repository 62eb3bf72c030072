"""Recorded answers drafted again without a model: how many tokens a step would have come, and how fast.

At each step the draft is compared with what the model did write; this is exact for greedy answers, since a target
accepts a draft exactly where it agrees with its own choice.

Counted as the authors' own program counts (found by comparing with its results on the same answers): the whole
prompt is known before the first step, which drafts the first token too; a step counts its accepted tokens + 1, also
the last one, whose bonus may lie beyond the end of the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from sssd_demo.errors import UserError
from sssd_demo.sssd.constants import Settings
from sssd_demo.sssd.drafter import Drafter, Store
from sssd_demo.sssd.recorded_answers import RecordedAnswer
from sssd_demo.trace import ROOT, DraftTree

SHORTEST_ANSWER = 20  # tokens; what is shorter is skipped


@dataclass(frozen=True)
class Replayed:
    """What drafting for a set of answers came to."""

    steps: int
    tokens: int  # accepted + 1 of every step
    draft_ms: tuple[float, ...]  # one per step: learning from the last one, looking up, merging

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
    tokens = 0
    draft_ms: list[float] = []
    for answer in answers:
        if len(answer.output) < SHORTEST_ANSWER:
            continue
        drafter = Drafter(answer.prompt, stores, settings)
        whole = answer.prompt + answer.output
        known = list(answer.prompt)
        accepted = 0
        while len(known) < len(whole):
            written = len(known) - len(answer.prompt)
            top = answer.top[written - accepted - 1 : written] if written else ()
            started = clock()
            drafter.update(known, top)
            tree = drafter.draft(known, s_q)
            draft_ms.append(1000 * (clock() - started))
            accepted = accepted_length(tree, whole[len(known) :])
            known += whole[len(known) : len(known) + accepted + 1]
            tokens += accepted + 1
    if not draft_ms:
        raise UserError(f"There is nothing to replay: no answer has {SHORTEST_ANSWER} tokens or more.")
    return Replayed(len(draft_ms), tokens, tuple(draft_ms))


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
