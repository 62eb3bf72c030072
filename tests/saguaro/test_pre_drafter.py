"""What the drafter prepares, on toy weights: drafts as of a fresh forward, whatever happened to its cache before."""

import copy
import random
from dataclasses import replace

import pytest
import torch

from sssd_demo.request import MAX_S_Q, Drafting
from sssd_demo.saguaro.bent_law import Bending
from sssd_demo.saguaro.fan_out import Spread
from sssd_demo.saguaro.messages import Ask, Drafted, Happened, Serve, Served, Wanted
from sssd_demo.saguaro.pre_drafter import PreDrafter
from sssd_demo.sampled_tree import SampledTree
from sssd_demo.sampling import Sampling, distribution
from sssd_demo.speculators.draft_model import LONG, DraftModel
from sssd_demo.speculators.protocol import Sequence
from sssd_demo.target import PREFILL_CHUNK, Target
from sssd_demo.trace import EMPTY_TREE, ROOT, DraftTree
from tests.toys import VOCABULARY, random_tree, toy_model

MODEL = toy_model(seed=7)
GREEDY = Sampling()
WARM = Sampling(temperature=0.9, top_k=12, top_p=0.95)
SPREAD = Spread("uniform", 6, acceptance=0.7, exponent=1.0, confidence=0.05)
C = Bending("c", 0.3)


def never():
    return False


def always():
    return True


def fresh_law(tokens, sampling):
    """By transformers' own forward over the whole text."""
    with torch.inference_mode():
        logits = MODEL(input_ids=torch.tensor([list(tokens)]), use_cache=False).logits[0, -1]
    law = distribution(logits[None], replace(sampling, temperature=sampling.temperature or 1.0))[0].double()
    return law / law.sum()


def assert_draft_is_of(text, draft, sampling):
    """Every token of a draft after `text`: the most likely one, or drawn from the law that is reported."""
    for place, token in enumerate(draft.tokens):
        law = fresh_law([*text, *draft.tokens[:place]], sampling)
        if sampling.greedy:
            assert not isinstance(draft, SampledTree)
            assert token == int(law.argmax())
            assert draft.probs[place] == pytest.approx(float(law[token]), rel=1e-3)
        else:
            assert draft.laws[place] == "sampled"
            torch.testing.assert_close(draft.q[place], law, atol=2e-5, rtol=1e-3)
            assert draft.probs[place] == float(draft.q[place][token]) > 0


def branching(rng, budget):
    """A tree that the drafter did not draft: n-grams, say."""
    return random_tree(rng, rng.randint(1, budget), VOCABULARY)


