"""The drafter: who is believed in which order, what it learns from, and what it may not use."""

from dataclasses import replace

import pytest

from sssd_demo.sssd.constants import DEFAULT, FAITHFUL
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.drafter import Drafter
from sssd_demo.sssd.recycled import Recycled
from sssd_demo.trace import Top

PLAIN = replace(DEFAULT, recycled_weight=0.0, longest_match=6, datastore_doubt=3.0)


def store(*documents, memory=()):
    recycled = Recycled()
    for tokens, top in memory:
        recycled.learn(tokens, [top])
    return Datastore.build(documents, fingerprint="", vocab_size=100).with_recycled(recycled)


def first(prompt, output, stores=(), settings=DEFAULT):
    """The drafted first token that is believed most."""
    drafter = Drafter(prompt, stores, settings)
    drafter.update([*prompt, *output])
    tree = drafter.draft([*prompt, *output], 2)
    return tree.tokens[0] if len(tree) else None


def test_a_longer_match_in_the_conversation_outweighs_a_shorter_one():
    text = [1, 2, 3, 9, 5, 3, 8, 6, 3, 8, 7, 1, 2, 3]  # after 3 mostly 8, but after 1 2 3 comes 9
    assert first(text, [], settings=PLAIN) == 9
    assert first(text[3:-3] + [3], [], settings=PLAIN) == 8


def test_the_conversation_outweighs_the_store_at_equal_evidence():
    assert first([1, 2, 7, 1, 2], [], [store([1, 2, 8])], settings=PLAIN) == 7


def test_many_longer_matches_in_the_store_outweigh_one_short_one_in_the_conversation():
    others = store(*[[4, 3, 5, 1, 2, 8]] * 20)
    assert first([2, 7, 4, 3, 5, 1, 2], [], [others], settings=PLAIN) == 8


def test_every_store_node_names_the_length_of_its_own_match():
    known = store([1, 2, 3, 4, 5, 6, 50], *[[9, 6, 60 + number % 2] for number in range(60)])
    drafter = Drafter([1, 2, 3, 4, 5, 6], [known], PLAIN)
    tree = drafter.draft([1, 2, 3, 4, 5, 6], 8)
    lengths = dict(zip(tree.tokens, tree.match_lengths, strict=True))
    assert lengths[50] == 6
    assert lengths[60] == lengths[61] == 1


def test_one_long_match_does_not_lend_its_weight_to_short_ones():
    short = [[9, 6, 60]] * 60
    alone = Drafter([1, 2, 3, 4, 5, 6], [store(*short)], PLAIN).draft([1, 2, 3, 4, 5, 6], 2)
    beside = Drafter([1, 2, 3, 4, 5, 6], [store([1, 2, 3, 4, 5, 6, 50], *short)], PLAIN).draft([1, 2, 3, 4, 5, 6], 4)
    probs = dict(zip(beside.tokens, beside.probs, strict=True))
    assert probs[60] <= alone.probs[0]


def test_what_the_target_held_likely_here_drafts_the_same_place_later():
    """`top` has one entry for each of the last tokens: the first stood before 7, the second before 8."""
    top = [Top((40,), (0.9,)), Top((41,), (0.9,))]
    drafter = Drafter([5, 6], [], DEFAULT)
    drafter.update([5, 6, 7, 8], top)
    drafter.update([5, 6, 7, 8, 5, 6])
    tree = drafter.draft([5, 6, 7, 8, 5, 6], 8)
    assert 40 in tree.tokens
    assert tree.sources[tree.tokens.index(40)] == "recycled"
    after_seven = Drafter([5, 6], [], DEFAULT)
    after_seven.update([5, 6, 7, 8], top)
    after_seven.update([5, 6, 7, 8, 6, 7])
    assert 41 in after_seven.draft([5, 6, 7, 8, 6, 7], 8).tokens


def test_this_conversations_memory_comes_before_a_stores():
    known = store(memory=[([5, 6, 0], Top((30,), (0.9,)))])
    assert first([5, 6], [], [known]) == 30
    drafter = Drafter([5, 6], [known], DEFAULT)
    drafter.update([5, 6, 9], [Top((31,), (0.9,))])
    drafter.update([5, 6, 9, 5, 6])
    tokens = drafter.draft([5, 6, 9, 5, 6], 8).tokens
    assert 31 in tokens
    assert 30 not in tokens


@pytest.mark.parametrize("settings", [FAITHFUL, replace(DEFAULT, recycled_weight=0.0)])
def test_without_weight_the_memory_is_not_asked(settings):
    known = store(memory=[([5, 6, 0], Top((30,), (0.9,)))])
    assert first([5, 6], [], [known], settings=settings) is None


def test_a_source_with_weight_0_is_not_asked():
    known = store([1, 2, 8], memory=[([1, 2, 0], Top((30,), (0.9,)))])
    nothing_here = replace(DEFAULT, prompt_weight=0.0)
    assert first([1, 2, 7, 1, 2], [], [known], settings=nothing_here) in (8, 30)
    assert first([1, 2, 7, 1, 2], [], [], settings=nothing_here) is None
    no_store = replace(DEFAULT, datastore_weight=0.0)
    assert first([1, 2, 7, 1, 2], [], [known], settings=no_store) == 7
    assert first([1, 2], [], [known], settings=no_store) is None


def test_a_store_that_grows_is_drawn_from_at_once():
    class Growing:
        def __init__(self):
            self.sub_indices = ()

        def recalled(self, tokens):
            return None

    growing = Growing()
    drafter = Drafter([1, 2], [growing], DEFAULT)
    assert len(drafter.draft([1, 2], 8)) == 0
    growing.sub_indices = store([1, 2, 8]).sub_indices
    assert drafter.draft([1, 2], 8).tokens[0] == 8


def test_an_empty_conversation_is_not_drafted():
    assert len(Drafter([], [store([1, 2])], DEFAULT).draft([], 8)) == 0
