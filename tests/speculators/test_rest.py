"""REST: the most frequent prefixes of what followed the longest match, over one store or several."""

import random
from collections import Counter

import pytest

from sssd_demo.speculators.protocol import Sequence
from sssd_demo.speculators.rest import AHEAD, LONGEST, MATCHES, SHORTEST, Rest
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.trace import EMPTY_TREE, ROOT


def store(*documents, max_tokens=1000):
    return Datastore.build(documents, fingerprint="", vocab_size=1000, max_tokens=max_tokens)


def draft(tokens, stores, s_q=32):
    method = Rest(lambda name: stores[int(name)])
    asked = Sequence(1, list(tokens), 1, s_q, stores=tuple(map(str, range(len(stores)))))
    method.begin(asked)
    (tree,) = method.propose([asked])
    method.end(asked)
    assert not method._stores, "nothing is left behind"
    return tree


def paths(tree):
    """Every node as the run of tokens that leads to it."""
    return [tuple(tree.tokens[at] for at in tree.path_to(node)) for node in range(len(tree))]


def test_the_most_frequent_continuations_of_the_longest_match_become_a_tree():
    known = store([1, 2, 3, 50, 51], [1, 2, 3, 50, 52], [1, 2, 3, 60], [9, 2, 3, 70], [9, 2, 3, 70], [9, 2, 3, 70])
    tree = draft([8, 1, 2, 3], [known])
    assert tree.tokens == (50, 51, 52, 60)
    assert tree.parents == (ROOT, 0, 0, ROOT)
    assert tree.probs == (2 / 3, 1 / 3, 1 / 3, 1 / 3)
    assert tree.match_lengths == (3,) * 4
    assert tree.sources == ("datastore",) * 4
    assert tree.laws == ("point",) * 4


def test_of_equally_frequent_prefixes_the_longer_ones_come_first():
    tree = draft([1, 2], [store([1, 2, 50, 51, 52], [1, 2, 60])], s_q=4)
    assert paths(tree) == [(50,), (50, 51), (50, 51, 52)]


def test_a_match_of_one_token_is_too_short():
    known = store([1, 2, 3])
    assert SHORTEST == 2
    assert draft([9, 2], [known]) == EMPTY_TREE
    assert draft([1, 2], [known]).tokens == (3,)


def test_no_more_than_sixteen_tokens_are_matched():
    known = store([*range(100, 120), 1], [90, *range(104, 120), 2], [90, *range(104, 120), 2])
    tree = draft(range(100, 120), [known])
    assert tree.match_lengths[0] == LONGEST
    assert paths(tree) == [(2,), (1,)]


def test_a_match_at_the_very_end_of_a_document_gives_way_to_a_shorter_one():
    assert draft([1, 2, 3], [store([1, 2, 3], [9, 2, 3, 4])]).tokens == (4,)
    assert draft([1, 2, 3], [store([1, 2, 3])]) == EMPTY_TREE


def test_documents_that_end_after_the_match_count_against_the_others():
    assert draft([1, 2], [store([1, 2], [1, 2], [1, 2, 3])]).probs == (1 / 3,)


def test_nothing_is_drafted_without_a_store_from_an_empty_one_or_without_room():
    assert draft([1, 2], []) == EMPTY_TREE
    assert draft([1, 2], [store()]) == EMPTY_TREE
    assert draft([1, 2], [store([1, 2, 3])], s_q=1) == EMPTY_TREE
    assert draft([2], [store([1, 2, 3])]) == EMPTY_TREE


def test_only_ten_tokens_are_read_after_a_match():
    assert draft([1, 2], [store(range(1, 40))], s_q=64).tokens == tuple(range(3, 3 + AHEAD))


def test_what_a_store_learns_meanwhile_is_found_in_the_next_round():
    class Growing:
        sub_indices = store().sub_indices

        def recalled(self, tokens):
            return None

    growing = Growing()
    method = Rest(lambda name: growing)
    asked = Sequence(1, [1, 2], 1, 8, stores=("live",))
    method.begin(asked)
    assert method.propose([asked]) == [EMPTY_TREE]
    growing.sub_indices = store([1, 2, 3]).sub_indices
    assert method.propose([asked])[0].tokens == (3,)


def plain_statement(documents, tokens):
    """(length of the match, how often each prefix of up to AHEAD tokens followed it, number of matches)."""
    for length in range(min(LONGEST, len(tokens)), SHORTEST - 1, -1):
        query = list(tokens[-length:])
        follows = [
            tuple(document[at + length : at + length + AHEAD])
            for document in documents
            for at in range(len(document) - length + 1)
            if document[at : at + length] == query
        ]
        if any(follows):
            prefixes = Counter(run[:size] for run in follows for size in range(1, len(run) + 1))
            return length, prefixes, len(follows)
    return 0, Counter(), 0


@pytest.mark.parametrize("alphabet", [2, 3, 6])
def test_a_tree_holds_the_most_frequent_prefixes_by_the_plain_statement(alphabet):
    rng = random.Random(alphabet)
    sizes = set()
    for _ in range(60):
        documents = [[rng.randrange(alphabet) for _ in range(rng.randint(1, 40))] for _ in range(8)]
        stores = [store(*documents[:3], max_tokens=rng.choice([60, 1000])), store(*documents[3:])]
        tokens = [rng.randrange(alphabet) for _ in range(rng.randint(1, 20))]
        s_q = rng.choice([2, 5, 16, 64])
        tree = draft(tokens, stores, s_q)
        length, prefixes, matches = plain_statement(documents, tokens)
        assert set(tree.match_lengths) <= {length}
        assert len(tree) == min(s_q - 1, len(prefixes))
        assert len(set(paths(tree))) == len(tree)
        assert [prefixes[path] / matches for path in paths(tree)] == list(tree.probs)
        most = sorted(prefixes.values(), reverse=True)[: s_q - 1]
        assert [round(score * matches) for score in tree.probs] == most
        sizes.add(len(tree))
    assert {1, 4, 15} & sizes


def test_of_very_many_matches_an_even_share_is_counted():
    """Three parts in ten go on with 5: also when only every so-many-th match is looked at, in several sub-indices."""
    documents = [[1, 2, 5 if at % 10 < 3 else 6 + at % 7] for at in range(4 * MATCHES)]
    for most in (10**6, 4 * MATCHES):
        tree = draft([1, 2], [store(*documents, max_tokens=most)])
        assert tree.tokens[0] == 5
        assert tree.probs[0] == pytest.approx(0.3, abs=0.005)
        assert sum(tree.probs) == pytest.approx(1)
