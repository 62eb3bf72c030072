"""A service without a model, for tests of the app: it answers with a given text and drafts from it for real.

Tokens are words, punctuation and, for other characters, single bytes. Drafts are looked up in the running text as a
prompt-lookup method would, and accepted where the answer goes on like them, so that traces look like real ones.
"""

from __future__ import annotations

import itertools
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

from sssd_demo.errors import UserError
from sssd_demo.request import Finished
from sssd_demo.roofline import Profile
from sssd_demo.service import Service, Settings
from sssd_demo.sssd.merging import Limits
from sssd_demo.trace import EMPTY_VERIFIED_TREE, ROOT, Fate, Law, Round, Source, Trace, VerifiedTree
from sssd_demo.ui.service_host import OpenService

END = b"<|im_end|>"
_WORDS = re.compile(rb" ?[A-Za-z]+|\n|[\x80-\xff]| ?[^A-Za-z\n\x80-\xff]")


class Vocabulary:
    """Bytes ↔ ids, made up as they come."""

    def __init__(self) -> None:
        self.ids: dict[bytes, int] = {END: 2}
        self.pieces: dict[int, bytes] = {2: END}

    def encode(self, text: str) -> list[int]:
        return [self._id(word) for word in _WORDS.findall(text.encode())]

    def _id(self, word: bytes) -> int:
        if word not in self.ids:
            self.ids[word] = 100 + len(self.ids)
            self.pieces[self.ids[word]] = word
        return self.ids[word]


def draft(context: list[int], prompt_length: int, size: int) -> list[tuple[int, int, Source, int]]:
    """(token, parent, source, match length) of up to `size` nodes: continuations of up to three earlier matches."""
    nodes: list[tuple[int, int, Source, int]] = []
    for match in (3, 2, 1):
        suffix = context[-match:]
        for start in range(len(context) - match - 1, -1, -1):
            if context[start : start + match] != suffix or len(nodes) >= size:
                continue
            parent = ROOT
            for at in range(start + match, min(start + match + 5, len(context))):
                known = [n for n, node in enumerate(nodes) if node[0] == context[at] and node[1] == parent]
                if not known and len(nodes) < size:
                    source: Source = "prompt" if at < prompt_length else "output"
                    nodes.append((context[at], parent, source, match))
                    known = [len(nodes) - 1]
                if not known:
                    break
                parent = known[0]
    return nodes


def make_rounds(prompt: list[int], answer: list[int], method: str, s_q: int, pace_ms: float) -> Iterator[Round]:
    """Rounds that write `answer`, drafting from the running text unless `method` is plain."""
    written: list[int] = []
    now = 1000.0
    for index in itertools.count():
        if len(written) == len(answer):
            return
        size = 0 if not written or method == "autoregressive" else s_q - 1
        nodes = draft(prompt + written, len(prompt), size) if size else []
        tree, path = verify(nodes, answer[len(written) :])
        rest = answer[len(written) + len(path) :]
        bonus = rest[0] if rest else answer[-1]
        committed = (*[tree.tokens[node] for node in path], *rest[:1])
        took = pace_ms * (3 if not written else 1 + 0.01 * len(nodes))
        yield Round(index, 1, s_q, now, 0.08, took, tree, bonus, 0.81, committed)
        written += committed
        now += 0.1 + took


def verify(nodes: list[tuple[int, int, Source, int]], answer: list[int]) -> tuple[VerifiedTree, list[int]]:
    """The drafted `nodes` tested against what the answer goes on with."""
    if not nodes:
        return EMPTY_VERIFIED_TREE, []
    path: list[int] = []
    for wanted in answer:
        at = path[-1] if path else ROOT
        hit = [n for n, (token, parent, _, _) in enumerate(nodes) if parent == at and token == wanted]
        if not hit:
            break
        path.append(hit[0])
    reached = {ROOT, *path}
    fates: list[Fate] = [
        "accepted" if n in path else "rejected" if parent in reached else "ignored"
        for n, (_, parent, _, _) in enumerate(nodes)
    ]
    chance = {"accepted": 0.93, "rejected": 0.04, "ignored": 0.2}
    tokens, parents, sources, matches = zip(*nodes, strict=True)
    point: Law = "point"
    return (
        VerifiedTree(
            tokens=tokens,
            parents=parents,
            probs=tuple(0.6 / (1 + n) for n in range(len(nodes))),
            laws=(point,) * len(nodes),
            sources=sources,
            match_lengths=matches,
            target_probs=tuple(chance[fate] for fate in fates),
            coins=(None,) * len(nodes),
            fates=tuple(fates),
        ),
        path,
    )


def make_trace(question: str, answer: str, *, method: str = "sssd", s_q: int = 8, pace_ms: float = 30.0) -> Trace:
    """A whole finished trace of `answer` given to `question`."""
    fake = FakeAnswer(Vocabulary(), [{"role": "user", "content": question}], Settings(method=method, s_q=s_q), answer)
    fake.pace_ms, fake.delay = pace_ms, 0.0
    for _ in fake:
        pass
    return fake.trace


