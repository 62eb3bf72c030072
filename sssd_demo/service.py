"""From messages to a trace: the model, its text, its stores and its engine, put together.

The command line and the app both ask here, so that they cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from sssd_demo.errors import UserError
from sssd_demo.trace import Round, Trace


@dataclass(frozen=True)
class Settings:
    """All that a visitor can choose for one answer. Raises `UserError` when a value is out of range."""

    method: str = "sssd"
    max_new_tokens: int = 256
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    s_q: int | None = None  # None: "auto"
    datastore: str | None = None  # a store's name; None: no store


class Answer:
    """One answer on its way. Iterate over it for the rounds; `trace` grows with them."""

    trace: Trace

    def __iter__(self) -> Iterator[Round]:
        """Rounds as they happen, until the answer ends. Raises `UserError` if it cannot go on."""

    def cancel(self) -> None:
        """Stop after the round now running; iteration then ends with `finish_reason` "cancelled"."""


class Service:
    """A loaded model that answers. Thread-safe: any number of threads may call `ask`."""

    @classmethod
    def open(cls, model: str, *, device: str | None = None, dtype: str = "auto", progress=None) -> "Service":
        """Load preset, folder or hub id `model` and start the engine's thread."""

    def ask(self, messages, settings: Settings, *, conversation: str | None = None, raw: bool = False) -> Answer:
        """Submit a conversation, [{"role", "content"}, …] ending with the user's turn; returns at once.

        With `raw`, `messages` is a string that is tokenized without the chat template.
        """

    def store_names(self) -> list[str]: ...

    def close(self) -> None:
        """Stop the engine's thread; running answers end as cancelled."""
