"""What the rules would choose for a batch → a table, two pictures, one sentence under each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sssd_demo.device_presets import BYTES_PER_WEIGHT, MODELS, DevicePreset, find_device
from sssd_demo.forward_work import ModelShape, OperatingPoint, computed_profile, operating_point, roof
from sssd_demo.guess_yield import AssumedYield, MeasuredYield
from sssd_demo.length_plan import OFF, RULES, Plan
from sssd_demo.request import Length
from sssd_demo.roofline import (
    FREE_RIDE,
    LENGTHS,
    MAX_AUTO_S_Q,
    Profile,
    forward_time,
    knee_s_q,
    knee_tokens,
    roofline_s_q,
)
from sssd_demo.ui.roofline_board import DRAFTING, PLAIN, Board, There
from sssd_demo.ui.roofline_chart import Axis, Chart, Level, Point, Series, bounds
from sssd_demo.ui.roofline_job import sequences
from sssd_demo.ui.roofline_live import Live
from sssd_demo.ui.words import WORDS

HERE = "here"
THIS_MODEL = "this"
AS_HERE = "as here"
SHOWN_YIELD = (2, 4, 8, 16)
SHOWN_BATCHES = (1, 2, 4, 8, 16, 32)
MATTERS = 0.03  # of a round's time; less is not worth a word
PAYS = 1.02  # times plain decoding; less is within what two measurements of the same thing differ by
_NAMES: dict[Length, str] = {OFF: "off", "roofline": "roofline", "knee": "knee", "auto": "auto"}


@dataclass(frozen=True)
class Wanted:
    """What the controls are set to."""

    batch: int = 8
    context: int = 128
    hardware: str = HERE
    model: str = THIS_MODEL
    bits: str = AS_HERE


@dataclass(frozen=True)
class _Machine:
    """The machine that the plan is for, measured or computed."""

    profile: Profile
    bytes_per_weight: float
    shape: ModelShape | None
    device: DevicePreset | None = None  # a computed one

    @property
    def there(self) -> There | None:
        return There(self.profile, self.bytes_per_weight) if self.device else None


class Plans:
    """Draws plans for one board. Computed profiles are kept, for a slider asks for the same ones again and again."""

    def __init__(self) -> None:
        self._computed: dict[tuple[str, ModelShape], Profile] = {}

    def value(self, board: Board | None, wanted: Wanted, now: Live | None = None, live: bool = False) -> dict[str, Any]:
        """The value of the plan's view; with `live` it says what visitors are doing `now`."""
        if board is None:
            return {"said": WORDS["roof.machine.waiting"], "charts": [], "table": None, "notes": []}
        machine = self._machine(board, wanted)
        if not machine.profile.forward_seconds:
            return {"said": WORDS["roof.plan.nothing"], "charts": [], "table": None, "notes": []}
        plans = {
            rule: board.plan(PLAIN if rule == OFF else DRAFTING, wanted.batch, wanted.context, rule, machine.there)
            for rule in (OFF, *RULES)
        }
        lengths = _lengths(machine, wanted, plans)
        return {
            "now": _now(board, now) if live else "",
            "said": _said(wanted, plans, lengths),
            "table": _table(board, machine, wanted, plans, lengths),
            "charts": [
                _roof(board, machine, wanted, lengths).value(),
                _times(board, machine, wanted, lengths).value(),
            ],
            "notes": [note for note in (_computed_note(machine, wanted), _yield_note(board)) if note],
        }

    def shape(self, board: Board, model: str, bits: str) -> ModelShape | None:
        """The shape of the model that other machines are asked about, with so many bits a weight."""
        shape = MODELS.get(model, board.shape)
        if shape is None or bits not in BYTES_PER_WEIGHT:
            return shape
        return ModelShape(
            shape.weights, BYTES_PER_WEIGHT[bits], shape.kv_bytes, shape.attention_operations, shape.looked_up
        )

    def _machine(self, board: Board, wanted: Wanted) -> _Machine:
        device, shape = find_device(wanted.hardware), self.shape(board, wanted.model, wanted.bits)
        if device is None or shape is None:
            return _Machine(board.profile, board.bytes_per_weight, board.shape)
        key = (device.name, shape)
        if key not in self._computed:
            self._computed[key] = computed_profile(shape, flops=device.flops, bandwidth=device.bandwidth)
        return _Machine(self._computed[key], shape.bytes_per_weight, shape, device)


