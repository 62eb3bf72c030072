"""Lookahead: what the window is, how it moves, which runs are tested, and that it keeps within its room."""

import copy
import random

import pytest
import torch

from sssd_demo.engine import Engine
from sssd_demo.length import LengthPlanner
from sssd_demo.request import Request
from sssd_demo.scratch_tree import ScratchTree
from sssd_demo.speculators.lookahead import KEPT, LEAST, Lookahead, Shape
from sssd_demo.speculators.protocol import Outcome, Sequence
from sssd_demo.target import Target, ancestry, from_bits
from sssd_demo.trace import EMPTY_TREE, ROOT, DraftTree
from tests.toys import VOCABULARY, toy_model


def slow(batch, s_q, context):
    return 1.0 * s_q


def free(batch, s_q, context):
    return 1.0


class Answer:
    """One sequence of a `Lookahead`, and a target that is the test itself."""

    def __init__(self, prompt, s_q, seconds=slow, method=None, id_=1):
        self.tree: DraftTree = EMPTY_TREE
        self.method = method or Lookahead(seconds)
        self.sequence = Sequence(id_, list(prompt), len(prompt), s_q, stores=())
        self.method.begin(self.sequence)

    def draft(self, s_q=None):
        if s_q is not None:
            self.sequence.s_q = s_q
        (self.tree,) = self.method.propose([self.sequence])
        return self.tree

    def goes_on(self, committed, guesses):
        """The round commits these tokens; the target's guesses after the window's nodes are `guesses`."""
        tested = self.tree.drafted() if isinstance(self.tree, ScratchTree) else self.tree
        self.sequence.tokens.extend(committed)
        outcome = Outcome(self.sequence, tested, (), committed[-1], tuple(committed), scratch_next=tuple(guesses))
        self.method.observe([outcome])

    @property
    def scratch(self):
        return self.tree.scratch if isinstance(self.tree, ScratchTree) else 0

    def tested(self):
        """Tokens and parents of the nodes that are tested."""
        count = len(self.tree) - self.scratch
        return self.tree.tokens[:count], self.tree.parents[:count]

    def window(self):
        """Tokens and parents of the window's nodes, as if its first node were node 0."""
        first = len(self.tree) - self.scratch
        parents = [parent if parent == ROOT else parent - first for parent in self.tree.parents[first:]]
        return self.tree.tokens[first:], tuple(parents)


def test_the_window_is_filled_level_by_level_then_its_columns_are_runs_to_test():
    """W = 3, N = 3: an answer worked out by hand."""
    answer = Answer([7, 7, 7, 7], s_q=8)
    answer.draft()
    assert answer.tested() == ((), ())
    assert answer.window() == ((7, 7, 7), (ROOT, 0, 1))  # level 0 alone, as long as it takes to keep its places

    answer.goes_on([10], [1, 2, 3])
    answer.draft()
    assert answer.tested() == ((), ())
    # 7 7 in columns 1 and 2 of level 0; below the root and below them what was guessed for the places after them.
    assert answer.window() == ((7, 7, 1, 2, 3), (ROOT, 0, ROOT, 0, 1))

    answer.goes_on([7], [90, 91, 21, 22, 23])  # only the last level's guesses count
    answer.draft()
    # Runs are now 10 1 21, 7 2 22 and 7 3 23, and the last token is 7: the newer run comes first.
    assert answer.tested() == ((3, 23), (ROOT, 0))  # there was no room for the other one
    assert answer.window() == ((2, 3, 21, 22, 23), (ROOT, 0, ROOT, 0, 1))
    assert set(answer.tree.sources) == {"jacobi"}
    assert set(answer.tree.laws) == {"point"}
    assert answer.tree.match_lengths[:2] == (1, 1)


