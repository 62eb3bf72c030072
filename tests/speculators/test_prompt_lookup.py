"""Prompt lookup: which tokens are copied, token for token as transformers does; and what that costs."""

import random

import pytest
import torch
from transformers.generation.candidate_generator import PromptLookupCandidateGenerator

from sssd_demo.speculators.prompt_lookup import COPIED, LONGEST, PromptLookup
from sssd_demo.speculators.protocol import Outcome, Sequence
from sssd_demo.trace import EMPTY_TREE, ROOT


def sequence(prompt, output, s_q=32, id_=1):
    return Sequence(id_, [*prompt, *output], len(prompt), s_q, stores=())


def draft(prompt, output, s_q=32):
    method = PromptLookup()
    asked = sequence(prompt, output, s_q)
    method.begin(asked)
    (tree,) = method.propose([asked])
    return tree


def test_what_followed_the_longest_run_is_copied_as_a_chain():
    tree = draft([1, 2, 3, 4, 5, 9, 3, 8], [1, 2, 3])
    assert tree.tokens == (4, 5, 9, 3, 8, 1, 2, 3)
    assert tree.parents == (ROOT, *range(7))
    assert tree.sources == ("prompt",) * 5 + ("output",) * 3
    assert tree.match_lengths == (3,) * 8
    assert tree.laws == ("point",) * 8


def test_a_shorter_run_is_looked_up_where_the_longer_ones_were_not_seen():
    tree = draft([7, 3, 8, 2, 3, 9], [4, 2, 3])
    assert (tree.tokens[0], tree.match_lengths[0]) == (9, 2)
    tree = draft([7, 3, 8, 2, 6], [4, 3])
    assert (tree.tokens[0], tree.match_lengths[0]) == (8, 1)


def test_of_several_places_the_first_counts():
    assert draft([1, 2, 5, 1, 2, 6], [1, 2]).tokens[0] == 5


def test_nothing_is_drafted_for_a_token_that_is_new():
    assert draft([1, 2, 3], [4]) == EMPTY_TREE


def test_a_run_may_overlap_with_itself():
    assert draft([], [5, 5, 5]).tokens == (5,)
    assert draft([], [5, 5, 5, 5, 5]).tokens == (5, 5)


def test_no_more_is_copied_than_the_author_does_or_s_q_allows():
    prompt = list(range(40))
    assert draft(prompt, [0]).tokens == tuple(range(1, 1 + COPIED))
    assert draft(prompt, [0], s_q=4).tokens == (1, 2, 3)
    assert draft(prompt, [0], s_q=1) == EMPTY_TREE


def test_a_longer_match_is_believed_more_and_nearer_tokens_are_believed_more():
    long, short = draft([1, 2, 3, 4, 5], [1, 2, 3]), draft([1, 2, 3, 4, 5], [9, 3])
    assert long.probs == tuple(sorted(long.probs, reverse=True))
    assert all(one > other for one, other in zip(long.probs[1:], short.probs[1:], strict=False))


def test_drafts_are_those_of_transformers_token_for_token():
    rng = random.Random(0)
    reference = PromptLookupCandidateGenerator(
        num_output_tokens=COPIED, max_matching_ngram_size=LONGEST, max_length=10_000
    )
    lengths = set()
    for alphabet in (2, 4, 8, 30):
        method = PromptLookup()
        asked = sequence([rng.randrange(alphabet) for _ in range(rng.randint(1, 30))], [0])
        method.begin(asked)
        for _ in range(120):
            (tree,) = method.propose([asked])
            candidates, _ = reference.get_candidates(torch.LongTensor([asked.tokens]))
            assert list(tree.tokens) == candidates[0, len(asked.tokens) :].tolist()
            lengths.add(len(tree))
            committed = tuple(rng.randrange(alphabet) for _ in range(rng.randint(1, 3)))
            asked.tokens.extend(committed)
            method.observe([Outcome(asked, tree, (), committed[-1], committed)])
    assert {0, 1, COPIED} <= lengths


def test_sequences_do_not_see_each_other_and_leave_nothing_behind():
    method = PromptLookup()
    first, second = sequence([1, 2, 3], [1], id_=1), sequence([4, 5], [1], id_=2)
    for asked in (first, second):
        method.begin(asked)
    assert [tree.tokens for tree in method.propose([first, second])] == [(2, 3, 1), ()]
    for asked in (first, second):
        method.end(asked)
    assert not method._texts
    again = sequence([4, 5], [1], id_=1)
    method.begin(again)
    assert method.propose([again]) == [EMPTY_TREE]


class Read(list):
    """Tokens that know how many of them were read."""

    reads = 0

    def __getitem__(self, place):
        found = super().__getitem__(place)
        self.reads += len(found) if isinstance(place, slice) else 1
        return found

    def __iter__(self):
        self.reads += len(self)
        return super().__iter__()


@pytest.mark.parametrize("cycle", [[5], [5, 6, 7], list(range(3000))], ids=["one word", "three words", "distinct"])
def test_a_long_prompt_costs_a_constant_for_each_token_whatever_it_repeats(cycle):
    def read(length):
        asked = sequence((cycle * length)[:length], [cycle[0]])
        asked.tokens = tokens = Read(asked.tokens)
        method = PromptLookup()
        method.begin(asked)
        entering, tokens.reads = tokens.reads, 0
        for _ in range(5):
            (tree,) = method.propose([asked])
            assert len(tree)
            tokens.append(cycle[0])
            method.observe([Outcome(asked, tree, (), cycle[0], (cycle[0],))])
        return entering, tokens.reads

    (short, short_rounds), (long, long_rounds) = read(1500), read(3000)
    assert long <= 2.01 * short
    assert long_rounds == short_rounds
