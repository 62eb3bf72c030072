"""The scripted service of the command line's tests, with what the experiments ask of it beside answers."""

from __future__ import annotations

from sssd_demo.errors import UserError
from sssd_demo.service import Service
from sssd_demo.sssd.datastore import Datastore
from tests.cli.fakes import FakeEngine, FakeService, FakeStores, FakeText


class Text(FakeText):
    """Token ids are bytes."""

    vocab_size = 256
    fingerprint = "f"

    def encode_chat(self, messages: list[dict[str, str]]) -> list[int]:
        return self.encode(messages[-1]["content"])


class Stores(FakeStores):
    """One store, called `mine`."""

    def __init__(self, documents: list[bytes]) -> None:
        super().__init__()
        self.datastore = Datastore.build(map(list, documents), fingerprint="f", vocab_size=256)

    def open(self, name: str) -> Datastore:  # type: ignore[override]  # a real one, to be drafted from
        if name != "mine":
            raise UserError(f"There is no datastore {name!r}; the known ones are: mine.")
        return self.datastore


class Engine(FakeEngine):
    context_length = 200


class ExperimentService(FakeService):
    """Answers a question with itself, two bytes a forward; `documents` are in the store `mine`."""

    def __init__(self, documents: list[bytes] | None = None) -> None:
        super().__init__()
        self.text = Text()
        self.stores = Stores(documents or [])
        self.engine = Engine()


def as_service(fake: ExperimentService) -> Service:
    """For the type checker."""
    return fake  # type: ignore[return-value]