def test_it_moves_by_one_token_however_many_a_round_commits():
    windows = []
    for committed in ([4], [4, 5, 6]):
        answer = Answer([7, 8, 9], s_q=8)
        for guesses in ([1, 2, 3], [9, 9, 21, 22, 23]):
            answer.draft()
            answer.goes_on(committed, guesses)
        answer.draft()
        windows.append(answer.window())
    assert windows[0] == windows[1] == ((2, 3, 21, 22, 23), (ROOT, 0, ROOT, 0, 1))


def test_while_levels_are_missing_every_guess_keeps_the_place_it_was_made_for():
    """W = 6, N = 4: with each level that is added, the column next to the root becomes the root's."""
    answer = Answer([7] * 5, s_q=24)
    answer.draft()
    assert answer.window()[0] == (7,) * 7
    answer.goes_on([7], range(11, 18))
    answer.draft()
    assert answer.window()[0] == (7,) * 6 + (11, 12, 13, 14, 15, 16, 17)
    answer.goes_on([7], [0] * 6 + [20, 21, 22, 23, 24, 25, 26])  # 20 is for the place where the new root now stands
    answer.draft()
    assert answer.window()[0] == (7,) * 5 + (12, 13, 14, 15, 16, 17) + (21, 22, 23, 24, 25, 26)
    assert answer.window()[1] == (ROOT, 0, 1, 2, 3, ROOT, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)


def test_a_run_begins_with_the_root_of_its_round_not_with_what_came_after():
    answer = Answer([7, 7], s_q=8)
    for committed, guesses in (([5], [1, 2, 3]), ([6, 8], [0, 0, 21, 22, 23])):
        answer.draft()
        answer.goes_on(committed, guesses)
    answer.draft()
    assert answer.tested() == ((), ())
    answer.goes_on([5], [0] * 5)
    answer.draft()
    assert answer.tested() == ((1, 21), (ROOT, 0))


@pytest.mark.parametrize("s_q", [8, 16, 24, 48])
def test_a_node_sees_level_0_up_to_its_column_and_its_own_column(s_q):
    """The attention pattern of the paper's figure 2(b), written down as the authors do: by level and column."""
    shape = Shape.within(s_q)
    answer = Answer([1, 2, 3], s_q)
    for _ in range(shape.levels):
        answer.draft()
        answer.goes_on([1], range(answer.scratch))
    answer.draft()
    assert answer.scratch == len(shape) - 1, "with the root, every level has all columns"
    first = len(answer.tree) - answer.scratch
    size = 1 + len(answer.tree)
    sees = from_bits(ancestry(answer.tree, size), size)
    places = {(0, 0): 0} | {
        divmod(at, shape.columns): first + at for at in range(1, len(shape))
    }  # (level, column) → position in the forward, 0 for the root
    for (level, column), row in places.items():
        for (other, beside), position in places.items():
            expected = (other == 0 and beside <= column) or (other <= level and beside == column)
            assert bool(sees[row, position]) == expected
        assert not sees[row, 1 : first + 1].any(), "no window node sees a node that is tested"
        depth = 0 if row == 0 else answer.tree.depth(row - 1)
        assert depth == level + column


def test_runs_that_begin_alike_share_nodes_and_are_cut_where_the_room_ends():
    answer = Answer([7] * 9, s_q=16, seconds=free)
    answer.draft()
    answer.goes_on([7], [1, 2, 1, 3, 4, 4])
    answer.draft()
    answer.goes_on([7], [0] * 5 + [11, 12, 13, 14, 15, 16])
    answer.draft()
    # Newest first: 4 16, 4 15, 3 14, 1 13, 2 12, and 1 11, which began with the root.
    assert answer.tested() == ((4, 16, 15, 3), (ROOT, 0, 0, ROOT))
    assert answer.tree.probs[:4] == (2 / 6, 1 / 6, 1 / 6, 1 / 6)
    answer.draft(s_q=32)
    assert answer.tested() == ((4, 16, 15, 3, 14, 1, 13, 2, 12, 11), (ROOT, 0, 0, ROOT, 3, ROOT, 5, ROOT, 7, 5))


