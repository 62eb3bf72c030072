"""Drafting recorded answers again: each source alone, the bootstrap, and what is refused."""

import numpy as np
import pytest

from sssd_demo.errors import UserError
from sssd_demo.experiments.redraft import (
    BOTH,
    DATASTORE_ONLY,
    PROMPT_ONLY,
    Redrafted,
    draws,
    interval,
    long_enough,
    redraft,
)
from sssd_demo.sssd.constants import SETTINGS
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.recorded_answers import RecordedAnswer
from tests.experiments.toy_answers import VOCABULARY, phrased, repeating


def store(documents):
    return Datastore.build(documents, fingerprint="f", vocab_size=VOCABULARY)


def rates(answers, stores, settings):
    return {
        source: redraft(answers, stores, source, 6, settings).rate for source in (PROMPT_ONLY, DATASTORE_ONLY, BOTH)
    }


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_source_alone_finds_only_what_it_holds(setting):
    past = store([answer.output for answer in phrased(30, seed=1)])
    known_to_the_store = rates(phrased(5, seed=2), [past], SETTINGS[setting])
    assert known_to_the_store[PROMPT_ONLY] == 1
    assert known_to_the_store[DATASTORE_ONLY] > 2
    known_to_the_prompt = rates(repeating(5), [past], SETTINGS[setting])
    assert known_to_the_prompt[PROMPT_ONLY] > 1.5
    assert known_to_the_prompt[DATASTORE_ONLY] == 1


def test_without_a_store_both_are_the_prompt_alone():
    found = rates(repeating(3), [], SETTINGS["default"])
    assert found[BOTH] == found[PROMPT_ONLY] > 1
    assert found[DATASTORE_ONLY] == 1


def test_the_rate_is_of_all_tokens_and_forwards_and_the_gain_what_drafts_added():
    found = Redrafted(forwards=np.array([10, 30]), tokens=np.array([30, 50]))
    assert found.rate == 2
    assert found.gain == 1
    assert found.resampled(np.array([[0, 0], [1, 1], [0, 1]])).tolist() == [3, 50 / 30, 2]


def test_the_bootstrap_is_the_same_for_the_same_seed_and_surrounds_the_rate():
    assert (draws(20, seed=3) == draws(20, seed=3)).all()
    assert (draws(20, seed=3) != draws(20, seed=4)).any()
    found = Redrafted(forwards=np.arange(20, 40), tokens=np.arange(40, 60))
    low, high = interval(found.resampled(draws(20, seed=0)))
    assert low < found.rate < high


def test_short_answers_are_left_out_and_too_few_refused():
    answers = [*phrased(3), RecordedAnswer((1,), (2,) * 19)]
    assert long_enough(answers, 3) == phrased(3)
    with pytest.raises(UserError, match="at least 4 recorded answers of 20 tokens or more, but there are 3"):
        long_enough(answers, 4)
