"""A Saguaro run → what the picture draws: both timelines on either clock, and the cache of every round.

Drawn by `static/saguaro_view.js`. A bar is [who, what, start, end, round] with one letter each for who and what; times
are milliseconds.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from sssd_demo.saguaro.timeline import Doing, Timeline
from sssd_demo.trace import Round, SaguaroRound, Trace
from sssd_demo.ui.answer_payload import readable_date
from sssd_demo.ui.measuring import asked
from sssd_demo.ui.saguaro_found import CLOCKS, ClockName, Found
from sssd_demo.ui.saguaro_verdict import facts, verdict
from sssd_demo.ui.token_text import piece
from sssd_demo.ui.words import WORDS

LETTERS: dict[Doing, str] = {
    "draft": "d", "redraft": "d", "glue": "p", "branch": "p", "lookup": "l", "wait": "w", "backup": "n", "verify": "v",
}  # fmt: skip
_SIGNS = str.maketrans({" ": "·", "\n": "⏎", "\t": "→"})


def picture(found: Found | None, *, phase: str, now: str, share: float | None = None) -> dict[str, Any]:
    """The value of the picture; `now` is what is happening, `share` how much of the work is done."""
    value: dict[str, Any] = {"phase": phase, "now": now, "recorded": "", "clocks": {}, "rounds": []}
    if share is not None:
        value["share"] = round(share, 3)
    if found is None:
        return value
    value["recorded"] = _recorded(found)
    value["asked"] = _asked(found)
    value["clocks"] = {name: _clock(found, name) for name in CLOCKS}
    value["rounds"] = _rounds(found.ahead) if found.ahead else []
    value["facts"] = facts(found)
    return value


def shown(trace: Trace, token: int) -> str:
    """A token in signs that can be seen."""
    data = trace.token_bytes.get(token)
    if data is None:
        return f"#{token}"
    text = piece(data)
    return text.translate(_SIGNS) if isinstance(text, str) else " ".join(f"{byte:02X}" for byte in text)


def _recorded(found: Found) -> str:
    if not found.recorded:
        return ""
    return WORDS["sag.recorded"].format(
        device=found.device, dtype=found.dtype, model=found.preset, date=readable_date(found.created)
    )


def _asked(found: Found) -> str:
    trace = found.ahead or found.in_turn
    messages = trace.messages if trace else ()
    question = next((each["content"] for each in reversed(messages) if each["role"] == "user"), "")
    return asked(question)


def _clock(found: Found, name: ClockName) -> dict[str, Any]:
    clocked = found.clock(name)
    if clocked is None or not (clocked.in_turn or clocked.ahead):
        why = "recorded" if found.recorded else "waiting"
        return {"lanes": [], "note": WORDS[f"sag.clock.none.{why}"], "verdict": ""}
    lanes = []
    for key, timeline, trace in (
        ("in_turn", clocked.in_turn, found.in_turn),
        ("ahead", clocked.ahead, found.ahead),
    ):
        if timeline is not None and trace is not None:
            lanes.append(_lane(key, timeline, trace.method))
    return {"lanes": lanes, "note": WORDS[f"sag.clock.{name}.note"], "verdict": verdict(found, name)}


def _lane(key: str, timeline: Timeline, method: str) -> dict[str, Any]:
    speed = timeline.tokens_per_second
    return {
        "key": key,
        "name": WORDS[f"sag.lane.{key}"].format(method=method),
        "told": WORDS["sag.lane.told"].format(
            tokens=timeline.tokens, seconds=timeline.total_ms / 1000, speed=speed or 0.0
        ),
        "bars": [
            [bar.who[0], LETTERS[bar.what], round(bar.start_ms, 2), round(bar.end_ms, 2), bar.round]
            for bar in timeline.bars
        ],
        "hands": [[each.round, round(each.ms, 2), each.hit] for each in timeline.hand_overs],
        "total": round(timeline.total_ms, 2),
    }


def _rounds(trace: Trace) -> list[dict[str, Any]]:
    """One for each round after the prompt's: the cache that had been prepared for it, and what came true."""
    pairs = zip(trace.rounds, trace.rounds[1:], strict=False)
    return [_round(trace, before, r, r.saguaro) for before, r in pairs if r.saguaro is not None]


def _round(trace: Trace, before: Round, round_: Round, work: SaguaroRound) -> dict[str, Any]:
    k, bonus = work.outcome
    draft = [shown(trace, token) for token in _path(before, k)]
    rows = []
    for accepted, keys in groupby(sorted(work.keys, key=lambda key: key[0]), key=lambda key: key[0]):
        guesses = [token for _, token in keys]
        came = accepted == k
        row: dict[str, Any] = {
            "k": accepted,
            "path": "".join(draft[:accepted]),
            "guesses": [shown(trace, token) for token in guesses],
        }
        if came and bonus in guesses and work.hit:
            row["came"] = guesses.index(bonus)
        elif came:
            row["missed"] = _missed(trace, work)
        rows.append(row)
    if not any(row["k"] == k for row in rows):
        row = {"k": k, "path": "".join(draft[:k]), "guesses": [], "missed": _missed(trace, work)}
        rows = sorted([*rows, row], key=lambda row: row["k"])
    return {
        "n": round_.index,
        "mark": "first" if work.why == "first" else "hit" if work.hit else "miss",
        "rows": rows if work.keys else [],
        "title": _title(work),
        "said": _said(trace, before, round_, work),
    }


def _path(before: Round, k: int) -> list[int]:
    """The tokens that stand in the grid's margin: those accepted, and what a chain went on with."""
    tree = before.tree
    accepted = [tree.tokens[node] for node in tree.accepted_path()]
    return list(tree.tokens) if tree.is_chain() else accepted[:k]


def _missed(trace: Trace, work: SaguaroRound) -> str:
    token = shown(trace, work.outcome[1])
    return WORDS["sag.cache.rank"].format(token=token, rank=work.rank) if work.rank else token


def _title(work: SaguaroRound) -> str:
    if work.hit:
        return WORDS["sag.round.hit"]
    return WORDS[f"sag.why.{work.why or 'miss'}"]


def _said(trace: Trace, before: Round, round_: Round, work: SaguaroRound) -> str:
    """What had been guessed, what came true, what it meant, in two sentences or three."""
    k, bonus = work.outcome
    came = WORDS["sag.said.came"].format(
        k=k, drafted=max(before.tree.depths(), default=0), token=shown(trace, bonus), n=before.index
    )
    waited = round_.draft_ms
    if work.hit:
        rank = WORDS["sag.said.rank"].format(rank=work.rank) if work.rank else ""
        return f"{came} {WORDS['sag.said.hit'].format(rank=rank, n=len(work.keys), waited=waited)}"
    why = WORDS[f"sag.said.{work.why or 'miss'}"].format(
        n=sum(accepted == k for accepted, _ in work.keys), k=k, rank=work.rank or WORDS["sag.said.no_rank"]
    )
    served = WORDS[f"sag.served.{work.fallback or 'nothing'}"].format(waited=waited)
    return " ".join([came, why, served] if work.why != "first" else [why, served])
