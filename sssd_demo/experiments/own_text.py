"""Is it the model's own past that helps, or any text? Stores of equal size, made of different texts.

The authors of arXiv 2411.05894 report about 35 % more correct drafts from a model's own outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sssd_demo.errors import UserError
from sssd_demo.experiments.figure import Axis, Figure, Series
from sssd_demo.experiments.held_out import check_held_out, questions_of, unrelated
from sssd_demo.experiments.phrases import compared, listed
from sssd_demo.experiments.recycling import as_recorded, recycles, told
from sssd_demo.experiments.redraft import (
    DATASTORE_ONLY,
    Redrafted,
    draws,
    interval,
    long_enough,
    redraft,
)
from sssd_demo.sssd.constants import Settings
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.recorded_answers import RecordedAnswer
from sssd_demo.sssd.recycled import Recycled

LEAST_ANSWERS = 10
OWN = "the model's own answers"
REMEMBERS = " That store also remembers what the model held likely there, which other text cannot tell."
QUESTIONS = "the questions to them"
SEED = 0

Documents = Iterable[Sequence[int]]


@dataclass(frozen=True)
class Budget:
    answers: int
    sizes: tuple[int, ...]  # tokens in a store


BUDGETS = {
    "small": Budget(40, (1_000, 10_000, 30_000)),
    "full": Budget(10_000, (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)),
}


def run(
    answers: Sequence[RecordedAnswer],
    own: Sequence[RecordedAnswer],
    texts: Mapping[str, Documents],
    *,
    vocab_size: int,
    budget: Budget,
    s_q: int,
    settings: Settings,
    tell: Callable[[str], None],
) -> list[Figure]:
    """Draft held-out `answers` from stores of the model's `own` others, of the questions to those, and of `texts`.

    Every store of a size holds that many tokens exactly; a text too short for a size has no store of it, and one too
    short for all of them is left out. So are answers of `own` that are related to a held-out one. Raises `UserError` if
    the answers are too few, a text knows one of them, or there is nothing left to compare.
    """
    answers = long_enough(answers, LEAST_ANSWERS)[: budget.answers]
    asked = [answer for answer in own if answer.output]
    own = unrelated(asked, answers)
    related = len(asked) - len(own)
    settings = as_recorded(settings, answers, own)
    texts = {OWN: [answer.output for answer in own], QUESTIONS: questions_of(own), **texts}
    kept = {name: first_tokens(documents, max(budget.sizes)) for name, documents in texts.items()}
    reached = {name: sum(map(len, documents)) for name, documents in kept.items()}
    usable = [name for name, tokens in reached.items() if tokens >= min(budget.sizes)]
    if OWN not in usable or len(usable) < 2:
        short = OWN if OWN not in usable else "other text"
        left_out = f" {related} of the own answers are related to one held out." if related else ""
        raise UserError(f"There is too little of {short}: a store needs at least {min(budget.sizes)} tokens.{left_out}")
    if related:
        tell(f"{related} of the model's own answers are left out: they are related to one that is held out")
    found: dict[str, dict[int, Redrafted]] = {}
    for name in usable:
        found[name] = {}
        documents = kept[name]
        whole = _store(documents, vocab_size)
        check_held_out(answers, whole, f"made of {name}")
        for size in budget.sizes:
            if size <= reached[name]:
                tell(f"{name}, {size:,} tokens")
                store = _store(first_tokens(documents, size), vocab_size)
                if name == OWN:
                    store = store.with_recycled(_recycled(own, size))
                found[name][size] = redraft(answers, [store], DATASTORE_ONLY, s_q, settings)
    details: dict[str, Any] = {"answers": len(answers), "related_left_out": related, "s_q": s_q}
    details |= {"texts": {name: f"{tokens} tokens" for name, tokens in reached.items()}}
    details |= {"spread": "95 % of bootstrap samples of the answers", "seed": SEED}
    figure = Figure(
        experiment="own-text",
        title="Is it the model's own past that helps, or any text?",
        verdict=_verdict(found) + (REMEMBERS if recycles(settings) else ""),
        x=Axis("in the store", "tokens"),
        y=Axis("drafts accepted from the datastore alone", "tokens per forward"),
        series=tuple(_series(name, sizes) for name, sizes in found.items()),
        kind="line",
        settings=details,
    )
    return [told(figure, settings)]


def first_tokens(documents: Documents, most: int) -> list[Sequence[int]]:
    """The first `most` tokens of `documents`, the last one cut where they end. Reads no document beyond that."""
    taken: list[Sequence[int]] = []
    room = most
    for document in documents:
        if len(document):
            taken.append(document[:room])
            room -= len(taken[-1])
        if not room:
            break
    return taken


def _recycled(own: Sequence[RecordedAnswer], size: int) -> Recycled:
    """What the target held likely in the first `size` tokens of `own`, where that was recorded."""
    recycled = Recycled(most_places=None)
    outputs = first_tokens((answer.output for answer in own), size)
    for answer, output in zip(own, outputs, strict=False):
        recycled.learn((*answer.prompt, *output), answer.top[: len(output)])
    return recycled


def _store(documents: Documents, vocab_size: int) -> Datastore:
    return Datastore.build(documents, fingerprint="", vocab_size=vocab_size)


def _series(name: str, sizes: dict[int, Redrafted]) -> Series:
    intervals = [interval(one.resampled(draws(len(one.tokens), SEED)) - 1) for one in sizes.values()]
    return Series(
        name=name,
        x=tuple(sizes),
        y=tuple(one.gain for one in sizes.values()),
        low=tuple(low for low, _ in intervals),
        high=tuple(high for _, high in intervals),
    )


def _verdict(found: dict[str, dict[int, Redrafted]]) -> str:
    own = found[OWN]
    parts = []
    for name, sizes in found.items():
        if name != OWN:
            size = max(own.keys() & sizes.keys())
            parts.append(f"{compared(own[size].gain, sizes[size].gain)} {name} (at {size:,} tokens each)")
    return f"In accepted drafts per forward, a store of {OWN} gives {listed(parts)}."
