"""What an early-exit draft model is worth: how often it is right, and what one of its steps takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch
from transformers import PreTrainedModel

from sssd_demo.exit_draft.data import Example, batch_of
from sssd_demo.exit_draft.train import foretold, listed_logits
from sssd_demo.target import Target

STEPS_AHEAD = 4  # of a draft, for which agreement is told
CONTEXT = 256  # tokens before the timed step
TIMED_STEPS = 50


@torch.inference_mode()
def hits_of(model: PreTrainedModel, examples: Sequence[Example]) -> list[list[bool]]:
    """At every place of every answer, whether the model's most likely token is the one the target wrote."""
    place = {token: at for at, token in enumerate(model.lm_head.tokens.tolist())}
    found = []
    for example in examples:
        written = [(token,) for token in example.tokens[example.start :]]
        batch = batch_of([Example(example.tokens, example.start, written, [(1.0,)] * len(written))], place)
        found.append(foretold(listed_logits(model, batch), batch).tolist())
    return found


def agreement(hits: Sequence[Sequence[bool]]) -> list[float]:
    """At steps 1 to 4 of a draft, how often the drafted token is the target's, where all before it were.

    Drafts begin at every place of the answers. As long as a draft is right it reads nothing but the answer itself, so
    that what is a hit with the true text before it is a hit in the draft.
    """
    reached, right = [0] * STEPS_AHEAD, [0] * STEPS_AHEAD
    for answer in hits:
        for start in range(len(answer)):
            for step, hit in enumerate(answer[start : start + STEPS_AHEAD]):
                reached[step] += 1
                right[step] += hit
                if not hit:
                    break
    return [hits / max(1, tried) for hits, tried in zip(right, reached, strict=True)]


def tokens_per_forward(hits: Sequence[Sequence[bool]], k: int) -> float:
    """Tokens that one forward of the target yields when chains of `k` tokens are drafted: those right, and one more.

    The first token of an answer is the prompt's and counts for nothing.
    """
    tokens, forwards = 0, 0
    for answer in hits:
        at = 1
        while at < len(answer):
            right = next((n for n, hit in enumerate(answer[at : at + k]) if not hit), min(k, len(answer) - at))
            step = min(right + 1, len(answer) - at)
            at, tokens, forwards = at + step, tokens + step, forwards + 1
    return tokens / max(1, forwards)


def step_ms(model: PreTrainedModel, clock: Callable[[], float] = time.perf_counter) -> float:
    """Milliseconds of one step of one sequence, the fastest of several: other work on the machine only adds.

    Takes over `model`, as `Target` does.
    """
    target = Target(model, rows=1, context_length=CONTEXT + 1)
    seconds = [target.time_forward(1, 1, CONTEXT, clock=clock) for _ in range(TIMED_STEPS)]
    return 1000 * min(seconds)
