"""The header tells what the model is doing, whoever asked for it."""

from sssd_demo.ui.frame import head_value
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Sessions
from tests.ui.fakes import FakeService, opens, wait_until


def test_answers_that_no_chat_asked_for_keep_the_model_busy_too():
    service = FakeService()
    host = ServiceHost(opens(service), "fake")
    sessions = Sessions(forget=host.forget, drop_store=host.drop_store)
    assert head_value(host, sessions)["state"] == "loading"
    host.start()
    wait_until(lambda: host.service is not None)
    assert head_value(host, sessions)["state"] == "ready"
    service.engine.busy = 2  # a growth run, or a program
    head = head_value(host, sessions)
    assert head["state"] == "busy"
    assert "2" in head["text"]
