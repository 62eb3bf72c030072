"""A drafted chain and n-grams in one tree: nothing sampled is lost, equal tokens are one node, and the law is exact."""

import random

import pytest
import torch

from sssd_demo.coins import Coins
from sssd_demo.request import ACCEPTANCE_RULES
from sssd_demo.rules import top_down
from sssd_demo.saguaro.mixed_tree import mixed
from sssd_demo.saguaro.speculation_cache import model_chain
from sssd_demo.sampled_tree import SampledTree
from sssd_demo.sampling import Sampling
from sssd_demo.trace import ROOT, DraftTree
from sssd_demo.verify import _RULES, Case, rule_of
from tests.proofs.drafting import Draft, draft
from tests.proofs.exact import Method, distance
from tests.proofs.setups import CHAINS, cases
from tests.toys import point_tree, random_tree

LAW = torch.full((32,), 1 / 32, dtype=torch.float64)


def sampled(tokens):
    return SampledTree.of(
        model_chain(tokens, [1 / 32] * len(tokens), "sampled"), dict.fromkeys(range(len(tokens)), LAW)
    )


def paths(tree):
    return [tuple(tree.tokens[step] for step in tree.path_to(node)) for node in range(len(tree))]


def scored(tokens, parents, probs):
    tree = point_tree(tokens, parents)
    return DraftTree(tree.tokens, tree.parents, tuple(probs), tree.laws, tree.sources, tree.match_lengths)


@pytest.mark.parametrize("seed", range(30))
def test_a_sampled_chain_enters_whole_and_every_place_is_one_node(seed):
    rng = random.Random(seed)
    chain = sampled([rng.randrange(3) for _ in range(rng.randint(1, 4))])
    candidates = random_tree(rng, rng.randint(0, 12), 3)
    most = rng.randint(len(chain), 16)
    tree = mixed(chain, candidates, most)
    assert tree.tokens[: len(chain)] == chain.tokens
    assert tree.parents[: len(chain)] == chain.parents
    assert isinstance(tree, SampledTree)
    assert tree.q == chain.q
    assert len(tree) <= most
    assert tree.laws == ("sampled",) * len(chain) + ("point",) * (len(tree) - len(chain))
    assert len(set(paths(tree))) == len(tree), "two siblings hold one token"
    wanted = dict.fromkeys([*paths(chain), *paths(candidates)])
    assert paths(tree) == list(wanted)[:most]


def test_a_chain_without_room_beside_it_stays_as_it_was_sampled():
    chain = sampled([1, 2])
    assert mixed(chain, point_tree([5], [ROOT]), 2) is chain


def test_of_a_chain_without_chance_the_best_nodes_of_both_stay_best_first():
    chain = model_chain([7, 8], [0.5, 0.4], "point")  # the way to 8 is worth 0.2
    candidates = scored([4, 7, 9, 8], [ROOT, ROOT, 0, 1], [0.3, 0.1, 0.25, 0.05])
    tree = mixed(chain, candidates, 3)
    assert paths(tree) == [(7,), (4,), (4, 9)]
    assert tree.probs == (0.5, 0.3, 0.25)
    assert paths(mixed(chain, candidates, 9)) == [(7,), (4,), (4, 9), (7, 8)]


def test_a_candidate_that_the_nearest_draft_holds_too_is_not_worth_less_for_it():
    nearest = model_chain([7, 8], [0.0, 0.0], "point")  # of which the draft model said nothing here
    candidates = scored([7, 4], [ROOT, ROOT], [0.6, 0.3])
    assert paths(mixed(nearest, candidates, 3)) == [(7,), (4,), (7, 8)]
    assert mixed(nearest, candidates, 3).probs == (0.6, 0.3, 0.0)


def test_no_node_is_worth_more_than_the_one_it_follows():
    tree = mixed(model_chain([7], [0.2], "point"), scored([7, 9], [ROOT, 0], [0.1, 0.9]), 5)
    assert tree.probs == (0.2, 0.2)
    assert tree.parents == (ROOT, 0)


def joined(candidates, most):
    """A drafter for the proofs: a sampled chain, with these candidates mixed in."""

    def drafter(model, shape, text, draw):
        made = draft(model, shape, text, draw)
        return Draft(mixed(SampledTree.of(made.tree, made.q), candidates, most), made.q)

    return drafter


def judged_as(rule):
    """What production makes of the rule that was asked for."""

    def judge(tree, p, q, choices):
        return _RULES[rule_of(Case(tree, Sampling(1.0), 0, Coins(0), rule))](tree, p, q, choices)

    return judge


CANDIDATES = [
    point_tree([0], [ROOT]),
    point_tree([0, 0], [ROOT, 0]),
    point_tree([1, 0], [ROOT, 0]),
    point_tree([1, 0, 1], [ROOT, ROOT, 0]),
]


@pytest.mark.parametrize("rule", ACCEPTANCE_RULES)
@pytest.mark.parametrize("candidates", CANDIDATES, ids=lambda tree: str(tree.tokens))
@pytest.mark.parametrize("most", [2, 3, 8])
def test_what_is_emitted_has_the_targets_very_law_in_fractions(rule, candidates, most):
    method = Method(joined(candidates, most), judged_as(rule))
    assert [setup for setup in cases(top_down, CHAINS[1:2], 2, (2, 3)) if distance(setup, method)] == []


def test_block_verification_where_the_chain_holds_all_candidates_is_not_exact():
    """Negative control: whether a candidate is left would decide how the sampled tokens are judged."""

    def by_what_is_left(tree, p, q, choices):
        return _RULES["tree" if "point" in tree.laws else "block"](tree, p, q, choices)

    method = Method(joined(CANDIDATES[2], 8), by_what_is_left)
    wrong = [far for setup in cases(top_down, CHAINS[1:2], 3) if (far := distance(setup, method))]
    assert len(wrong) >= 5
    assert max(wrong) > 0.01
