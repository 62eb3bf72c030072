"""What preparing drafts ahead was worth in one answer, in words: won, lost and why; each clock in words of its own."""

from __future__ import annotations

from sssd_demo.saguaro.prediction import Inputs
from sssd_demo.saguaro.timeline import Timeline
from sssd_demo.ui.saguaro_found import CLOCKS, ClockName, Found
from sssd_demo.ui.words import WORDS

SAME = 0.03  # a difference in speed that this is no more than is called none
SLOWER = 1.1  # times as long: verification that takes so much longer is named as a cause
FEWER = 0.95  # tokens per round that are no more than this share of the other's
UNFORESEEN = 0.6  # a hit rate below this is named as a cause


def verdict(found: Found, name: ClockName) -> str:
    """The sentence under both timelines on one clock."""
    clocked, cache = found.clock(name), found.cache
    if clocked is None:
        return ""
    if clocked.ahead is None or clocked.in_turn is None or cache is None:
        key = "sag.verdict.only_ahead" if clocked.ahead else "sag.verdict.only_in_turn"
        return WORDS[key] if clocked.ahead or clocked.in_turn else ""
    ratio, known = clocked.ratio, clocked.inputs
    if ratio is None or known is None:
        return WORDS["sag.verdict.short"]
    outcome = "even" if abs(ratio - 1) <= SAME else "won" if ratio > 1 else "lost"
    words = {
        "ratio": ratio,
        "ahead": clocked.ahead.tokens_per_second,
        "in_turn": clocked.in_turn.tokens_per_second,
        "hidden": _drafting_ms(clocked.in_turn) - _waited_ms(clocked.ahead),
        "drafting": _drafting_ms(clocked.in_turn),
        "share": known.p,
        "mine": _tokens_a_round(clocked.ahead),
        "other": _tokens_a_round(clocked.in_turn),
        "s": known.s,
    }
    said = WORDS[f"sag.verdict.{outcome}.{name}"].format(**words)
    if outcome == "won":
        key = "hid" if _drafting_ms(clocked.in_turn) > _waited_ms(clocked.ahead) else "not_hid"
        return f"{said} {WORDS[f'sag.verdict.{key}'].format(**words)}"
    causes = because(found, known, clocked.ahead, clocked.in_turn, name)
    return f"{said} {causes}".strip()


def because(found: Found, known: Inputs, ahead: Timeline, in_turn: Timeline, name: ClockName) -> str:
    """Why it did not pay, the largest cause first."""
    costs: list[tuple[float, str]] = []
    if known.s > SLOWER:
        key = "sag.because.cores" if name == "measured" else "sag.because.wider"
        costs.append((known.s - 1, WORDS[key].format(s=known.s, cores=found.cores)))
    if known.p < UNFORESEEN:
        costs.append(((1 - known.p) * known.t_b, WORDS["sag.because.misses"].format(p=known.p)))
    if known.t_p > known.s:
        costs.append((known.p * (known.t_p - known.s), WORDS["sag.because.late"].format(t_p=known.t_p / known.s)))
    mine, other = _tokens_a_round(ahead), _tokens_a_round(in_turn)
    if other and mine < FEWER * other:
        costs.append((1 - mine / other, WORDS["sag.because.fewer"].format(mine=mine, other=other)))
    if not costs:
        costs.append((0.0, WORDS["sag.because.little"].format(d=known.d)))
    return " ".join(text for _, text in sorted(costs, reverse=True))


def facts(found: Found) -> list[list[str]]:
    """[number, what it is] of what matters most; each ratio says which clock it is on."""
    cache = found.cache
    if cache is None:
        return []
    told = []
    if cache.hit_rate is not None:
        label = WORDS["sag.fact.hits"].format(hits=cache.all.hits, rounds=cache.all.rounds)
        told.append([f"{cache.hit_rate:.2f}", label])
    if cache.rolled_back:
        told.append([str(cache.rolled_back), WORDS["sag.fact.rolled_back"]])
    for name in CLOCKS:
        clocked = found.clock(name)
        if clocked is not None and clocked.ratio is not None:
            told.append([f"{clocked.ratio:.2f}×", WORDS[f"sag.fact.{name}"]])
    return told


def _drafting_ms(in_turn: Timeline) -> float:
    return in_turn.mean_ms("draft")


def _waited_ms(ahead: Timeline) -> float:
    return ahead.mean_ms("wait")


def _tokens_a_round(timeline: Timeline) -> float:
    return timeline.tokens / max(1, len(timeline.hand_overs))