def _lengths(machine: _Machine, wanted: Wanted, plans: dict[Length, Plan | None]) -> dict[Length, int]:
    """The length that each rule settles on; of the one that chooses anew in every round, the nearest to its average."""
    found: dict[Length, int] = {OFF: 1}
    if machine.profile.knee is not None:
        found["roofline"] = roofline_s_q(machine.profile, wanted.batch, machine.bytes_per_weight)
    found["knee"] = knee_s_q(machine.profile, wanted.batch, wanted.context)
    best = plans["auto"]
    return found if best is None else found | {"auto": round(best.played.s_q)}


def _now(board: Board, now: Live | None) -> str:
    if now is None:
        return WORDS["roof.live.idle"]
    told = WORDS["roof.live.now"].format(sequences=sequences(now.answers), batch=sequences(now.batch))
    if not now.rounds or not board.profile.forward_seconds:
        return told
    planned = 1000 * forward_time(board.profile, now.batch, now.s_q, now.context)
    return told + WORDS["roof.live.rounds"].format(
        n=now.rounds, s_q=now.s_q, tokens=now.tokens, ms=now.verify_ms, planned=planned
    )


def _said(wanted: Wanted, plans: dict[Length, Plan | None], lengths: dict[Length, int]) -> str:
    plain, best, batch = plans[OFF], plans["auto"], sequences(wanted.batch)
    if plain is None:
        return WORDS["roof.plan.nothing"]
    if best is None:
        return WORDS["roof.plan.no_yield"].format(batch=batch, plain=plain.tokens_per_second)
    ratio = best.tokens_per_second / plain.tokens_per_second
    said = WORDS["roof.plan.pays" if ratio >= PAYS else "roof.plan.does_not_pay"].format(
        batch=batch,
        s_q=_tokens(_length(best)),
        speed=best.tokens_per_second,
        plain=plain.tokens_per_second,
        ratio=ratio,
    )
    if ratio < PAYS and best.draft_seconds > MATTERS * best.round_seconds:
        said += WORDS["roof.plan.drafting"].format(ms=1000 * best.draft_seconds)
    rule = plans["roofline"]
    if rule is None:
        return said
    length = lengths["roofline"]
    if abs(length - best.played.s_q) < 0.5:
        return said + WORDS["roof.plan.against.same"]
    if length == 1:
        return said + WORDS["roof.plan.against.off"]
    against = rule.tokens_per_second / plain.tokens_per_second
    return said + WORDS["roof.plan.against.more"].format(s_q=length, ratio=against)


def _length(plan: Plan) -> str:
    whole = plan.played.lowest == plan.played.highest
    return f"{plan.played.lowest}" if whole else f"{plan.played.s_q:.1f}"


def _table(
    board: Board, machine: _Machine, wanted: Wanted, plans: dict[Length, Plan | None], lengths: dict[Length, int]
) -> dict[str, list[Any]]:
    columns = ("rule", "s_q", "forward", "tokens", "all", "ratio", "why")
    plain = plans[OFF]
    rows = []
    for rule, plan in plans.items():
        row = [f"{WORDS[f'roof.rule.letter.{_NAMES[rule]}']} · {WORDS[f'roof.rule.{_NAMES[rule]}']}"]
        row.append(_length(plan) if rule == "auto" and plan else str(lengths.get(rule, "–")))
        if plan is None or plain is None:
            row += ["–"] * 4
        else:
            row += [
                WORDS["roof.value.ms"].format(ms=1000 * plan.played.seconds),
                WORDS["roof.value.tokens"].format(tokens=plan.played.tokens),
                WORDS["roof.value.speed"].format(speed=plan.tokens_per_second),
                WORDS["roof.value.ratio"].format(ratio=plan.tokens_per_second / plain.tokens_per_second),
            ]
        rows.append([*row, _why(board, machine, wanted, rule, plan)])
    return {"head": [WORDS[f"roof.column.{name}"] for name in columns], "rows": rows}


