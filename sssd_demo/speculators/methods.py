"""All speculators of an engine, each asked for its own sequences. What fails for one is kept from the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Sequence as Seq
from typing import TypeVar

from sssd_demo.speculators.protocol import Outcome, Overlapping, Sequence, Speculator
from sssd_demo.trace import DraftTree, SaguaroRound

logger = logging.getLogger(__name__)

Faults = dict[int, Exception]  # what went wrong for which sequence, by its id
Asked = TypeVar("Asked", Sequence, Outcome)
Answered = TypeVar("Answered")


class Methods:
    """`speculators` by the name of their method."""

    def __init__(self, speculators: Mapping[str, Speculator]) -> None:
        self._speculators = dict(speculators)

    @property
    def names(self) -> list[str]:
        return list(self._speculators)

    def learns_from_top(self, method: str) -> bool:
        return self._speculators[method].learns_from_top

    def begin(self, method: str, sequence: Sequence) -> None:
        """Raises what the speculator raises."""
        self._speculators[method].begin(sequence)

    def propose(self, sequences: Iterable[tuple[str, Sequence]]) -> tuple[dict[int, DraftTree], Faults]:
        """(method, sequence) → a tree by sequence id, or what went wrong. A method is asked once for all of its own."""
        trees: dict[int, DraftTree] = {}
        faults: Faults = {}
        for method, group in _grouped(sequences).items():
            for sequence, tree in _ask(self._speculators[method].propose, group, _id, faults):
                if len(tree) < sequence.s_q:
                    trees[sequence.id] = tree
                else:
                    size = f"{method} drafted {len(tree)} nodes for s_q = {sequence.s_q}"
                    faults[sequence.id] = ValueError(size)
        return trees, faults

    def verifying(
        self, sequences: Iterable[tuple[str, Sequence]], trees: Mapping[int, DraftTree]
    ) -> tuple[dict[int, SaguaroRound], bool]:
        """(method, sequence) whose trees the target is about to verify: those that work meanwhile may begin.

        Returns their accounts of how the trees came about, by sequence id, and whether any of them is drafting now.
        """
        accounts: dict[int, SaguaroRound] = {}
        beside = False
        for method, group in _grouped(sequences).items():
            speculator = self._speculators[method]
            if isinstance(speculator, Overlapping):
                try:
                    accounts |= speculator.verifying(group, [trees[sequence.id] for sequence in group])
                    beside = beside or speculator.drafting_beside
                except Exception:  # the trees are there: only what comes next has not been prepared
                    logger.exception("%s could not begin to prepare", method)
        return accounts, beside

    def observe(self, outcomes: Iterable[tuple[str, Outcome]]) -> Faults:
        """(method, outcome): let every method learn."""
        faults: Faults = {}
        for method, group in _grouped(outcomes).items():
            learn = self._speculators[method].observe

            def told(group: Seq[Outcome], learn: Callable[[Seq[Outcome]], None] = learn) -> list[None]:
                learn(group)
                return [None] * len(group)

            list(_ask(told, group, lambda outcome: outcome.sequence.id, faults))
        return faults

    def end(self, method: str, sequence: Sequence) -> None:
        """Forget a sequence. A fault here is logged: the answer itself is there already."""
        try:
            self._speculators[method].end(sequence)
        except Exception:
            logger.exception("%s could not forget a sequence", method)


def _id(sequence: Sequence) -> int:
    return sequence.id


def _grouped(pairs: Iterable[tuple[str, Asked]]) -> dict[str, list[Asked]]:
    groups: dict[str, list[Asked]] = {}
    for method, one in pairs:
        groups.setdefault(method, []).append(one)
    return groups


def _ask(
    ask: Callable[[Seq[Asked]], Seq[Answered]], group: list[Asked], id_of: Callable[[Asked], int], faults: Faults
) -> Iterable[tuple[Asked, Answered]]:
    """What is answered for each of `group`. If that fails for all together, each is asked for alone."""
    try:
        return list(zip(group, ask(group), strict=True))
    except Exception as error:
        logger.exception("A method failed for %d sequences", len(group))
        if len(group) == 1:
            faults[id_of(group[0])] = error
            return []
    return [pair for one in group for pair in _ask(ask, [one], id_of, faults)]
