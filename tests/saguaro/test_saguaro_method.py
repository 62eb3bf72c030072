"""Saguaro through the whole engine on toys: the greedy text stays what it was, and what past rounds lead to."""

import copy
import itertools
import random
from collections import Counter
from dataclasses import replace
from typing import Literal

import pytest
import torch

from sssd_demo.engine import Engine
from sssd_demo.length import LengthPlanner
from sssd_demo.request import ACCEPTANCE_RULES, Drafting, Request
from sssd_demo.roofline import Profile
from sssd_demo.saguaro.bent_law import Bending
from sssd_demo.saguaro.drafter_process import DrafterProcess
from sssd_demo.saguaro.fan_out import Spread
from sssd_demo.saguaro.messages import Ask, Drafted, Happened, Reply, Serve, Served, Wanted
from sssd_demo.saguaro.options import SaguaroOptions
from sssd_demo.saguaro.past_rounds import RESTING
from sssd_demo.saguaro.pre_drafter import PreDrafter
from sssd_demo.saguaro.speculation_cache import model_chain
from sssd_demo.sampled_tree import SampledTree
from sssd_demo.sampling import Sampling
from sssd_demo.speculators.protocol import Outcome, Sequence
from sssd_demo.speculators.registry import make_speculators
from sssd_demo.speculators.saguaro import Saguaro
from sssd_demo.sssd.drafter import Store
from sssd_demo.target import Target
from sssd_demo.trace import EMPTY_TREE, Top
from tests.proofs.chi_square import chi_square
from tests.proofs.scripted_model import Script
from tests.saguaro.drafters import ToySource
from tests.toys import VOCABULARY, toy_model

MODEL = toy_model()
CONTEXT = 300
FLAT = Profile({(1, 1, 64): 1.0, (1, 32, 64): 1.15})
BOTH = ["saguaro", "saguaro-sssd"]
LENGTHS: list[int | Literal["auto"]] = [1, 2, 4, "auto"]


@pytest.fixture
def make_engine():
    made: list[Engine | DrafterProcess] = []

    def make(rows=4):
        lengths = LengthPlanner(bytes_per_weight=4)
        lengths.use(FLAT)
        drafter = DrafterProcess(ToySource(rows), place="thread")
        drafter.ensure()
        target = Target(copy.deepcopy(MODEL), rows=rows, context_length=CONTEXT)
        engine = Engine(target, make_speculators(no_store, None, lengths.seconds, drafter), lengths=lengths)
        made.extend([engine, drafter])
        return engine

    yield make
    for each in made:
        each.close()


def no_store(name: str) -> Store:
    raise AssertionError("no request names a store")


def written(rounds):
    return [token for round_ in rounds for token in round_.committed]


def prompts(count, seed):
    rng = random.Random(seed)
    texts = [[rng.randrange(VOCABULARY) for _ in range(rng.randint(1, 30))] for _ in range(count)]
    return [tuple(text + text[: rng.randint(0, 8)]) for text in texts]


OPTIONS = [
    SaguaroOptions(),
    SaguaroOptions("uniform", 6, fallback="immediate"),
    SaguaroOptions("logits", 8, fallback="batched", nearest=True, roll_back_after=0),
    SaguaroOptions("confident", 8, fallback="partial", nearest=True),
    SaguaroOptions("sized", fallback="partial", late_ms=0.0),
    SaguaroOptions("geometric", 5, bend="c", c=0.2, roll_back_after=1),
]


