"""Exact laws of what a rule emits, by counting all outcomes of drafter, coins and rule."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from sssd_demo.rules import Comparison, Rule
from sssd_demo.trace import DraftTree
from tests.proofs.drafting import Drafter, Shape, draft
from tests.proofs.enumeration import Chance, ExactCoins, outcomes
from tests.proofs.worlds import Text, Vector, World

Distribution = dict[Text, Fraction]


@dataclass(frozen=True)
class Setup:
    """One case of a proof: `rounds` rounds that each draft `shape`; then the target goes on alone."""

    rule: Rule
    shape: Shape
    world: World
    rounds: int = 1

    @property
    def length(self) -> int:
        """Tokens whose joint law is compared: the deepest path and its bonus, and one more for a further round."""
        return self.shape.depth + self.rounds


class Keys:
    """What the coins of an answer are keyed by. These are the keys of `coins.py`; a seeded bug has others.

    `root` is the position of a round's first new token.
    """

    def draft(self, root: int, node: int) -> Hashable:
        return "draft", root, node

    def accept(self, root: int, node: int) -> Hashable:
        return "accept", root, node

    def residual(self, position: int) -> Hashable:
        return "residual", position

    def position(self, position: int) -> Hashable:
        return "target", position


@dataclass
class ExactTosses:
    """`rules.Choices` that asks for the coins that `verify` asks for."""

    tree: DraftTree
    root: int
    coins: ExactCoins
    keys: Keys
    _tested: set[int] = field(default_factory=set)

    def accept(self, node: int, threshold: Fraction, comparison: Comparison) -> bool:
        self._tested.add(node)
        return self.coins.below(self.keys.accept(self.root, node), threshold)

    def draw(self, node: int, law: Vector) -> int:
        position = self.root + self.tree.depth(node)
        refused = any(self.tree.parents[child] == node for child in self._tested)
        return self.coins.draw(self.keys.residual(position) if refused else self.keys.position(position), law)


@dataclass(frozen=True)
class Method:
    """How a round is drafted and judged. A seeded bug replaces one of the three."""

    drafter: Drafter = draft
    rule: Rule | None = None  # None: the setup's own
    keys: Keys = field(default_factory=Keys)


HONEST = Method()


@dataclass
class _Drawn:
    coins: ExactCoins
    keys: Keys
    root: int

    def __call__(self, node: int, law: Vector) -> int:
        return self.coins.draw(self.keys.draft(self.root, node), law)


class _TargetLaws:
    def __init__(self, world: World, text: Text, tree: DraftTree) -> None:
        self._world, self._text, self._tree = world, text, tree

    def __getitem__(self, row: int) -> Vector:
        path = tuple(self._tree.tokens[node] for node in self._tree.path_to(row - 1))
        return self._world.p(self._text + path)


def played(setup: Setup, method: Method = HONEST) -> Iterator[tuple[list[Text], Fraction]]:
    """Every course of `setup.rounds` rounds: what each of them emitted, and the probability of that course."""
    rule = method.rule or setup.rule

    def run(chance: Chance) -> list[Text]:
        coins = ExactCoins(chance)
        emitted: list[Text] = []
        while len(emitted) < setup.rounds:
            text = sum(emitted, ())
            drawn = _Drawn(coins, method.keys, root=len(text))
            made = method.drafter(setup.world, setup.shape, text, drawn)
            tosses = ExactTosses(made.tree, len(text), coins, method.keys)
            path, bonus = rule(made.tree, _TargetLaws(setup.world, text, made.tree), made.q, tosses)
            emitted.append((*(made.tree.tokens[node] for node in path), bonus))
        return emitted

    return outcomes(run)


def joint_law(setup: Setup, method: Method = HONEST) -> Distribution:
    """The law of the first `setup.length` tokens."""
    texts: Distribution = {}
    for emitted, weight in played(setup, method):
        add(texts, sum(emitted, ()), weight)
    return _continued(setup.world, texts, setup.length)


def target_law(setup: Setup) -> Distribution:
    """What it has to be."""
    return _continued(setup.world, {(): Fraction(1)}, setup.length)


def _continued(world: World, texts: Distribution, length: int) -> Distribution:
    """The target writes on from each of `texts` until there are `length` tokens."""
    law: Distribution = {}
    for text, weight in texts.items():
        if len(text) >= length:
            add(law, text[:length], weight)
        else:
            further = {(*text, token): weight * share for token, share in enumerate(world.p(text)) if share}
            for end, mass in _continued(world, further, length).items():
                add(law, end, mass)
    return law


def add(law: Distribution, text: Text, weight: Fraction) -> None:
    law[text] = law.get(text, Fraction(0)) + weight


def distance(setup: Setup, method: Method = HONEST) -> Fraction:
    """Total variation between the law of what is emitted and the target's: 0 is the proof."""
    emitted, wanted = joint_law(setup, method), target_law(setup)
    nothing = Fraction(0)
    texts = emitted.keys() | wanted.keys()
    return sum((abs(emitted.get(text, nothing) - wanted.get(text, nothing)) for text in texts), nothing) / 2


def expected_accepted(setup: Setup, method: Method = HONEST) -> Fraction:
    """Drafted tokens that the first round accepts, on average."""
    return sum((weight * (len(emitted[0]) - 1) for emitted, weight in played(setup, method)), Fraction(0))
