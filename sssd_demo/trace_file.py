"""Traces as JSON, version 1: written, and read with suspicion.

A trace file may come from anybody. Reading checks types, ranges, lengths and the claims that the views rely on
(parents before children, committed tokens = accepted path + bonus, bytes for every id), and whatever is wrong
becomes one `UserError` that names it.
"""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any, get_args

from sssd_demo.errors import UserError
from sssd_demo.json_checks import (
    base64_bytes,
    flag,
    items,
    mapping,
    member,
    moment,
    one_of,
    plain,
    real,
    text,
    whole,
    wrong,
)
from sssd_demo.trace import (
    ROOT,
    AcceptanceRule,
    Decision,
    Draw,
    Fallback,
    Fate,
    FinishReason,
    Held,
    Law,
    MissReason,
    Round,
    SaguaroRound,
    Source,
    Span,
    Trace,
    VerifiedTree,
    Work,
    Worker,
)
from sssd_demo.whole_file import write_whole

VERSION = 1
MAX_FILE_BYTES = 32 * 2**20
MAX_TOKEN_ID = 2**31 - 1
MAX_S_Q, MAX_MATCH = 4096, 2**15  # far more than any round has; the views write such a number as one letter
MAX_PROBABILITY = 1.001  # a float32 softmax may end a little above 1
TREE_COLUMNS = ("tokens", "parents", "probs", "laws", "target_probs", "coins", "sources", "match_lengths", "fates")


def save(trace: Trace, path: Path | str) -> None:
    """Write `trace` to `path`; a file that is there is replaced only once the new one is complete.

    Raises `UserError` if the place cannot be written to.
    """
    content = json.dumps(to_json(trace), allow_nan=False, separators=(",", ":"))
    try:
        write_whole(Path(path), content)
    except OSError as error:
        raise UserError(f"The trace cannot be written to {path}: {error.strerror or error}.") from error


def load(path: Path | str) -> Trace:
    """The trace in the file at `path`. Raises `UserError` that says what is wrong with the file."""
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise UserError(f"{path.name} has {size:,} bytes; a trace file may have at most {MAX_FILE_BYTES:,}.")
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(f"The trace file {path.name!r} cannot be read: {reason}.") from error
    try:
        data = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path.name} is not a trace: it is not JSON, or it was cut off.") from error
    return from_json(data)


def to_json(trace: Trace) -> dict[str, Any]:
    """`trace` as plain JSON data; trees are written as columns, token bytes as base64."""
    return {
        "version": VERSION,
        "created": trace.created,
        "device": trace.device,
        "dtype": trace.dtype,
        "preset": trace.preset,
        "method": trace.method,
        "settings": trace.settings,
        "messages": list(trace.messages),
        "prompt": list(trace.prompt),
        "token_bytes": {str(token): base64.b64encode(data).decode() for token, data in trace.token_bytes.items()},
        "rounds": [round_to_json(round_) for round_ in trace.rounds],
        "finish_reason": trace.finish_reason,
    }


def from_json(data: Any) -> Trace:
    """The trace that `to_json` wrote. Raises `UserError` that names the first thing wrong with `data`."""
    if not isinstance(data, dict) or "version" not in data:
        raise UserError('This is not a trace: a JSON object with a "version" is expected.')
    if data["version"] != VERSION or isinstance(data["version"], bool):
        raise UserError(f"This trace has version {str(data['version'])[:20]}, but only version {VERSION} can be read.")

    def top(key: str) -> Any:
        return member(data, key, "the file")

    rounds = items(top("rounds"), "rounds", _round)
    finish = top("finish_reason")
    trace = Trace(
        created=moment(top("created"), "created"),
        device=text(top("device"), "device"),
        dtype=text(top("dtype"), "dtype"),
        preset=text(top("preset"), "preset"),
        method=text(top("method"), "method"),
        settings=plain(mapping(top("settings"), "settings"), "settings"),
        messages=items(top("messages"), "messages", _message),
        prompt=items(top("prompt"), "prompt", _token),
        token_bytes=_token_bytes(top("token_bytes"), "token_bytes"),
        rounds=rounds,
        finish_reason=None if finish is None else one_of(finish, "finish_reason", get_args(FinishReason)),
    )
    for position, round_ in enumerate(rounds):
        _check_round(round_, position, last=position == len(rounds) - 1)
    _check_bytes_known(trace)
    return trace


