"""From nothing: tokens per forward while a store grows by the conversations that it is used for.

Conversations are drafted again in their order, each with the store of those before it, and then appended to it. The
same held-out questions, drafted again whenever the store has grown to a new size, tell the store's growth apart from
conversations that happen to be easy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Protocol

from sssd_demo.bench.contamination import holds_answer
from sssd_demo.bench.figures import spread
from sssd_demo.errors import UserError
from sssd_demo.experiments.figure import Axis, Figure, Series
from sssd_demo.experiments.held_out import check_held_out, occurrences, unrelated
from sssd_demo.experiments.phrases import moved
from sssd_demo.experiments.recycling import as_recorded, told
from sssd_demo.experiments.redraft import BOTH, DATASTORE_ONLY, PROMPT_ONLY, long_enough, redraft
from sssd_demo.sssd.constants import Settings
from sssd_demo.sssd.drafter import Store
from sssd_demo.sssd.live_store import conversation_document
from sssd_demo.sssd.recorded_answers import RecordedAnswer
from sssd_demo.trace import Top

LEAST_CONVERSATIONS = 24
WINDOWS = 12  # points on a line; each sums up as many conversations
HELD_OUT_SHARE = 0.1  # of the conversations, if no others are given
SIZES = (0, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)  # tokens
SOURCES = (BOTH, PROMPT_ONLY, DATASTORE_ONLY)


@dataclass(frozen=True)
class Budget:
    conversations: int
    held_out: int


BUDGETS = {"small": Budget(500, 40), "full": Budget(1_000_000, 1_000)}


class GrowingStore(Store, Protocol):
    """As much of a live store as is needed here."""

    def append(self, document: Sequence[int], top: Sequence[Top] = ()) -> None: ...
    def wait(self, timeout: float | None = None) -> bool: ...


@dataclass
class _Growth:
    """What was found on the way."""

    tokens: int = 0  # in the store
    before: list[int] = field(default_factory=list)  # tokens in the store when a conversation was drafted
    rates: dict[str, list[float]] = field(default_factory=lambda: {source: [] for source in SOURCES})
    sizes: list[int] = field(default_factory=list)  # tokens in the store when the held-out ones were drafted
    held_out: dict[str, list[float]] = field(default_factory=lambda: {source: [] for source in SOURCES})
    repeats: int = 0  # conversations left out, since the store knew their answer


def run(
    conversations: Sequence[RecordedAnswer],
    held_out: Sequence[RecordedAnswer] | None,
    store: GrowingStore,
    *,
    budget: Budget,
    s_q: int,
    settings: Settings,
    tell: Callable[[str], None],
) -> list[Figure]:
    """Grow the empty `store` by `conversations`: one figure about them, one about the questions of `held_out`.

    Without `held_out`, the last tenth of the conversations is held out.

    Conversations that are related to a held-out one are left out, as are those whose answer the store holds already.
    Raises `UserError` if the conversations are too few, or the grown store knows a held-out one all the same.
    """
    conversations = long_enough(conversations, LEAST_CONVERSATIONS)
    if held_out is None:
        kept = len(conversations) - max(1, round(HELD_OUT_SHARE * len(conversations)))
        conversations, held_out = conversations[:kept], conversations[kept:]
    conversations, held_out = conversations[: budget.conversations], long_enough(held_out, 1)[: budget.held_out]
    new = unrelated(conversations, held_out)
    related = len(conversations) - len(new)
    if related:
        tell(f"{related} conversations are left out: they are related to one that is held out")
    settings = as_recorded(settings, new, held_out)
    growth = _grow(new, held_out, store, s_q, settings, tell)
    check_held_out(held_out, store, "of these conversations")
    if len(growth.before) < WINDOWS:
        raise UserError(
            f"Only {len(growth.before)} of the conversations are new to those before them and to those held out."
        )
    details: dict[str, Any] = {"conversations": len(growth.before), "tokens": growth.tokens, "s_q": s_q}
    details |= {"repeats_left_out": growth.repeats, "related_left_out": related, "held_out": len(held_out)}
    return [told(figure, settings) for figure in (_on_the_way(growth, details), _on_the_same(growth, details))]


def _on_the_way(growth: _Growth, details: dict[str, Any]) -> Figure:
    """Each conversation as it came."""
    windows = _windows(growth)
    both, prompt, _ = windows
    return Figure(
        experiment="cold-start",
        title="A store that grows by being used",
        verdict=(
            f"Over {len(growth.before)} conversations ({growth.tokens:,} tokens) from an empty store, tokens per "
            f"forward {moved(both.y[0], both.y[-1])}, while the prompt alone {moved(prompt.y[0], prompt.y[-1])}."
        ),
        x=Axis("in the store", "tokens"),
        y=Axis("tokens per forward", ""),
        series=windows,
        kind="line",
        settings=details | {"spread": f"mean and quartiles of {len(growth.before) // WINDOWS} conversations"},
    )


def _on_the_same(growth: _Growth, details: dict[str, Any]) -> Figure:
    """The held-out questions again and again."""
    both, prompt = growth.held_out[BOTH], growth.held_out[PROMPT_ONLY]
    return Figure(
        experiment="cold-start-held-out",
        title="The same questions with a bigger and bigger store",
        verdict=(
            f"On {details['held_out']} held-out questions, tokens per forward {moved(both[0], both[-1])} as the store "
            f"grew to {growth.tokens:,} tokens of other conversations; the prompt alone gives {prompt[-1]:.2f}."
        ),
        x=Axis("in the store", "tokens"),
        y=Axis("tokens per forward", ""),
        series=tuple(Series(name, tuple(growth.sizes), tuple(rates)) for name, rates in growth.held_out.items()),
        kind="line",
        settings=details,
    )


def _grow(
    conversations: Sequence[RecordedAnswer],
    held_out: Sequence[RecordedAnswer],
    store: GrowingStore,
    s_q: int,
    settings: Settings,
    tell: Callable[[str], None],
) -> _Growth:
    growth = _Growth()
    ahead = list(SIZES)
    for number, conversation in enumerate(conversations):
        if growth.tokens >= ahead[0]:
            tell(f"conversation {number + 1} of {len(conversations)}, {growth.tokens:,} tokens in the store")
            _draft_held_out(growth, held_out, store, s_q, settings)
            ahead = [size for size in ahead if size > growth.tokens]
        if _holds(store, conversation):
            growth.repeats += 1
            continue
        growth.before.append(growth.tokens)
        for source, rates in growth.rates.items():
            rates.append(redraft([conversation], [store], source, s_q, settings).rate)
        document = conversation_document(conversation.prompt, conversation.output)
        store.append(document, conversation.top)
        store.wait()
        growth.tokens += len(document)
    _draft_held_out(growth, held_out, store, s_q, settings)
    return growth


def _draft_held_out(
    growth: _Growth, held_out: Sequence[RecordedAnswer], store: Store, s_q: int, settings: Settings
) -> None:
    growth.sizes.append(growth.tokens)
    for source, rates in growth.held_out.items():
        rates.append(redraft(held_out, [store], source, s_q, settings).rate)


def _holds(store: Store, conversation: RecordedAnswer) -> bool:
    return holds_answer(conversation.output, lambda query: occurrences(store, query))


def _windows(growth: _Growth) -> tuple[Series, ...]:
    """A line for each source: the mean of every window, with its quartiles."""
    count = len(growth.before)
    bounds = [count * window // WINDOWS for window in range(WINDOWS + 1)]
    parts = [slice(start, stop) for start, stop in zip(bounds, bounds[1:], strict=False)]
    sizes = [round(fmean(growth.before[part])) for part in parts]
    return tuple(
        Series.of_spreads(source, sizes, [spread(rates[part]) or {} for part in parts], "mean")
        for source, rates in growth.rates.items()
    )
