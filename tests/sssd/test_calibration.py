"""Calibration: a change must win twice, and the table tells of all that was tried."""

import random
import time

import pytest

from sssd_demo.sssd import calibration
from sssd_demo.sssd.calibration import Calibration, Material
from sssd_demo.sssd.constants import FAITHFUL
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.recorded_answers import RecordedAnswer


def material(seed, words=6):
    """Answers made of a few fixed phrases, so that a better drafter does draft more of them."""
    rng = random.Random(seed)
    phrases = [[rng.randrange(50) for _ in range(12)] for _ in range(words)]
    texts = [[token for _ in range(6) for token in rng.choice(phrases)] for _ in range(8)]
    answers = [RecordedAnswer(tuple(text[:3]), tuple(text[3:])) for text in texts[:4]]
    return Material(answers, Datastore.build(texts[4:], fingerprint="f", vocab_size=50))


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(
        calibration, "IDEAS", {"no lag": {"lag": False}, "longer": {"window": 16}, "nothing": {"cutoff": 1.0}}
    )
    monkeypatch.setattr(calibration, "CONSTANTS", {"samples": (100, 1), "prompt_doubt": (1, 2), "window": (8, 16)})


def test_an_idea_that_wins_on_both_sets_is_adopted(few):
    chosen, tries = Calibration(material(0), material(1), [8], time.perf_counter).search()
    adopted = {one.name for one in tries if one.adopted}
    assert {"no lag", "longer"} <= adopted
    assert (chosen.lag, chosen.window) == (False, 16)
    for one in tries:
        if one.adopted:
            assert one.checked is not None
            assert one.checked_before is not None
            assert one.searched.mean > one.searched_before.mean
            assert one.checked.mean >= one.checked_before.mean


def test_an_idea_that_loses_on_the_set_checked_is_not(few, monkeypatch):
    searched, checked = material(0), material(1)
    scores = {True: 3.0, False: 2.0}

    def replay(answers, stores, s_q, settings, clock):
        better = settings.lag if answers is checked.answers else not settings.lag  # opposite on the two sets
        return type("Replayed", (), {"tokens_per_step": scores[better]})

    monkeypatch.setattr(calibration, "replay", replay)
    chosen, tries = Calibration(searched, checked, [8], time.perf_counter).search()
    assert chosen == FAITHFUL
    (lag,) = [one for one in tries if one.name == "no lag"]
    assert lag.searched.mean > lag.searched_before.mean
    assert lag.checked is not None
    assert not lag.adopted


def test_of_several_values_that_win_only_the_best_is_adopted(few, monkeypatch):
    monkeypatch.setattr(calibration, "IDEAS", {})
    monkeypatch.setattr(calibration, "CONSTANTS", {"samples": (1, 2, 3)})

    def replay(answers, stores, s_q, settings, clock):
        return type("Replayed", (), {"tokens_per_step": {1: 2.0, 2: 4.0, 3: 3.0}.get(settings.samples, 1.0)})

    monkeypatch.setattr(calibration, "replay", replay)
    chosen, tries = Calibration(material(0), material(1), [8], time.perf_counter).search()
    assert chosen.samples == 2
    assert [one.changes["samples"] for one in tries if one.adopted] == [2]


def test_constants_of_the_other_way_of_combining_are_not_tried(few):
    _, tries = Calibration(material(0), material(1), [8], time.perf_counter).search()
    assert not any("prompt_doubt" in one.changes for one in tries)


def test_each_idea_alone_is_told_on_both_sets_and_adopts_nothing(few):
    alone = list(Calibration(material(0), material(1), [4, 8], time.perf_counter).each_alone())
    assert [one.name for one in alone] == ["no lag", "longer", "nothing"]
    for one in alone:
        assert not one.adopted
        assert one.checked is not None
        assert set(one.checked.tokens_per_step) == {(4, False), (4, True), (8, False), (8, True)}


def test_every_constant_and_idea_is_a_field_of_the_settings():
    for changes in calibration.IDEAS.values():
        assert all(hasattr(FAITHFUL, name) for name in changes)
    assert all(hasattr(FAITHFUL, name) for name in calibration.CONSTANTS)
