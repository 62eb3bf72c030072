"""The law of whole answers of the Saguaro family, by counting: the real engine, the real drafter in a thread or in a
process of its own, two scripted models, and a drafter that is now and then too late.

All ways of drafting take turns in the same batches, and both methods share the drafter. What follows a hit and what
follows a miss must each have the target's law, given the text before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal
from unittest.mock import patch

from sssd_demo.engine import Engine
from sssd_demo.length import LengthPlanner
from sssd_demo.request import Drafting, Length, Request
from sssd_demo.roofline import Profile
from sssd_demo.saguaro import drafter_process
from sssd_demo.saguaro.drafter_process import Drafter, DrafterProcess, Place
from sssd_demo.saguaro.messages import Reply
from sssd_demo.saguaro.options import SaguaroOptions
from sssd_demo.sampling import Sampling
from sssd_demo.speculators.registry import make_speculators
from sssd_demo.sssd.drafter import Store
from sssd_demo.trace import Round
from tests.proofs.chi_square import Test, chi_square, together
from tests.proofs.scripted_model import CONTEXT, LoadDraft, Script
from tests.proofs.worlds import Text
from tests.proofs.wrong_overlap import OverlapBug

SCRIPT = Script()
WARM = Sampling(temperature=1.0, top_k=3)  # of target and draft, so that both hold tokens impossible
PROMPT = (0, 1, 2, 3, 4, 0, 1, 3)
LENGTH = 4  # tokens at an answer's beginning whose joint law is compared: the prompt's, and K + 1 that are drafted for
RUN = 3  # tokens after a hit or a miss: K + 1
MOST = 24  # tokens of an answer
ROWS = 64
FLAT = Profile({(1, 1, 64): 1.0, (1, 32, 64): 1.2})  # long forwards cost little more than short ones
LATE_EVERY = 7  # of so many questions one is not waited for


@dataclass(frozen=True)
class Way:
    """How answers are drafted."""

    name: str
    options: SaguaroOptions
    drafting: Drafting
    method: Literal["saguaro", "saguaro-sssd"] = "saguaro"
    s_q: Length = 6

    def request(self, seed: int) -> Request:
        sampling = replace(WARM, seed=seed)
        return Request(PROMPT, self.method, MOST, sampling, s_q=self.s_q, drafting=self.drafting, saguaro=self.options)


STEADY = SaguaroOptions("uniform", 9, fallback="batched", roll_back_after=0)
CHAIN, BLOCK = Drafting(2), Drafting(2, rule="block")
COOL = Drafting(2, temperature=0.6)
OWN = Drafting("auto", rule="block")
WAYS = [
    Way("chain", STEADY, CHAIN),
    Way("block", SaguaroOptions("geometric", 6, fallback="batched"), BLOCK),
    Way("weight C, by logits", SaguaroOptions("logits", 6, bend="c", c=0.3, fallback="batched"), CHAIN),
    Way("weight 0, block", replace(STEADY, budget=3, bend="c", c=0.0), BLOCK),
    Way("root, confident", SaguaroOptions("confident", 8, bend="root", fallback="immediate"), BLOCK),
    Way("cooler draft, sized", SaguaroOptions("sized", fallback="batched"), COOL),
    Way("nearest, n-grams on a miss", SaguaroOptions("uniform", 4, fallback="partial", nearest=True), CHAIN),
    Way("K by the machine", SaguaroOptions("geometric", fallback="batched", roll_back_after=2), OWN, s_q="auto"),
    Way("mixed", STEADY, CHAIN, "saguaro-sssd"),
    Way("mixed, block", SaguaroOptions("logits", 6, fallback="batched"), BLOCK, "saguaro-sssd"),
    Way("mixed, weight C, nearest", SaguaroOptions("uniform", 5, bend="c", c=0.2, fallback="partial", nearest=True),
        CHAIN, "saguaro-sssd"),
    Way("mixed, root, K by the machine", SaguaroOptions("geometric", 6, bend="root", fallback="batched"), OWN,
        "saguaro-sssd", s_q="auto"),
]  # fmt: skip


@dataclass(frozen=True)
class Stretch:
    """`RUN` tokens from the beginning of a round on; which draft was `served` there was known after the text `before`.

    The target remembers two tokens.
    """

    before: Text
    tokens: Text
    hit: bool
    served: str


@dataclass(frozen=True)
class Answer:
    """How it begins, and stretches of it that do not overlap. Each begins with the first round after the one before.

    Where it begins depends on the text before alone. The first round is left out: for it nothing can be prepared.
    """

    beginning: Text
    stretches: tuple[Stretch, ...]


class Unpunctual(Drafter):
    """Some questions are given up at once, so that the reply comes too late and something else is served."""

    def reply(self, version: int, until: float | None = None) -> Reply | None:
        return super().reply(version, 0.0 if version % LATE_EVERY == 3 else until)


@contextmanager
def running(place: Place = "thread", rows: int = ROWS) -> Iterator[Engine]:
    """An engine with both methods and one drafter."""
    lengths = LengthPlanner(bytes_per_weight=4)
    lengths.use(FLAT)
    drafter = DrafterProcess(LoadDraft(SCRIPT, rows), place=place)
    with patch.object(drafter_process, "Drafter", Unpunctual):
        drafter.ensure()
    speculators = make_speculators(_no_store, None, lengths.seconds, drafter)
    engine = Engine(SCRIPT.target(rows, CONTEXT), speculators, lengths=lengths)
    try:
        yield engine
    finally:
        engine.close()
        drafter.close()


def write(engine: Engine, ways: Sequence[Way], runs: int, first_seed: int = 0) -> dict[str, list[Answer]]:
    """`runs` answers of each way, in batches in which the ways take turns. No two answers have the same seed: their
    coins would be the same, and counts of both together would have no law.
    """
    found: dict[str, list[Answer]] = {way.name: [] for way in ways}
    for start in range(first_seed, first_seed + runs, 100):
        asked = [(way, seed) for seed in range(start, min(start + 100, first_seed + runs)) for way in ways]
        streams = [engine.submit(way.request(len(WAYS) * seed + WAYS.index(way))) for way, seed in asked]
        for (way, _), stream in zip(asked, streams, strict=True):
            found[way.name].append(_answer(list(stream)))
    return found


def _answer(rounds: Sequence[Round]) -> Answer:
    text = [*PROMPT, *(token for round_ in rounds for token in round_.committed)]
    stretches: list[Stretch] = []
    at, free = len(PROMPT), 0
    for round_ in rounds:
        account = round_.saguaro
        if account is not None and account.why != "first" and free <= at <= len(text) - RUN:
            served = "hit" if account.hit else f"{account.why}: {account.fallback}"
            tokens = tuple(text[at : at + RUN])
            stretches.append(Stretch(tuple(text[at - 2 : at]), tokens, account.hit, served))
            free = at + RUN
        at += len(round_.committed)
    return Answer(tuple(text[len(PROMPT) :][:LENGTH]), tuple(stretches))


def beginnings(answers: Iterable[Answer]) -> Test:
    """The first `LENGTH` tokens against the target's law."""
    return chi_square(Counter(answer.beginning for answer in answers), _law(PROMPT[-2:], LENGTH))


