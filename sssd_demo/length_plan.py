"""What each rule for the length would choose for a batch, and what that is expected to bring.

Played through by the same planner that the engine asks, on the same profile; only the drafts are recorded or assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sssd_demo.guess_yield import Played, Yield
from sssd_demo.length import LengthPlanner
from sssd_demo.request import Length
from sssd_demo.roofline import Profile

OFF: Length = 1  # one token of each sequence: plain decoding
RULES: tuple[Length, ...] = ("roofline", "knee", "auto")


@dataclass(frozen=True)
class Plan:
    """What `rule` is expected to come to for `batch` sequences of about `context` tokens each."""

    rule: Length
    batch: int
    context: int
    played: Played
    draft_seconds: float  # of a round, for the whole batch

    @property
    def round_seconds(self) -> float:
        return self.played.seconds + self.draft_seconds

    @property
    def tokens_per_second(self) -> float:
        """Of all sequences together."""
        return self.batch * self.played.tokens / self.round_seconds

    @property
    def ms_per_token(self) -> float:
        """That each sequence waits for a token, on average."""
        return 1000 * self.round_seconds / self.played.tokens


def plan(
    profile: Profile, bytes_per_weight: float, guesses: Yield | None, rule: Length, batch: int, context: int
) -> Plan | None:
    """The plan for one rule or fixed length; None where the profile or the yield does not tell enough for it."""
    if not profile.forward_seconds or (rule == "roofline" and profile.knee is None):
        return None
    planner = LengthPlanner(bytes_per_weight)
    planner.use(profile)
    if rule == OFF:
        seconds = planner.seconds(batch, 1, context)
        return None if seconds is None else Plan(rule, batch, context, Played(1, 1, 1, 1.0, seconds), 0.0)
    if guesses is None:
        return None
    played = guesses.play(planner, rule, batch, context)
    if played is None:
        return None
    # Where the length is left open, drafts are made and then cut: drafting takes its time also where nothing is left.
    drafts = rule == "auto" or played.highest > 1
    drafting = batch * (guesses.draft_seconds or 0.0) if drafts else 0.0
    return Plan(rule, batch, context, played, drafting)


def averaged(plans: Mapping[Plan, float]) -> Plan:
    """One plan for a text that grows: of one rule and batch, at several contexts, each with its share of the tokens."""
    whole = sum(plans.values())

    def mean(figure: Callable[[Plan], float]) -> float:
        return sum(share * figure(plan) for plan, share in plans.items()) / whole

    first = next(iter(plans))
    played = Played(
        s_q=mean(lambda plan: plan.played.s_q),
        lowest=min(plan.played.lowest for plan in plans),
        highest=max(plan.played.highest for plan in plans),
        tokens=mean(lambda plan: plan.played.tokens),
        seconds=mean(lambda plan: plan.played.seconds),
    )
    return replace(first, context=round(mean(lambda plan: plan.context)), played=played)