class FakeAnswer:
    """Like `service.Answer`: iterate for rounds; `trace` grows; `cancel` ends it after the round now running."""

    pace_ms = 30.0

    def __init__(self, words: Vocabulary, messages: list[dict[str, str]], settings: Settings, text: str) -> None:
        chat = "".join(f"{m['role']}\n{m['content']}\n" for m in messages) + "assistant\n"
        self._prompt = words.encode(chat)
        self._answer = [*words.encode(text), words.ids[END]][: settings.max_new_tokens]
        self._ends = len(self._answer) < settings.max_new_tokens or self._answer[-1] == words.ids[END]
        self._words, self._settings = words, settings
        self._cancelled = threading.Event()
        self.delay = 0.02
        self.closed = threading.Event()
        self.trace = Trace(
            created="2025-11-29T16:20:00+00:00",
            device="test bench, 2 threads",
            dtype="float32",
            preset="fake-1b",
            method=settings.method,
            settings=asdict(settings),
            messages=tuple(messages),
            prompt=tuple(self._prompt),
            token_bytes={token: words.pieces[token] for token in self._prompt},
        )

    def __iter__(self) -> Iterator[Round]:
        s_q = self._settings.s_q if isinstance(self._settings.s_q, int) else 8
        try:
            for round_ in make_rounds(self._prompt, self._answer, self._settings.method, s_q, self.pace_ms):
                if self._cancelled.wait(self.delay):
                    break
                seen = {*round_.tree.tokens, *round_.committed, round_.bonus}
                self.trace = self.trace.with_round(round_, {token: self._words.pieces[token] for token in seen})
                yield round_
            reason = "cancelled" if self._cancelled.is_set() else "end_of_text" if self._ends else "length"
            object.__setattr__(self.trace, "finish_reason", reason)
        finally:
            self.closed.set()

    def cancel(self) -> None:
        self._cancelled.set()

    @property
    def finished(self) -> Finished:
        assert self.trace.finish_reason is not None
        return Finished(self.trace.finish_reason, prefill_forwards=1, reused_tokens=0)


@dataclass(frozen=True)
class FakeBaseline:
    tokens_per_second: float = 30.0
    measured_at: datetime = datetime(2025, 11, 29, 14, 2, tzinfo=UTC)


class FakeService:
    """Like `service.Service`. `reply` maps a question to its answer's text; every request is kept in `asked`."""

    def __init__(self, reply=lambda question: "The cat sat on the mat. " * 3, delay: float = 0.02) -> None:
        self.model = SimpleNamespace(
            name="fake-1b",
            device_name="test bench, 2 threads",
            dtype="float32",
            dtype_reason="a test",
            licence="none",
            source="made up",
            context_length=2048,
            text=SimpleNamespace(end_tokens=frozenset({2})),
        )
        self.draft: Any = None
        self.engine = SimpleNamespace(busy=0, capacity=32)
        self.profile = Profile({})
        self.reply, self.delay = reply, delay
        self.words = Vocabulary()
        self.asked: list[tuple[list[dict[str, str]], Settings, str | None]] = []
        self.answers: list[FakeAnswer] = []
        self.sessions: list[str | None] = []  # one for each request in `asked`
        self.forgotten: list[str] = []
        self.dropped: list[str] = []  # sessions whose store was dropped
        self.stores = SimpleNamespace(open=self._open_store)

    def ask(
        self,
        messages,
        settings: Settings,
        *,
        conversation: str | None = None,
        raw: bool = False,
        session: str | None = None,
    ) -> FakeAnswer:
        if len(messages[-1]["content"]) > 4000:
            raise UserError("The prompt has 5,000 tokens, but this model reads at most 2,048.")
        self.asked.append(([dict(message) for message in messages], settings, conversation))
        self.sessions.append(session)
        answer = FakeAnswer(self.words, messages, settings, self.reply(messages[-1]["content"]))
        answer.delay = self.delay
        self.answers.append(answer)
        return answer

    def methods(self) -> list[str]:
        return ["autoregressive", "sssd", "prompt-lookup", "speculative"]

    def store_names(self) -> list[str]:
        return ["base"]

    def baseline(self) -> FakeBaseline:
        return FakeBaseline()

    def measure_baseline(self) -> FakeBaseline:
        return FakeBaseline()

    def note_baseline(self, trace: Trace) -> None:
        """The baseline stays what it is."""

    def forget(self, conversation: str) -> None:
        self.forgotten.append(conversation)

    def session_store(self, session: str, limits: Limits | None = None) -> Any:
        return SimpleNamespace(wait=lambda seconds: True, state=lambda: SimpleNamespace(tokens=0))

    def drop_session(self, session: str) -> None:
        self.dropped.append(session)

    def _open_store(self, name: str) -> None:
        if name != "base":
            raise UserError(f"There is no datastore {name!r}; the known ones are: base.")

    def close(self) -> None:
        for answer in self.answers:
            answer.cancel()


def opens(service: FakeService) -> OpenService:
    """What the app takes to open its service, giving `service` at once."""
    return lambda model, progress: cast(Service, service)


def wait_until(what, seconds: float = 30.0) -> None:
    """Wait for `what()` to become true; fail when it does not."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.01)
