"""What the tabs that measure say alike: what was asked, and who comes first."""

from __future__ import annotations

from sssd_demo.ui.words import WORDS

LONGEST_QUESTION = 160  # characters shown


def asked(question: str) -> str:
    """What was asked, on one line and cut where it is long; nothing if that is not known."""
    line = " ".join(question.split())
    if len(line) > LONGEST_QUESTION:
        line = line[: LONGEST_QUESTION - 1] + "…"
    return WORDS["measure.asked"].format(question=line) if line else ""


def queued(ahead: int) -> str:
    """What a measurement waits for while it is in the queue: `ahead` of others come first."""
    if not ahead:
        return WORDS["measure.next"]
    return WORDS["measure.queued_one"] if ahead == 1 else WORDS["measure.queued"].format(n=ahead)