@pytest.mark.parametrize("method", BOTH)
def test_drafting_ahead_changes_no_token_of_a_hundred_greedy_answers(make_engine, method):
    """Of all lengths, joining and leaving a batch of four; every tenth is written alone."""
    rng = random.Random(3)
    engine = make_engine()
    asked = [(prompt, rng.randint(6, 16)) for prompt in prompts(100, seed=8)]
    plain = [engine.submit(Request(prompt, "autoregressive", limit)) for prompt, limit in asked]
    expected = [written(stream) for stream in plain]
    requests = [
        Request(prompt, method, limit, s_q=rng.choice([2, 4, 8, "auto"]), drafting=Drafting(k, rule=rule), saguaro=how)
        for (prompt, limit), k, how, rule in zip(
            asked,
            itertools.cycle(LENGTHS),
            itertools.cycle(OPTIONS),
            itertools.cycle(ACCEPTANCE_RULES),
            strict=False,
        )
    ]
    alone = [list(engine.submit(request)) for request in requests[::10]]
    streams = [engine.submit(request) for request in requests]
    rounds = [list(stream) for stream in streams]
    assert [written(each) for each in rounds] == expected
    assert [written(each) for each in alone] == expected[::10]
    accounts = [round_.saguaro for each in rounds for round_ in each if round_.saguaro]
    assert sum(account.hit for account in accounts) > 20
    assert sum(not account.hit for account in accounts) > 50
    fates = Counter(fate for each in rounds for round_ in each for fate in round_.tree.fates)
    assert fates["accepted"] > 100
    assert fates["rejected"] > 100


def test_other_methods_may_share_the_batch(make_engine):
    engine = make_engine()
    asked = prompts(24, seed=9)
    expected = [written(engine.submit(Request(prompt, "autoregressive", 16))) for prompt in asked]
    methods = itertools.cycle(["saguaro", "sssd", "saguaro-sssd", "autoregressive", "prompt-lookup"])
    streams = [
        engine.submit(Request(prompt, method, 16, s_q=6, drafting=Drafting(2)))
        for prompt, method in zip(asked, methods, strict=False)
    ]
    assert [written(stream) for stream in streams] == expected


@pytest.mark.parametrize("method", BOTH)
def test_a_greedy_draft_keeps_the_very_text_of_autoregressive_sampling(make_engine, method):
    engine = make_engine()
    warm = [(prompt, Sampling(temperature=0.9, seed=at)) for at, prompt in enumerate(prompts(6, seed=4))]
    plain = [written(engine.submit(Request(prompt, "autoregressive", 16, how))) for prompt, how in warm]
    cold = Drafting(3, temperature=0.0, rule="block")
    streams = [engine.submit(Request(prompt, method, 16, how, s_q=8, drafting=cold)) for prompt, how in warm]
    assert [written(stream) for stream in streams] == plain


@pytest.mark.parametrize("method", BOTH)
def test_neither_the_seed_of_drafts_nor_how_late_they_are_changes_a_greedy_text(make_engine, method):
    engine = make_engine()
    texts = set()
    for seed, late in itertools.product(range(3), (None, 0.0, 1.0)):
        how = Request((3, 1, 4, 1, 5), method, 20, Sampling(seed=seed), s_q=6, saguaro=SaguaroOptions(late_ms=late))
        texts.add(tuple(written(engine.submit(how))))
    assert len(texts) == 1


# What the engine's end does with what a drafter says.


class Scripted:
    """A drafter, and the link to it, that says what a test wants; `said` of None is a reply that comes too late."""

    def __init__(self):
        self.number, self.ready, self.step_seconds = 1, True, {}
        self.heard = []
        self.said = lambda id_: Drafted(id_)

    @property
    def current(self):
        return self if self.ready else None

    def send(self, message):
        self.heard.append(message)
        return True

    def reply(self, version, until=None):
        drafts = [self.said(wanted.id) for wanted in self.heard[-1].wanted]
        return None if None in drafts else Reply(version, tuple(drafts), ())


DEFAULT, GREEDY = SaguaroOptions(), Sampling()


