"""Drafting as a whole against its plain statement, and the merge's own rules one by one."""

import random
from dataclasses import replace

from sssd_demo.sssd.constants import FAITHFUL
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.drafter import Drafter
from sssd_demo.sssd.merge import Seed, merge
from sssd_demo.sssd.sampled import SampledNode
from sssd_demo.trace import EMPTY_TREE, ROOT
from tests.sssd import brute_force


def random_text(rng, alphabet, longest):
    return [rng.randrange(alphabet) for _ in range(rng.randint(0, longest))]


def random_documents(rng, alphabet):
    documents = [random_text(rng, alphabet, 12) for _ in range(rng.randint(1, 5))]
    return [document for document in documents if document]


def test_a_draft_equals_the_plain_statement_of_the_algorithm_node_for_node():
    rng = random.Random(0)
    sizes = set()
    for query in range(1000):
        if query % 4 == 0:  # a store serves a few queries, since building one takes longer than all else
            alphabet = rng.randint(2, 8)
            sub_indices = [random_documents(rng, alphabet) for _ in range(rng.randint(0, 3))]
            stores = [Datastore.build(documents, fingerprint="", vocab_size=alphabet) for documents in sub_indices]
        prompt, output = random_text(rng, alphabet, 30), random_text(rng, alphabet, 30)
        settings = replace(FAITHFUL, samples=rng.randint(1, 30), enough_samples=rng.randint(1, 20))
        s_q = rng.choice([1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 40, 64])
        drafter = Drafter(prompt, stores, settings)
        drafter.update(prompt + output)
        tree = drafter.draft(prompt + output, s_q)
        expected = brute_force.draft(prompt, output, sub_indices, s_q, settings)
        assert list(tree.tokens) == expected.tokens
        assert list(tree.parents) == expected.parents
        assert list(tree.probs) == expected.probs
        assert list(tree.sources) == expected.sources
        assert list(tree.match_lengths) == expected.match_lengths
        assert tree.laws == ("point",) * len(tree)
        sizes.add(len(tree))
    assert len(sizes) > 25  # empty, full and partly filled trees were all among them


def sampled(*continuations, match_length=2):
    return SampledNode(token=-1, depth=0, samples=[(match_length, list(run)) for run in continuations])


def seed(node, weight=1.0, decay=1.0, cap=5):
    return Seed(node, weight, decay, first_cap=cap)


def test_a_token_that_two_sources_propose_is_one_node_and_leaves_the_budget_for_others():
    tree = merge([seed(sampled([1, 2])), seed(sampled([1, 3]), weight=0.5)], s_q=4, children_cap=3)
    assert tree.tokens == (1, 2, 3)
    assert tree.parents == (ROOT, 0, 0)
    assert tree.probs == (1.0, 1.0, 0.5)


def test_equal_scores_go_to_the_deeper_node_first():
    tree = merge([seed(sampled([1, 2, 3], [4, 5, 6]))], s_q=4, children_cap=3)
    assert tree.tokens == (1, 2, 3)


def test_the_score_shrinks_with_depth_by_the_decay_and_the_count_ratios():
    tree = merge([seed(sampled([1, 2], [1, 3], [4]), weight=0.6, decay=0.5)], s_q=9, children_cap=5)
    scores = dict(zip(tree.tokens, tree.probs, strict=True))
    assert {token: round(score, 12) for token, score in scores.items()} == {1: 0.4, 4: 0.2, 2: 0.1, 3: 0.1}


def test_below_a_node_a_source_proposes_no_more_than_the_cap():
    runs = [[1, token] for token in range(9)]
    tree = merge([seed(sampled(*runs))], s_q=32, children_cap=5)
    assert tree.parents.count(0) == 5


def test_nothing_to_propose_and_no_budget_give_the_empty_tree():
    assert merge([], s_q=8, children_cap=5) == EMPTY_TREE
    assert merge([seed(sampled([1]))], s_q=1, children_cap=0) == EMPTY_TREE


def test_a_budget_is_never_exceeded():
    for s_q in range(1, 20):
        assert len(merge([seed(sampled([1, 2, 3], [2, 3], [3]))], s_q, children_cap=5)) == min(s_q - 1, 6)
