"""Computing on the side without leaving threads behind."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def in_passing_thread(work: Callable[[], T]) -> T:
    """What `work` returns or raises, run in a thread that ends with it.

    Every thread that computes with torch on a CPU gets OpenMP workers of its own, which live as long as it does. Once
    all workers together outnumber the cores, none of them spins between two operations any more, and each forward
    is slower. So what loads or prepares a model runs here, and the engine's workers remain the only ones.
    """
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # handed to the caller, whatever it is
            result.set_exception(error)

    # A daemon: who interrupts a long download does not wait for its end.
    thread = threading.Thread(target=run, name="passing", daemon=True)
    thread.start()
    thread.join()
    return result.result()