class Talk:
    """One answer of a `Saguaro` whose drafter is scripted."""

    def __init__(self, options=DEFAULT, *, mix=False, s_q=6, sampling=GREEDY):
        self.drafter = Scripted()
        versions = itertools.count(1)
        self.method = Saguaro(
            self.drafter, no_store, lambda *_: 1.0, mix=mix, versions=lambda: next(versions), clock=lambda: 0.0
        )
        # Nothing in the text occurs twice, so that there are no n-grams.
        self.sequence = Sequence(
            7, list(range(10)), 10, s_q, (), sampling=sampling, drafting=Drafting(3), saguaro=options, room=100
        )
        self.method.begin(self.sequence)

    def round(self, said, accepted=0, bonus=None, top=()):
        """One round in which the drafter says this; returns the tree, the account, and what was asked of it."""
        self.drafter.said = said
        (tree,) = self.method.propose([self.sequence])
        account = self.method.verifying([self.sequence], [tree])[7]
        ask, serve = None, None
        for message in self.drafter.heard:
            ask = message if isinstance(message, Ask) else ask
            serve = message if isinstance(message, Serve) else serve
        path = tuple(range(accepted))
        bonus = 10 + len(self.sequence.tokens) if bonus is None else bonus
        committed = (*tree.tokens[:accepted], bonus)
        self.sequence.tokens.extend(committed)
        self.method.observe([Outcome(self.sequence, tree, path, bonus, committed, top)])
        return tree, account, ask, serve


def hit(id_):
    return Drafted(id_, model_chain((50, 51, 52), (0.5, 0.5, 0.5), "point"), hit=True, keys=((0, 1),), rank=1)


def missed(id_):
    return Drafted(id_, keys=((0, 1),), rank=4)


def late(id_):
    return None


def sampled(count):
    law = torch.full((100,), 0.01, dtype=torch.float64)
    chain = model_chain(tuple(range(60, 60 + count)), (0.01,) * count, "sampled")
    return SampledTree.of(chain, dict.fromkeys(range(count), law))


def test_the_drafter_hears_what_became_of_what_was_served():
    talk = Talk()
    _, account, ask, serve = talk.round(missed)
    assert (account.why, account.hit) == ("first", False)
    assert [each.id for each in ask.joined] == [7]
    assert ask.happened == ()
    assert serve.served[0].spread is not None
    tree, account, ask, _ = talk.round(hit, accepted=2)
    assert ask.joined == ()
    assert ask.happened == (Happened(7, (), (20,)),)
    assert (account.hit, account.why, account.fallback, account.outcome) == (True, None, None, (0, 20))
    assert tree.tokens == (50, 51, 52)
    _, account, ask, _ = talk.round(late)
    assert ask.happened == (Happened(7, (0, 1), (50, 51, 21)),)
    assert (account.why, account.fallback, account.keys) == ("late", "nothing", ())
    assert account.outcome == (2, 21)


def test_without_a_drafter_the_answer_goes_on_and_a_new_one_is_told_the_whole_text():
    talk = Talk()
    talk.round(hit, accepted=1)
    talk.drafter.ready = False
    tree, account, _, _ = talk.round(hit)
    assert (account.why, account.fallback, len(tree)) == ("no drafter", "nothing", 0)
    talk.drafter.ready, talk.drafter.number = True, 2
    _, account, ask, _ = talk.round(missed)
    assert account.why == "miss"
    assert ask.happened == ()
    assert ask.joined[0].tokens == talk.sequence.tokens[:-1]


def test_what_would_have_followed_a_refused_draft_is_not_learnt_for_its_draws_may_be_made_again():
    talk = Talk(mix=True, s_q=16)
    after = [Top((token,), (0.9,)) for token in (70, 71, 72, 73)]  # the root, which is 9, then 50, 51, 52
    talk.round(hit, bonus=50, top=after)
    tree, *_ = talk.round(missed, bonus=9)
    assert 71 not in tree.tokens
    tree, *_ = talk.round(missed)
    assert 70 in tree.tokens, "what was likely where the text went on is learnt"


def test_after_three_misses_nothing_is_prepared_for_a_while_and_then_it_is_tried_again():
    talk = Talk()
    said = [talk.round(missed) for _ in range(4 + RESTING + 2)]
    why = [account.why for _, account, _, _ in said]
    assert why == ["first", *["miss"] * 3, *["rolled back"] * RESTING, *["miss"] * 2]
    prepared = [serve.served[0].spread is not None for _, _, _, serve in said]
    assert prepared == [True] * 3 + [False] * RESTING + [True] * 3
    wanted = [ask.wanted[0].redraft for _, _, ask, _ in said]
    assert all(wanted)


