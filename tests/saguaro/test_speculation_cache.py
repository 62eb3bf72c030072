"""The cache of prepared drafts: the very outcome or nothing, and what is most like it as candidates."""

import pytest
import torch

from sssd_demo.saguaro.speculation_cache import SpeculationCache, model_chain
from sssd_demo.sampled_tree import SampledTree
from sssd_demo.trace import ROOT, DraftTree
from tests.toys import point_tree


def sampled(*tokens):
    law = torch.full((10,), 0.1)
    chain = model_chain(tokens, [0.1] * len(tokens), "sampled")
    return SampledTree.of(chain, dict.fromkeys(range(len(tokens)), law))


CHAIN = point_tree([3, 1], [ROOT, 0])
DRAFTS: dict[tuple[int, int], DraftTree] = {
    (ROOT, 7): sampled(1, 8, 2),
    (ROOT, 5): sampled(9, 9, 9),
    (0, 4): sampled(6, 2, 0),
    (1, 4): sampled(0, 0, 1),
}
LOGITS = torch.tensor([[0.0, 1, 2, 9, 4, 3, 0, 8, 0, 0]] * 3)
CACHE = SpeculationCache(20, CHAIN, LOGITS, DRAFTS)


def test_an_outcome_is_found_by_its_path_and_its_bonus_or_not_at_all():
    assert CACHE.look_up((), 7) is DRAFTS[ROOT, 7]
    assert CACHE.look_up((0,), 4) is DRAFTS[0, 4]
    assert CACHE.look_up((0, 1), 4) is DRAFTS[1, 4]
    assert CACHE.look_up((0,), 7) is None, "the bonus was prepared for after another path only"
    assert CACHE.look_up((), 4) is None


def test_in_a_tree_two_paths_of_one_length_are_two_outcomes():
    tree = point_tree([3, 2], [ROOT, ROOT])
    cache = SpeculationCache(20, tree, LOGITS, {(0, 4): DRAFTS[0, 4]})
    assert cache.look_up((0,), 4) is DRAFTS[0, 4]
    assert cache.look_up((1,), 4) is None
    assert cache.outcomes() == ((1, 4),)


def test_outcomes_are_told_by_the_number_accepted():
    assert CACHE.outcomes() == ((0, 7), (0, 5), (1, 4), (2, 4))


def test_the_rank_leaves_out_the_token_that_was_drafted_there():
    assert CACHE.rank((), 7) == 1  # token 3 is more likely, but was refused
    assert CACHE.rank((0, 1), 7) == 2
    assert CACHE.rank((), 4) == 2


@pytest.mark.parametrize(
    ("path", "bonus", "goes_on"),
    [
        ((0,), 7, (6, 2, 0)),  # of (3, 7) the first token is that of (3, 4, 6, 2, 0), which goes on after two
        ((), 3, (4, 6, 2, 0)),
        ((0, 1), 6, (0, 0, 1)),
        ((), 9, (1, 8, 2)),  # nothing in common with any: the likeliest outcome's
    ],
)
def test_the_nearest_outcome_is_the_one_that_shares_most_of_the_text(path, bonus, goes_on):
    nearest = CACHE.nearest(path, bonus)
    assert nearest.tokens == goes_on
    assert nearest.is_chain()


def test_a_draft_that_foresaw_the_bonus_as_its_own_token_is_nearest():
    """After “nothing accepted, bonus 7” it went on with 1, 8, 2; now 7 came as accepted token and 1 as bonus."""
    cache = SpeculationCache(20, point_tree([7], [ROOT]), LOGITS, {(ROOT, 7): sampled(1, 8, 2), (0, 5): sampled(4)})
    assert cache.nearest((0,), 1).tokens == (8, 2)


def test_the_nearest_draft_is_offered_without_chance_whatever_it_was_drawn_from():
    nearest = CACHE.nearest((), 3)
    assert type(nearest) is DraftTree
    assert set(nearest.laws) == {"point"}
    assert set(nearest.sources) == {"model"}


def test_a_cache_without_drafts_offers_nothing():
    empty = SpeculationCache(20, CHAIN, LOGITS, {})
    assert empty.look_up((), 7) is None
    assert len(empty.nearest((), 7)) == 0
    assert empty.outcomes() == ()
