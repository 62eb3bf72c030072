"""A lane on the scripted service."""

from typing import cast

import pytest

from sssd_demo.bench.lanes import ServiceLane
from sssd_demo.errors import UserError
from sssd_demo.service import Service, Settings
from tests.cli.fakes import FakeService


def ask(*texts: str) -> list[list[dict[str, str]]]:
    return [[{"role": "user", "content": text}] for text in texts]


def test_replies_come_in_the_order_of_the_questions():
    lane = ServiceLane("sssd", cast(Service, FakeService()), Settings(method="sssd"))
    first, second = lane.answer(ask("hello", "you"))
    assert (first.text, second.text) == ("hello", "you")
    assert first.token_ids == (*b"hello", 0)
    assert first.summary.target_forwards == 5


def test_every_token_has_the_probability_of_the_node_or_bonus_that_it_was():
    lane = ServiceLane("sssd", cast(Service, FakeService(step=3)), Settings(method="sssd"))
    [reply] = lane.answer(ask("hello"))
    # The prefill's bonus, two accepted nodes and a bonus, one accepted node and a bonus.
    assert reply.probs == (1.0, 0.5, 0.5, 1.0, 0.5, 1.0)


def test_when_one_question_is_refused_no_answer_is_left_running():
    service = FakeService()
    lane = ServiceLane("sssd", cast(Service, service), Settings(method="sssd"))
    with pytest.raises(UserError, match="context holds 200"):
        lane.answer(ask("hello", "x" * 300))
    assert all(answer.cancelled for answer in service.answers_given)
