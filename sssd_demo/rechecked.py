"""One round's verification, done again from what its trace holds: no model, no seed, only the recorded numbers.

`recheck` goes through the tests in the order in which the round's rule makes them, finds every threshold again, holds
the recorded numbers against each other, and says where the trace contradicts itself. What the numbers mean is in
`trace.py` (`Decision`, `Draw`), the rules are in `rules.py`.

Old traces hold no decisions. They need none: a point mass was accepted iff its coin lies below p, and a greedy draft
iff it is the token that the target chose.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sssd_demo.trace import ROOT, Decision, Held, Law, Round

# What can be wrong: a number that does not follow from those before it, or one that the rule needs and is not there;
# tests in another order, another fate or another text than the rule gives; a coin outside its stretch.
What = Literal[
    "weight", "p", "q", "mass", "residual", "threshold", "coin", "missing", "order", "fate", "likelier", "text",
    "stretch", "bonus",
]  # fmt: skip

RELATIVE, ABSOLUTE = 1e-6, 1e-12  # within these, two numbers are the same but for rounding
ROUNDED_SUM = 1e-9  # by how much a sum over a whole vocabulary may be off


@dataclass(frozen=True)
class Step:
    """One test of one node x, with the numbers it rests on.

    In greedy decoding there is no coin and the threshold is 1 for the target's most likely token, else 0; p is what it
    is in `VerifiedTree`.
    """

    node: int
    law: Law
    weight: float
    p: float
    q: float  # 1 for a point mass
    mass: float  # what a refusal leaves of the target's law
    threshold: float  # found again
    coin: float | None
    held: tuple[Held, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the coin lies below the threshold. In `block` the last test passed counts, else the first."""
        return (0.5 if self.coin is None else self.coin) < self.threshold


@dataclass(frozen=True)
class Problem:
    """Something that contradicts the rest of the trace; `node` is None where it is about the bonus or the text."""

    what: What
    node: int | None = None
    recorded: float | None = None
    found: float | None = None


@dataclass(frozen=True)
class Recheck:
    """What doing it again gave: the tests in order, the path they lead to, and what does not fit."""

    steps: tuple[Step, ...]
    path: tuple[int, ...]  # node indices by depth
    residual: bool  # whether the bonus came from what refused drafts had left of the target's law
    problems: tuple[Problem, ...]

    @property
    def agrees(self) -> bool:
        return not self.problems


def recheck(round_: Round) -> Recheck:
    """Do the verification of `round_` again. Never raises, whatever numbers a trace file brings."""
    redo = _Redo(round_)
    try:
        path, refused = redo.by_its_rule()
    except _Missing as missing:
        redo.problem("missing", missing.node)
        return Recheck(tuple(redo.steps), (), False, tuple(redo.problems))
    path = redo.check_outcome(path, refused)
    ended = len(path) == len(round_.committed)
    return Recheck(tuple(redo.steps), tuple(path), refused is not None and not ended, tuple(redo.problems))


class _Missing(Exception):
    """The trace lacks a number about `node` that the rule needs."""

    def __init__(self, node: int) -> None:
        self.node = node


Found = tuple[list[int], Decision | None]  # the path, and the refused test that left the law of the bonus


@dataclass
class _Visit:
    """A node on the way of `traversal`: its weight by now, and the child that was refused last."""

    node: int
    weight: float
    children: Iterator[int]
    refused: Decision | None = None


