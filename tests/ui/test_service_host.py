import threading

from sssd_demo.errors import UserError
from sssd_demo.ui.service_host import ServiceHost
from tests.ui.fakes import FakeService, opens, wait_until


def test_progress_is_told_until_the_service_is_there():
    go_on = threading.Event()

    def open_service(progress):
        progress("fetching", 0.25)
        go_on.wait(10)
        return opens(FakeService())(progress)

    host = ServiceHost(open_service)
    host.start()
    wait_until(lambda: host.loading.fraction == 0.25)
    assert (host.loading.state, host.loading.stage) == ("loading", "fetching")
    assert host.service is None
    go_on.set()
    wait_until(lambda: host.service is not None)
    assert host.loading.state == "ready"


def test_why_there_is_no_model_is_told_without_inner_details():
    def refuse(progress):
        raise UserError("There is no such model.")

    def fail(progress):
        raise RuntimeError("/secret/path")

    for open_service, said in ((refuse, "There is no such model."), (fail, "could not be loaded")):
        host = ServiceHost(open_service)
        host.start()
        wait_until(lambda host=host: host.loading.state == "failed")
        assert said in host.loading.stage
        assert "/secret" not in host.loading.stage


def test_a_service_that_comes_after_closing_is_closed_too():
    go_on, closed = threading.Event(), threading.Event()
    service = FakeService()
    service.close = closed.set  # type: ignore[method-assign]

    def open_service(progress):
        go_on.wait(10)
        return opens(service)(progress)

    host = ServiceHost(open_service)
    host.start()
    host.close()
    go_on.set()
    assert closed.wait(10)
    assert host.service is None
