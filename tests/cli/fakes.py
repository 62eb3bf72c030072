"""A service that answers from a script: token ids are bytes, 0 ends a text, every draft is accepted but one token."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import torch

from sssd_demo.errors import UserError
from sssd_demo.profile_file import ProfileKey
from sssd_demo.request import Finished
from sssd_demo.saguaro.cores import Cores
from sssd_demo.service import Settings
from sssd_demo.text import StreamDecoder, Text
from sssd_demo.trace import EMPTY_VERIFIED_TREE, ROOT, Fate, FinishReason, Law, Round, Source, Top, Trace, VerifiedTree

CONTEXT = 200


def tree(accepted: tuple[int, ...]) -> VerifiedTree:
    """A chain of `accepted` tokens, and a token 1 refused at its root."""
    n = len(accepted) + 1
    point: Law = "point"
    prompt: Source = "prompt"
    fates: tuple[Fate, ...] = tuple("accepted" for _ in accepted)
    return VerifiedTree(
        tokens=(*accepted, 1),
        parents=(*range(ROOT, len(accepted) - 1), ROOT),
        probs=(0.5,) * n,
        laws=(point,) * n,
        sources=(prompt,) * n,
        match_lengths=(1,) * n,
        target_probs=(0.5,) * n,
        coins=(None,) * n,
        fates=(*fates, "rejected"),
    )


class FakeText:
    """As much of `Text` as the command line uses."""

    end_tokens = frozenset({0})
    vocab_size = 256
    fingerprint = "fake"

    def token_bytes(self, token: int) -> bytes:
        return bytes([token])

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: Any) -> str:
        decoder = StreamDecoder(cast(Text, self))
        return decoder.push(ids) + decoder.finish()


class FakeStores:
    """One store, called `mine`, that holds `text`."""

    def __init__(self) -> None:
        self.text = b""

    def open(self, name: str) -> FakeStores:
        if name != "mine":
            raise UserError(f"There is no datastore {name!r}; the known ones are: mine.")
        return self

    def count(self, query: Sequence[int]) -> int:
        return self.text.count(bytes(query))


class FakeAnswer:
    """Answers with `script`, its first byte from the prefill and then `step` bytes a round of 10 ms."""

    def __init__(self, trace: Trace, script: bytes, step: int, limit: int, keep_top: bool = False) -> None:
        self.trace = trace
        self.cancelled = False
        self.finished: Finished | None = None
        self._tokens = (*script, 0)[:limit]
        self._reason: FinishReason = "end_of_text" if len(self._tokens) > len(script) else "length"
        self._step = step
        self._keep_top = keep_top

    def __iter__(self) -> Iterator[Round]:
        pieces = [self._tokens[:1]]
        pieces += [self._tokens[at : at + self._step] for at in range(1, len(self._tokens), self._step)]
        for index, committed in enumerate(pieces):
            round_ = Round(
                index=index,
                batch_size=1,
                s_q=8,
                start_ms=10.0 * index,
                draft_ms=1.0,
                verify_ms=9.0,
                tree=tree(committed[:-1]) if index and self.trace.method != "autoregressive" else EMPTY_VERIFIED_TREE,
                bonus=committed[-1],
                bonus_prob=1.0,
                committed=committed,
                top=tuple(Top((token, 0), (0.75, 0.25)) for token in committed) if self._keep_top else (),
            )
            self.trace = self.trace.with_round(round_, {token: bytes([token]) for token in committed})
            yield round_
        self.trace = Trace(**(vars(self.trace) | {"finish_reason": self._reason}))
        self.finished = Finished(self._reason, prefill_forwards=2, reused_tokens=0)

    def cancel(self) -> None:
        self.cancelled = True


class FakeEngine:
    """Two rows, and a target whose forwards take a microsecond a token."""

    capacity = 2

    def call(self, work: Callable[[Any], Any]) -> Any:
        def time_forward(batch: int, length: int, context: int) -> float:
            return 1e-6 * batch * length

        return work(SimpleNamespace(time_forward=time_forward, context_length=CONTEXT))


class FakeService:
    """Every answer is `answers[method]` if there is one, else the question itself."""

    def __init__(self, answers: dict[str, bytes] | None = None, step: int = 2) -> None:
        self.text = FakeText()
        self.stores = FakeStores()
        self.threads = 2
        self.engine = FakeEngine()
        self.model = SimpleNamespace(
            name="fake",
            device=torch.device("cpu"),
            device_name="a test",
            dtype="float32",
            model=SimpleNamespace(dtype=torch.float32),
        )
        self.draft: Any = None
        self.cores = Cores(draft=(1,), draft_threads=1, beside=1)
        self.answers = answers or {}
        self.step = step
        self.asked: list[tuple[str, Settings, bool]] = []
        self.answers_given: list[FakeAnswer] = []
        self.closed = False

    def ask(
        self,
        messages: Any,
        settings: Settings,
        *,
        conversation: str | None = None,
        raw: bool = False,
        keep_top: bool = False,
    ) -> Any:
        prompt = messages if raw else messages[-1]["content"]
        self.asked.append((prompt, settings, raw))
        if len(prompt) > CONTEXT:
            raise UserError(f"The prompt has {len(prompt)} tokens, but the context holds {CONTEXT}.")
        trace = Trace(
            created="2026-01-01T00:00:00+00:00",
            device=self.model.device_name,
            dtype=self.model.dtype,
            preset="fake",
            method=settings.method,
            settings={},
            messages=() if raw else tuple(messages),
            prompt=tuple(prompt.encode()),
            token_bytes={byte: bytes([byte]) for byte in {*prompt.encode(), 1}},
        )
        step = 1 if settings.method == "autoregressive" else self.step
        script = self.answers.get(settings.method, prompt.encode())
        self.answers_given.append(FakeAnswer(trace, script, step, settings.max_new_tokens, keep_top))
        return self.answers_given[-1]

    def profile_key(self) -> ProfileKey:
        return ProfileKey("a test", "float32", 1, "fake")

    def close(self) -> None:
        self.closed = True