class _Redo:
    def __init__(self, round_: Round) -> None:
        self.steps: list[Step] = []
        self.problems: list[Problem] = []
        self._round = round_
        self._tree = round_.tree
        self._children = round_.tree.children()
        self._greedy = not round_.decisions and all(coin is None for coin in round_.tree.coins)
        self._decisions = {each.node: each for each in round_.decisions or self._of_columns()}

    def by_its_rule(self) -> Found:
        if self._greedy:
            return self._most_likely(), None
        if self._round.rule == "block" and self._tree.is_chain():
            return self._block()
        if self._round.rule == "traversal":
            return self._traversal()
        return self._top_down()

    def problem(self, what: What, node: int | None, recorded: float | None = None, found: float | None = None) -> None:
        self.problems.append(Problem(what, node, recorded, found))

    # The rules, as in `rules.py`, with recorded numbers in place of laws.

    def _most_likely(self) -> list[int]:
        """Greedy decoding: the committed tokens are what the target chose."""
        tree, path, node = self._tree, list[int](), ROOT
        while len(path) < len(self._round.committed):
            chosen, children = self._round.committed[len(path)], self._children.get(node, [])
            following = next((child for child in children if tree.tokens[child] == chosen), None)
            best = self._round.bonus_prob if following is None else tree.target_probs[following]
            for child in children:
                p, right = tree.target_probs[child], float(child == following)
                self.steps.append(Step(child, tree.laws[child], 1.0, p, 1.0, 1.0 - right, right, None))
                if p > best and not _same(p, best):
                    self.problem("likelier", child, p, best)
            if following is None:
                break
            path.append(following)
            node = following
        return path

    def _top_down(self) -> Found:
        path, node = list[int](), ROOT
        while True:
            following, refused = self._first_passed(node)
            if following is None:
                return path, refused
            path.append(following)
            node = following
            if len(path) == len(self._round.committed):  # the answer ended here: what came below is not kept
                return path, None

    def _first_passed(self, parent: int) -> tuple[int | None, Decision | None]:
        """The child that the round goes on with, if there is one, and the sampled child that was refused last."""
        refused = None
        children = self._children.get(parent, [])
        for child in children:
            if self._tree.laws[child] != "point":
                decision = self._looked_at(child, 1.0, refused)
                if self._passes(decision, _threshold(1.0, decision.p, decision.q)):
                    return child, None
                refused = decision
        drawn = None
        for child in children:
            if self._tree.laws[child] == "point":
                decision = self._looked_at(child, 1.0, refused)
                if self._passes(decision, decision.p):
                    if drawn is None:
                        drawn = child
                    elif self._tree.tokens[child] != self._tree.tokens[drawn]:
                        self.problem("stretch", child)  # one draw cannot give two tokens
        return drawn, refused

    def _block(self) -> Found:
        looked_at, weight = list[Decision](), 1.0
        for node in range(len(self._tree)):
            looked_at.append(self._looked_at(node, weight, None))
            weight = _threshold(weight, looked_at[node].p, looked_at[node].q)
        thresholds = [_joint(following.mass, following.weight) for following in looked_at[1:]] + [weight]
        passed = [self._passes(*test) for test in zip(looked_at, thresholds, strict=True)]
        accepted = max((1 + node for node, each in enumerate(passed) if each), default=0)
        return list(range(accepted)), looked_at[accepted] if accepted < len(looked_at) else None

    def _traversal(self) -> Found:
        """With a stack of its own, since a file's tree may be deeper than Python's."""
        way = [self._visit(ROOT, 1.0)]
        while True:
            here = way[-1]
            child = next(here.children, None)
            if child is not None:
                p, q = self._shares(child, here.refused)
                way.append(self._visit(child, _threshold(here.weight, p, q)))
                continue
            if here.node == ROOT:
                return [], here.refused
            above = way[-2]
            decision = self._looked_at(here.node, above.weight, above.refused)
            if self._passes(decision, here.weight):
                return [visit.node for visit in way[1:]], here.refused
            way.pop()
            above.refused, above.weight = decision, _joint(decision.mass, above.weight)

    def _visit(self, node: int, weight: float) -> _Visit:
        return _Visit(node, weight, iter(self._children.get(node, [])))

    # What a test rests on.

    def _of_columns(self) -> Iterator[Decision]:
        """The tests of a round without decisions: point masses only."""
        tree = self._tree
        for node, (law, p, coin) in enumerate(zip(tree.laws, tree.target_probs, tree.coins, strict=True)):
            if law == "point" and coin is not None:
                yield Decision(node, weight=1.0, p=p, q=1.0, mass=1.0 - p, threshold=min(1.0, p), coin=coin)

    def _looked_at(self, node: int, weight: float, refused: Decision | None) -> Decision:
        """The decision about `node`, after its numbers were held against what is known without it."""
        decision = self._decisions.get(node)
        if decision is None:
            raise _Missing(node)
        p, q = self._shares(node, refused)
        self._expect("weight", node, decision.weight, weight)
        self._expect("p", node, decision.p, p)
        self._expect("q", node, decision.q, q)
        if self._tree.laws[node] == "point":
            self._expect("mass", node, decision.mass, 1.0 - decision.p)
        else:
            self._check_held(decision)
        return decision

    def _shares(self, node: int, refused: Decision | None) -> tuple[float, float]:
        """P and Q of the node's token, by the tree's columns or, after a refused sibling, by what that one held."""
        tree = self._tree
        law, q = tree.laws[node], 1.0 if tree.laws[node] == "point" else tree.probs[node]
        if refused is None or not refused.mass:  # nothing was left of P, so that it began anew
            p = tree.target_probs[node]
        else:
            p = self._held(refused, tree.tokens[node], node).residual
        if refused is not None and law != "point":
            q = self._held(refused, tree.tokens[node], node).q
            if law == "distinct":
                q = q / (1.0 - refused.q) if tree.tokens[node] != tree.tokens[refused.node] and refused.q < 1.0 else 0.0
        return p, q

    def _held(self, decision: Decision, token: int, node: int) -> Held:
        for held in decision.held:
            if held.token == token:
                return held
        raise _Missing(node)

    def _check_held(self, decision: Decision) -> None:
        """The shares that a decision holds, against its own numbers."""
        node = decision.node
        own = self._held(decision, self._tree.tokens[node], node)
        self._expect("p", node, own.p, decision.p)
        self._expect("q", node, own.q, decision.q)
        for held in decision.held:
            excess = max(0.0, decision.weight * held.p - held.q)
            if decision.mass:
                # Shares are compared before they are divided by a mass that may be tiny.
                self._expect("residual", node, held.residual * decision.mass, excess)
            else:
                self._expect("residual", node, held.residual, held.p)

    def _passes(self, decision: Decision, threshold: float) -> bool:
        node = decision.node
        threshold = min(1.0, threshold)
        self._expect("threshold", node, decision.threshold, threshold)
        step = Step(
            node, self._tree.laws[node], decision.weight, decision.p, decision.q, decision.mass, threshold,
            decision.coin, decision.held,
        )  # fmt: skip
        self.steps.append(step)
        return step.passed

    def _expect(self, what: What, node: int | None, recorded: float, found: float) -> None:
        if not _same(recorded, found):
            self.problem(what, node, recorded, found)

    # What came of it.

    def check_outcome(self, path: list[int], refused: Decision | None) -> list[int]:
        """Hold order, fates, coins, text and bonus against what the tests gave; returns the part of `path` kept."""
        round_, tree = self._round, self._tree
        path = path[: len(round_.committed)]
        ended = len(path) == len(round_.committed)  # before the bonus
        self._check_order(ended)
        depths = tree.depths()
        kept, tested = set(path), {step.node: step for step in self.steps}
        for node, fate in enumerate(tree.fates):
            gone = ended and depths[node] > len(path)
            given = "ignored" if gone else "accepted" if node in kept else "rejected" if node in tested else "ignored"
            if fate != given:
                self.problem("fate", node)
            coin = tested[node].coin if node in tested and not gone else None
            if (coin is None) != (tree.coins[node] is None) or not _same(tree.coins[node] or 0.0, coin or 0.0):
                self.problem("coin", node, tree.coins[node], coin)
        bonus = () if ended else (round_.bonus,)
        if round_.committed != (*(tree.tokens[node] for node in path), *bonus):
            self.problem("text", None)
        if not ended:
            self._check_draw(refused)
        return path

    def _check_order(self, ended: bool) -> None:
        recorded = [decision.node for decision in self._round.decisions]
        if recorded and (recorded[: len(self.steps)] if ended else recorded) != [step.node for step in self.steps]:
            self.problem("order", None)

    def _check_draw(self, refused: Decision | None) -> None:
        round_, draw = self._round, self._round.draw
        if draw is None:
            if round_.decisions:
                self.problem("missing", None)
            return
        if not draw.start - ROUNDED_SUM <= draw.coin <= draw.start + draw.prob + ROUNDED_SUM:
            self.problem("stretch", None, draw.coin, draw.start)
        share = round_.bonus_prob
        if refused is not None and refused.mass:
            held = {held.token: held for held in refused.held}.get(round_.bonus)
            if held is None:
                self.problem("missing", None)
                return
            share = held.residual
        self._expect("bonus", None, draw.prob, share)


def _threshold(weight: float, p: float, q: float) -> float:
    """min(1, weight · p / q)"""
    return 1.0 if weight * p >= q else weight * p / q


def _joint(mass: float, weight: float) -> float:
    """S / (S + 1 − w), as in `rules.py`."""
    rest = mass + 1.0 - weight
    return mass / rest if rest > 0.0 else 1.0


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= ABSOLUTE + RELATIVE * max(abs(one), abs(other))
