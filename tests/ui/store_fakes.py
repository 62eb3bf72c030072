"""The scripted service with stores: what it answers goes into live stores that are real."""

from __future__ import annotations

from types import SimpleNamespace

from sssd_demo.errors import UserError
from sssd_demo.service import Settings
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.live_store import LiveStore, conversation_document
from sssd_demo.sssd.merging import Limits
from tests.ui.fakes import FakeAnswer, FakeService

VOCABULARY = 60_000
FINGERPRINT = "made up"


class TeachingAnswer(FakeAnswer):
    """Appends its conversation to a store when it has ended."""

    store: LiveStore | None = None

    def __iter__(self):
        yield from super().__iter__()
        if self.store is not None and self.trace.finish_reason != "cancelled":
            self.store.append(conversation_document(self.trace.prompt, self.trace.token_ids()))


class StoreService(FakeService):
    """Like `service.Service` with stores of sessions, a shared one, and `base`, which is made of `base_text`."""

    def __init__(self, *args, base_text: str = "", **named) -> None:
        super().__init__(*args, **named)
        self.text = SimpleNamespace(
            encode=self.words.encode,
            token_bytes=lambda token: self.words.pieces[token],
            end_tokens=frozenset({2}),
            fingerprint=FINGERPRINT,
            vocab_size=VOCABULARY,
        )
        self.base = Datastore.build([self.words.encode(base_text)], fingerprint=FINGERPRINT, vocab_size=VOCABULARY)
        self.shared = LiveStore(fingerprint=FINGERPRINT, vocab_size=VOCABULARY)
        self.stores = SimpleNamespace(open=self._open_base, shared=lambda: self.shared)
        self.session_stores: dict[str, LiveStore] = {}
        self.dropped_sessions: list[str] = []

    def ask(
        self, messages, settings: Settings, *, conversation=None, raw=False, keep_top=False, session: str | None = None
    ) -> FakeAnswer:
        question = messages[-1]["content"]
        self.asked.append(([dict(message) for message in messages], settings, conversation))
        answer = TeachingAnswer(self.words, messages, settings, self.reply(question))
        answer.delay = self.delay
        answer.store = self.session_store(session) if session else None
        self.answers.append(answer)
        return answer

    def session_store(self, session: str, limits: Limits | None = None) -> LiveStore:
        if session not in self.session_stores:
            limits = limits or Limits(max_tokens=10_000)
            made = LiveStore(fingerprint=FINGERPRINT, vocab_size=VOCABULARY, limits=limits)
            self.session_stores[session] = made
        return self.session_stores[session]

    def drop_session(self, session: str) -> None:
        self.dropped_sessions.append(session)
        store = self.session_stores.pop(session, None)
        if store is not None:
            store.close()

    def _open_base(self, name: str) -> Datastore:
        if name != "base":
            raise UserError(f"There is no datastore {name!r}; the known ones are: base.")
        return self.base