def _why(board: Board, machine: _Machine, wanted: Wanted, rule: Length, plan: Plan | None) -> str:
    if rule == "roofline":
        if machine.profile.knee is None:
            return WORDS["roof.why.roofline_none"]
        knee = knee_tokens(machine.profile, machine.bytes_per_weight)
        return WORDS["roof.why.roofline"].format(
            knee=knee, batch=wanted.batch, share=knee / wanted.batch, most=MAX_AUTO_S_Q
        )
    if rule == "knee":
        return WORDS["roof.why.knee"].format(ride=FREE_RIDE)
    if rule == "auto":
        if plan is None:
            return WORDS["roof.why.auto_none"]
        if board.yields.get(DRAFTING) is None:
            return WORDS["roof.why.auto_assumed"]
        if plan.played.lowest == plan.played.highest:
            return WORDS["roof.why.auto_always"]
        return WORDS["roof.why.auto"].format(low=plan.played.lowest, high=plan.played.highest)
    return WORDS["roof.why.off"]


def _yield_note(board: Board) -> str:
    guesses = board.guesses(DRAFTING)
    if guesses is None:
        return WORDS["roof.yield.unknown"]
    curve = ", ".join(WORDS["roof.yield.point"].format(tokens=guesses.tokens(s_q), s_q=s_q) for s_q in SHOWN_YIELD)
    if isinstance(guesses, MeasuredYield):
        told = WORDS["roof.yield.measured"].format(
            answers=len(guesses.answers), s_q=guesses.s_q, rounds=guesses.rounds, curve=curve
        )
        drafting = guesses.draft_seconds
        return told + (WORDS["roof.yield.drafting"].format(ms=1000 * drafting) if drafting else "")
    assert isinstance(guesses, AssumedYield)
    store = WORDS["roof.yield.assumed.store" if board.store else "roof.yield.assumed.none"]
    return WORDS["roof.yield.assumed"].format(model="SmolLM2-135M", store=store, curve=curve)


def _computed_note(machine: _Machine, wanted: Wanted) -> str:
    device, shape = machine.device, machine.shape
    if device is None or shape is None:
        return ""
    model = WORDS["roof.plan.this_model"] if wanted.model == THIS_MODEL else wanted.model
    told = WORDS["roof.plan.computed"].format(device=device.what, model=model, bits=f"{8 * shape.bytes_per_weight:g}")
    if device.fits(shape, wanted.batch, wanted.context):
        return told
    needs = shape.memory(wanted.batch, wanted.context) / 1e9
    return told + WORDS["roof.plan.does_not_fit"].format(memory=device.memory / 1e9, needs=needs)


# ---- the roof ----


def _roof(board: Board, machine: _Machine, wanted: Wanted, lengths: dict[Length, int]) -> Chart:
    shape, profile = machine.shape, machine.profile
    x = Axis(WORDS["roof.chart.roof_x"], "log")
    y = Axis(WORDS["roof.chart.roof_y"], "log")
    if shape is None or not profile.flops or not profile.bandwidth or profile.knee is None:
        said = WORDS["roof.machine.experts"] if shape is None else ""
        return Chart(WORDS["roof.chart.roof"], x, y, [], said=said, note=WORDS["roof.chart.none"])

    def at(s_q: float) -> OperatingPoint:
        seconds = forward_time(profile, wanted.batch, s_q, wanted.context)
        return operating_point(shape, wanted.batch, s_q, wanted.context, seconds)

    path = [at(s_q) for s_q in range(1, MAX_AUTO_S_Q + 1)]
    low, high = bounds([profile.knee / 4, 4 * profile.knee, *(point.intensity for point in path)], 1.6)
    series = [_roof_line(profile, low, high, machine.device)]
    if machine.device is not None and board.profile.flops and board.profile.bandwidth:
        series.append(_roof_line(board.profile, low, high, None))
    there = "_there" if machine.device else ""
    batch = sequences(wanted.batch)
    series.append(
        Series(
            [_place(point) for point in path],
            "path",
            WORDS[f"roof.chart.path{there}"].format(batch=batch, most=MAX_AUTO_S_Q),
        )
    )
    series.append(_choices(lengths, lambda s_q: _place(at(s_q))))
    point = at(_shown_length(lengths))
    peaks = [each.flops for each in (profile, board.profile) if each.flops]
    floor, ceiling = bounds([*(one.operations_per_second for one in path), *peaks], 1.5)
    return Chart(
        WORDS["roof.chart.roof"],
        Axis(x.label, "log", low, high),
        Axis(y.label, "log", floor / 1e9, ceiling / 1e9),
        series,
        said=_roof_said(machine, wanted, _shown_length(lengths), point),
        levels=[Level(WORDS["roof.chart.knee"].format(knee=profile.knee), x=profile.knee)],
    )


