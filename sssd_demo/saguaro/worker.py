"""The drafter's process: loads a draft model, answers the engine, and prepares while nobody asks.

It lives as long as the engine's process does and no longer, however that ends.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection, parent_process
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # torch is imported only once the process watches its parent and has its cores
    from sssd_demo.speculators.draft_model import DraftModel

logger = logging.getLogger(__name__)

WIDTHS = (1, 4, 8, 16, 32)  # tokens of the forwards that are timed at the start
TIMED_CONTEXT = 256  # tokens
TIMES = 3


@dataclass(frozen=True)
class DraftSource:
    """Where the drafter finds its model, and how much it should be able to hold. It is called to load it."""

    name: str
    device: str
    dtype: str
    rows: int  # sequences
    context_length: int  # tokens
    vocabulary: int  # width of the target's logits

    def __call__(self) -> DraftModel:
        """Raises `UserError` as `models.load` does."""
        from sssd_demo import models
        from sssd_demo.speculators.draft_model import DraftModel
        from sssd_demo.target import Target

        loaded = models.load(self.name, device=self.device, dtype=self.dtype)
        context = min(self.context_length, loaded.context_length)
        return DraftModel(Target(loaded.model, rows=self.rows, context_length=context), self.vocabulary)


Load = Callable[[], "DraftModel"]


def process(channel: connection.Connection, load: Load, cores: tuple[int, ...], threads: int) -> None:
    """What runs in a process of its own, on `cores` (empty: any) with so many threads."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent, which then ends this process
    threading.Thread(target=_die_with_the_parent, daemon=True).start()
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)
    work(channel, load, threads)


def work(channel: connection.Connection, load: Load, threads: int) -> None:
    """Serve the engine at the other end of `channel` until it hangs up; in a process or in a thread."""
    from sssd_demo.errors import UserError
    from sssd_demo.saguaro.messages import Failed

    try:
        _serve(channel, load, threads)
    except (EOFError, OSError):
        pass  # the engine has gone
    except Exception as error:
        logger.exception("the drafter gives up")
        reason = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
        with suppress(OSError):
            send(channel, Failed(reason))
    finally:
        channel.close()


def send(channel: connection.Connection, message: Any) -> None:
    """Plain pickle: that of `multiprocessing` would move tensors through shared memory, which outlives a kill."""
    channel.send_bytes(pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL))


def receive(channel: connection.Connection) -> Any:
    """The next message. Raises `EOFError` once the other end has hung up."""
    return pickle.loads(channel.recv_bytes())


def _serve(channel: connection.Connection, load: Load, threads: int) -> None:
    import torch

    from sssd_demo.saguaro.messages import Ask, Ready, Serve, Stop
    from sssd_demo.saguaro.pre_drafter import PreDrafter

    torch.set_num_threads(threads)  # binds the calling thread only, so before any operation
    draft = load()
    drafter = PreDrafter(draft)
    send(channel, Ready(_step_seconds(draft)))

    said: deque[Any] = deque()  # that was not acted on yet

    def listen() -> deque[Any]:
        while channel.poll():
            said.append(receive(channel))
        return said

    def verified() -> bool:
        """Whether the engine has gone on to a next round: another method's `Serve` belongs to this one."""
        return any(not isinstance(message, Serve) for message in listen())

    while not isinstance(message := said.popleft() if said else receive(channel), Stop):
        if isinstance(message, Ask):
            send(channel, drafter.answer(message, hurry=lambda: bool(listen())))
        elif isinstance(message, Serve):
            while listen() and isinstance(said[0], Serve):  # of methods that share the round: prepared for together
                message = Serve(message.served + said.popleft().served)
            drafter.prepare(message, hurry=verified)


def _step_seconds(draft: DraftModel) -> dict[int, float]:
    """Median seconds of forwards of one sequence, by their tokens."""
    context = min(TIMED_CONTEXT, draft.context_length // 2)
    draft.time_forward(1, 1, context)
    return {width: median(draft.time_forward(1, width, context) for _ in range(TIMES)) for width in WIDTHS}


def _die_with_the_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