def round_to_json(round_: Round) -> dict[str, Any]:
    """One round as it stands in a trace file."""
    data: dict[str, Any] = {
        "index": round_.index,
        "batch_size": round_.batch_size,
        "s_q": round_.s_q,
        "start_ms": round_.start_ms,
        "draft_ms": round_.draft_ms,
        "verify_ms": round_.verify_ms,
        "tree": {column: list(getattr(round_.tree, column)) for column in TREE_COLUMNS},
        "bonus": round_.bonus,
        "bonus_prob": round_.bonus_prob,
        "committed": list(round_.committed),
    }
    if round_.withheld:
        data["withheld"] = round_.withheld
    if round_.scratch:
        data["scratch"] = round_.scratch
    if round_.rule != Round.rule:
        data["rule"] = round_.rule
    if round_.decisions:
        data["decisions"] = [_decision_to_json(decision) for decision in round_.decisions]
    if round_.draw is not None:
        data["draw"] = asdict(round_.draw)
    if round_.saguaro is not None:
        data["saguaro"] = asdict(round_.saguaro)
    return data


def _decision_to_json(decision: Decision) -> dict[str, Any]:
    held = [[held.token, held.p, held.q, held.residual] for held in decision.held]
    return asdict(replace(decision, held=())) | {"held": held}


def _round(value: Any, where: str) -> Round:
    data = mapping(value, where)

    def entry(key: str) -> tuple[Any, str]:
        return member(data, key, where), f"{where}.{key}"

    saguaro = data.get("saguaro")
    return Round(
        index=whole(*entry("index")),
        batch_size=whole(*entry("batch_size"), low=1),
        s_q=whole(*entry("s_q"), low=1, high=MAX_S_Q),
        start_ms=real(*entry("start_ms")),
        draft_ms=real(*entry("draft_ms")),
        verify_ms=real(*entry("verify_ms")),
        tree=_tree(*entry("tree")),
        bonus=_token(*entry("bonus")),
        bonus_prob=_probability(*entry("bonus_prob")),
        committed=items(*entry("committed"), _token),
        saguaro=None if saguaro is None else _saguaro(saguaro, f"{where}.saguaro"),
        withheld=whole(data.get("withheld", 0), f"{where}.withheld"),
        scratch=whole(data.get("scratch", 0), f"{where}.scratch"),
        rule=one_of(data.get("rule", Round.rule), f"{where}.rule", get_args(AcceptanceRule)),
        decisions=items(data.get("decisions", []), f"{where}.decisions", _decision),
        draw=_draw(data["draw"], f"{where}.draw") if data.get("draw") is not None else None,
    )


def _tree(value: Any, where: str) -> VerifiedTree:
    data = mapping(value, where)

    def column(key: str, check: Any) -> Any:
        return items(member(data, key, where), f"{where}.{key}", check)

    tree = VerifiedTree(
        tokens=column("tokens", _token),
        parents=column("parents", lambda v, w: whole(v, w, low=ROOT)),
        probs=column("probs", real),
        laws=column("laws", lambda v, w: one_of(v, w, get_args(Law))),
        target_probs=column("target_probs", _probability),
        coins=column("coins", lambda v, w: None if v is None else real(v, w, high=1.0)),
        sources=column("sources", lambda v, w: one_of(v, w, get_args(Source))),
        match_lengths=column("match_lengths", lambda v, w: whole(v, w, high=MAX_MATCH)),
        fates=column("fates", lambda v, w: one_of(v, w, get_args(Fate))),
    )
    for key in TREE_COLUMNS:
        if len(getattr(tree, key)) != len(tree.tokens):
            raise wrong(f"{where}.{key}", f"has {len(getattr(tree, key))} entries for {len(tree.tokens)} tokens")
    for node, parent in enumerate(tree.parents):
        if parent >= node:
            raise wrong(f"{where}.parents[{node}]", f"is {parent}, but parents must come before their children")
    return tree


def _decision(value: Any, where: str) -> Decision:
    data = mapping(value, where)

    def entry(key: str) -> tuple[Any, str]:
        return member(data, key, where), f"{where}.{key}"

    return Decision(
        node=whole(*entry("node")),
        weight=_probability(*entry("weight")),
        p=_probability(*entry("p")),
        q=_probability(*entry("q")),
        mass=_probability(*entry("mass")),
        threshold=_probability(*entry("threshold")),
        coin=real(*entry("coin"), high=1.0),
        held=items(*entry("held"), _held),
    )


def _held(value: Any, where: str) -> Held:
    row = items(value, where, lambda entry, _: entry)
    if len(row) != 4:
        raise wrong(where, "should have four entries: token, p, q, residual")
    return Held(_token(row[0], where), *(_probability(share, where) for share in row[1:]))


