"""The scripted service as a machine whose forwards take a known time, shared by all that is asked at once.

Texts are made of the same token over and over; what a draft is worth is told by `brings`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from types import SimpleNamespace
from typing import Any

from sssd_demo.errors import UserError
from sssd_demo.profile_file import ProfileKey
from sssd_demo.request import Finished
from sssd_demo.roofline import BATCHES, CONTEXTS, LENGTHS, Profile
from sssd_demo.service import Settings
from sssd_demo.trace import EMPTY_VERIFIED_TREE, ROOT, Fate, Law, Round, Source, Trace, VerifiedTree
from tests.toys import toy_model
from tests.ui.fakes import FakeService

GUESSES = 3  # nodes of every draft
PROMPT = 20  # tokens of every prompt


def forward_seconds(batch: int, length: float, context: int = 64) -> float:
    """Flat up to 32 tokens, then growing with them."""
    return 0.02 * max(1.0, batch * length / 32)


FULL = Profile(
    {(b, q, c): forward_seconds(b, q) for b in BATCHES for q in LENGTHS for c in CONTEXTS}, flops=8e11, bandwidth=5e10
)
QUICK = Profile({(1, q, 64): forward_seconds(1, q) for q in LENGTHS}, flops=8e11, bandwidth=5e10)


def chain(accepted: int) -> VerifiedTree:
    """A draft whose first nodes are accepted."""
    point: Law = "point"
    source: Source = "prompt"
    fates: list[Fate] = [*["accepted"] * accepted, "rejected", *["ignored"] * GUESSES]  # type: ignore[list-item]
    return VerifiedTree(
        tokens=(1,) * GUESSES,
        parents=tuple(range(ROOT, GUESSES - 1)),
        probs=(0.9,) * GUESSES,
        laws=(point,) * GUESSES,
        sources=(source,) * GUESSES,
        match_lengths=(1,) * GUESSES,
        target_probs=(0.5,) * GUESSES,
        coins=(None,) * GUESSES,
        fates=tuple(fates[:GUESSES]),
    )


@dataclass
class Group:
    """Sequences that are decoded together."""

    began: float
    members: list[BatchAnswer] = field(default_factory=list)
    rounds: int = 0  # that the first one has had


class BatchAnswer:
    """Like `service.Answer`. The first of a group sets the pace; the others have as many rounds as it had."""

    def __init__(self, service: RooflineService, group: Group, settings: Settings) -> None:
        self._service, self._group, self._settings = service, group, settings
        self._cancelled = threading.Event()
        self.finished: Finished | None = None
        self.trace = Trace("", "", "", "", settings.method, asdict(settings), (), (1,) * PROMPT, {})

    def __iter__(self) -> Iterator[Round]:
        first = self._group.members[0] is self
        written, index = 0, 0
        while written < self._settings.max_new_tokens:
            if self._cancelled.is_set() and (first or index >= self._group.rounds):
                break
            round_ = self._round(index)
            written += len(round_.committed)
            self.trace = self.trace.with_round(round_, {})
            index += 1
            if first:
                self._group.rounds = index
                time.sleep(self._service.delay)
            yield round_
        reason = "cancelled" if self._cancelled.is_set() else "length"
        object.__setattr__(self.trace, "finish_reason", reason)
        if first:
            self._service.end(self._group)

    def _round(self, index: int) -> Round:
        settings, batch = self._settings, len(self._group.members) + self._service.others
        guesses = settings.method != "autoregressive" and index > 0
        brings = self._service.brings(settings.method) if guesses else 0
        tree = chain(brings) if guesses else EMPTY_VERIFIED_TREE
        took = 1000 * self._service.slowness * forward_seconds(batch, 1 + len(tree))
        s_q = 1 if not guesses else settings.s_q if isinstance(settings.s_q, int) else 1 + GUESSES
        start = self._group.began + index * (took + 1)
        scratch = 4 if settings.method == "lookahead" and guesses else 0
        committed = (1,) * (1 + brings)
        return Round(index, batch, s_q, start, 0.5 if guesses else 0.0, took, tree, 1, 1.0, committed, scratch=scratch)

    def cancel(self) -> None:
        self._cancelled.set()


class RooflineService(FakeService):
    """Like `service.Service`, with a profile."""

    def __init__(self, profile: Profile = FULL, capacity: int = 16) -> None:
        super().__init__()
        self.model.model = toy_model()
        self.model.device = SimpleNamespace(type="cpu")
        self.text = SimpleNamespace(encode_chat=lambda messages: [1] * PROMPT, end_tokens=frozenset({2}))
        self.profile = profile
        self.threads = 2
        self.engine = SimpleNamespace(busy=0, capacity=capacity, context_length=2048, call=self._call)
        self.brings: Callable[[str], int] = lambda method: 1
        self.slowness = 1.0  # times as long as the profile says
        self.others = 0  # sequences of others in every forward
        self.delay = 0.0
        self.settings: list[Settings] = []
        self._group: Group | None = None
        self._clock = 1000.0

    def ask(self, messages: Any, settings: Settings, **_named: Any) -> Any:
        if settings.method not in self.methods():
            raise UserError(f"There is no method called {settings.method}.")
        if self._group is None:
            self._clock += 100_000
            self._group = Group(self._clock)
        answer = BatchAnswer(self, self._group, settings)
        self._group.members.append(answer)
        self.settings.append(settings)
        return answer

    def end(self, group: Group) -> None:
        if self._group is group:
            self._group = None

    def methods(self) -> list[str]:
        return ["autoregressive", "sssd", "lookahead", "speculative"]

    def profile_key(self) -> ProfileKey:
        return ProfileKey(self.model.device_name, self.model.dtype, self.threads, self.model.name)

    def use_profile(self, profile: Profile) -> None:
        self.profile = profile

    def _call(self, work: Callable[[Any], Any]) -> Any:
        time.sleep(self.delay)
        return work(SimpleNamespace(time_forward=forward_seconds))
