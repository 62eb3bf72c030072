"""Whether an answer's forwards took so long that the machine must have been busy with something else."""

from __future__ import annotations

from statistics import median

from sssd_demo.roofline import Profile, forward_time
from sssd_demo.trace import Trace

MUCH_LONGER = 1.5  # times what the forward's tokens explain; less is within what measurements differ by
LONGEST_CONTEXT = 1024  # tokens; plain decoding was measured with a short one, and a long one takes time of its own


def busier(trace: Trace, plain_ms: float, profile: Profile) -> bool:
    """Whether the median forward took much longer than when plain decoding was measured, its tokens allowed for.

    `plain_ms` is what a forward of one token took then; `profile` says how much longer one of more tokens takes. False
    also where there is nothing to tell by.
    """
    rounds = trace.rounds[1:]
    if not rounds or not profile.forward_seconds or len(trace.prompt) + len(trace.token_ids()) > LONGEST_CONTEXT:
        return False
    one = forward_time(profile, 1, 1, len(trace.prompt))

    def times_as_long(tokens: int) -> float:
        return forward_time(profile, 1, tokens, len(trace.prompt)) / one

    took = (round_.verify_ms / times_as_long(1 + len(round_.tree) + round_.withheld) for round_ in rounds)
    return median(took) > MUCH_LONGER * plain_ms
