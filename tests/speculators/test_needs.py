"""Every method says what it takes besides the target."""

from sssd_demo.speculators.needs import NEEDS, WITH_DRAFT_MODEL
from sssd_demo.speculators.registry import METHODS


def test_every_method_says_what_it_needs():
    assert set(METHODS) <= set(NEEDS)


def test_the_methods_that_need_a_draft_model_are_those_refused_without_one():
    assert {method for method in METHODS if NEEDS[method].draft_model} == set(WITH_DRAFT_MODEL)
