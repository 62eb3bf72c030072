"""Turns without a page: what the conversation, the session and the service see."""

from __future__ import annotations

import pytest

from sssd_demo.service import Settings
from sssd_demo.ui import chat_turn
from sssd_demo.ui.chat_turn import KEEP, Page
from sssd_demo.ui.conversation import entry, messages
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Session, Sessions
from tests.ui.fakes import FakeService, opens, wait_until


@pytest.fixture
def service() -> FakeService:
    return FakeService(lambda question: f"You said: {question}", delay=0.0)


@pytest.fixture
def host(service: FakeService) -> ServiceHost:
    host = ServiceHost(opens(service), "fake")
    host.start()
    wait_until(lambda: host.service is not None)
    return host


@pytest.fixture
def session() -> Session:
    return Sessions(forget=lambda conversation: None, drop_store=lambda page: None).get("a page")


def answer(host: ServiceHost, session: Session, history: list, text: str) -> Page:
    begun = chat_turn.begin(host, session, history, text)
    return list(chat_turn.follow(host, session, begun.history, Settings))[-1]


def test_the_service_is_asked_exactly_what_is_visible(host, session, service):
    page = answer(host, session, [], "a <b>tag</b> and `<code>`")
    page = answer(host, session, page.history, "again")
    assert service.asked[-1][0] == [
        {"role": "user", "content": "a <b>tag</b> and `<code>`"},
        {"role": "assistant", "content": "You said: a <b>tag</b> and `<code>`"},
        {"role": "user", "content": "again"},
    ]
    assert [message["role"] for message in page.history] == ["user", "assistant"] * 2
    assert not page.running
    assert not session.wanted


def test_answering_an_earlier_message_anew_removes_what_came_after_and_can_be_undone(host, session, service):
    page = Page([])
    for text in ("one", "two", "three"):
        page = answer(host, session, page.history, text)
    before = page.history
    begun = chat_turn.begin_again(host, session, before, 2, "TWO")
    again = list(chat_turn.follow(host, session, begun.history, Settings))[-1]
    assert [message["content"] for message in messages(again.history)] == [
        "one", "You said: one", "TWO", "You said: TWO",
    ]  # fmt: skip
    assert "2 later messages" in again.notice
    assert again.can_undo
    assert sorted(session.traces) == [1, 3]
    undone = chat_turn.undo(session)
    assert undone.history == before
    assert sorted(session.traces) == [1, 3, 5]


def test_the_last_answer_can_be_made_again_without_a_word_of_removal(host, session):
    page = answer(host, session, [], "one")
    begun = chat_turn.begin_again(host, session, page.history, 0, None)
    again = list(chat_turn.follow(host, session, begun.history, Settings))[-1]
    assert again.history == page.history
    assert again.notice == ""


def test_a_stopped_answer_can_be_made_again_without_doubling_anything(host, session, service):
    service.delay = 0.01
    begun = chat_turn.begin(host, session, [], "one two three four five six seven eight")
    pages = chat_turn.follow(host, session, begun.history, Settings)
    next(pages)
    chat_turn.stop(session)
    stopped = list(pages)[-1]
    assert session.traces[1].finish_reason == "cancelled"
    service.delay = 0.0
    again = chat_turn.begin_again(host, session, stopped.history, 0, None)
    whole = list(chat_turn.follow(host, session, again.history, Settings))[-1]
    assert [message["role"] for message in messages(whole.history)] == ["user", "assistant"]
    assert service.asked[-1][0] == service.asked[-2][0]
    assert session.traces[1].finish_reason == "end_of_text"


def test_a_refused_turn_leaves_everything_as_it_was(host, session):
    page = answer(host, session, [], "one")
    refused = answer(host, session, page.history, "x" * 5000)
    assert refused.history == page.history
    assert refused.message == "x" * 5000
    assert "2,048" in refused.notice
    assert not session.wanted
    assert chat_turn.begin(host, session, page.history, " \n").notice.startswith("The message is empty")


def test_a_fault_is_one_sentence_without_its_cause(host, session, service, monkeypatch):
    def fail(*_args, **_named):
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(service, "ask", fail)
    page = answer(host, session, [], "one")
    assert "Something went wrong" in page.notice
    assert "/secret" not in page.notice
    assert page.message == "one"


def test_a_message_that_must_wait_says_so(host, session, service):
    assert chat_turn.begin(host, session, [], "one").notice == ""
    session.wanted = False
    service.engine.busy = service.engine.capacity
    assert "Waiting" in chat_turn.begin(host, session, [], "one").notice


def test_stop_while_waiting_gives_the_message_back_and_nothing_is_asked(host, session, service):
    begun = chat_turn.begin(host, session, [], "one")
    assert begun.running
    assert chat_turn.begin(host, session, begun.history, "two").notice.startswith("An answer is being written")
    stopped = chat_turn.stop(session)
    assert stopped is not None
    assert (stopped.history, stopped.message) == ([], "one")
    assert list(chat_turn.follow(host, session, begun.history, Settings)) == []
    assert service.asked == []


def test_stop_pressed_when_the_answer_has_just_ended_changes_nothing(host, session):
    page = answer(host, session, [], "one")
    assert chat_turn.stop(session) is None
    assert sorted(session.traces) == [1]
    assert len(page.history) == 2


def test_a_page_that_leaves_ends_its_answer(host, service):
    forgotten: list[str] = []
    dropped: list[str] = []
    sessions = Sessions(forget=forgotten.append, drop_store=dropped.append)
    session = sessions.get("a page")
    service.delay = 0.01
    begun = chat_turn.begin(host, session, [], "a long question " * 100)
    pages = chat_turn.follow(host, session, begun.history, Settings)
    next(pages)
    assert sessions.running() == 1
    sessions.leave("a page")
    assert list(pages) == []
    assert service.answers[-1].closed.is_set()
    assert forgotten == [session.conversation]
    assert dropped == ["a page"]
    assert sessions.running() == 0


def test_a_new_conversation_keeps_what_the_page_has_learnt(service):
    dropped: list[str] = []
    sessions = Sessions(forget=service.forget, drop_store=dropped.append)
    before = sessions.get("a page")
    sessions.end_conversation("a page")
    after = sessions.get("a page")
    assert dropped == []
    assert after.id == before.id
    assert after.conversation != before.conversation
    assert service.forgotten == [before.conversation]


def test_only_an_answer_that_is_to_be_remembered_has_the_pages_store(host, session, service):
    for remember in (True, False):
        begun = chat_turn.begin(host, session, [], "one")
        list(chat_turn.follow(host, session, begun.history, Settings, remember))
    assert service.sessions == [session.id, None]


def test_a_closed_stream_cancels_its_answer(host, session, service):
    service.delay = 0.01
    begun = chat_turn.begin(host, session, [], "a long question " * 100)
    pages = chat_turn.follow(host, session, begun.history, Settings)
    next(pages)
    pages.close()
    assert service.answers[-1]._cancelled.is_set()
    assert session.running is None


def test_before_the_model_is_there_nothing_is_lost(session):
    host = ServiceHost(opens(FakeService()), "fake")
    page = chat_turn.begin(host, session, [entry("user", "x")], "one")
    assert "not ready yet" in page.notice
    assert page.history is KEEP
    assert page.message is KEEP