def _roof_line(profile: Profile, low: float, high: float, device: DevicePreset | None) -> Series:
    assert profile.flops is not None
    assert profile.bandwidth is not None
    places = [low, min(max(low, profile.knee or low), high), high]
    points = [(place, roof(profile.flops, profile.bandwidth, place) / 1e9) for place in places]
    name = (
        WORDS["roof.chart.roof_here"] if device is None else WORDS["roof.chart.roof_there"].format(device=device.name)
    )
    return Series(points, "roof-there" if device else "roof-here", name)


def _place(point: OperatingPoint) -> Point:
    return point.intensity, point.operations_per_second / 1e9


def _shown_length(lengths: dict[Length, int]) -> int:
    return lengths.get("auto", lengths["knee"])


def _choices(lengths: dict[Length, int], place: Callable[[int], Point]) -> Series:
    """The lengths that are chosen as dots, those of several rules with all their letters."""
    letters: dict[int, str] = {}
    for rule, length in lengths.items():
        letters[length] = " ".join(filter(None, [letters.get(length), WORDS[f"roof.rule.letter.{_NAMES[rule]}"]]))
    return Series(
        [place(length) for length in letters],
        "chosen",
        WORDS["roof.chart.choices"],
        shape="diamond",
        line=False,
        labels=list(letters.values()),
    )


def _roof_said(machine: _Machine, wanted: Wanted, s_q: int, point: OperatingPoint) -> str:
    profile = machine.profile
    assert profile.knee is not None
    said = WORDS["roof.said.memory" if point.intensity < profile.knee else "roof.said.arithmetic"].format(
        s_q=_tokens(s_q), batch=sequences(wanted.batch), intensity=point.intensity, knee=profile.knee
    )
    if machine.device:
        return said + WORDS["roof.said.computed"]
    allowed = roof(profile.flops or 0.0, profile.bandwidth or 0.0, point.intensity)
    return said + WORDS["roof.said.below"].format(
        attained=point.operations_per_second / 1e9, share=point.operations_per_second / allowed
    )


def _tokens(count: int | str) -> str:
    return WORDS["roof.token"] if str(count) == "1" else WORDS["roof.tokens"].format(n=count)


# ---- T ----


def _times(board: Board, machine: _Machine, wanted: Wanted, lengths: dict[Length, int]) -> Chart:
    profile = machine.profile

    def ms(batch: int, s_q: float) -> float:
        return 1000 * forward_time(profile, batch, s_q, wanted.context)

    timed = sorted({batch for batch, _, _ in profile.forward_seconds})
    shown = [batch for batch in timed if batch in SHOWN_BATCHES and batch != wanted.batch]
    series = [
        Series(
            [(s_q, ms(batch, s_q)) for s_q in LENGTHS],
            "other",
            shape="circle",
            end=WORDS["roof.chart.batch"].format(batch=batch),
        )
        for batch in shown
    ]
    batch = sequences(wanted.batch)
    series.append(
        Series(
            [(s_q, ms(wanted.batch, s_q)) for s_q in LENGTHS],
            "path",
            WORDS["roof.chart.this_batch"].format(batch=batch),
            shape="circle",
            end=WORDS["roof.chart.batch"].format(batch=wanted.batch),
        )
    )
    series.append(_choices(lengths, lambda s_q: (s_q, ms(wanted.batch, s_q))))
    one, knee = ms(wanted.batch, 1), knee_s_q(profile, wanted.batch, wanted.context)
    longer = max(2, _shown_length(lengths), knee)
    said = WORDS["roof.said.time" if knee > 1 else "roof.said.time_free"].format(
        batch=batch,
        one=one,
        longer=longer,
        more=ms(wanted.batch, longer),
        ratio=ms(wanted.batch, longer) / one,
        knee=knee,
    )
    if machine.device is None and board.quick and wanted.batch > 1:
        said += WORDS["roof.said.time_guess"]
    if machine.device is not None:
        said += WORDS["roof.said.computed_time"]
    low, high = bounds([value for each in series for _, value in each.points], 1.15)
    return Chart(
        WORDS["roof.chart.time"],
        Axis(WORDS["roof.chart.time_x"], "log", 0.93, 32, ticks=LENGTHS),
        Axis(WORDS["roof.chart.time_y"], "log", low, high),
        series,
        said=said,
        levels=[Level(WORDS["roof.chart.limit"], y=FREE_RIDE * one)],
    )