def _draw(value: Any, where: str) -> Draw:
    data = mapping(value, where)
    return Draw(**{key: _probability(member(data, key, where), f"{where}.{key}") for key in ("coin", "start", "prob")})


def _saguaro(value: Any, where: str) -> SaguaroRound:
    data = mapping(value, where)

    def entry(key: str) -> tuple[Any, str]:
        return member(data, key, where), f"{where}.{key}"

    fallback, fallback_where = entry("fallback")
    why, rank = data.get("why"), data.get("rank")
    return SaguaroRound(
        outcome=_outcome(*entry("outcome")),
        keys=items(*entry("keys"), _outcome),
        hit=flag(*entry("hit")),
        fallback=None if fallback is None else one_of(fallback, fallback_where, get_args(Fallback)),
        spans=items(*entry("spans"), _span),
        why=None if why is None else one_of(why, f"{where}.why", get_args(MissReason)),
        rank=None if rank is None else whole(rank, f"{where}.rank", low=1),
    )


def _span(value: Any, where: str) -> Span:
    data = mapping(value, where)
    start = real(member(data, "start_ms", where), f"{where}.start_ms")
    return Span(
        who=one_of(member(data, "who", where), f"{where}.who", get_args(Worker)),
        what=one_of(member(data, "what", where), f"{where}.what", get_args(Work)),
        start_ms=start,
        end_ms=real(member(data, "end_ms", where), f"{where}.end_ms", low=start),
        tokens=whole(data.get("tokens", 0), f"{where}.tokens"),
    )


def _outcome(value: Any, where: str) -> tuple[int, int]:
    pair = items(value, where, whole)
    if len(pair) != 2:
        raise wrong(where, "should be a pair: number accepted, bonus token")
    return pair[0], _token(pair[1], where)


def _message(value: Any, where: str) -> dict[str, str]:
    data = mapping(value, where)
    return {key: text(member(data, key, where), f"{where}.{key}") for key in ("role", "content")}


def _token_bytes(value: Any, where: str) -> dict[int, bytes]:
    known = {}
    for key, encoded in mapping(value, where).items():
        if not (key.isascii() and key.isdigit() and len(key) <= 10 and str(int(key)) == key):
            raise wrong(where, f'has the key "{key[:20]!a}", which is not a token id')
        known[_token(int(key), where)] = base64_bytes(encoded, f"{where}[{key}]")
    return known


def _token(value: Any, where: str) -> int:
    return whole(value, where, high=MAX_TOKEN_ID)


def _probability(value: Any, where: str) -> float:
    return real(value, where, high=MAX_PROBABILITY)


def _check_round(round_: Round, position: int, last: bool) -> None:
    where, tree = f"rounds[{position}]", round_.tree
    if round_.index != position:
        raise wrong(f"{where}.index", f"is {round_.index}, but rounds must be numbered from 0 without gaps")
    beside = {"withheld": round_.withheld, "scratch": round_.scratch}
    if len(tree) + sum(beside.values()) > round_.s_q - 1:
        more = "".join(f" and {count} {kind}" for kind, count in beside.items() if count)
        raise wrong(f"{where}.tree", f"has {len(tree)} nodes{more}, more than s_q - 1 = {round_.s_q - 1}")
    decided = [decision.node for decision in round_.decisions]
    if any(node >= len(tree) for node in decided):
        raise wrong(f"{where}.decisions", f"decide about a node that the tree of {len(tree)} nodes lacks")
    if len(set(decided)) < len(decided):
        raise wrong(f"{where}.decisions", "decide about a node twice")
    path = tree.accepted_path()
    if any(tree.parents[node] != parent for node, parent in zip(path, [ROOT, *path], strict=False)):
        raise wrong(f"{where}.tree.fates", "accepts nodes that are not one path from the root")
    accepted = tuple(tree.tokens[node] for node in path)
    cut = last and accepted and round_.committed == accepted  # end-of-text or the limit came before the bonus
    if round_.committed != (*accepted, round_.bonus) and not cut:
        raise wrong(f"{where}.committed", "does not equal the accepted path and the bonus")


def _check_bytes_known(trace: Trace) -> None:
    drafted = (token for round_ in trace.rounds for token in round_.tree.tokens)
    held = (held.token for round_ in trace.rounds for decision in round_.decisions for held in decision.held)
    for token in chain(trace.prompt, drafted, held, trace.token_ids()):
        if token not in trace.token_bytes:
            raise wrong("token_bytes", f"lacks the bytes of token {token}")
