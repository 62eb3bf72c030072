"""Which cores target and drafter compute on while they work at the same time."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from sssd_demo.errors import UserError

STRETCH = re.compile(r"\s*([0-9]{1,4})\s*(?:-\s*([0-9]{1,4})\s*)?")  # 2 or 2-3
DRAFT_SHARE = 4  # of so many cores the drafter gets one, and at least one


@dataclass(frozen=True)
class Cores:
    """The drafter's cores (empty: any), its threads, and the target's threads while the drafter works.

    `note` says in one sentence what a user should know about it; empty if nothing.
    """

    draft: tuple[int, ...]
    draft_threads: int
    beside: int
    note: str = ""


def share_cores(
    threads: int, target_device: str, draft_device: str, draft_cores: tuple[int, ...] | None = None
) -> Cores:
    """Divide the machine. `threads` is what the target computes with when nobody works beside it.

    On one device the two share it, and nothing is gained. `draft_cores` overrides the choice.
    """
    there = available_cores()
    if draft_device != "cpu":
        note = "" if target_device != draft_device else "Target and drafter share one device, so little can overlap."
        return Cores((), 1, threads, note)
    if draft_cores is None:
        count = len(there) - 1 if target_device != "cpu" else len(there) // DRAFT_SHARE
        draft_cores = tuple(there[-max(1, count) :])
    if target_device != "cpu":
        return Cores(draft_cores, len(draft_cores), threads)
    left = len(set(there) - set(draft_cores))
    note = ""
    if not left:
        note = "Target and drafter share the same cores, so preparing drafts will slow verification instead of hiding."
    return Cores(draft_cores, len(draft_cores), max(1, min(threads, left)), note)


def cores_of(text: str) -> tuple[int, ...]:
    """Cores by their numbers, such as 0,2-3. Raises `UserError` for what is none, or not there."""
    found: set[int] = set()
    for part in text.split(","):
        stretch = STRETCH.fullmatch(part)
        if stretch is None:
            raise UserError(f"Cores are given by their numbers, such as 0 or 1,2-3, but not as {text!r}.")
        first, last = stretch.groups()
        found.update(range(int(first), int(last or first) + 1))
    there = available_cores()
    missing = sorted(found - set(there))
    if missing or not found:
        raise UserError(f"There is no core {text}; this process may use the cores {', '.join(map(str, there))}.")
    return tuple(sorted(found))


def available_cores() -> list[int]:
    """The numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))
