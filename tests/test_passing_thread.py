"""Work on the side: its result, its errors, and no thread left."""

import threading

import pytest

from sssd_demo.passing_thread import in_passing_thread


def test_the_result_comes_from_another_thread_that_has_ended():
    worker = in_passing_thread(threading.current_thread)
    assert worker is not threading.current_thread()
    assert not worker.is_alive()


def test_an_error_reaches_the_caller():
    def fail() -> None:
        raise ValueError("why")

    with pytest.raises(ValueError, match="why"):
        in_passing_thread(fail)
