"""A draft model on toy weights: the laws it reports are those it draws from, and its cache is never wrong."""

import copy
import random
from collections import Counter
from dataclasses import replace

import pytest
import torch

from sssd_demo.request import Drafting
from sssd_demo.sampled_tree import SampledTree
from sssd_demo.sampling import Sampling, distribution
from sssd_demo.speculators.draft_model import LONG, DraftModel, Plan
from sssd_demo.speculators.protocol import Outcome, Sequence
from sssd_demo.target import PREFILL_CHUNK, Target
from sssd_demo.trace import ROOT
from tests.toys import VOCABULARY, toy_model

MODEL = toy_model(seed=7)
WARM = Sampling(temperature=0.9, top_k=12, top_p=0.95)


def draft_model(model=MODEL, *, rows=4, context_length=400, vocabulary=VOCABULARY):
    return DraftModel(Target(copy.deepcopy(model), rows=rows, context_length=context_length), vocabulary)


def sequence(id_, tokens, sampling=WARM, *, s_q=16, temperature=None):
    drafting = Drafting(temperature=temperature)
    return Sequence(id_, list(tokens), len(tokens), s_q, (), sampling=sampling, drafting=drafting)


def plain_law(tokens, sampling, model=MODEL):
    """Without the project's forward: the law after `tokens` by transformers' own."""
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([list(tokens)]), use_cache=False).logits[0, -1, :VOCABULARY]
    return distribution(logits[None], sampling)[0].double()


def path_tokens(tree, node):
    return [tree.tokens[step] for step in tree.path_to(node)]


def assert_laws_are_the_models(tree, text, sampling):
    for node in range(len(tree)):
        parent = tree.parents[node]
        expected = plain_law([*text, *path_tokens(tree, parent)], sampling)
        torch.testing.assert_close(tree.q[1 + parent], expected / expected.sum(), atol=2e-5, rtol=1e-3)


@pytest.mark.parametrize("width", [1, 3])
def test_after_any_history_of_accepting_and_refusing_every_reported_law_is_that_of_a_fresh_forward(width):
    rng = random.Random(width)
    drafts = draft_model()
    lengths = (3, LONG + 5, PREFILL_CHUNK + 40, 9)
    texts = [sequence(id_, [rng.randrange(VOCABULARY) for _ in range(length)]) for id_, length in enumerate(lengths)]
    alive = texts[:2]
    for one in alive:
        drafts.join(one)
    for round_ in range(14):
        if round_ == 3:
            drafts.join(texts[2])
            alive.append(texts[2])
        if round_ == 6:  # a row in the middle becomes free, and another sequence takes the last one
            drafts.leave(texts[0])
            drafts.join(texts[3])
            alive = [texts[3], texts[1], texts[2]]
        plans = [Plan(rng.randrange(4), width) for _ in alive]
        trees = drafts.draft(alive, plans)
        outcomes = []
        for one, plan, tree in zip(alive, plans, trees, strict=True):
            assert len(tree) == plan.nodes
            if len(tree):
                assert_laws_are_the_models(tree, one.tokens, WARM)
            path = tree.path_to(rng.randrange(-1, len(tree)))
            committed = (*(tree.tokens[node] for node in path), rng.randrange(VOCABULARY))
            one.tokens.extend(committed)
            outcomes.append(Outcome(one, tree, tuple(path), committed[-1], committed))
        drafts.keep({outcome.sequence.id: outcome.path for outcome in outcomes})


def test_a_conversations_next_turn_takes_in_only_what_is_new_and_another_one_everything():
    drafts = draft_model(rows=3)
    first, beside = sequence(1, range(1, 10)), sequence(2, [7, 8])
    first.conversation = "a"
    for one in (first, beside):
        drafts.join(one)
    trees = drafts.draft([first, beside], [Plan(2), Plan(2)])
    drafts.leave(first)  # `beside` moves into its row, with what was computed for it
    drafts.keep({beside.id: (0,)})
    beside.tokens.extend([trees[1].tokens[0], 5])
    turn, stranger = (sequence(id_, [*first.tokens, 20, 21, 22]) for id_ in (3, 4))
    turn.conversation, stranger.conversation = "a", "b"
    for one in (turn, stranger):
        drafts.join(one)
    assert drafts.unread(turn) == 1 + 3  # the last token of the first turn was a root, and never committed
    assert drafts.unread(stranger) == len(stranger.tokens)
    alive = [turn, stranger, beside]
    for one, tree in zip(alive, drafts.draft(alive, [Plan(2)] * 3), strict=True):
        assert_laws_are_the_models(tree, one.tokens, WARM)


def test_a_cache_that_kept_a_refused_token_is_noticed():
    """Negative control of the test above."""
    drafts = draft_model()
    one = sequence(1, [1, 2, 3])
    drafts.join(one)
    (tree,) = drafts.draft([one], [Plan(3)])
    drafts.keep({one.id: (0, 1)})  # two accepted, though the text goes on with another token
    one.tokens.extend([(tree.tokens[0] + 1) % VOCABULARY, 4, 5])
    (tree,) = drafts.draft([one], [Plan(1)])
    with pytest.raises(AssertionError):
        assert_laws_are_the_models(tree, one.tokens, WARM)


