"""Do drafts get dearer as the text gets longer? Drafting time and speed-up at several lengths of context.

The authors of arXiv 2411.05894 report that drafting costs the same at any length, and a speed-up at 40,000 tokens.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from sssd_demo.bench import BASELINE
from sssd_demo.bench.figures import spread
from sssd_demo.errors import UserError
from sssd_demo.experiments.figure import Axis, Figure, Series
from sssd_demo.experiments.held_out import check_held_out
from sssd_demo.experiments.phrases import listed
from sssd_demo.metrics import Summary, summarise
from sssd_demo.service import Answer, Service, Settings
from sssd_demo.sssd import constants
from sssd_demo.sssd.drafter import Drafter
from sssd_demo.sssd.recorded_answers import RecordedAnswer

DRAFTING = "sssd"
ROOM = 64  # tokens kept free behind prompt and answer, for drafts and for text that is encoded a little longer
WARM_UP = "The quick brown fox jumps over the lazy dog."
_CONVERSATION = "experiment-context"  # the second method to be asked need not read the prompt again


@dataclass(frozen=True)
class Budget:
    lengths: tuple[int, ...]  # tokens of context; the last is cut to what the model can hold
    max_new_tokens: int
    repeats: int


BUDGETS = {"small": Budget((512, 2048, 8192), 32, 1), "full": Budget((512, 2048, 8192), 96, 5)}


@dataclass(frozen=True)
class _Pair:
    """The same prompt answered by plain decoding and by a method that drafts, one right after the other."""

    plain: Summary
    drafted: Summary
    learning_ms: float | None  # for SSSD's drafter to take in the prompt, once an answer

    @property
    def speedup(self) -> float | None:
        ours, theirs = self.drafted.tokens_per_second, self.plain.tokens_per_second
        return ours / theirs if ours and theirs else None


def run(
    service: Service,
    texts: Sequence[str],
    *,
    store: str | None,
    budget: Budget,
    s_q: int,
    tell: Callable[[str], None],
    method: str = DRAFTING,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Figure]:
    """Continue `texts`, joined and cut to each length, without a chat template; every repeat begins elsewhere.

    What it takes to learn a prompt is told of SSSD only.

    Raises `UserError` if the texts are too short, the store is unknown or knows one of them or an answer, or an answer
    ends too early to be timed.
    """
    settings = {
        BASELINE: Settings(method=BASELINE, max_new_tokens=budget.max_new_tokens),
        method: Settings(method=method, max_new_tokens=budget.max_new_tokens, s_q=s_q, datastore=store),
    }
    for one in settings.values():
        _answer(service, WARM_UP, one)
    holds = service.engine.context_length - budget.max_new_tokens - ROOM
    lengths = list(dict.fromkeys(min(length, holds) for length in budget.lengths))
    stores = [service.stores.open(store)] if store else []
    pairs: dict[int, list[_Pair]] = {length: [] for length in lengths}
    for repeat in range(budget.repeats):
        # Prompts begin at other topics in other repeats, so that no one topic decides.
        start = repeat * len(texts) // budget.repeats
        ids = service.text.encode("\n\n".join([*texts[start:], *texts[:start]]))
        for place, length in enumerate(lengths):
            if len(ids) < length:
                raise UserError(f"The text has {len(ids)} tokens, which is too short for a context of {length}.")
            tell(f"repeat {repeat + 1} of {budget.repeats}, {length} tokens")
            known, where = tuple(ids[:length]), f" (a context of {length} tokens)"
            for opened in stores:
                check_held_out([RecordedAnswer(known, ())], opened, str(store), where)
            prompt = service.text.decode(known)
            order = (BASELINE, method) if (repeat + place) % 2 == 0 else (method, BASELINE)
            answered = {each: _answer(service, prompt, settings[each]) for each in order}
            for opened in stores:
                written = RecordedAnswer((), tuple(answered[BASELINE].trace.token_ids()))
                check_held_out([written], opened, str(store), where)
            learning_ms = None
            if method == DRAFTING:
                started = clock()
                Drafter(known, stores, constants.DEFAULT)
                learning_ms = 1000 * (clock() - started)
            pairs[length].append(_Pair(_summary(answered[BASELINE]), _summary(answered[method]), learning_ms))
    told: dict[str, Any] = {"method": method, "store": store, "s_q": s_q, "repeats": budget.repeats}
    told |= {"max_new_tokens": budget.max_new_tokens, "temperature": 0}
    if method == DRAFTING:
        told |= {"learning_the_prompt_ms": {str(length): median(_learning(found)) for length, found in pairs.items()}}
    told |= {"tokens_per_forward": {str(length): _per_forward(found) for length, found in pairs.items()}}
    return [_speedups(pairs, told), _drafting(pairs, told)]


def _answer(service: Service, prompt: str, settings: Settings) -> Answer:
    answer = service.ask(prompt, settings, raw=True, conversation=_CONVERSATION)
    for _ in answer:
        pass  # the trace grows with the rounds
    return answer


def _summary(answer: Answer) -> Summary:
    return summarise(answer.trace, answer.finished.prefill_forwards)


def _speedups(pairs: dict[int, list[_Pair]], told: dict[str, Any]) -> Figure:
    series = _series(f"{told['method']} against {BASELINE}", pairs, lambda pair: pair.speedup)
    steps = [f"{ratio:.2f} times as fast at {length} tokens" for length, ratio in zip(series.x, series.y, strict=True)]
    return Figure(
        experiment="context",
        title="Speed-up at longer contexts",
        verdict=f"Against plain decoding, {told['method']} was {listed(steps)}.",
        x=Axis("context", "tokens"),
        y=Axis("speed-up", "times"),
        series=(series,),
        kind="line",
        settings=told | {"spread": "median and quartiles of paired ratios"},
    )


def _drafting(pairs: dict[int, list[_Pair]], told: dict[str, Any]) -> Figure:
    series = _series("a round", pairs, lambda pair: pair.drafted.draft_ms)
    learning = [median(found) for found in map(_learning, pairs.values()) if found]
    taking_in = (
        f"; taking in the prompt took {learning[0]:.0f} and {learning[-1]:.0f} ms, once an answer." if learning else "."
    )
    return Figure(
        experiment="context-drafting",
        title="Drafting time at longer contexts",
        verdict=(
            f"A round's draft took {series.y[0]:.2f} ms at {series.x[0]} tokens and {series.y[-1]:.2f} ms at "
            f"{series.x[-1]}{taking_in}"
        ),
        x=Axis("context", "tokens"),
        y=Axis("drafting", "ms per round"),
        series=(series,),
        kind="line",
        settings=told | {"spread": "median and quartiles of the answers"},
    )


def _series(name: str, pairs: dict[int, list[_Pair]], figure: Callable[[_Pair], float | None]) -> Series:
    spreads = []
    for length, found in pairs.items():
        one = spread(map(figure, found))
        if one is None:
            raise UserError(f"No answer at a context of {length} tokens was long enough to be timed.")
        spreads.append(one)
    return Series.of_spreads(name, list(pairs), spreads, "median")


def _learning(found: list[_Pair]) -> list[float]:
    return [pair.learning_ms for pair in found if pair.learning_ms is not None]


def _per_forward(found: list[_Pair]) -> float | None:
    one = spread(pair.drafted.tokens_per_forward for pair in found)
    return one["median"] if one else None
