"""What `verify` says of sampled drafts: verdict, coins and decisions agree, and each rule judges what it may.

That the laws are right is proved in `test_rules.py` and `tests/proofs`.
"""

import random
from collections import Counter
from dataclasses import dataclass, replace

import pytest
import torch

from sssd_demo.coins import Coins, draft_coin
from sssd_demo.rules import Comparison
from sssd_demo.sampled_tree import SampledTree
from sssd_demo.sampling import Sampling, distribution
from sssd_demo.trace import ROOT, AcceptanceRule
from sssd_demo.verify import Case, cut, verify
from tests.proofs.drafting import draft
from tests.proofs.kinds import VOCABULARY, Kind, kinds
from tests.proofs.setups import LINES
from tests.toys import point_tree

ALL_KINDS = [kind for line in LINES for kind in kinds(line)]
RULES: list[AcceptanceRule] = ["chain", "block", "tree", "traversal"]
NEARLY_ONE = 1 - 2**-52


def named(kind: Kind) -> str:
    return f"{kind.line.name}: {kind.shape.name}"


@dataclass(frozen=True)
class Draws:
    """Draws drafts by inverse CDF, as a drafter does."""

    seed: int
    root: int

    def __call__(self, node: int, law: torch.Tensor) -> int:
        cumulative = law.cumsum(-1)
        coin = draft_coin(self.seed, self.root, node)
        return int(torch.searchsorted(cumulative, coin * float(cumulative[-1]), right=True))


@dataclass
class Drafted:
    """A tree drafted by seeded coins, its target's logits, and how it is to be judged."""

    case: Case
    logits: torch.Tensor

    @classmethod
    def of(cls, kind: Kind, seed: int, sampling: Sampling | None = None) -> "Drafted":
        world = kind.world(torch.float32, seed)
        position = 3 + seed % 4
        text = (0,) * position
        made = draft(world, kind.shape, text, Draws(seed, position))
        case = kind.case(made, position, Coins(seed))
        return cls(replace(case, sampling=sampling or case.sampling), world.tree_logits(text, made.tree))

    def verdict(self):
        (verdict,) = verify([self.case], self.logits[None])
        return verdict


def emitted(verdict):
    return (*(verdict.tree.tokens[node] for node in verdict.path), verdict.bonus)


def passed_nodes(verdict):
    return {decision.node for decision in verdict.decisions if decision.coin < decision.threshold}


@pytest.mark.parametrize("kind", [kind for kind in ALL_KINDS if "point" not in kind.shape.laws], ids=named)
def test_fates_of_sampled_nodes_follow_from_their_coins(kind):
    for seed in range(40):
        drafted = Drafted.of(kind, seed)
        verdict, tree = drafted.verdict(), drafted.case.tree
        passed, tested = passed_nodes(verdict), [decision.node for decision in verdict.decisions]
        assert len(set(tested)) == len(tested)
        if kind.line.judged_by == "block":  # the last success counts, and what was before it with it
            path = list(range(max(passed) + 1)) if passed else []
        elif kind.line.judged_by == "traversal":  # the first success counts, and what is above it with it
            assert len(passed) <= 1
            path = tree.path_to(passed.pop()) if passed else []
        else:  # what was accepted stands below each other
            path = sorted(passed, key=tree.depth)
            assert not path or path == tree.path_to(path[-1])
        assert list(verdict.path) == path
        for node, (fate, coin) in enumerate(zip(verdict.tree.fates, verdict.tree.coins, strict=True)):
            assert fate == ("accepted" if node in path else "rejected" if node in tested else "ignored")
            assert coin == (drafted.case.coins.accept(drafted.case.position, node) if node in tested else None)


@pytest.mark.parametrize("kind", [kind for kind in ALL_KINDS if "point" in kind.shape.laws], ids=named)
def test_fates_of_candidates_follow_from_their_coins(kind):
    for seed in range(40):
        drafted = Drafted.of(kind, seed)
        verdict, tree = drafted.verdict(), drafted.case.tree
        thresholds = {decision.node: decision.threshold for decision in verdict.decisions}
        held = set[tuple[int, int]]()  # parent and token: of equal candidates one is enough
        for node, (fate, coin) in enumerate(zip(verdict.tree.fates, verdict.tree.coins, strict=True)):
            assert (coin is None) == (fate == "ignored")
            if coin is not None:
                threshold = thresholds.get(node, verdict.tree.target_probs[node])
                place = (tree.parents[node], tree.tokens[node])
                assert (fate == "accepted") == (coin < threshold and place not in held)
                if coin < threshold:
                    held.add(place)


