"""What every method without a draft model promises, whoever shares its batch. A new one need only be registered."""

import copy
import random

import pytest
import torch

from sssd_demo.engine import Engine
from sssd_demo.errors import UserError
from sssd_demo.length import LengthPlanner
from sssd_demo.request import Length, Request
from sssd_demo.roofline import Profile
from sssd_demo.sampling import Sampling
from sssd_demo.speculators.needs import WITH_DRAFT_MODEL
from sssd_demo.speculators.registry import METHODS, make_speculators
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.target import Target
from tests.toys import VOCABULARY, toy_model

MODEL = toy_model()
CONTEXT = 300
ALONE = [method for method in METHODS if method not in WITH_DRAFT_MODEL]
DRAFTING = [method for method in ALONE if method != "autoregressive"]
# Long forwards cost little more than short ones, so that an open length drafts.
FLAT = Profile({(1, 1, 64): 1.0, (1, 32, 64): 1.15})


def random_prompt(rng):
    """Tokens at random, a part of them twice, so that there is something to look up."""
    tokens = [rng.randrange(VOCABULARY) for _ in range(rng.randint(1, 40))]
    return (*tokens, *tokens[: rng.randint(0, 8)])


def greedy_text(prompt, count):
    """Written without any of the project's code."""
    tokens = list(prompt)
    with torch.inference_mode():
        for _ in range(count):
            tokens.append(int(MODEL(input_ids=torch.tensor([tokens]), use_cache=False).logits[0, -1].argmax()))
    return tokens[len(prompt) :]


PROMPTS = [random_prompt(random.Random(seed)) for seed in range(24)]
GREEDY = {prompt: greedy_text(prompt, 30) for prompt in PROMPTS}
# Parts of the answers among other things, so that a store is often right and often wrong.
STORE = Datastore.build(
    [GREEDY[prompt][:20] for prompt in PROMPTS[::2]]
    + [[random.Random(seed).randrange(VOCABULARY) for _ in range(60)] for seed in range(5)],
    fingerprint="toy",
    vocab_size=VOCABULARY,
)


def open_store(name):
    if name != "toy":
        raise UserError(f"There is no datastore {name!r}.")
    return STORE


@pytest.fixture
def make_engine():
    engines = []

    def make(rows=4, profile=FLAT):
        lengths = LengthPlanner(bytes_per_weight=4)
        lengths.use(profile)
        target = Target(copy.deepcopy(MODEL), rows=rows, context_length=CONTEXT)
        engines.append(Engine(target, make_speculators(open_store, None, lengths.seconds), lengths=lengths))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


def written(rounds):
    return [token for round_ in rounds for token in round_.committed]


def test_the_methods_stand_in_the_order_in_which_people_read_of_them(make_engine):
    order = "autoregressive sssd sssd-faithful prompt-lookup rest lookahead speculative saguaro saguaro-sssd".split()
    assert list(METHODS) == order
    assert make_engine().methods == ALONE


@pytest.mark.parametrize("method", DRAFTING)
def test_drafting_changes_no_token_of_a_greedy_answer(make_engine, method):
    """More prompts than rows, of different lengths, so that they join and leave."""
    rng = random.Random(5)
    engine = make_engine()
    lengths: dict[tuple[int, ...], Length] = {
        prompt: rng.choice([2, 3, 5, 8, 16, 24, 33, 64, "auto", "knee"]) for prompt in PROMPTS
    }
    limits = {prompt: rng.randint(12, 30) for prompt in PROMPTS}
    streams = {
        prompt: engine.submit(Request(prompt, method, limits[prompt], s_q=lengths[prompt], stores=("toy",)))
        for prompt in PROMPTS
    }
    rounds = {prompt: list(stream) for prompt, stream in streams.items()}
    for prompt, each in rounds.items():
        assert written(each) == GREEDY[prompt][: limits[prompt]]
        assert all(len(round_.tree) + round_.scratch < round_.s_q for round_ in each[1:])
        if isinstance(lengths[prompt], int):
            assert all(round_.s_q <= lengths[prompt] for round_ in each)
    fates = [fate for each in rounds.values() for round_ in each for fate in round_.tree.fates]
    assert fates.count("accepted") > 30, "nothing was tried"
    assert fates.count("rejected") > 30


@pytest.mark.parametrize("method", DRAFTING)
def test_sampled_text_is_that_of_autoregressive_sampling(make_engine, method):
    engine = make_engine()
    warm = [Sampling(temperature=1.0, seed=seed) for seed in range(8)]
    asked = list(zip(PROMPTS, warm, strict=False))
    plain = [written(engine.submit(Request(prompt, "autoregressive", 25, how))) for prompt, how in asked]
    streams = [engine.submit(Request(prompt, method, 25, how, s_q=12, stores=("toy",))) for prompt, how in asked]
    rounds = [list(stream) for stream in streams]
    assert [written(each) for each in rounds] == plain
    assert plain != [GREEDY[prompt][:25] for prompt, _ in asked]
    assert sum(len(round_.tree) for each in rounds for round_ in each) > 50


def test_all_methods_may_share_one_batch(make_engine):
    engine = make_engine(rows=len(ALONE))
    streams = [
        engine.submit(Request(prompt, ALONE[at % len(ALONE)], 30, s_q=(9, 16, "auto")[at % 3], stores=("toy",)))
        for at, prompt in enumerate(PROMPTS)
    ]
    assert [written(stream) for stream in streams] == list(GREEDY.values())


@pytest.mark.parametrize("method", DRAFTING)
def test_a_second_request_drafts_as_in_a_fresh_engine(make_engine, method):
    def trees(engine, prompt):
        rounds = list(engine.submit(Request(prompt, method, 25, s_q=12, stores=("toy",))))
        return [(round_.tree, round_.scratch) for round_ in rounds]

    engine = make_engine(rows=1)
    before = trees(engine, PROMPTS[0])
    assert trees(engine, PROMPTS[1]) == trees(make_engine(), PROMPTS[1])
    assert trees(engine, PROMPTS[0]) == before


@pytest.mark.parametrize("method", DRAFTING)
def test_nothing_is_drafted_where_a_forward_holds_one_token(make_engine, method):
    rounds = list(make_engine().submit(Request(PROMPTS[0], method, 10, s_q=1, stores=("toy",))))
    assert [len(round_.tree) + round_.scratch for round_ in rounds] == [0] * 10


@pytest.mark.parametrize("method", DRAFTING)
def test_an_end_token_inside_a_draft_ends_the_answer_there(make_engine, method):
    prompt = PROMPTS[0]
    end = next(token for token in GREEDY[prompt][6:] if token not in GREEDY[prompt][:6])
    until_end = GREEDY[prompt][: GREEDY[prompt].index(end) + 1]
    stream = make_engine().submit(Request(prompt, method, 30, s_q=16, stores=("toy",), end_tokens=frozenset({end})))
    assert written(stream) == until_end
    assert stream.finished.reason == "end_of_text"


@pytest.mark.parametrize("method", DRAFTING)
def test_a_store_that_is_not_there_ends_the_answer_with_a_sentence_if_the_method_asks_for_it(make_engine, method):
    stream = make_engine().submit(Request((1, 2, 3), method, 5, stores=("gone",)))
    if method in ("prompt-lookup", "lookahead"):
        assert len(written(stream)) == 5
    else:
        with pytest.raises(UserError, match="no datastore 'gone'"):
            list(stream)