class Bench:
    """A drafter with the engine's end of the talk played by chance."""

    def __init__(self, seed, sampling, *, rows=4, context=400, k=3, spread=SPREAD, check=True):
        self.rng = random.Random(seed)
        self.sampling = sampling
        self.draft = DraftModel(Target(copy.deepcopy(MODEL), rows=rows, context_length=context), VOCABULARY)
        self.drafter = PreDrafter(self.draft)
        self.k, self.spread, self.check = k, spread, check
        self.texts = {}
        self.room = {}
        self.served = {}
        self.happened = {}
        self.ids = 0
        self.version = 0
        self.hits = self.misses = self.late = 0

    def joins(self, length):
        self.ids += 1
        tokens = [self.rng.randrange(VOCABULARY) for _ in range(length)]
        self.texts[self.ids] = tokens
        return Sequence(
            self.ids, list(tokens), length, 16, (), sampling=replace(self.sampling, seed=self.ids), drafting=Drafting()
        )

    def ask(self, ids, joined=(), left=(), hurry=never, redraft=True):
        self.version += 1
        happened = tuple(self.happened.pop(id_) for id_ in ids if id_ in self.happened)
        for id_ in left:
            self.texts.pop(id_)
            self.happened.pop(id_, None)
        wanted = tuple(Wanted(id_, self.k, redraft, apart=self.rng.random() < 0.3) for id_ in ids)
        reply = self.drafter.answer(Ask(self.version, tuple(joined), tuple(left), happened, wanted), hurry)
        assert reply.version == self.version
        assert [each.id for each in reply.drafts] == list(ids)
        for each in reply.drafts:
            self.hits += each.hit
            self.misses += not each.hit
            if self.check:
                assert_draft_is_of(self.texts[each.id], each.tree, self.sampling)
        return {each.id: each for each in reply.drafts}

    def serve(self, drafted, hurry=never, spread="its own"):
        """What the drafter said, a part of it, something else or nothing at all."""
        served = []
        for id_, each in drafted.items():
            own = not each.hit and len(each.tree) > 0
            tree = each.tree
            if self.rng.random() < 0.4:
                own, tree = False, branching(self.rng, 6) if self.rng.random() < 0.8 else EMPTY_TREE
            tree = DraftTree(tokens=tree.tokens, parents=tree.parents)
            self.served[id_] = tree
            chosen = self.spread if self.rng.random() < 0.85 else None
            served.append(Served(id_, tree, own, self.k, 100, chosen if spread == "its own" else spread))
        self.drafter.prepare(Serve(tuple(served)), hurry)
        if self.check:
            for id_, cache in self.drafter._caches.items():
                for (node, bonus), draft in cache.drafts.items():
                    path = [cache.tree.tokens[step] for step in cache.tree.path_to(node)]
                    text = self.texts[id_][: cache.position]
                    assert_draft_is_of([*text, *path, bonus], draft, self.sampling)

    def verify(self, ids):
        """The target accepts some path and adds a token, often one that was prepared for."""
        for id_ in ids:
            tree = self.served[id_]
            cache = self.drafter._caches.get(id_)
            if cache is not None and cache.drafts and self.rng.random() < 0.6:
                node, bonus = self.rng.choice(list(cache.drafts))
            else:
                node, bonus = self.rng.randrange(-1, len(tree)), self.rng.randrange(VOCABULARY)
            path = tuple(tree.path_to(node))
            committed = (*(tree.tokens[step] for step in path), bonus)
            self.texts[id_].extend(committed)
            self.happened[id_] = Happened(id_, path, committed)


@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "sampled"])
@pytest.mark.parametrize("seed", range(3))
def test_after_any_history_every_draft_is_that_of_a_fresh_forward(sampling, seed):
    """Hits, misses, foreign trees, rounds without preparing, joins, leaves; two groups are asked and served apart."""
    bench = Bench(seed, sampling)
    groups: list[list[int]] = [[], []]
    left: list[int] = []
    for round_ in range(12):
        pending: dict[int, Drafted] = {}
        for at, group in enumerate(groups):
            joined = []
            if len(bench.texts) < 4 and bench.rng.random() < 0.6:
                joined = [bench.joins(bench.rng.choice([2, LONG + 5, 40, PREFILL_CHUNK + 40 if round_ < 2 else 3]))]
                group.extend(each.id for each in joined)
            leaving = [id_ for id_ in left if id_ in bench.texts]
            drafted = bench.ask(group, joined, leaving, hurry=bench.rng.choice([never, never, always]))
            left = []
            if group and bench.rng.random() < 0.25:  # leaves with the keys and values of others still unkept
                left = [group.pop(bench.rng.randrange(len(group)))]
            groups[at] = group
            pending |= {id_: drafted[id_] for id_ in group}
        for group in groups:
            hurry = bench.rng.choice([never, never, never, always])
            bench.serve({id_: pending[id_] for id_ in group}, hurry)
        for group in groups:
            bench.verify(group)
    assert bench.hits > 3
    assert bench.misses > 3


def test_a_drafter_that_keeps_a_path_of_a_tree_that_was_not_served_is_noticed():
    """Negative control of the test above."""
    bench = Bench(5, WARM)
    sequence = bench.joins(9)
    (drafted,) = bench.ask([1], [sequence]).values()
    assert len(drafted.tree) == 3
    bench.drafter.prepare(Serve((Served(1, branching(bench.rng, 4), True, 3, 100, None),)), never)  # not its own
    bench.texts[1].extend([(drafted.tree.tokens[0] + 1) % VOCABULARY, 5])
    bench.happened[1] = Happened(1, (0,), tuple(bench.texts[1][-2:]))
    with pytest.raises(AssertionError):
        bench.ask([1])


