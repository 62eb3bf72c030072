"""Lossless, counted: what the whole engine writes with drafts prepared ahead has the target's law, after a hit as after
a miss, for a drafter that is now and then too late. `python -m tests.proofs --ahead` counts many more of them.
"""

from collections import Counter
from collections.abc import Iterator

import pytest
import torch

from tests.proofs.overlapped import (
    PROMPT,
    RUN,
    SCRIPT,
    WARM,
    WAYS,
    beginnings,
    continuations,
    drafted_ahead,
    with_bug,
)
from tests.proofs.wrong_overlap import BUGS, HARMLESS

pytestmark = pytest.mark.timeout(900)
ANSWERS = 40  # of each way
BUG_ANSWERS = 300
FAILS = 1e-4
ACCIDENT = 1e-6  # where dozens of tests are looked at


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def written():
    return drafted_ahead(ANSWERS)


def test_every_way_serves_hits_and_misses_and_is_sometimes_late(written):
    for (place, way), answers in written.items():
        served = Counter(stretch.served for answer in answers for stretch in answer.stretches)
        assert served["hit"] > 10, (place, way)
        assert sum(count for what, count in served.items() if what.startswith("late")) > 0, (place, way)
    everything = {stretch.served for answers in written.values() for answer in answers for stretch in answer.stretches}
    assert {"miss: batched", "miss: immediate", "miss: backup", "miss: nearest", "rolled back: batched"} <= everything


@pytest.mark.parametrize("hit", [True, False], ids=["hits", "misses"])
def test_what_follows_has_the_targets_law_given_the_text_before(written, hit):
    """Of all ways together: how many hits one place has depends on how fast the machine is."""
    answers = [answer for each in written.values() for answer in each]
    for length in (1, RUN):
        test = continuations(answers, lambda stretch: stretch.hit == hit, length)
        assert test.runs > 400
        assert test.freedom > 5 or length > 1  # so few stretches of several tokens may all be counted as one
        assert test.p_value > FAILS


def test_answers_begin_as_the_target_has_them_begin(written):
    test = beginnings(answer for answers in written.values() for answer in answers)
    assert test.runs == ANSWERS * len(written)
    assert test.p_value > FAILS


def test_no_way_is_off_by_itself(written):
    off = {way: continuations(answers, lambda stretch: True).p_value for way, answers in written.items()}
    assert {way: p for way, p in off.items() if p < ACCIDENT} == {}
    assert len(off) == len(WAYS) + 4


@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.answers <= BUG_ANSWERS], ids=lambda bug: bug.name)
def test_a_seeded_bug_is_seen(bug):
    assert min(test.p_value for test in with_bug(bug, bug.answers).values()) < FAILS / 2


def test_a_draft_that_was_prepared_for_another_outcome_is_right_with_its_own_q():
    assert min(test.p_value for test in with_bug(HARMLESS, BUG_ANSWERS).values()) > FAILS / 2


def test_the_scripted_model_finds_its_two_tokens_in_its_cache():
    """Through the real target, from a prompt read in two parts."""
    target = SCRIPT.target(rows=1)
    target.prefill(0, PROMPT[:3])
    logits = target.prefill(0, PROMPT[3:])
    law = torch.tensor(SCRIPT.p(PROMPT, WARM))
    kept = logits.topk(3).indices
    assert set(kept.tolist()) == {token for token, share in enumerate(law.tolist()) if share}
    torch.testing.assert_close(logits[kept].softmax(-1).double(), law[kept].double(), atol=1e-6, rtol=1e-5)
