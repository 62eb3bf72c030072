"""A store's state → its map and its events, in words. Drawn by `static/store_map.js`."""

from __future__ import annotations

from typing import Any

from sssd_demo.sssd.merging import Limits
from sssd_demo.sssd.store_state import StoreEvent, StoreState
from sssd_demo.ui.words import WORDS

SHOWN_EVENTS = 20
SEGMENT_LETTERS = {"full": "F", "growing": "G", "tail": "N"}


def map_value(state: StoreState | None, limits: Limits | None = None) -> dict[str, Any]:
    """`segments`, oldest first: [kind, letter, tokens, documents] each; `notes` and `events` are sentences.

    Without `limits` nothing is said about room.
    """
    if state is None:
        return {"segments": [], "notes": [], "events": []}
    return {
        "segments": [
            [segment.kind, SEGMENT_LETTERS[segment.kind], segment.tokens, segment.documents]
            for segment in state.segments
        ],
        "notes": _notes(state, limits),
        "events": [event_text(event) for event in state.events[: -SHOWN_EVENTS - 1 : -1]],
    }


def event_text(event: StoreEvent) -> str:
    """One event as a sentence."""
    return WORDS[f"store.event.{event.kind}"].format(
        documents=documents_text(event.documents),
        tokens=tokens_text(event.tokens),
        ms=f"{1000 * event.seconds:.0f} ms",
        reason=event.reason,
    )


def documents_text(number: int) -> str:
    return WORDS["store.document"] if number == 1 else WORDS["store.documents"].format(n=number)


def tokens_text(number: int) -> str:
    return WORDS["store.token"] if number == 1 else WORDS["store.tokens"].format(n=number)


def _notes(state: StoreState, limits: Limits | None) -> list[str]:
    notes = []
    if limits is not None:
        notes.append(WORDS["store.map.room"].format(n=limits.max_sub_indices, tokens=f"{limits.max_tokens:,}"))
    if state.dropped:
        notes.append(WORDS["store.map.dropped"].format(n=f"{state.dropped:,}"))
    if state.waiting:
        notes.append(WORDS["store.map.waiting"].format(n=f"{state.waiting:,}"))
    if state.building:
        notes.append(WORDS["store.map.building"])
    if state.problem:
        notes.append(state.problem)
    return notes
