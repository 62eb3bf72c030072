"""How a live store is doing, as frozen data for whoever shows it. There is no text in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SegmentKind = Literal["full", "growing", "tail"]
EventKind = Literal["built", "merged", "dropped", "saved", "failed"]


@dataclass(frozen=True)
class Segment:
    """One sub-index of a live store."""

    tokens: int
    documents: int
    kind: SegmentKind


@dataclass(frozen=True)
class StoreEvent:
    """Something that happened to a live store: how much text it was about and how long it took."""

    at: float  # seconds of the store's clock
    kind: EventKind
    tokens: int
    documents: int
    seconds: float
    reason: str = ""


@dataclass(frozen=True)
class StoreState:
    """A live store at one moment."""

    segments: tuple[Segment, ...]  # oldest first
    tokens: int
    documents: int
    waiting: int  # documents appended but not searchable yet
    dropped: int  # documents pushed out so far
    building: bool
    problem: str | None  # why the last build, merge or save failed; what was there before is still in use
    events: tuple[StoreEvent, ...]  # the latest
