"""What the target held likely: found again by the last tokens, averaged, and bounded."""

import pytest

from sssd_demo.sssd import recycled
from sssd_demo.sssd.recycled import Recycled
from sssd_demo.trace import ROOT, DraftTree, Top

A, B, C, D = (Top((token,), (0.5,)) for token in (1, 2, 3, 4))


def test_each_position_is_found_by_the_two_tokens_before_it_and_by_the_last_one():
    memory = Recycled()
    memory.learn([7, 8, 9], [A, B])  # A stood before 8, B before 9
    assert memory.after((7, 8)) == memory.after((8,)) == B
    assert memory.after((7,)) == A
    assert memory.after((9,)) is None
    assert memory.after((8, 7)) is None


def test_nothing_is_learnt_where_nothing_was_kept():
    memory = Recycled()
    memory.learn([7, 8, 9], [])
    assert memory.after((8,)) is None


def test_past_the_limit_the_places_not_seen_for_longest_are_forgotten_however_early_they_were_first_seen():
    memory = Recycled(most_places=6)
    memory.learn([1, 2], [A])  # after 1: first seen before all others, and again and again
    for other in range(10, 20):
        memory.learn([other, 1, 2], [B, A])
    assert len(memory) == 6
    assert memory.after((1,)) == A
    assert memory.after((19,)) == B
    assert memory.after((10,)) is None
    again = memory.copy()
    again.learn([30, 31], [A])
    assert len(again) == 6


def test_without_a_limit_nothing_is_forgotten(monkeypatch):
    monkeypatch.setattr(recycled, "MOST_PLACES", 4)
    memory = Recycled(most_places=None)
    memory.learn(range(100), [A] * 99)
    assert len(memory) == 99 + 98


def test_of_many_places_those_seen_most_often_are_given():
    memory = Recycled()
    for _ in range(3):
        memory.learn([7, 8], [A])
    memory.learn([5, 6], [B])
    assert memory.most_seen(1) == {(7,): A}
    assert memory.most_seen(9) == {(7,): A, (5,): B}


def test_several_sights_of_a_place_are_averaged():
    memory = Recycled()
    memory.learn([7, 8, 9], [Top((9, 4), (0.9, 0.1))])
    memory.learn([7, 8, 5], [Top((5, 9), (0.6, 0.3))])
    found = memory.after((7, 8))
    assert found is not None
    assert found.tokens == (9, 5, 4)
    assert found.probs == pytest.approx((0.6, 0.3, 0.05))


def test_a_copy_does_not_learn_with_the_original():
    memory = Recycled()
    memory.learn([7, 8, 9], [A])
    before = memory.copy()
    memory.learn([7, 8, 5], [C])
    assert before.after((7, 8)) == A
    assert len(before) == len(memory) == 2


def test_of_a_verified_tree_every_node_is_learnt_with_its_own_ancestors():
    tree = DraftTree(tokens=(5, 6, 7), parents=(ROOT, ROOT, 1))  # 5 and 6 are alternatives, 7 follows 6
    memory = Recycled()
    memory.learn_tree([1, 2, 3], tree, [A, B, C, D])
    assert memory.after((2, 3)) == memory.after((3,)) == A
    assert memory.after((3, 5)) == memory.after((5,)) == B
    assert memory.after((3, 6)) == C
    assert memory.after((6, 7)) == D
    for never in ((5, 6), (5, 7), (1, 2)):
        assert memory.after(never) is None


def test_a_tree_and_the_text_it_became_teach_the_same():
    chain = DraftTree(tokens=(5, 6), parents=(ROOT, 0))
    of_tree, of_text = Recycled(), Recycled()
    of_tree.learn_tree([1, 2], chain, [A, B, C])
    of_text.learn([1, 2, 5, 6, 9], [A, B, C])
    for place in ((1, 2), (2,), (2, 5), (5,), (5, 6), (6,)):
        assert of_tree.after(place) == of_text.after(place)


def test_a_tree_of_which_nothing_was_kept_teaches_nothing():
    memory = Recycled()
    memory.learn_tree([1, 2], DraftTree(tokens=(5,), parents=(ROOT,)), [])
    assert len(memory) == 0


def test_places_of_trees_are_forgotten_past_the_limit_too():
    memory = Recycled(most_places=4)
    for token in range(10):
        memory.learn_tree([token, token], DraftTree(tokens=(token,), parents=(ROOT,)), [A, B])
    assert len(memory) == 4
