"""All evidence for the next token → one probability each → the most probable draft tree.

Where the authors' merge takes each source's own score and lets the larger one win, here every node of the tree
has one estimate of the target's probability, to which all sources contribute; so agreement counts, and a count of one
in a short match weighs little beside the model's own memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from typing import NamedTuple

from sssd_demo.sssd.constants import Settings
from sssd_demo.sssd.node import POINT, Node
from sssd_demo.sssd.trust import Trust
from sssd_demo.trace import ROOT, DraftTree, Source, Top

# One or two tokens → what the target held likely after them, if it is remembered
Recall = Callable[[tuple[int, ...]], Top | None]


class Evidence(NamedTuple):  # made by the hundred in a draft, and so no dataclass
    """What followed a match of `match_length` tokens. `doubt`: so many occurrences are needed to be half believed."""

    node: Node
    match_length: int
    doubt: float


@dataclass(slots=True)
class _Estimate:
    """How probable a next token is, and the most trusted evidence for it."""

    probability: float
    source: Source
    match_length: int


def blend(
    evidence: Sequence[Evidence],
    recall: Recall,
    recent: tuple[int, ...],
    s_q: int,
    settings: Settings,
    trust: Trust | None = None,
) -> DraftTree:
    """The `s_q` - 1 continuations of highest estimated probability, as a tree of point-mass nodes.

    `evidence` stands in order of trust, the least trusted first; `recent` are the last two tokens. An estimate starts
    from what the target held likely, times `recycled_weight`, and is drawn towards the share in each evidence in turn:

        p ← (count + doubt · p) / (occurrences + doubt)

    (interpolation as in Witten and Bell's language models), or, with "noisy-or", raised as by independent witnesses:
    p ← 1 - (1 - p) · (1 - count / (occurrences + doubt)). `trust` then corrects it. `probs` are products along the
    path, so they never rise with depth, and the first k nodes of the tree are the best tree of k nodes. Nodes below
    `cutoff` are left out.
    """
    tokens: list[int] = []
    parents: list[int] = []
    probs: list[float] = []
    estimates: list[_Estimate] = []
    heap: list[tuple[float, int, int, int, _Estimate, int, Sequence[Evidence]]] = []
    pushed = 0
    best: list[float] = []  # of all that was proposed, the probabilities that the tree has room for, smallest first

    def propose(
        probability: float, depth: int, parent: int, recent: tuple[int, ...], known: Sequence[Evidence]
    ) -> None:
        nonlocal pushed
        for token, estimate in _estimates(known, recall, recent, settings).items():
            path = probability * estimate.probability
            full = len(best) == s_q - 1
            if full and path < best[0]:
                continue  # trust only lowers it, and what stands below it is no more probable
            if trust is not None:
                path *= min(1.0, trust.factor((estimate.source, estimate.match_length, depth == 1)))
            if path > settings.cutoff:
                heappush(heap, (-path, -depth, pushed, token, estimate, parent, known))
                pushed += 1
                if not full:
                    heappush(best, path)
                elif path > best[0]:
                    heapreplace(best, path)

    propose(1.0, 1, ROOT, recent, evidence)
    while heap and len(tokens) < s_q - 1:
        negative, minus_depth, _, token, estimate, parent, known = heappop(heap)
        before = recent[-1] if parent == ROOT else tokens[parent]
        tokens.append(token)
        parents.append(parent)
        probs.append(-negative)
        estimates.append(estimate)
        if len(tokens) < s_q - 1:
            propose(-negative, 1 - minus_depth, len(tokens) - 1, (before, token), _following(known, token))
    return DraftTree(
        tokens=tuple(tokens),
        parents=tuple(parents),
        probs=tuple(probs),
        laws=(POINT,) * len(tokens),
        sources=tuple([estimate.source for estimate in estimates]),
        match_lengths=tuple([estimate.match_length for estimate in estimates]),
    )


def _estimates(
    evidence: Sequence[Evidence], recall: Recall, recent: tuple[int, ...], settings: Settings
) -> dict[int, _Estimate]:
    found: dict[int, _Estimate] = {}
    for remembered in (recent, recent[-1:]):
        if settings.recycled_weight and (top := recall(remembered)):
            for token, probability in zip(top.tokens, top.probs, strict=True):
                found[token] = _Estimate(settings.recycled_weight * probability, "recycled", len(remembered))
            break
    interpolated = settings.combine == "interpolated"
    for node, match_length, doubt in evidence:
        children = node.best_children(settings.max_children)
        if not children:
            continue
        occurrences = node.count + doubt
        if interpolated:
            kept = doubt / occurrences
            for estimate in found.values():
                estimate.probability *= kept
        for child in children:
            share = child.count / occurrences
            before = found.get(child.token)
            if before is None:
                found[child.token] = _Estimate(share, child.source, match_length)
                continue
            if interpolated:
                before.probability += share
            else:
                before.probability = 1 - (1 - before.probability) * (1 - share)
            before.source, before.match_length = child.source, match_length
    return found


def _following(evidence: Sequence[Evidence], token: int) -> list[Evidence]:
    """What each evidence knows once `token` has followed."""
    found = []
    for node, match_length, doubt in evidence:
        child = node.child(token)
        if child is not None:
            found.append(Evidence(child, match_length, doubt))
    return found
