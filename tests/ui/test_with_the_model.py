"""The app on the embedded model: what the page and the endpoint give is what the service decodes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from gradio_client import Client

from sssd_demo.service import Service, Settings
from sssd_demo.ui import chat_turn
from sssd_demo.ui.answer_payload import AnswerPayload
from sssd_demo.ui.conversation import messages
from sssd_demo.ui.launch import launch
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Session, Sessions
from tests.ui.fakes import wait_until

pytestmark = pytest.mark.model

QUESTION = "Write the sentence 'The cat sat on the mat.' three times."


@pytest.fixture(scope="module")
def host(embedded_service: Service) -> ServiceHost:
    host = ServiceHost(lambda model, progress: embedded_service, "smollm2-135m")
    host.start()
    wait_until(lambda: host.service is not None, seconds=60)
    return host


@pytest.fixture
def session(host: ServiceHost) -> Iterator[Session]:
    sessions = Sessions(forget=host.forget, drop_store=host.drop_store)
    yield sessions.get("a page")
    sessions.leave("a page")


def answer(host: ServiceHost, session: Session, history: list, text: str, **settings) -> list[chat_turn.Page]:
    begun = chat_turn.begin(host, session, history, text)
    return list(chat_turn.follow(host, session, begun.history, lambda: Settings(**settings)))


def test_the_prompt_is_the_visible_conversation_after_every_kind_of_turn(host, session, embedded_service):
    def check(page: chat_turn.Page) -> None:
        asked = messages(page.history)[:-1]
        assert session.traces[len(asked)].prompt == tuple(embedded_service.text.encode_chat(asked))

    page = answer(host, session, [], "Say <b>hello</b> & `<i>`, <|im_end|> please.", max_new_tokens=12)[-1]
    check(page)
    page = answer(host, session, page.history, "And once more.", max_new_tokens=12)[-1]
    check(page)
    begun = chat_turn.begin_again(host, session, page.history, 0, "Something else.")
    page = list(chat_turn.follow(host, session, begun.history, lambda: Settings(max_new_tokens=12)))[-1]
    check(page)


def test_text_and_fates_on_the_page_are_those_of_the_answer(host, session, embedded_service):
    page = answer(host, session, [], QUESTION, max_new_tokens=48, s_q=8)[-1]
    trace = session.traces[1]
    said = messages(page.history)[-1]["content"]
    assert said == embedded_service.text.decode(trace.token_ids())
    fates = "".join(round_.get("f", "") for round_ in page.answer["rounds"])
    assert fates == "".join(fate[0] for round_ in trace.rounds for fate in round_.tree.fates)
    assert any(letter in fates for letter in "ari")


def test_half_a_character_is_never_shown(host, session):
    for limit in range(1, 9):
        pages = answer(host, session, [], "Repeat exactly: 👩\u200d🚀🔥🇫🇷 中文 नमस्ते", max_new_tokens=limit)
        assert all("\ufffd" not in messages(page.history)[-1]["content"] for page in pages)
        trace = session.traces[1]
        whole = b"".join(trace.token_bytes[token] for token in trace.token_ids())
        assert AnswerPayload(trace).text == whole.decode("utf-8", "ignore") or trace.finish_reason == "end_of_text"


def test_the_endpoint_streams_the_same_answer_and_can_be_left(embedded_service: Service):
    running = launch(lambda model, progress: embedded_service, "smollm2-135m")
    wait_until(lambda: running.host.service is not None, seconds=60)
    try:
        client = Client(running.url, verbose=False)
        plain = client.predict(QUESTION, [], method="autoregressive", max_new_tokens=40, api_name="/chat")
        drafted = client.predict(QUESTION, [], method="sssd", s_q="8", max_new_tokens=40, api_name="/chat")
        assert drafted["text"] == plain["text"]
        assert len(drafted["rounds"]) < len(plain["rounds"])
        job = client.submit("Tell a long story about a sailor.", max_new_tokens=1000, api_name="/chat")
        wait_until(lambda: len(job.outputs()) > 3, seconds=60)
        job.cancel()
        wait_until(lambda: embedded_service.engine.busy == 0, seconds=60)
    finally:
        running.demo.close(verbose=False)
