"""SSSD as the engine sees it: within budget, sequences apart, nothing left over."""

import random
from dataclasses import replace

import pytest

from sssd_demo.errors import UserError
from sssd_demo.speculators.protocol import Outcome, Sequence
from sssd_demo.speculators.sssd import Sssd
from sssd_demo.sssd.constants import DEFAULT
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.trace import EMPTY_TREE, ROOT, Top
from tests.toys import point_tree

STORES = {
    "digits": Datastore.build([list(range(10)) * 3], fingerprint="f", vocab_size=100),
    "other": Datastore.build([[1, 50, 51, 52]], fingerprint="f", vocab_size=100),
    "empty": Datastore.build([], fingerprint="f", vocab_size=100),
}


def open_store(name):
    if name not in STORES:
        raise UserError(f"There is no datastore {name!r}.")
    return STORES[name]


@pytest.fixture
def sssd():
    return Sssd(open_store)


def sequence(id_, prompt, first, s_q=8, stores=()):
    return Sequence(id_, [*prompt, first], len(prompt), s_q, tuple(stores))


def commit(sssd, sequence, tree, committed):
    sequence.tokens += committed
    sssd.observe([Outcome(sequence, tree, (), committed[-1], tuple(committed))])


def run(sssd, sequence, answer):
    """All trees of an answer that comes one or two tokens a round."""
    sssd.begin(sequence)
    trees = []
    for at in range(0, len(answer), 2):
        (tree,) = sssd.propose([sequence])
        trees.append(tree)
        commit(sssd, sequence, tree, answer[at : at + 2])
    sssd.end(sequence)
    return trees


def test_a_repeated_text_is_drafted_from_the_prompt(sssd):
    asked = sequence(1, [1, 2, 3, 4, 5, 6, 7], 1)
    sssd.begin(asked)
    (tree,) = sssd.propose([asked])
    assert tree.tokens[:6] == (2, 3, 4, 5, 6, 7)
    assert set(tree.sources[:6]) == {"prompt"}
    assert set(tree.match_lengths) == {1}


def test_a_repeated_answer_is_drafted_as_self_output(sssd):
    asked = sequence(1, [90], 1)
    sssd.begin(asked)
    commit(sssd, asked, EMPTY_TREE, [2, 3, 4, 5, 6, 7, 8, 9, 1, 2])
    (tree,) = sssd.propose([asked])
    assert set(tree.sources) == {"output"}
    assert tree.tokens[:3] == (3, 4, 5)


def test_all_stores_of_a_request_are_drawn_from_and_others_are_not(sssd):
    asked = sequence(1, [90], 1, stores=("digits", "other"))
    unasked = sequence(2, [90], 1)
    for joined in (asked, unasked):
        sssd.begin(joined)
    tree, nothing = sssd.propose([asked, unasked])
    assert set(tree.sources) == {"datastore"}
    assert {2, 50} <= set(tree.tokens)
    assert nothing == EMPTY_TREE


def test_an_empty_store_leaves_the_prompt_as_the_only_source(sssd):
    asked, plain = (sequence(n, [1, 2, 3], 1, stores=stores) for n, stores in enumerate([("empty",), ()]))
    for joined in (asked, plain):
        sssd.begin(joined)
    one, other = sssd.propose([asked, plain])
    assert one == other
    assert len(one) > 0


def test_an_unknown_store_is_refused_and_the_sequence_can_still_leave(sssd):
    asked = sequence(1, [1], 2, stores=("gone",))
    with pytest.raises(UserError, match="gone"):
        sssd.begin(asked)
    sssd.end(asked)


def test_the_budget_may_change_from_round_to_round(sssd):
    asked = sequence(1, list(range(20)) * 2, 0, stores=("digits",))
    sssd.begin(asked)
    for s_q in (1, 2, 64, 3, 1, 16):
        asked.s_q = s_q
        (tree,) = sssd.propose([asked])
        assert len(tree) <= s_q - 1
        assert (len(tree) > 0) == (s_q > 1)


def test_a_second_request_is_drafted_as_in_a_fresh_process():
    rng = random.Random(0)
    long = ([rng.randrange(8) for _ in range(300)], [rng.randrange(8) for _ in range(60)])
    short = ([rng.randrange(8) for _ in range(20)], [rng.randrange(8) for _ in range(40)])
    alone = run(Sssd(open_store), sequence(1, short[0], 0, stores=("digits",)), short[1])
    used = Sssd(open_store)
    run(used, sequence(1, long[0], 0, stores=("digits",)), long[1])
    assert run(used, sequence(2, short[0], 0, stores=("digits",)), short[1]) == alone
    assert run(used, sequence(1, short[0], 0, stores=("digits",)), short[1]) == alone  # even under an id used before


def test_sequences_side_by_side_draft_as_each_alone():
    rng = random.Random(1)
    texts = [([rng.randrange(6) for _ in range(40)], [rng.randrange(6) for _ in range(30)]) for _ in range(3)]
    alone = [run(Sssd(open_store), sequence(n, prompt, 0), answer) for n, (prompt, answer) in enumerate(texts)]
    together = Sssd(open_store)
    sequences = [sequence(n, prompt, 0) for n, (prompt, _) in enumerate(texts)]
    for joined in sequences:
        together.begin(joined)
    for at in range(0, 30, 2):
        trees = together.propose(sequences)
        assert trees == [alone[n][at // 2] for n in range(3)]
        for joined, tree, (_, answer) in zip(sequences, trees, texts, strict=True):
            commit(together, joined, tree, answer[at : at + 2])


def test_a_prompt_of_one_conversation_is_never_drafted_in_another(sssd):
    private = list(range(60, 90))
    run(sssd, sequence(1, private * 2, 60), private)
    for tree in run(sssd, sequence(2, [1, 2, 3] * 3, 1), [*range(60, 70), 2, 3]):
        assert set(private[10:]).isdisjoint(tree.tokens)


def test_nothing_is_kept_of_a_sequence_that_has_left(sssd):
    run(sssd, sequence(1, [1, 2, 3], 1), [2, 3, 1, 2])
    assert sssd._drafters == {}


def refuse(speculator, sequence, tree, top, committed):
    """A round in which nothing of `tree` was accepted."""
    sequence.tokens += committed
    speculator.observe([Outcome(sequence, tree, (), committed[-1], tuple(committed), top)])


REFUSED = point_tree((60, 61), (ROOT, 0))
AFTER = tuple(Top((token,), (0.9,)) for token in (70, 71, 72))  # the root, 60, 60 61


def after_refused(recycles, then):
    """The tree drafted when REFUSED was refused and the text went on with 50 and, a round later, `then`."""
    speculator = Sssd(open_store, replace(DEFAULT, recycle_rejected=recycles))
    asked = sequence(1, [90], 91)
    speculator.begin(asked)
    refuse(speculator, asked, REFUSED, AFTER, [50])
    refuse(speculator, asked, EMPTY_TREE, (), [then])
    (tree,) = speculator.propose([asked])
    return tree


def test_what_was_likely_after_a_refused_guess_is_drafted_where_that_guess_comes_true():
    tree = after_refused(recycles=True, then=60)
    assert (tree.tokens[0], tree.sources[0]) == (71, "recycled")
    assert after_refused(recycles=False, then=60) == EMPTY_TREE


@pytest.mark.parametrize("recycles", [True, False])
def test_what_was_likely_where_the_text_went_on_is_known_either_way(recycles):
    assert 70 in after_refused(recycles, then=91).tokens
