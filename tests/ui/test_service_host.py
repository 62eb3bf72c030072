import threading

import pytest

from sssd_demo.errors import UserError
from sssd_demo.ui.service_host import ServiceHost
from tests.ui.fakes import FakeService, opens, wait_until


def test_progress_is_told_until_the_service_is_there():
    go_on = threading.Event()

    def open_service(model, progress):
        progress("fetching", 0.25)
        go_on.wait(10)
        return opens(FakeService())(model, progress)

    host = ServiceHost(open_service, "fake")
    host.start()
    wait_until(lambda: host.loading.fraction == 0.25)
    assert (host.loading.state, host.loading.stage) == ("loading", "fetching")
    assert host.service is None
    go_on.set()
    wait_until(lambda: host.service is not None)
    assert host.loading.state == "ready"


def test_why_there_is_no_model_is_told_without_inner_details():
    def refuse(model, progress):
        raise UserError("There is no such model.")

    def fail(model, progress):
        raise RuntimeError("/secret/path")

    for open_service, said in ((refuse, "There is no such model."), (fail, "could not be loaded")):
        host = ServiceHost(open_service, "fake")
        host.start()
        wait_until(lambda host=host: host.loading.state == "failed")
        assert said in host.loading.stage
        assert "/secret" not in host.loading.stage


def test_a_service_that_comes_after_closing_is_closed_too():
    go_on, closed = threading.Event(), threading.Event()
    service = FakeService()
    service.close = closed.set  # type: ignore[method-assign]

    def open_service(model, progress):
        go_on.wait(10)
        return opens(service)(model, progress)

    host = ServiceHost(open_service, "fake")
    host.start()
    host.close()
    go_on.set()
    assert closed.wait(10)
    assert host.service is None


class Models:
    """Opens a fake service for every name but "missing", and remembers what was opened and closed."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.closed: list[str] = []

    def __call__(self, model, progress):
        if model == "missing":
            raise UserError("There is no model missing.")
        service = FakeService()
        service.close = lambda: self.closed.append(model)  # type: ignore[method-assign]
        self.opened.append(model)
        return opens(service)(model, progress)


def test_another_model_takes_the_place_of_the_first():
    models = Models()
    host = ServiceHost(models, "first")
    host.start()
    wait_until(lambda: host.service is not None)
    host.change("second")
    wait_until(lambda: host.service is not None)
    assert (models.opened, models.closed, host.model, host.refused) == (["first", "second"], ["first"], "second", "")


def test_a_model_that_cannot_be_had_brings_the_one_before_back_and_says_why():
    models = Models()
    host = ServiceHost(models, "first")
    host.start()
    wait_until(lambda: host.service is not None)
    host.change("missing")
    wait_until(lambda: host.service is not None)
    assert (host.model, host.refused) == ("first", "There is no model missing.")
    assert models.opened == ["first", "first"]


def test_no_model_is_changed_while_one_is_being_loaded():
    host = ServiceHost(Models(), "first")
    with pytest.raises(UserError, match="not ready yet"):
        host.change("second")