@pytest.mark.parametrize("kind", ALL_KINDS, ids=named)
def test_the_bonus_owns_the_stretch_in_which_its_coin_lies(kind):
    for seed in range(40):
        drafted = Drafted.of(kind, seed)
        verdict, tree, coins = drafted.verdict(), drafted.case.tree, drafted.case.coins
        end = verdict.path[-1] if verdict.path else ROOT
        position = drafted.case.position + len(verdict.path)
        refused = any(
            tree.parents[decision.node] == end and tree.laws[decision.node] != "point" for decision in verdict.decisions
        )
        assert verdict.draw.coin == (coins.residual(position) if refused else coins.position(position))
        assert verdict.draw.start <= verdict.draw.coin < verdict.draw.start + verdict.draw.prob + 1e-15
        p = distribution(drafted.logits[1 + end][None], drafted.case.sampling)[0]
        assert verdict.bonus_prob == pytest.approx(float(p[verdict.bonus]), rel=1e-6)
        assert refused or verdict.draw.prob == pytest.approx(verdict.bonus_prob)


@pytest.mark.parametrize("kind", ALL_KINDS, ids=named)
def test_a_greedy_verdict_is_that_of_a_one_hot_law(kind):
    greedy, one_hot = Sampling(), Sampling(temperature=1.0, top_k=1)
    accepted = Counter[int]()
    for seed in range(60):
        expected, found = Drafted.of(kind, seed, greedy).verdict(), Drafted.of(kind, seed, one_hot).verdict()
        assert emitted(found) == emitted(expected)
        assert expected.decisions == ()
        assert expected.draw is None
        accepted[len(expected.path)] += 1
    assert len(accepted) > 1


def test_a_batch_of_all_kinds_has_the_verdicts_of_each_alone():
    drafted = [Drafted.of(kind, seed) for seed in range(4) for kind in ALL_KINDS]
    drafted += [Drafted.of(kind, seed, Sampling()) for seed in range(4) for kind in ALL_KINDS]
    random.Random(1).shuffle(drafted)
    most = max(len(each.logits) for each in drafted)
    logits = torch.full((len(drafted), most, VOCABULARY), float("nan"))  # padding is never looked at
    for row, each in zip(logits, drafted, strict=True):
        row[: len(each.logits)] = each.logits
    assert verify([each.case for each in drafted], logits) == [each.verdict() for each in drafted]


class Watched:
    """Coins that are written down as they are handed out."""

    def __init__(self, seed: int) -> None:
        self._coins = Coins(seed)
        self.given: list[float] = []

    def position(self, position):
        return self._note(self._coins.position(position))

    def residual(self, position):
        return self._note(self._coins.residual(position))

    def accept(self, root_position, node):
        return self._note(self._coins.accept(root_position, node))

    def _note(self, coin):
        self.given.append(coin)
        return coin


@pytest.mark.parametrize("kind", ALL_KINDS, ids=named)
def test_no_coin_is_used_twice_in_an_answer(kind):
    for seed in range(5):
        world, coins = kind.world(torch.float32, seed), Watched(seed)
        text: tuple[int, ...] = (0,)
        while len(text) < 20:
            made = draft(world, kind.shape, text, Draws(seed, len(text)))
            coins.given.extend(draft_coin(seed, len(text), node) for node in range(len(made.tree)))
            (verdict,) = verify([kind.case(made, len(text), coins)], world.tree_logits(text, made.tree)[None])
            text += emitted(verdict)
        assert len(coins.given) > 20
        assert len(set(coins.given)) == len(coins.given)


def sampled(tokens, parents, q, law="sampled"):
    tree = point_tree(tokens, parents)
    return SampledTree.of(replace(tree, laws=(law,) * len(tree)), q)


@dataclass(frozen=True)
class Given:
    """Coins of a test."""

    accepting: float = 0.5
    drawing: float = 0.5

    def position(self, position):
        return self.drawing

    def residual(self, position):
        return self.drawing

    def accept(self, root_position, node):
        return self.accepting


def judge(tree, logits, coins, rule: AcceptanceRule = "tree", temperature=1.0):
    (verdict,) = verify([Case(tree, Sampling(temperature=temperature), 1, coins, rule)], logits[None])
    return verdict


@pytest.mark.parametrize("rule", RULES)
def test_a_coin_of_zero_accepts_no_impossible_token(rule):
    logits = torch.tensor([[0.0, float("-inf")], [0.0, 0.0]])
    tree = sampled([1], [ROOT], {0: torch.tensor([0.5, 0.5])})
    verdict = judge(tree, logits, Given(accepting=0.0, drawing=0.0), rule)
    assert (verdict.path, verdict.bonus) == ((), 0)


@pytest.mark.parametrize("rule", RULES)
def test_the_largest_coin_accepts_what_is_certain(rule):
    logits = torch.tensor([[0.3, 0.7], [0.0, 0.0]])
    p = distribution(logits[:1], Sampling(temperature=1.0))[0].double()
    tree = sampled([1], [ROOT], {0: p / p.sum()})
    assert judge(tree, logits, Given(accepting=NEARLY_ONE), rule).path == (0,)