def test_the_row_of_a_leaver_goes_to_another_with_all_that_was_computed_there():
    """The one that moves has been prepared for, and its path is kept only after it has moved."""
    bench = Bench(0, GREEDY, rows=2)
    first, second = bench.joins(4), bench.joins(30)
    drafted = bench.ask([1, 2], [first, second])
    served = tuple(Served(id_, each.tree, True, 3, 100, SPREAD) for id_, each in drafted.items())
    bench.drafter.prepare(Serve(served), never)
    tree = drafted[2].tree
    committed = (*tree.tokens, 5)
    bench.texts[2].extend(committed)
    bench.happened[2] = Happened(2, (0, 1, 2), committed)
    bench.ask([], left=[1])
    (again,) = bench.ask([2]).values()
    assert len(again.tree) == 3


def test_a_branch_reads_its_own_path_only_and_outcomes_have_coins_of_their_own():
    bench = Bench(1, WARM)
    drafted = bench.ask([1], [bench.joins(8)])
    bench.drafter.prepare(Serve((Served(1, drafted[1].tree, True, 3, 100, SPREAD),)), never)
    drafts = bench.drafter._caches[1].drafts
    assert len(drafts) == SPREAD.budget
    assert len({draft.tokens for draft in drafts.values()}) > 1
    for (node, bonus), draft in drafts.items():
        path = [drafted[1].tree.tokens[step] for step in drafted[1].tree.path_to(node)]
        assert_draft_is_of([*bench.texts[1], *path, bonus], draft, WARM)


@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "sampled"])
def test_what_is_drafted_does_not_depend_on_who_else_is_drafted_for(sampling):
    def drafts(together):
        bench = Bench(3, sampling)
        sequences = [bench.joins(length) for length in (5, 20, 9)]
        found = {}
        for group in [[1, 2, 3]] if together else [[1], [2], [3]]:
            drafted = bench.ask(group, [sequences[id_ - 1] for id_ in group])
            served = tuple(Served(id_, drafted[id_].tree, True, 3, 100, SPREAD) for id_ in group)
            bench.drafter.prepare(Serve(served), never)
            for id_ in group:
                found[id_] = {key: draft.tokens for key, draft in bench.drafter._caches[id_].drafts.items()}
        return found

    assert drafts(together=True) == drafts(together=False)


def test_another_seed_changes_what_is_sampled_and_nothing_that_is_greedy():
    def drafted(sampling, seed):
        bench = Bench(4, sampling)
        return bench.ask([1], [replace(bench.joins(8), sampling=replace(sampling, seed=seed))])[1].tree.tokens

    assert len({drafted(WARM, seed) for seed in range(6)}) > 1
    assert len({drafted(GREEDY, seed) for seed in range(6)}) == 1


def test_a_bent_law_is_drawn_from_and_reported():
    bench = Bench(6, WARM, check=False)
    drafted = bench.ask([1], [bench.joins(8)])
    bench.drafter.prepare(Serve((Served(1, drafted[1].tree, True, 3, 100, SPREAD, C),)), never)
    for (node, bonus), draft in bench.drafter._caches[1].drafts.items():
        text = [*bench.texts[1], *(drafted[1].tree.tokens[step] for step in drafted[1].tree.path_to(node)), bonus]
        assert isinstance(draft, SampledTree)
        for place in range(3):
            law = fresh_law([*text, *draft.tokens[:place]], WARM)
            light = law.topk(2 if place < 2 else 1).indices  # six outcomes over four places
            law[light] *= 0.3
            torch.testing.assert_close(draft.q[place], law / law.sum(), atol=2e-5, rtol=1e-3)
            assert draft.probs[place] == float(draft.q[place][draft.tokens[place]])


def test_a_draft_after_an_outcome_is_no_longer_than_what_may_still_be_written():
    """Its bonus, and the bonus of the round that verifies it, are written too."""
    bench = Bench(7, GREEDY)
    drafted = bench.ask([1], [bench.joins(8)])
    bench.drafter.prepare(Serve((Served(1, drafted[1].tree, True, 3, 4, SPREAD),)), never)
    lengths = {node: len(draft) for (node, _), draft in bench.drafter._caches[1].drafts.items()}
    assert lengths == {ROOT: 2, 0: 1, 1: 0, 2: 0}