def test_the_pool_keeps_the_newest_runs_of_each_first_token():
    answer = Answer([7] * 4, s_q=8, seconds=free)
    answer.draft()
    answer.goes_on([7], [1, 2, 3])
    for number in range(KEPT + 5):
        answer.draft()
        answer.goes_on([7], [0, 0, 100 + number, 7, 7])
    answer.draft(s_q=64)
    tokens, parents = answer.tested()
    firsts = [token for token, parent in zip(tokens, parents, strict=True) if parent == ROOT]
    # 7 7 7 was found in every round, and of what began with the root, 7 100 101, 7 101 102, …, there is the newer part.
    assert set(firsts) == {7, *range(100 + 5, 100 + KEPT + 4)}
    assert len(firsts) == KEPT


def test_a_run_that_is_found_again_counts_as_new():
    answer = Answer([7] * 4, s_q=8)
    for guesses in ([1, 2, 3], [0, 0, 1, 3, 3]):  # the second makes 7 1 1, 7 2 3 and 7 3 3
        answer.draft()
        answer.goes_on([7], guesses)
    assert answer.draft().tokens[:2] == (3, 3)
    answer.goes_on([7], [0, 0, 1, 3, 3])  # 7 1 1 again, and runs that begin with 2 and 3
    assert answer.draft().tokens[:2] == (1, 1)


@pytest.mark.parametrize("seconds", [slow, free])
def test_trees_stay_within_their_room_whatever_happens(seconds):
    rng = random.Random(3)
    drafted = set()
    for _ in range(60):
        answer = Answer([rng.randrange(5) for _ in range(rng.randint(1, 20))], s_q=1, seconds=seconds)
        s_q = rng.randint(1, 64)
        for _ in range(25):
            if rng.random() < 0.3:
                s_q = rng.randint(1, 64)
            tree = answer.draft(s_q)
            assert len(tree) < s_q
            tested, parents = answer.tested()
            assert all(parent < len(tested) for parent in parents)
            assert len(set(zip(tested, parents, strict=True))) == len(tested), "a token twice below one parent"
            drafted.add((len(tested) > 0, answer.scratch > 0))
            answer.goes_on([rng.randrange(5)] * rng.randint(1, 4), [rng.randrange(5) for _ in range(answer.scratch)])
    assert drafted == {(False, False), (False, True), (True, False), (True, True)}


def test_with_less_room_the_last_columns_go_and_the_others_stay():
    answer = Answer([1, 2, 3, 4], s_q=16)
    for committed in ([5], [6]):
        answer.draft()
        answer.goes_on(committed, [*range(50, 50 + answer.scratch)])
    wide = answer.draft() and answer.window()
    narrow = answer.draft(s_q=8) and answer.window()
    assert wide[0] == (51, 52, 53, 54, 55, *range(55, 61))
    assert narrow == ((51, 52, 55, 56, 57), (ROOT, 0, ROOT, 0, 1))
    answer.draft(s_q=LEAST - 1)
    assert not answer.scratch


def test_the_smallest_window_has_one_column():
    answer = Answer([7, 7], s_q=LEAST)
    answer.draft()
    assert answer.window() == ((7,), (ROOT,))
    answer.goes_on([7], [5])
    answer.draft()
    assert answer.window() == ((5,), (ROOT,))  # below the root itself
    answer.goes_on([7], [6])
    answer.draft()
    assert (answer.tested(), answer.window()) == (((5, 6), (ROOT, 0)), ((6,), (ROOT,)))
    assert Answer([7, 7], s_q=LEAST - 1).draft() == EMPTY_TREE


