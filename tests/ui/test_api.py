"""The endpoint for programs: streaming, refusals, and leaving in mid-answer."""

from __future__ import annotations

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from sssd_demo.request import Drafting
from sssd_demo.ui.launch import RunningApp
from sssd_demo.ui.words import WORDS
from tests.ui.fakes import FakeService, wait_until


@pytest.fixture
def client(app: RunningApp) -> Client:
    return Client(app.url, verbose=False)


def test_only_chat_is_offered(client: Client):
    assert list(client.view_api(return_format="dict")["named_endpoints"]) == ["/chat"]


def test_an_answer_streams_and_ends_with_its_rounds(client: Client, service: FakeService):
    service.delay = 0.1  # so that it lasts several of the longest gaps between updates
    job = client.submit("a long one", max_new_tokens=60, api_name="/chat")
    final = job.result(timeout=30)
    values = job.outputs()
    assert len(values) > 3
    assert final["text"].startswith(values[1]["text"])
    assert values[1]["finish_reason"] is None
    assert final["finish_reason"] == "length"
    assert sum(len(round_["committed"]) for round_ in final["rounds"]) == 60
    assert final["tokens_per_forward"] >= 1


def test_history_and_settings_reach_the_service(client: Client, service: FakeService):
    history = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    client.predict("c", history, method="prompt-lookup", temperature=0.7, seed=5, s_q="4", api_name="/chat")
    messages, settings, _ = service.asked[-1]
    assert messages == [*history, {"role": "user", "content": "c"}]
    assert (settings.method, settings.temperature, settings.seed, settings.s_q) == ("prompt-lookup", 0.7, 5, 4)
    client.predict("c", method="speculative", k="3", rule="block", draft_temperature=0.0, api_name="/chat")
    drafting = service.asked[-1][1].drafting()
    assert (drafting.k, drafting.rule, drafting.temperature) == (3, "block", 0.0)
    client.predict("c", api_name="/chat")
    assert service.asked[-1][1].drafting() == Drafting()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"message": "  "}, "The message is empty"),
        ({"message": 5}, "must be a text"),
        ({"message": "a", "history": "abc"}, "list of turns"),
        ({"message": "a", "history": [{"role": "user"}]}, "list of turns"),
        ({"message": "a", "history": [{"role": "user", "content": None}]}, "list of turns"),
        ({"message": "a", "temperature": 9.0}, "Temperature must lie between 0 and 2"),
        ({"message": "a", "s_q": "many"}, "must be a whole number"),
        ({"message": "a", "k": "17"}, "K must be 1 to 16"),
        ({"message": "a", "rule": "hierarchical"}, "is the rule called block"),
        ({"message": "a", "draft_temperature": -1}, "draft's temperature must lie between 0 and 2"),
        ({"message": "a", "max_new_tokens": 100000}, "at most 1024 tokens"),
        ({"message": "x" * 5000}, "reads at most 2,048"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(client: Client, arguments, sentence):
    with pytest.raises(AppError, match=sentence):
        client.predict(**arguments, api_name="/chat")


def test_a_cancelled_answer_ends_at_once_and_frees_its_place(client: Client, service: FakeService):
    service.delay = 0.1
    job = client.submit("a long one", api_name="/chat")
    wait_until(lambda: len(job.outputs()) > 2)
    job.cancel()
    wait_until(service.answers[-1].closed.is_set)
    assert len(service.answers[-1].trace.rounds) < 150
    assert client.predict("hello", api_name="/chat")["text"] == "You said: hello"


def test_while_the_model_loads_the_endpoint_says_so(app: RunningApp, client: Client):
    app.host._service = None
    with pytest.raises(AppError, match="not ready yet"):
        client.predict("hello", api_name="/chat")


def test_a_request_that_cannot_be_meant_is_told_so_in_one_sentence(app: RunningApp, client: Client):
    def post(path: str, body: object) -> httpx.Response:
        return httpx.post(f"{app.url.rstrip('/')}/gradio_api/{path}", json=body, timeout=30)

    event = post("call/chat", {"data": ["hello"]}).json()["event_id"]
    told = httpx.get(f"{app.url.rstrip('/')}/gradio_api/call/chat/{event}", timeout=30).text
    assert "This takes 13 values, but got 1." in told
    for path, body in (
        ("call/nothing", {"data": []}),
        ("queue/join", {"data": [], "fn_index": 9999, "session_hash": "a"}),
    ):
        answer = post(path, body)
        assert (answer.status_code, answer.json()) == (400, {"error": WORDS["refuse.request"]})
    assert client.predict("hello", api_name="/chat")["text"] == "You said: hello"
