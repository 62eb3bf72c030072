"""The speculation length of a round: fixed, by the Roofline, by the knee in T, or by what pays best right now."""

from __future__ import annotations

from collections.abc import Sequence

from sssd_demo.kv_cache import COLUMN_BLOCK
from sssd_demo.request import Length
from sssd_demo.roofline import LENGTHS, MAX_AUTO_S_Q, Profile, forward_time, interpolate, knee_s_q, roofline_s_q

LEAST_LIMIT = 16  # tokens that may always be drafted where the length is left to the machine
CONTEXT_STEP = COLUMN_BLOCK  # tokens; forwards read whole blocks of them, so T is the same within one


class _Plan:
    """A profile and what was worked out from it."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._curves: dict[tuple[int, int], list[float]] = {}

    def curve(self, batch: int, context: int) -> list[float]:
        """T(batch, 1…MAX_AUTO_S_Q) in seconds, asked for in every round and so kept."""
        key = (batch, context // CONTEXT_STEP)
        if key not in self._curves:
            begins = context // CONTEXT_STEP * CONTEXT_STEP  # T was measured there too: at the beginning of a block
            at = {length: forward_time(self.profile, batch, length, begins) for length in LENGTHS}
            self._curves[key] = [interpolate(at, length) for length in range(1, MAX_AUTO_S_Q + 1)]
        return self._curves[key]


class LengthPlanner:
    """Plans by the profile it was given last. The engine asks twice a round, before and after drafting."""

    def __init__(self, bytes_per_weight: float) -> None:
        self._bytes_per_weight = bytes_per_weight
        self._plan = _Plan(Profile({}))

    def use(self, profile: Profile) -> None:
        """Plan by `profile` from now on. Any thread may say so, also in the middle of a round."""
        self._plan = _Plan(profile)

    def seconds(self, batch: int, s_q: int, context: int) -> float | None:
        """T(batch, s_q, context), the time of one target forward; None before anything was measured."""
        return self._plan.curve(batch, context)[s_q - 1] if self._plan.profile.forward_seconds else None

    def most(self, length: Length, batch: int, context: int, last: int) -> int:
        """The tokens that may be drafted for a sequence, root included, when `batch` of them share a forward.

        For "auto" this is only a limit, and `best` then chooses. Drafting takes time as well, so the limit is twice
        the sequence's `last` length, or `LEAST_LIMIT` if that is more: a length that pays is reached in a few rounds.
        """
        if isinstance(length, int):
            return length
        if length == "knee":
            return knee_s_q(self._plan.profile, batch, context)
        if length == "roofline":
            return roofline_s_q(self._plan.profile, batch, self._bytes_per_weight)
        return min(MAX_AUTO_S_Q, max(LEAST_LIMIT, 2 * last)) if self._plan.profile.forward_seconds else 1

    def best(self, expected: Sequence[Sequence[float]], fixed: Sequence[int], context: int) -> int:
        """The s_q of the sequences that leave it to the machine: the one with the best goodput.

            argmax over s of  Σ (1 + E[accepted | s])  /  T(b, max(s, fixed lengths), context)

        `expected` holds for each of these sequences the tokens expected to be accepted of its first 0, 1, 2, … nodes;
        `fixed` the lengths of the batch's other sequences, whose tokens cost time whatever is chosen. Length 1 is
        always a candidate, so speculation switches itself off where it loses.
        """
        curve = self._plan.curve(len(expected) + len(fixed), context)
        floor = max(fixed, default=1)

        def goodput(s_q: int) -> float:
            tokens = sum(1 + accepted[min(s_q, len(accepted)) - 1] for accepted in expected)
            return (tokens + len(fixed)) / curve[min(max(s_q, floor), MAX_AUTO_S_Q) - 1]

        return max(range(1, max(map(len, expected)) + 1), key=goodput)
