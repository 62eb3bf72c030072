"""The lookup explorer: a visitor's words → what one store knows about them, ready to be drawn.

Of the store that holds text of others only frequent tokens and pairs are counted: whoever may ask how often any longer
run occurs can read the text out, one token after another. Drawn by `static/store_lookup.js`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sssd_demo.sssd.constants import DEFAULT
from sssd_demo.sssd.explorer import Exploration, Match, Place, explore
from sssd_demo.sssd.sub_index import SubIndex
from sssd_demo.ui.token_text import Piece, TextStream, piece
from sssd_demo.ui.words import WORDS

SHOWN_FOLLOWERS = 6
SHOWN_QUERY = 24  # tokens of the text, the last ones
LOOKED_UP = DEFAULT.longest_match  # tokens of the text, the last ones
SHARED_LENGTH = 1  # tokens; of longer matches the shared store tells nothing: pairs can be chained
SHARED_COUNT = 5  # occurrences; fewer are not told apart, not even from none

TokenBytes = Callable[[int], bytes]


def nothing(reason: str = "") -> dict[str, Any]:
    """The value where there is nothing to look at; `reason` is one sentence."""
    return {"said": reason, "query": None}


def lookup_value(sub_indices: Sequence[SubIndex], ids: Sequence[int], token_bytes: TokenBytes) -> dict[str, Any]:
    """What `sub_indices` know about the end of `ids`."""
    found = explore(sub_indices, ids)
    return {
        "said": _sentence(found, len(ids), token_bytes),
        "query": _query(ids, token_bytes),
        "secret": False,
        "matches": [_match(match, found.query, token_bytes) for match in found.matches],
        "samples": found.samples,
        "shorter": list(found.sampled_lengths[1:]),
        "tree": _tree(found, token_bytes),
    }


def shared_lookup_value(sub_indices: Sequence[SubIndex], ids: Sequence[int], token_bytes: TokenBytes) -> dict[str, Any]:
    """What the shared store's `sub_indices` may tell about the end of `ids`: how often single tokens occur."""
    counts = {match.length: match.count for match in explore(sub_indices, ids[-SHARED_LENGTH:]).matches}
    lengths = range(min(len(ids), LOOKED_UP), 0, -1)
    return {
        "said": WORDS["store.look.shared_why"],
        "query": _query(ids, token_bytes),
        "secret": True,
        "matches": [{"length": length, "told": _shared_count(counts.get(length))} for length in lengths],
        "samples": 0,
        "tree": None,
    }


def _shared_count(count: int | None) -> str:
    if count is None:
        return WORDS["store.look.shared_hidden"]
    if count < SHARED_COUNT:
        return WORDS["store.look.shared_few"].format(n=SHARED_COUNT)
    return WORDS["store.look.times"].format(n=count)


def _query(ids: Sequence[int], token_bytes: TokenBytes) -> dict[str, Any]:
    return {"pieces": _pieces(ids[-SHOWN_QUERY:], token_bytes), "used": min(len(ids), LOOKED_UP), "most": LOOKED_UP}


def _tree(found: Exploration, token_bytes: TokenBytes) -> dict[str, Any] | None:
    if found.longest is None or not found.branches:
        return None
    return {
        "root": _pieces(found.query[-found.longest.length :], token_bytes),
        "tokens": _pieces((branch.token for branch in found.branches), token_bytes),
        "parents": [branch.parent for branch in found.branches],
        "counts": [branch.count for branch in found.branches],
    }


def _match(match: Match, query: Sequence[int], token_bytes: TokenBytes) -> dict[str, Any]:
    first = match.followers[:SHOWN_FOLLOWERS]
    return {
        "length": match.length,
        "count": match.count,
        "looked_at": match.looked_at,
        "followers": [
            [text, follower.count]
            for follower, text in zip(first, _pieces((f.token for f in first), token_bytes), strict=True)
        ],
        "others": [len(match.followers) - len(first), sum(f.count for f in match.followers[SHOWN_FOLLOWERS:])],
        "ended": match.ended,
        "places": [_place(place, query[-match.length :], token_bytes) for place in match.places],
    }


def _place(place: Place, query: Sequence[int], token_bytes: TokenBytes) -> dict[str, Any]:
    """Numbers from 1, as people count; `text` is what stands before, the match, and after.

    Bytes at the ends that are no whole character are left out: they are only where the snippet was cut.
    """
    parts = (place.before, query, place.after)
    stream = TextStream()
    before, matched, after = ("".join(stream.push(map(token_bytes, part))) for part in parts)
    return {
        "at": [place.sub_index + 1, place.document + 1, place.position + 1],
        "text": [before, matched or _text(query, token_bytes), after],
    }


def _sentence(found: Exploration, given: int, token_bytes: TokenBytes) -> str:
    longest = found.longest
    if longest is None:
        return WORDS["store.look.none"].format(text=_text(found.query, token_bytes))
    query = found.query[-longest.length :]
    text = _text(query, token_bytes)
    times = WORDS["store.look.once"] if longest.count == 1 else WORDS["store.look.times"].format(n=longest.count)
    cut = WORDS["store.look.shortened"].format(n=longest.length, all=given)
    begins = cut if longest.length < len(found.query) else ""
    if not longest.followers:
        return begins + WORDS["store.look.found_end"].format(text=text, times=times)
    best = longest.followers[0]
    next_ = _text([best.token], token_bytes)
    return begins + WORDS["store.look.found"].format(
        text=text, times=times, next=next_, count=f"{best.count:,}", of=f"{longest.looked_at:,}"
    )


def _pieces(tokens: Iterable[int], token_bytes: TokenBytes) -> list[Piece]:
    return [piece(token_bytes(token)) for token in tokens]


def _text(tokens: Sequence[int], token_bytes: TokenBytes) -> str:
    """Tokens as text; those that are no whole characters as bytes in angle brackets."""
    data = [token_bytes(token) for token in tokens]
    text = "".join(TextStream().push(data))
    if text.encode() == b"".join(data):
        return text
    return "".join(f"<{part.hex(' ').upper()}>" if not isinstance(piece(part), str) else part.decode() for part in data)
