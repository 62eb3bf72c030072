"""What an early-exit draft model is worth: how often it is right, and what one of its steps takes."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from statistics import median

import torch
from transformers import PreTrainedModel

from sssd_demo.exit_draft.data import Example, batch_of
from sssd_demo.exit_draft.train import foretold, listed_logits
from sssd_demo.target import Target

STEPS_AHEAD = 4  # of a draft, for which agreement is told
CONTEXT = 256  # tokens before the timed step
TIMED_STEPS = 50


@torch.inference_mode()
def agreement(model: PreTrainedModel, examples: Sequence[Example]) -> list[float]:
    """At steps 1 to 4 of a draft, how often the drafted token is the target's, where all before it were.

    Drafts begin at every place of the answers. As long as a draft is right it reads nothing but the answer itself, so
    one forward over that tells them all.
    """
    place = {token: at for at, token in enumerate(model.lm_head.tokens.tolist())}
    reached, right = [0] * STEPS_AHEAD, [0] * STEPS_AHEAD
    for example in examples:
        written = [(token,) for token in example.tokens[example.start :]]
        batch = batch_of([Example(example.tokens, example.start, written, [(1.0,)] * len(written))], place)
        hits = foretold(listed_logits(model, batch), batch).tolist()
        for start in range(len(hits)):
            for step, hit in enumerate(itertools.islice(hits, start, start + STEPS_AHEAD)):
                reached[step] += 1
                right[step] += hit
                if not hit:
                    break
    return [hits / max(1, tried) for hits, tried in zip(right, reached, strict=True)]


def step_ms(model: PreTrainedModel, clock: Callable[[], float] = time.perf_counter) -> float:
    """Milliseconds of one step of one sequence, the median of several. Takes over `model`, as `Target` does."""
    target = Target(model, rows=1, context_length=CONTEXT + 1)
    seconds = [target.time_forward(1, 1, CONTEXT, clock=clock) for _ in range(TIMED_STEPS)]
    return 1000 * median(seconds)