def test_a_text_near_the_end_of_the_draft_models_context_is_left_alone():
    bench = Bench(8, GREEDY, context=20)
    drafted = bench.ask([1], [bench.joins(17)])
    assert len(drafted[1].tree) == 3
    bench.serve(drafted, spread=SPREAD)
    assert not bench.drafter._caches
    bench.texts[1].extend((1, 2))
    bench.happened[1] = Happened(1, (), (1, 2))
    assert bench.ask([1])[1].tree == EMPTY_TREE


def test_one_whose_row_is_full_stands_beside_the_widest_forwards_of_others():
    """Padding is written after what a row holds, also where its text is nearly as long as the context."""
    context = 320
    wide = Spread("uniform", 64, 0.7, 1.0, 0.0)
    bench = Bench(9, GREEDY, rows=2, context=context, k=4, spread=wide, check=False)
    long, short = bench.joins(context - 12), bench.joins(5)
    drafted = bench.ask([1, 2], [long, short])
    full = Serve((Served(1, drafted[1].tree, True, 4, 100, wide),))
    bench.drafter.prepare(full, never)
    assert len(bench.drafter._caches[1].drafts) > 20
    tree = random_tree(bench.rng, MAX_S_Q - 1, VOCABULARY)
    bench.drafter.prepare(Serve((Served(2, tree, False, 2, 100, wide),)), never)
    bench.check = True
    for (node, bonus), draft in bench.drafter._caches[2].drafts.items():
        path = [tree.tokens[step] for step in tree.path_to(node)]
        assert_draft_is_of([*bench.texts[2], *path, bonus], draft, GREEDY)


def test_forwards_are_told_with_all_the_tokens_they_read(monkeypatch):
    """A draft accepted whole leaves two to be read; a foreign tree not prepared for, all it added."""
    bench = Bench(11, GREEDY)
    told = []
    answer = bench.drafter.answer

    def widths(ask, hurry):
        reply = answer(ask, hurry)
        told.append([(span.what, span.tokens) for span in reply.spans if span.what != "lookup"])
        return reply

    monkeypatch.setattr(bench.drafter, "answer", widths)
    drafted = bench.ask([1], [bench.joins(8)])[1]
    foreign = DraftTree(tokens=(1, 2, 3, 4), parents=(ROOT, 0, 1, 2))
    for tree, own, spread in ((drafted.tree, True, None), (foreign, False, None), (foreign, False, SPREAD)):
        bench.drafter.prepare(Serve((Served(1, tree, own, 3, 100, spread),)), never)
        committed = (*tree.tokens, 5)
        bench.texts[1].extend(committed)
        bench.happened[1] = Happened(1, tuple(range(len(tree))), committed)
        bench.ask([1], redraft=spread is None)
    assert told[0] == [("redraft", 8), ("redraft", 1), ("redraft", 1)]
    assert told[1] == [("redraft", 2), ("redraft", 1), ("redraft", 1)]
    assert told[2] == [("redraft", 6), ("redraft", 1), ("redraft", 1)]  # the root is read again
    assert told[3][0] == ("glue", 1 + len(foreign))


def test_nothing_is_prepared_once_the_engine_has_gone_on_and_nothing_stale_is_said():
    bench = Bench(10, GREEDY)
    drafted = bench.ask([1], [bench.joins(8)])
    bench.served[1] = drafted[1].tree
    bench.drafter.prepare(Serve((Served(1, drafted[1].tree, True, 3, 100, SPREAD),)), never)
    key = next(iter(bench.drafter._caches[1].drafts))
    bench.drafter.prepare(Serve((Served(1, drafted[1].tree, True, 3, 100, SPREAD),)), always)
    node, bonus = key
    committed = (*(drafted[1].tree.tokens[step] for step in drafted[1].tree.path_to(node)), bonus)
    for hit in (True, False):  # the outcome that was prepared for comes true a second time, in another round
        path = tuple(drafted[1].tree.path_to(node)) if hit else ()
        bench.texts[1].extend(committed)
        bench.happened[1] = Happened(1, path, committed)
        assert bench.ask([1], redraft=False)[1].hit == hit