def chi_square(counts, law, runs):
    """Pearson's statistic; a token that the law gives nothing is infinitely wrong."""
    if any(law[token] == 0 for token in counts):
        return float("inf")
    return sum((counts[token] - runs * p) ** 2 / (runs * p) for token, p in enumerate(law) if p > 0)


def drawn_tokens(runs, sampling, temperature=None):
    """What is drafted first, by seed, and the law that is reported for it."""
    drafts = draft_model(rows=1)
    counts: Counter[int] = Counter()
    for seed in range(runs):
        one = sequence(seed, [4, 9, 2], replace(sampling, seed=seed), temperature=temperature)
        drafts.join(one)
        (tree,) = drafts.draft([one], [Plan(1)])
        drafts.leave(one)
        counts[tree.tokens[0]] += 1
    return counts, tree.q[0].tolist()


# 99.99 % point of chi-square with 5 degrees of freedom: top-k leaves six tokens.
CRITICAL = 25.74
RUNS = 2000
SIX = Sampling(temperature=1.3, top_k=6)


def test_what_is_drawn_follows_the_law_that_is_reported():
    counts, law = drawn_tokens(RUNS, SIX)
    assert chi_square(counts, law, RUNS) < CRITICAL


def test_a_law_reported_at_another_temperature_fails_the_same_statistic():
    counts, _ = drawn_tokens(RUNS, SIX)
    other = plain_law([4, 9, 2], Sampling(0.9, 6)).tolist()
    assert chi_square(counts, other, RUNS) > CRITICAL


def test_a_temperature_of_its_own_shapes_the_law_that_is_reported():
    counts, law = drawn_tokens(RUNS, SIX, temperature=0.9)
    expected = plain_law([4, 9, 2], Sampling(0.9, 6))
    torch.testing.assert_close(torch.tensor(law, dtype=torch.float64), expected / expected.sum(), atol=1e-5, rtol=1e-3)
    assert chi_square(counts, law, RUNS) < CRITICAL


def test_alternatives_are_distinct_and_each_is_reported_with_what_was_left_of_the_law():
    drafts = draft_model()
    one = sequence(1, [5, 6, 7])
    drafts.join(one)
    (tree,) = drafts.draft([one], [Plan(2, width=3)])
    first = [node for node, parent in enumerate(tree.parents) if parent == ROOT]
    tokens = [tree.tokens[node] for node in first]
    assert len(set(tokens)) == 3
    assert set(tree.laws) == {"distinct"}
    law = tree.q[0].clone()
    for node in first:
        assert tree.probs[node] == pytest.approx(float(law[tree.tokens[node]]))
        law[tree.tokens[node]] = 0
        law /= law.sum()


def test_no_more_alternatives_than_top_k_leaves():
    drafts = draft_model()
    one = sequence(1, [5, 6, 7], Sampling(temperature=1.0, top_k=2))
    drafts.join(one)
    (tree,) = drafts.draft([one], [Plan(2, width=3)])
    assert tree.parents == (ROOT, ROOT, 0, 1)


@pytest.mark.parametrize(
    ("sampling", "temperature"), [(Sampling(), None), (Sampling(), 1.0), (Sampling(temperature=1.0), 0.0)]
)
def test_a_greedy_draft_is_the_most_likely_continuation_and_a_point_mass(sampling, temperature):
    drafts = draft_model()
    one = sequence(1, [8, 1, 8], sampling, temperature=temperature)
    drafts.join(one)
    (tree,) = drafts.draft([one], [Plan(4)])
    assert not isinstance(tree, SampledTree)
    assert set(tree.laws) == {"point"}
    text = list(one.tokens)
    for token in tree.tokens:
        assert token == int(plain_law(text, Sampling()).argmax())
        text.append(token)


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=2.0)])
def test_ids_beyond_the_targets_vocabulary_are_never_drafted(sampling):
    narrow = 5
    drafts = draft_model(vocabulary=narrow)
    for seed in range(20):
        one = sequence(seed, [1, 2, 3], Sampling(sampling.temperature, seed=seed))
        drafts.join(one)
        (tree,) = drafts.draft([one], [Plan(4)])
        drafts.leave(one)
        assert max(tree.tokens) < narrow
        if isinstance(tree, SampledTree):
            assert {len(law) for law in tree.q.values()} == {narrow}


def test_a_sequence_drafts_the_same_alone_and_beside_others():
    texts = [[3, 1, 4, 1, 5], [9], [2, 6, 5, 3]]
    alone = []
    for id_, text in enumerate(texts):
        drafts = draft_model()
        one = sequence(id_, text)
        drafts.join(one)
        alone.append(drafts.draft([one], [Plan(3)])[0].tokens)
    drafts = draft_model()
    together = [sequence(id_, text) for id_, text in enumerate(texts)]
    for one in together:
        drafts.join(one)
    trees = drafts.draft(together[::-1], [Plan(3)] * 3)
    assert [tree.tokens for tree in trees[::-1]] == alone


def test_the_time_of_a_step_is_measured():
    ticks = iter(range(100))
    drafts = DraftModel(Target(copy.deepcopy(MODEL), rows=1, context_length=50), VOCABULARY, clock=lambda: next(ticks))
    one = sequence(1, [1])
    drafts.join(one)
    assert drafts.step_seconds is None
    drafts.draft([one], [Plan(3)])
    assert drafts.step_seconds == 1.0
