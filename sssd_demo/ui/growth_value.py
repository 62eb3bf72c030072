"""A growth run's state → what the Datastore tab draws of it: figures, a curve, a map, one sentence each.

Drawn by `static/store_growth.js`. Columns grow at their ends only, so that an update costs what is new in it.
"""

from __future__ import annotations

from typing import Any

from sssd_demo.sssd.growth import WINDOW, Conversation, curve, total
from sssd_demo.ui.datastore_map import map_value
from sssd_demo.ui.growth_run import RunState
from sssd_demo.ui.words import WORDS

SAME = 0.005  # tokens per forward that nobody would see
_LONGEST_QUESTION = 70  # characters shown


def growth_value(state: RunState | None, *, planned: int, longest: int) -> dict[str, Any]:
    """The value of the growth view; None before there is a run of `planned` answers of `longest` tokens at most."""
    if state is None:
        return {
            "phase": "idle",
            "now": WORDS["store.now.idle"].format(planned=planned, longest=longest),
            "counts": counts(()),
            "verdict": "",
            "curve": _columns(()),
            "map": map_value(None),
        }
    return {
        "phase": state.phase,
        "now": _now(state),
        "counts": counts(state.conversations, state.store.tokens, state.store.documents),
        "verdict": verdict(state.conversations),
        "curve": _columns(state.conversations),
        "map": map_value(state.store, state.limits),
    }


def verdict(conversations: tuple[Conversation, ...]) -> str:
    """What the store is worth by now, in one sentence; nothing before the first conversation."""
    if not conversations:
        return ""
    if len(conversations) < WINDOW:
        return WORDS["store.verdict.early"].format(n=len(conversations), window=WINDOW)
    last = curve(conversations)[-1]
    if last.both is None or last.prompt_only is None:
        return ""
    gain = last.both - last.prompt_only
    key = "store.verdict.useless" if abs(gain) < SAME else "store.verdict.worth"
    return WORDS[key].format(window=WINDOW, both=last.both, prompt=last.prompt_only, gain=_signed(gain))


def _signed(gain: float) -> str:
    return f"{gain:+.2f}".replace("-", "\N{MINUS SIGN}")


def _now(state: RunState) -> str:
    key = "waiting" if state.waiting and state.phase == "running" else state.phase
    done = len(state.conversations)
    busy = key in ("running", "waiting")
    question = " ".join(state.question.split())
    if len(question) > _LONGEST_QUESTION:
        question = question[: _LONGEST_QUESTION - 1] + "…"
    return WORDS[f"store.now.{key}"].format(
        n=min(done + 1, state.planned) if busy else done,
        planned=state.planned,
        question=question,
        tokens=state.tokens,
        reason=state.reason,
    )


def counts(conversations: tuple[Conversation, ...], tokens: int = 0, documents: int = 0) -> list[list[str]]:
    """[figure, label] pairs of `conversations`, for a store that holds `tokens` and `documents`."""
    both = [conversation.both for conversation in conversations]
    drafting = [conversation.draft_ms for conversation in conversations if conversation.draft_ms is not None]
    window = drafting[-WINDOW:]
    return [
        [f"{len(conversations):,}", WORDS["store.count.conversations"]],
        [f"{tokens:,}", WORDS["store.count.tokens"]],
        [f"{documents:,}", WORDS["store.count.documents"]],
        [_number(sum(window) / len(window) if window else None), WORDS["store.count.draft"]],
        [_number(total(both[-WINDOW:]).per_forward), WORDS["store.count.window"].format(n=WINDOW)],
        [_number(total(both).per_forward), WORDS["store.count.all"]],
        [_adds(conversations), WORDS["store.count.adds"].format(n=WINDOW)],
    ]


def _adds(conversations: tuple[Conversation, ...]) -> str:
    last = curve(conversations)[-1] if conversations else None
    if last is None or last.both is None or last.prompt_only is None:
        return WORDS["figure.none"]
    return _signed(last.both - last.prompt_only)


def _number(value: float | None) -> str:
    return WORDS["figure.none"] if value is None else f"{value:.2f}"


def _columns(conversations: tuple[Conversation, ...]) -> dict[str, list[float | int | None]]:
    """`forgot` holds where on the x axis documents were dropped."""
    points = curve(conversations)
    pairs = zip(conversations, conversations[1:], strict=False)
    return {
        "x": [point.added for point in points],
        "both": [_short(point.both) for point in points],
        "prompt_only": [_short(point.prompt_only) for point in points],
        "store_only": [_short(point.store_only) for point in points],
        "forgot": [after.added for before, after in pairs if after.dropped > before.dropped],
    }


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
