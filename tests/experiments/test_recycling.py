"""The recycled source is drafted from or said to be missing."""

from dataclasses import replace

from sssd_demo.experiments.recycling import as_recorded, told
from sssd_demo.sssd.constants import DEFAULT, FAITHFUL
from tests.experiments.test_figure import FIGURE
from tests.experiments.toy_answers import fresh, recorded_with_top


def test_one_answer_that_does_not_tell_is_enough_to_leave_it_out():
    telling = recorded_with_top(fresh(3))
    assert as_recorded(DEFAULT, telling, telling) is DEFAULT
    assert as_recorded(DEFAULT, telling, [*telling, *fresh(1)]) == replace(DEFAULT, recycled_weight=0.0)


def test_a_figure_says_what_is_missing_from_it():
    assert told(FIGURE, DEFAULT) == replace(FIGURE, settings={"s_q": 8, "recycled": "as in the product"})
    for without in (as_recorded(DEFAULT, fresh(1)), FAITHFUL):
        figure = told(FIGURE, without)
        assert figure.title == "How it grows (without the recycled source)"
        assert figure.verdict == "It rose. Drafted without the recycled source."
        assert figure.settings == {"s_q": 8, "recycled": "left out"}
