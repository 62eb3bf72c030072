"""How much a store that fills is worth: finished answers, each drafted again with either source alone and with both.

No model is needed for that. In greedy decoding a draft is accepted exactly where it agrees with what the model
wrote, so drafting the written answer again gives the very numbers that decoding with those sources would have given,
but for one thing: what the target held likely after guesses that it refused is not in an answer. All three are drafted
again without it, to be comparable; decoding itself mostly does a little better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from sssd_demo.sssd.constants import DEFAULT, Settings
from sssd_demo.sssd.recorded_answers import RecordedAnswer
from sssd_demo.sssd.recycled import Recycled
from sssd_demo.sssd.replay import Yielded, decode_again
from sssd_demo.sssd.sub_index import SubIndex
from sssd_demo.trace import Top, Trace

WINDOW = 10  # conversations that one point of the curve sums up


@dataclass(frozen=True)
class Snapshot:
    """A store as it was at one moment, to draft from."""

    sub_indices: tuple[SubIndex, ...]
    added: int = 0  # tokens given to it so far
    dropped: int = 0  # documents it has forgotten
    recycled: Recycled = field(default_factory=Recycled)

    def recalled(self, tokens: tuple[int, ...]) -> Top | None:
        """What the target held likely after these one or two tokens."""
        return self.recycled.after(tokens)


@dataclass(frozen=True)
class Conversation:
    """One finished answer: what both sources together give it, and what each alone would."""

    added: int  # tokens that the store had been given before it
    dropped: int  # documents that the store had forgotten before it
    both: Yielded
    prompt_only: Yielded
    store_only: Yielded
    draft_ms: float | None  # median of its rounds, lookups included


@dataclass(frozen=True)
class Point:
    """The curve after one conversation: tokens per forward over the last `WINDOW` of them."""

    added: int
    both: float | None
    prompt_only: float | None
    store_only: float | None


def measured(trace: Trace, before: Snapshot, s_q: int, settings: Settings = DEFAULT) -> Conversation:
    """What `trace`, which was drafted with the store `before`, comes to with that, without it, and with it alone.

    The target's recycled predictions belong to where they were made: to this conversation, or to those in the store.
    """
    decode = trace.rounds[1:]
    store_only = replace(settings, prompt_weight=0.0)
    return Conversation(
        added=before.added,
        dropped=before.dropped,
        both=redraft(trace, (before,), s_q, settings),
        prompt_only=redraft(trace, (), s_q, settings),
        store_only=redraft(trace, (before,), s_q, store_only),
        draft_ms=median(round_.draft_ms for round_ in decode) if decode else None,
    )


def redraft(trace: Trace, stores: Sequence[Snapshot], s_q: int, settings: Settings) -> Yielded:
    """Draft a greedy answer again, `s_q` tokens a forward with the root, as the engine would have from `stores`."""
    top = tuple(top for round_ in trace.rounds for top in round_.top)
    answer = RecordedAnswer(trace.prompt, tuple(trace.token_ids()), top=top)
    return decode_again(answer, stores, s_q, settings, trace.settings["max_new_tokens"])


def curve(conversations: Sequence[Conversation]) -> list[Point]:
    """One point after each conversation."""
    return [_point(conversations[max(0, end - WINDOW) : end]) for end in range(1, len(conversations) + 1)]


def total(parts: Sequence[Yielded]) -> Yielded:
    return Yielded(sum(part.tokens for part in parts), sum(part.forwards for part in parts))


def _point(window: Sequence[Conversation]) -> Point:
    return Point(
        added=window[-1].added,
        both=total([conversation.both for conversation in window]).per_forward,
        prompt_only=total([conversation.prompt_only for conversation in window]).per_forward,
        store_only=total([conversation.store_only for conversation in window]).per_forward,
    )
