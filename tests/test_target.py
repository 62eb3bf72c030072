"""The forward over trees agrees with transformers' own forward over each path, whatever happened before."""

import copy
import random

import pytest
import torch

from sssd_demo.target import Target, ancestry, from_bits
from sssd_demo.trace import EMPTY_TREE, ROOT
from tests.toys import SHAPES, VOCABULARY, point_tree, random_tree, toy_model


def plain_logits(model, tokens):
    with torch.inference_mode():
        return model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0]


@pytest.mark.parametrize("kind", SHAPES)
def test_tree_logits_equal_a_fresh_forward_over_each_path(kind):
    model = toy_model(kind)
    target = Target(copy.deepcopy(model), rows=3, context_length=128)
    rng = random.Random(1)
    texts = [[rng.randrange(VOCABULARY) for _ in range(length)] for length in (5, 17, 9)]
    for row, text in enumerate(texts):
        target.prefill(row, text[:-1])
    trees = [random_tree(rng, nodes) for nodes in (7, 0, 12)]
    logits = target.forward([text[-1] for text in texts], trees)
    for row, (text, tree) in enumerate(zip(texts, trees, strict=True)):
        for node in [ROOT, *range(len(tree))]:
            path = [tree.tokens[step] for step in tree.path_to(node)]
            expected = plain_logits(model, text + path)[-1]
            torch.testing.assert_close(logits[row, 1 + node], expected, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", ["llama", "olmo2"])
def test_after_any_history_of_accepting_and_refusing_the_cache_gives_the_logits_of_a_fresh_prefill(kind):
    model = toy_model(kind)
    target = Target(copy.deepcopy(model), rows=3, context_length=256)
    rng = random.Random(2)
    texts = [[rng.randrange(VOCABULARY) for _ in range(length)] for length in (3, 30, 11)]
    for row, text in enumerate(texts):
        target.prefill(row, text[:-1])
    for _ in range(12):
        trees = [random_tree(rng, rng.randrange(0, 9)) for _ in texts]
        logits = target.forward([text[-1] for text in texts], trees)
        for row, text in enumerate(texts):
            torch.testing.assert_close(logits[row, 0], plain_logits(model, text)[-1], atol=3e-5, rtol=1e-4)
        paths = [tree.path_to(rng.randrange(-1, len(tree))) for tree in trees]
        target.cache.keep_paths(paths)
        for row, (text, tree, path) in enumerate(zip(texts, trees, paths, strict=True)):
            text.extend([tree.tokens[node] for node in path] + [rng.randrange(VOCABULARY)])
            assert target.cache.lengths[row] == len(text) - 1


def test_a_path_kept_in_the_wrong_columns_is_noticed():
    """Negative control of the test above: one accepted node left where its sibling stood."""
    model = toy_model()
    target = Target(copy.deepcopy(model), rows=1, context_length=64)
    target.prefill(0, [1, 2, 3])
    target.forward([4], [point_tree([5, 6], [ROOT, ROOT])])
    target.cache.lengths[0] += 2  # as if node 0 had been accepted, while the text goes on with node 1
    logits = target.forward([7], [EMPTY_TREE])
    assert (logits[0, 0] - plain_logits(model, [1, 2, 3, 4, 6, 7])[-1]).abs().max() > 1e-2


def test_prefill_in_chunks_equals_prefill_at_once():
    model = toy_model()
    target = Target(copy.deepcopy(model), rows=2, context_length=128)
    text = list(range(30))
    target.prefill(1, text[:13])
    in_chunks = target.prefill(1, text[13:])
    torch.testing.assert_close(in_chunks, plain_logits(model, text)[-1], atol=2e-5, rtol=1e-4)


def test_swapped_rows_keep_their_texts():
    model = toy_model()
    target = Target(copy.deepcopy(model), rows=3, context_length=64)
    target.prefill(0, [1, 2, 3])
    target.prefill(2, [9, 8, 7, 6, 5])
    target.cache.swap(0, 2)
    assert target.cache.lengths == [5, 0, 3]
    logits = target.forward([4], [EMPTY_TREE])
    torch.testing.assert_close(logits[0, 0], plain_logits(model, [9, 8, 7, 6, 5, 4])[-1], atol=2e-5, rtol=1e-4)


def test_ancestry_of_a_chain_and_of_a_tree():
    chain = from_bits(ancestry(point_tree([1, 2], [ROOT, 0]), 4), 4)
    assert chain[:3].tolist() == [[True, False, False, False], [True, True, False, False], [True, True, True, False]]
    tree = from_bits(ancestry(point_tree([1, 2, 3], [ROOT, ROOT, 1]), 4), 4)
    assert tree[2].tolist() == [True, False, True, False]
    assert tree[3].tolist() == [True, False, True, True]


def test_padding_sees_something():
    assert ancestry(EMPTY_TREE, 3) == [1, 1, 1]


def test_bits_of_more_columns_than_a_byte_has():
    assert from_bits([1 | 1 << 8, 1 << 9], 10).nonzero().tolist() == [[0, 0], [0, 8], [1, 9]]


def test_timing_a_forward_leaves_empty_rows():
    target = Target(toy_model(), rows=2, context_length=64)
    ticks = iter([1.0, 3.5])
    assert target.time_forward(2, 4, 32, clock=lambda: next(ticks)) == 2.5
    assert target.cache.lengths == [0, 0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_drafted_chain_changes_no_bit_of_the_logits(dtype):
    """So that a near-tie falls the same way with and without it; on a CPU, where kernels add in a fixed order."""
    rng = random.Random(5)
    target = Target(toy_model(dtype=dtype), rows=1, context_length=512)
    for length in (3, 30, 57, 64, 119, 250, 301, 450):
        text = [rng.randrange(VOCABULARY) for _ in range(length)]
        for nodes in (1, 3, 7, 15, 31):
            chain = point_tree([rng.randrange(VOCABULARY) for _ in range(nodes)], range(-1, nodes - 1))
            target.cache.lengths[0] = 0
            target.prefill(0, text[:-1])
            drafted = target.forward([text[-1]], [chain])[0].clone()
            for step, token in enumerate([text[-1], *chain.tokens]):
                alone = target.forward([token], [EMPTY_TREE])[0, 0]
                assert torch.equal(alone, drafted[step])
                target.cache.keep_paths([[]])
