"""The prompt trie: what it counts, whose text a node came from, and what it costs."""

import itertools
import random

import pytest

from sssd_demo.sssd.trie import PromptTrie
from tests.sssd.brute_force import windows


def nodes(node, path=()):
    """Every node that is spelt out or can be, by its run."""
    for token, child in node.children().items():
        yield (*path, token), child
        yield from nodes(child, (*path, token))


def test_every_run_is_counted_and_credited_to_the_text_that_had_it_first():
    rng = random.Random(0)
    for _ in range(200):
        window = rng.randint(1, 8)
        text = [rng.randrange(3) for _ in range(rng.randint(0, 40))]
        cut = rng.randint(0, len(text))
        trie = PromptTrie(text[:cut], window, lag=True)
        for length in sorted(rng.sample(range(cut, len(text) + 1), rng.randint(0, min(3, len(text) - cut)))):
            trie.update(text[:length])  # rounds of any size, perhaps with none
        trie.update(text)
        known = windows(text[:cut], text[cut:], window)
        runs = {run[:n] for _, run in known for n in range(1, len(run) + 1)}
        found = dict(nodes(trie.root))
        assert found.keys() == runs
        for run, node in found.items():
            having = [source for source, window_ in known if window_[: len(run)] == run]
            assert (node.count, node.source, node.token) == (len(having), having[0], run[-1])


def test_all_suffix_matches_are_found_longest_first():
    trie = PromptTrie([1, 2, 3, 4, 5, 9, 3, 4, 5], window=8, lag=True)
    assert [(length, node.count) for length, node in trie.matches([1, 2, 3, 4, 5], longest=4)] == [
        (4, 1),
        (3, 2),
        (2, 2),
        (1, 2),
    ]
    assert [length for length, _ in trie.matches([7, 4, 5], longest=4)] == [2, 1]
    assert list(trie.matches([7], longest=4)) == []
    assert list(trie.matches([], longest=4)) == []


def test_the_most_frequent_child_comes_first_and_equal_ones_as_first_seen():
    trie = PromptTrie([1, 5, 1, 3, 1, 4, 1, 3], window=2, lag=True)
    ((_, node),) = trie.matches([1], longest=4)
    assert [(child.token, child.count) for child in node.best_children(5)] == [(3, 2), (5, 1), (4, 1)]
    assert [child.token for child in node.best_children(2)] == [3, 5]


def test_the_answer_is_known_only_once_a_window_of_it_is_full():
    trie = PromptTrie([1, 2], window=4, lag=True)
    text = [1, 2, 3, 4, 5]
    trie.update(text)
    assert list(trie.matches([4], longest=1)) == []
    trie.update([*text, 6, 7])
    ((_, node),) = trie.matches([4], longest=1)
    assert node.source == "output"


@pytest.mark.parametrize("pattern", [[7], [1, 2, 3], "distinct"])
def test_entering_costs_at_most_a_window_of_steps_for_each_token(pattern):
    length, window = 6000, 8
    text = list(range(length)) if pattern == "distinct" else list(itertools.islice(itertools.cycle(pattern), length))
    trie = PromptTrie(text[: length // 2], window, lag=True)
    trie.update(text)
    steps = sum(node.count for _, node in nodes(trie.root))  # a step adds 1 to one count
    assert steps <= window * length


def test_a_text_that_never_repeats_takes_few_nodes_until_it_is_looked_at():
    trie = PromptTrie(list(range(1000)), window=8, lag=True)
    spelt = sum(1 + len(node._children) for node in trie.root._children.values())
    assert spelt == 1000


def test_without_lag_every_run_of_the_whole_text_is_known_at_once():
    rng = random.Random(1)
    for _ in range(200):
        window = rng.randint(1, 8)
        text = [rng.randrange(3) for _ in range(rng.randint(0, 40))]
        cut = rng.randint(0, len(text))
        trie = PromptTrie(text[:cut], window, lag=False)
        for length in [*sorted(rng.sample(range(cut, len(text) + 1), rng.randint(0, min(3, len(text) - cut)))), None]:
            known = text[:length]
            trie.update(known)
            places: dict[tuple[int, ...], list[int]] = {}  # run → where its occurrences end
            for start in range(len(known)):
                for end in range(start + 1, min(len(known), start + window) + 1):
                    places.setdefault(tuple(known[start:end]), []).append(end)
            found = dict(nodes(trie.root))
            assert found.keys() == places.keys()
            for run, node in found.items():
                source = "prompt" if min(places[run]) <= cut else "output"
                assert (node.count, node.source, node.token) == (len(places[run]), source, run[-1])
