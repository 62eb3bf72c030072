"""What the controls of the Saguaro tab say, or anybody who calls its handlers, as two settings to compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from sssd_demo.errors import UserError
from sssd_demo.saguaro.options import Bend, FallbackPolicy, FanOut, SaguaroOptions
from sssd_demo.service import Settings
from sssd_demo.ui.controls import AUTO
from sssd_demo.ui.field_values import real, real_or_blank, whole
from sssd_demo.ui.saguaro_run import Asked
from sssd_demo.ui.settings_panel import BASE_STORE, settings_from
from sssd_demo.ui.words import WORDS

IN_TURN = "speculative"
SAGUARO_METHODS = ("saguaro", "saguaro-sssd")
MOST_TOKENS = 256  # of an answer: two of them are asked for, and every bar is drawn


def asked_from(
    stores: Sequence[str],
    question: str | None,
    method: str | None = SAGUARO_METHODS[0],
    k: str | int | None = AUTO,
    fan_out: str | None = SaguaroOptions.fan_out,
    budget: str | int | None = AUTO,
    max_tokens: float = Settings.max_new_tokens,
    temperature: float = Settings.temperature,
    seed: float = Settings.seed,
    bend: str | None = SaguaroOptions.bend,
    c: float = SaguaroOptions.c,
    fallback: str | None = SaguaroOptions.fallback,
    nearest: bool = SaguaroOptions.nearest,
    roll_back: float | None = SaguaroOptions.roll_back_after,
    late: str | float | None = None,
) -> Asked:
    """Raises `UserError` naming what is wrong. N-grams are looked up in the base store too, if it is among `stores`."""
    if not question or not question.strip():
        raise UserError(WORDS["sag.refuse.empty"])
    if method not in SAGUARO_METHODS:
        raise UserError(WORDS["sag.refuse.method"].format(method=method, known=", ".join(SAGUARO_METHODS)))
    if whole(max_tokens, WORDS["set.answer_tokens"]) > MOST_TOKENS:
        raise UserError(WORDS["refuse.too_long"].format(longest=MOST_TOKENS, asked=int(max_tokens)))
    store = BASE_STORE if BASE_STORE in stores else None
    common = settings_from(IN_TURN, max_tokens=max_tokens, temperature=temperature, seed=seed, k=k)
    options = SaguaroOptions(
        fan_out=cast(FanOut, fan_out),  # what is not known is refused in a sentence
        budget="auto" if budget in (AUTO, None) else whole(budget, WORDS["sag.budget"]),
        bend=cast(Bend, bend),
        c=real(c, WORDS["sag.c"]),
        fallback=cast(FallbackPolicy, fallback),
        nearest=bool(nearest),
        roll_back_after=whole(roll_back, WORDS["sag.roll_back"]),
        late_ms=real_or_blank(late, WORDS["sag.late"]),
    )
    ahead = replace(common, method=method, saguaro=options, datastore=store)
    return Asked(question, common, ahead)