@pytest.mark.parametrize("rule", RULES)
def test_where_rounding_leaves_no_residual_p_itself_is_drawn_from(rule):
    logits = torch.tensor([[0.3, 0.7, 0.1], [0.0, 0.0, 0.0]])
    p = distribution(logits[:1], Sampling(temperature=1.0))[0].double()
    tree = sampled([1], [ROOT], {0: p * (1 + 1e-6)})  # above p everywhere
    verdict = judge(tree, logits, Given(accepting=NEARLY_ONE, drawing=0.99), rule)
    assert verdict.path == ()
    assert verdict.decisions[0].mass == 0.0
    assert verdict.bonus == 2
    assert verdict.draw.prob == pytest.approx(float(p[2]))


def test_a_residual_without_mass_is_replaced():
    p, q = torch.tensor([0.25, 0.75]), torch.tensor([0.5, 0.75])
    comparison = Comparison(p, q)
    assert comparison.mass == 0
    assert comparison.residual(otherwise=p) is p


@pytest.mark.parametrize("kind", [kind for kind in ALL_KINDS if "point" not in kind.shape.laws], ids=named)
def test_tokens_that_the_draft_model_lacks_have_no_share_in_its_law(kind):
    for seed in range(20):
        drafted = Drafted.of(kind, seed)
        more = torch.randn(len(drafted.logits), 2, generator=torch.Generator().manual_seed(seed))
        drafted.logits = torch.cat([drafted.logits, more], -1)
        found, tree = drafted.verdict(), drafted.case.tree
        assert isinstance(tree, SampledTree)
        padded = {row: torch.cat([law, torch.zeros(2)]) for row, law in tree.q.items()}
        drafted.case = replace(drafted.case, tree=replace(tree, q=padded))
        assert found == drafted.verdict()


@pytest.mark.parametrize("rule", RULES)
def test_a_law_over_more_tokens_than_the_target_has_is_refused(rule):
    tree = sampled([1], [ROOT], {0: torch.tensor([0.25, 0.25, 0.5])})
    with pytest.raises(ValueError, match="3 tokens, the target only 2"):
        judge(tree, torch.zeros(2, 2), Given(), rule)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("rule", ["chain", "block"])
def test_a_rule_for_chains_refuses_branches(rule, temperature):
    even = torch.tensor([0.5, 0.5])
    branching = sampled([1, 0], [ROOT, ROOT], {0: even})
    with pytest.raises(ValueError, match="chains only"):
        judge(branching, torch.zeros(3, 2), Given(), rule, temperature)
    chain = sampled([1, 0], [ROOT, 0], {0: even, 1: even})
    assert judge(chain, torch.zeros(3, 2), Given(), rule, temperature).rule == rule


@pytest.mark.parametrize("rule", RULES)
def test_candidates_leave_the_sampled_text_as_it_is_under_any_rule(rule):
    rng = random.Random(0)
    for seed in range(10):
        world = ALL_KINDS[0].world(torch.float32, seed)
        texts = set()
        for parents in ((), (ROOT,), (ROOT, 0, 1), (ROOT, ROOT, ROOT), (ROOT, ROOT, 0, 0, 1, 2)):
            text: tuple[int, ...] = (0,)
            while len(text) < 10:
                tokens = [rng.randrange(VOCABULARY) for _ in parents]
                tree = point_tree(tokens, parents)
                case = Case(tree, Sampling(temperature=1.0), len(text), Coins(seed), rule)
                (verdict,) = verify([case], world.tree_logits(text, tree)[None])
                text += emitted(verdict)
            texts.add(text[:10])
        assert len(texts) == 1


def test_an_answer_that_ends_within_a_sampled_draft_forgets_what_came_after():
    q = {row: torch.tensor([0.25, 0.25, 0.5]) for row in range(4)}
    tree = sampled([2, 0, 1, 2], [ROOT, 0, 1, 2], q)
    for rule in ("chain", "block", "traversal"):
        whole = judge(tree, torch.tensor([[0.0, 0.0, 0.1]] * 5), Given(accepting=0.0), rule)
        assert whole.path == (0, 1, 2, 3)
        ended, committed = cut(whole, limit=9, end_tokens=frozenset({0}))
        assert committed == (2, 0)
        assert ended.path == (0, 1)
        assert ended.tree.fates == ("accepted", "accepted", "ignored", "ignored")
        assert ended.tree.coins[2:] == (None, None)
        assert ended.draw is None
        short, committed = cut(whole, limit=1, end_tokens=frozenset())
        assert (short.path, committed) == ((0,), (2,))


def test_an_answer_that_ends_with_the_bonus_keeps_the_round_whole():
    tree = sampled([1], [ROOT], {0: torch.tensor([0.5, 0.5])})
    whole = judge(tree, torch.zeros(2, 2), Given(accepting=0.0, drawing=0.0))
    assert cut(whole, limit=2, end_tokens=frozenset({0})) == (whole, (1, 0))