def test_without_room_for_a_window_the_runs_of_the_pool_are_still_tested():
    answer = Answer([7, 7], s_q=8)
    for guesses in ([1, 2, 3], [0, 0, 21, 22, 23]):
        answer.draft()
        answer.goes_on([7], guesses)
    answer.draft(s_q=LEAST - 1)
    assert (answer.tested(), answer.scratch) == (((3, 23), (ROOT, 0)), 0)
    assert not isinstance(answer.tree, ScratchTree)


@pytest.mark.parametrize(("batch", "length"), [(1, 32), (2, 16), (4, 8), (8, 4), (16, 1)])
def test_where_the_length_is_left_to_the_machine_a_batch_has_the_window_that_can_pay(batch, length):
    def seconds(batch, s_q, context):
        return max(1.0, batch * s_q / 22)  # flat up to 22 tokens in a forward, half as much again at 33

    method = Lookahead(seconds)
    answers = [Answer([1, 2, 3], 32, method=method, id_=at) for at in range(batch)]
    for answer in answers:
        answer.sequence.left_open = True
    trees = method.propose([answer.sequence for answer in answers])
    assert {len(tree) for tree in trees} == {len(fixed(length))}
    if batch > 1:  # the others have gone
        assert len(method.propose([answers[0].sequence])[0]) == len(fixed(32))


def fixed(s_q):
    """What is drafted first where the length is not left open, however long that takes."""
    return Answer([1, 2, 3], s_q, seconds=slow).draft()


def test_a_first_round_without_room_does_not_bind_the_later_ones():
    answer = Answer([1, 2, 3], s_q=1)
    assert answer.draft() == EMPTY_TREE
    assert len(answer.draft(s_q=16)) > 0


def test_sequences_do_not_see_each_other_and_leave_nothing_behind():
    method = Lookahead(slow)
    first, second = (Answer(prompt, 8, method=method, id_=id_) for id_, prompt in ((1, [7, 7]), (2, [7, 7])))
    for guesses in ([1, 2, 3], [0, 0, 21, 22, 23]):
        first.draft()
        first.goes_on([7], guesses)
    assert first.draft().tokens[0] == 3
    assert second.draft().tokens == (7, 7, 7)
    for answer in (first, second):
        method.end(answer.sequence)
    assert not method._branches
    assert Answer([7, 7], 8, method=method).draft().tokens == (7, 7, 7)


MODEL = toy_model()


class Watched(Lookahead):
    """Remembers each tree and what came back."""

    def __init__(self):
        super().__init__(slow)
        self.rounds = []

    def propose(self, sequences):
        self.trees = super().propose(sequences)
        return self.trees

    def observe(self, outcomes):
        (outcome,) = outcomes
        before = outcome.sequence.tokens[: -len(outcome.committed)]
        self.rounds.append((before, self.trees[0], outcome.scratch_next))
        super().observe(outcomes)


@pytest.mark.parametrize("s_q", [8, 24])
def test_what_the_pool_learns_is_what_the_target_says_after_each_column(s_q):
    """Through the engine, against the model's own forward over each column as plain text."""

    def next_token(tokens):
        with torch.inference_mode():
            return int(MODEL(input_ids=torch.tensor([tokens]), use_cache=False).logits[0, -1].argmax())

    watched = Watched()
    target = Target(copy.deepcopy(MODEL), rows=1, context_length=200)
    engine = Engine(target, {"lookahead": watched}, lengths=LengthPlanner(bytes_per_weight=4))
    prompt = tuple(random.Random(1).randrange(VOCABULARY) for _ in range(12))
    list(engine.submit(Request(prompt, "lookahead", 30, s_q=s_q)))
    engine.close()
    with_window = [each for each in watched.rounds if isinstance(each[1], ScratchTree)]
    assert len(with_window) > 5
    for before, tree, guesses in with_window:
        assert len(guesses) == tree.scratch
        for at, guess in enumerate(guesses, start=len(tree) - tree.scratch):
            assert guess == next_token([*before, *(tree.tokens[node] for node in tree.path_to(at))])
