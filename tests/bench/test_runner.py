"""Who answers which question when."""

import pytest

from sssd_demo.bench.lanes import Reply
from sssd_demo.bench.runner import WARM_UP, measure
from sssd_demo.errors import UserError
from sssd_demo.questions import Question
from tests.bench.fakes import FakeLane, reply

Log = list[tuple[str, list[str]]]
QUESTIONS = [Question(str(n), "qa", (f"q{n}", f"again{n}")) for n in range(3)]


@pytest.fixture
def log() -> Log:
    return []


def measured(log: Log, lanes: int) -> Log:
    """The log without the warm-ups."""
    assert [asked for _, asked in log[:lanes]] == [[WARM_UP[0]["content"]] * len(log[0][1])] * lanes
    return log[lanes:]


def test_all_lanes_answer_a_question_before_the_next_and_take_turns_at_going_first(log: Log):
    lanes = [FakeLane(name, log) for name in "abc"]
    measure(lanes, QUESTIONS, repeats=2)
    order = [(name, asked[0]) for name, asked in measured(log, 3)]
    assert order[:9] == [
        *[("a", "q0"), ("b", "q0"), ("c", "q0")],
        *[("b", "q1"), ("c", "q1"), ("a", "q1")],
        *[("c", "q2"), ("a", "q2"), ("b", "q2")],
    ]
    assert order[9] == ("b", "q0")


def test_the_warm_up_is_not_measured(log: Log):
    run = measure([FakeLane("a", log)], QUESTIONS[:1])
    assert len(log) == 2
    assert [(sample.question.id, sample.turn, sample.repeat) for sample in run.samples] == [("0", 0, 0)]


def test_later_turns_see_the_lanes_own_answers(log: Log):
    measure([FakeLane("a", log, lambda text: reply(text.upper()))], QUESTIONS[:1], all_turns=True)
    assert measured(log, 1) == [("a", ["q0"]), ("a", ["q0 / Q0 / again0"])]


def test_a_batch_is_asked_at_once(log: Log):
    measure([FakeLane("a", log)], QUESTIONS, batch=2)
    assert measured(log, 1) == [("a", ["q0", "q1"]), ("a", ["q2"])]


def test_a_question_that_one_lane_refuses_is_left_out_for_all(log: Log):
    def refuses(text: str) -> Reply:
        if text == "q1":
            raise UserError("too long")
        return reply()

    run = measure([FakeLane("a", log), FakeLane("b", log, refuses)], QUESTIONS, repeats=2)
    assert run.skipped == {"1": "too long"}
    assert {(sample.lane, sample.question.id) for sample in run.samples} == {
        (lane, question) for lane in "ab" for question in "02"
    }
    assert sum(asked == ["q1"] for _, asked in log) <= 2


def test_a_refusal_in_a_later_turn_costs_the_rest_of_its_batch_nothing(log: Log):
    def refuses(text: str) -> Reply:
        if text == "again0":
            raise UserError("too long")
        return reply()

    short = Question("short", "qa", ("only one turn",))
    lanes = [FakeLane("b", log, refuses), FakeLane("a", log)]
    run = measure(lanes, [QUESTIONS[0], short], batch=2, all_turns=True)
    assert run.skipped == {"0": "too long"}
    assert {(sample.lane, sample.question.id) for sample in run.samples} == {("a", "short"), ("b", "short")}


def test_a_lane_that_cannot_work_at_all_stops_the_measurement(log: Log):
    def refuses(text: str) -> Reply:
        raise UserError("no such method")

    with pytest.raises(UserError, match="no such method"):
        measure([FakeLane("a", log, refuses)], QUESTIONS)


def test_every_answer_is_inspected_and_an_objection_stops_everything(log: Log):
    def objects(sample):
        if sample.question.id == "1":
            raise UserError("the store knows it")

    with pytest.raises(UserError, match="the store knows it"):
        measure([FakeLane("a", log)], QUESTIONS, inspect=objects)
    assert measured(log, 1) == [("a", ["q0"]), ("a", ["q1"])]