def test_a_sampled_draft_that_became_too_long_is_served_whole_or_not_at_all():
    talk = Talk(s_q=3, sampling=Sampling(temperature=1.0))
    fitting = Drafted(7, sampled(2), hit=True, keys=((0, 1),))
    tree, account, _, _ = talk.round(lambda id_: fitting)
    assert len(tree) == 2
    assert account.hit
    tree, account, _, _ = talk.round(lambda id_: replace(fitting, tree=sampled(3)))
    assert len(tree) == 0
    assert (account.hit, account.why, account.fallback) == (False, "miss", "nothing")
    point = replace(fitting, tree=model_chain((50, 51, 52), (0.5,) * 3, "point"))
    tree, account, _, _ = talk.round(lambda id_: point)
    assert tree.tokens == (50, 51)
    assert account.hit


def test_candidates_of_the_nearest_outcome_are_offered_if_wished_and_nothing_better_is_there():
    nearest = model_chain((80, 81), (0.0, 0.0), "point")
    for wished in (False, True):
        talk = Talk(SaguaroOptions(nearest=wished))
        tree, account, _, _ = talk.round(lambda id_: Drafted(id_, nearest=nearest))
        assert (tree.tokens, account.fallback) == (((80, 81), "nearest") if wished else ((), "nothing"))
        drafted = Drafted(7, model_chain((50,), (0.5,), "point"), nearest=nearest)
        tree, account, _, _ = talk.round({7: drafted}.get)
        assert (tree.tokens, account.fallback) == ((50,), "immediate")


def test_n_grams_are_looked_up_beside_the_drafter_if_they_join_every_draft_and_else_only_to_stand_in():
    def looked_up(talk, said):
        account = talk.round(said)[1]
        return [span.what for span in account.spans]

    alone, joined = Talk(), Talk(mix=True)
    assert [looked_up(alone, said) for said in (missed, hit, late)] == [
        ["wait", "backup"],
        ["wait"],
        ["wait", "backup"],
    ]
    assert [looked_up(joined, said) for said in (missed, hit, late)] == [["backup", "wait"]] * 3


def test_who_leaves_is_told_at_once():
    talk = Talk()
    talk.round(hit)
    talk.method.end(talk.sequence)
    assert talk.drafter.heard[-1].left == (7,)


# What is drawn has the law that is reported.


def test_drafts_for_an_outcome_follow_the_laws_that_they_report():
    """By counting over seeds, for the first two tokens of a prepared draft together."""
    runs, width = 1500, 3
    warm = Sampling(temperature=1.0, top_k=width)
    spread = Spread("uniform", 1, 0.5, 1.0, 0.0)
    drafter = PreDrafter(Script().draft(rows=1))
    counts: Counter[tuple[int, ...]] = Counter()
    laws: dict[tuple[int, ...], torch.Tensor] = {}
    for seed in range(runs):
        sequence = Sequence(seed, [2, 0, 1], 3, 8, (), sampling=replace(warm, seed=seed))
        drafter.answer(Ask(1, (sequence,), (seed - 1,), (), ()), lambda: False)
        served = Served(seed, EMPTY_TREE, True, 2, 100, spread, Bending("c", 0.4))
        drafter.prepare(Serve((served,)), lambda: False)
        ((_, bonus),) = drafter._caches[seed].drafts
        happened = Happened(seed, (), (bonus,))
        reply = drafter.answer(Ask(2, (), (), (happened,), (Wanted(seed, 2, False),)), lambda: False)
        draft = reply.drafts[0].tree
        assert isinstance(draft, SampledTree)
        counts[draft.tokens] += 1
        laws |= {(): draft.q[0], draft.tokens[:1]: draft.q[1]}
    law: dict[tuple[int, ...], float] = {
        (first, second): float(laws[()][first] * laws[first,][second])
        for first in range(5)
        if (first,) in laws
        for second in range(5)
    }
    assert len([share for share in law.values() if share]) == width * width
    assert chi_square(counts, law).p_value > 1e-4
    straight = Script().q((0, 1, bonus), warm)
    unbent = {text: share / float(laws[()][text[0]]) * straight[text[0]] for text, share in law.items() if share}
    assert chi_square(counts, unbent).p_value < 1e-4, "the law without the bend would be noticed"
