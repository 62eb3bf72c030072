"""What theory expects of a Saguaro run, beside what came out: the formulas, each clock in a column of its own.

The formulas are in `sssd_demo/saguaro/prediction.py` and `sssd_demo/saguaro/fallback.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sssd_demo.saguaro.fallback import break_even, fast_pays, slow_pays
from sssd_demo.saguaro.prediction import Inputs
from sssd_demo.ui.figures import ms, number
from sssd_demo.ui.saguaro_found import CLOCKS, Clocked, ClockName, Found
from sssd_demo.ui.words import WORDS

INPUTS = ("p", "d", "s", "t_p", "t_b", "e_hit", "e_miss", "verify_ms")  # of the formulas, by name in `Inputs`


def theory(found: Found | None) -> dict[str, Any]:
    """What the formulas give, next to what came out, for each clock in a column of its own."""
    columns = [(name, clocked) for name in CLOCKS if found and (clocked := found.clock(name)) and clocked.inputs]
    if found is None or not columns:
        return {"table": None, "notes": []}
    head = [WORDS["sag.theory.head"], *(WORDS[f"sag.clock.{name}"] for name, _ in columns), WORDS["sag.theory.meaning"]]
    rows = [
        *(_row(key, [_input(c, key) for _, c in columns]) for key in INPUTS),
        _row("in_turn_predicted", [_times(_known(c).against_in_turn) for _, c in columns]),
        _row("in_turn_found", [_times(c.ratio) for _, c in columns]),
        _row("plain_predicted", [_times(_known(c).against_plain) for _, c in columns]),
        _row("plain_found", [_times(_against_plain(found, name, c)) for name, c in columns]),
        _row("condition", [_condition(c) for _, c in columns]),
        _row("waiting", [_waiting(c, slow_pays) for _, c in columns]),
        _row("going_on", [_tokens(fast_pays(_known(c).p, _known(c).e_hit, 1.0)) for _, c in columns]),
        _row("break_even", [_waiting(c, break_even) for _, c in columns]),
    ]
    return {"table": {"head": head, "rows": rows}, "notes": [WORDS["sag.theory.note"]]}


def _row(key: str, values: list[str]) -> list[str]:
    return [WORDS[f"sag.theory.{key}"], *values, WORDS[f"sag.theory.{key}.is"]]


def _known(clocked: Clocked) -> Inputs:
    assert clocked.inputs is not None
    return clocked.inputs


def _input(clocked: Clocked, key: str) -> str:
    value = getattr(_known(clocked), key)
    return ms(value) if key == "verify_ms" else number(value, 2)


def _against_plain(found: Found, name: ClockName, clocked: Clocked) -> float | None:
    plain = found.plain_on(name)
    speed = clocked.ahead.tokens_per_second if clocked.ahead else None
    return speed / plain if speed and plain else None


def _condition(clocked: Clocked) -> str:
    known = _known(clocked)
    left, right = known.s + (1 - known.p) * known.t_b, 1 + known.d
    return f"{left:.2f} {'<' if known.should_win else '≥'} {right:.2f}"


def _waiting(clocked: Clocked, formula: Callable[[float, int, float, float, float], float | None]) -> str:
    """What the cost model of fallbacks says of this answer, if any miss of it was waited for."""
    known = _known(clocked)
    return _tokens(formula(known.p, 1, known.t_b, known.e_hit, known.e_miss) if known.t_b else None)


def _tokens(count: float | None) -> str:
    return number(count, 2)


def _times(ratio: float | None) -> str:
    return number(ratio, 2, "×")
