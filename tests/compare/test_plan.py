"""Who answers what when, and what nobody may ask for."""

from __future__ import annotations

from collections import Counter

import pytest

from sssd_demo.compare.plan import MOST_LANES, YARDSTICK, Lane, plan_for
from sssd_demo.errors import UserError
from sssd_demo.service import Settings
from tests.compare.fakes import plan, question


def test_the_yardstick_comes_first_whether_it_was_chosen_or_not():
    for lanes in ((Lane("sssd"),), (Lane("sssd"), YARDSTICK), (YARDSTICK, Lane("sssd"))):
        assert plan(lanes=lanes).lanes == (YARDSTICK, Lane("sssd"))


def test_a_lane_that_is_named_twice_runs_once():
    assert len(plan(lanes=(Lane("sssd"), Lane("sssd"), Lane("sssd", s_q=8))).lanes) == 3


def test_every_lane_answers_every_question_in_every_repeat_once():
    steps = list(plan("a", "b", lanes=(Lane("sssd"), Lane("rest")), repeats=3).steps())
    assert len(steps) == len(set(steps)) == 2 * 3 * 3


def test_all_lanes_answer_a_question_before_the_next_and_each_is_first_equally_often():
    whole = plan("a", "b", "c", lanes=(Lane("sssd"), Lane("rest")), repeats=2)
    steps = list(whole.steps())
    groups = [steps[at : at + 3] for at in range(0, len(steps), 3)]
    assert all(len({(step.question, step.repeat) for step in group}) == 1 for group in groups)
    assert set(Counter(group[0].lane for group in groups).values()) == {2}


def test_the_yardstick_is_the_first_to_be_measured_of_all():
    assert next(plan(repeats=2).steps()).lane == 0


def test_names_tell_lanes_apart_by_what_their_method_goes_by():
    lanes = [
        Lane("sssd"),
        Lane("sssd", s_q=8),
        Lane("speculative"),
        Lane("speculative", rule="block"),
        Lane("speculative", rule="tree", k=3),
    ]
    assert [lane.name for lane in lanes] == [
        *("sssd", "sssd · s_q 8", "speculative · chain", "speculative · block", "speculative · tree · K 3")
    ]


def test_a_lanes_settings_are_the_common_ones_with_its_own_method_and_lengths():
    common = Settings(method="autoregressive", temperature=0.7, seed=5, datastore="base")
    settings = Lane("speculative", k=4, rule="block").settings(common)
    assert (settings.method, settings.k, settings.rule, settings.s_q) == ("speculative", 4, "block", "auto")
    assert (settings.temperature, settings.seed, settings.datastore) == (0.7, 5, "base")


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"lanes": ()}, "at least one method besides"),
        ({"lanes": tuple(Lane("sssd", s_q=n) for n in range(2, 3 + MOST_LANES))}, "1 to 8 methods"),
        ({"repeats": 0}, "1 to 5 repeats"),
        ({"repeats": 6}, "1 to 5 repeats"),
        ({"share": True}, "store of all visitors"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(named: dict, said: str):
    with pytest.raises(UserError, match=said):
        plan(**named)


def test_more_than_a_visitor_may_ask_for_is_refused_with_both_numbers():
    with pytest.raises(UserError, match=r"up to 40,960 tokens .* 32,768"):
        plan(*"abcdefghij", lanes=(Lane("sssd"),), repeats=4, max_new_tokens=512)
    with pytest.raises(UserError, match="1 to 48 questions"):
        plan_for([question(str(n)) for n in range(49)], Settings(max_new_tokens=1), (Lane("sssd"),))
    with pytest.raises(UserError, match="1 to 48 questions"):
        plan_for([], Settings(max_new_tokens=1), (Lane("sssd"),))