def continuations(answers: Iterable[Answer], wanted: Callable[[Stretch], bool], length: int = RUN) -> Test:
    """The first `length` tokens from a round's beginning on against the target's law after the text before."""
    counts: dict[Text, Counter[Text]] = {}
    for answer in answers:
        for stretch in filter(wanted, answer.stretches):
            counts.setdefault(stretch.before, Counter())[stretch.tokens[:length]] += 1
    return together([chi_square(found, _law(before, length)) for before, found in sorted(counts.items())])


@cache
def _law(text: Text, length: int) -> dict[Text, float]:
    return SCRIPT.law(text, length, WARM)


def _no_store(name: str) -> Store:
    raise AssertionError(name)


IN_A_PROCESS = ("chain", "block", "mixed", "mixed, weight C, nearest")
STRETCHES = 6  # of an answer, about


def drafted_ahead(answers: int) -> dict[tuple[Place, str], list[Answer]]:
    """So many answers of every way, the drafter in a thread; of some ways as many with the drafter in a process."""
    found: dict[tuple[Place, str], list[Answer]] = {}
    some = [way for way in WAYS if way.name in IN_A_PROCESS]
    places: list[tuple[Place, list[Way], int]] = [("thread", WAYS, 0), ("process", some, answers)]
    for place, ways, first_seed in places:
        with running(place) as engine:
            written = write(engine, ways, answers, first_seed)
        found |= {(place, name): each for name, each in written.items()}
    return found


def with_bug(bug: OverlapBug, answers: int) -> dict[int, Test]:
    """So many answers written with a seeded bug: by length, what follows a round's beginning."""
    with bug.put_in(), running() as engine:
        written = write(engine, [way for way in WAYS if way.name == bug.way], answers)
    return {length: continuations(written[bug.way], lambda stretch: True, length) for length in (1, RUN)}
