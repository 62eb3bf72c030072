"""The embedded model as its own draft model: real weights, text and engine, in float32.

Its drafts are all but always right, so what is refused would point at a fault of ours.
"""

import pytest

from sssd_demo import models
from sssd_demo.rechecked import recheck
from sssd_demo.request import ACCEPTANCE_RULES
from sssd_demo.service import Service, Settings
from sssd_demo.stores import Stores

pytestmark = pytest.mark.model

QUESTIONS = ("List three fruits and say the colour of each.", "Translate to French: The library opens at nine.")


@pytest.fixture(scope="module")
def pair(embedded_model_folder, tmp_path_factory):
    target, draft = (models.load("smollm2-135m", device="cpu", dtype="float32") for _ in range(2))
    stores = Stores(tmp_path_factory.mktemp("stores"), target.text.fingerprint, vocab_size=target.text.vocab_size)
    service = Service(target, stores=stores, draft=draft)
    yield service
    service.close()


def ask(service, question, **settings):
    answer = service.ask([{"role": "user", "content": question}], Settings(max_new_tokens=32, s_q=16, **settings))
    for _ in answer:
        pass
    return answer.trace


def nodes(trace, fate):
    return sum(round_.tree.fates.count(fate) for round_ in trace.rounds)


@pytest.mark.parametrize("rule", ACCEPTANCE_RULES)
def test_greedy_answers_are_those_of_plain_decoding(pair, rule):
    for question in QUESTIONS:
        drafted = ask(pair, question, method="speculative", k=4, rule=rule)
        assert drafted.token_ids() == ask(pair, question, method="autoregressive").token_ids()
        assert nodes(drafted, "accepted") > 10
        if rule in ("chain", "block"):
            assert nodes(drafted, "rejected") == 0


@pytest.mark.parametrize("rule", ["chain", "block"])
def test_a_chain_drawn_from_the_targets_own_law_is_accepted(pair, rule):
    for seed, question in enumerate(QUESTIONS):
        trace = ask(pair, question, method="speculative", k=4, rule=rule, temperature=1.0, top_p=0.95, seed=seed)
        assert nodes(trace, "rejected") == 0
        assert nodes(trace, "accepted") > 10
        assert not [problem for round_ in trace.rounds for problem in recheck(round_).problems]


def test_a_draft_of_another_temperature_is_refused_now_and_then(pair):
    """Control of the test above: the acceptance there is not for want of testing."""
    trace = ask(pair, QUESTIONS[0], method="speculative", k=4, temperature=1.0, draft_temperature=2.0)
    assert nodes(trace, "rejected") > 0
