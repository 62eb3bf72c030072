"""How many tokens a draft model should draft in a row: what pays best by measured times and past acceptance."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sssd_demo.request import MAX_K

PRIOR = 0.7  # share of drafted tokens taken to be accepted before anything is known
BELIEF = 4.0  # tokens that must be tested to outweigh it
MEMORY = 0.95  # what a round leaves of the counts before it

VerifySeconds = Callable[[int, int, int], float | None]  # (sequences, tokens of each, context) → one target forward


class Rate:
    """The share of tested tokens that were accepted, in one answer so far.

    Only outcomes of past rounds enter, so a length chosen by it leaves the law of the text as it is. Old counts fade,
    in rounds without a draft too: a length of zero is not for ever.
    """

    def __init__(self) -> None:
        self._tested = 0.0
        self._accepted = 0.0

    def observe(self, drafted: int, accepted: int) -> None:
        """A chain of `drafted` tokens was verified; the first one refused ends what is known about them."""
        self._tested = MEMORY * self._tested + min(drafted, accepted + 1)
        self._accepted = MEMORY * self._accepted + accepted

    @property
    def value(self) -> float:
        return (self._accepted + BELIEF * PRIOR) / (self._tested + BELIEF)


def best_length(
    rates: Sequence[float], step_seconds: float, verify_seconds: VerifySeconds, context: int, most: int = MAX_K
) -> int:
    """The K from 0 to `most` with the best goodput for sequences of these acceptance rates a:

        argmax over K of  Σ (1 + a + a² + … + a^K)  /  (K · step + T(b, K + 1, context))

    0 where no forward of the target was measured.
    """

    def goodput(k: int) -> float:
        seconds = verify_seconds(len(rates), k + 1, context)
        if seconds is None:
            return 0.0
        return sum(sum(rate**i for i in range(k + 1)) for rate in rates) / (k * step_seconds + seconds)

    return max(range(most + 1), key=goodput)
