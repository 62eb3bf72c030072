"""Answers that the target gave → what a draft model learns from, in batches of like length.

At each place of an answer stand the tokens that the target held likely, with their probabilities: a soft target. Of a
text in a store the token that was written is half of it, and what the store recalls of such places is the other half.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch

from sssd_demo.sssd.recorded_answers import RecordedAnswer
from sssd_demo.trace import Top

BUCKET = 64  # examples that are sorted by length before they are cut into batches
WRITTEN = 0.5  # of the target's probability, for the token that it wrote, where its own law was not recorded
LONGEST = 512  # tokens of an example; what is beyond is left out


@dataclass(frozen=True)
class Example:
    """A text whose tokens from `start` on are to be foretold, each from those before it."""

    tokens: Sequence[int]
    start: int
    likely: Sequence[Sequence[int]]  # at each of these places
    probs: Sequence[Sequence[float]]


@dataclass(frozen=True)
class Batch:
    """`ids` [B, T], padded at the right, and N places in it from which the next token is foretold."""

    ids: torch.Tensor
    rows: torch.Tensor  # [N]
    columns: torch.Tensor  # [N]
    likely: torch.Tensor  # [N, k] positions on the list; what is not on it has no probability
    probs: torch.Tensor  # [N, k]


def examples_of(answers: Iterable[RecordedAnswer], header: Sequence[int]) -> list[Example]:
    """Examples from answers; one without its prompt is put after `header`, the template's beginning of an answer."""
    found = []
    for answer in answers:
        prompt = (answer.prompt or tuple(header))[-(LONGEST // 2) :]
        output = answer.output[: LONGEST - len(prompt)]
        tops = answer.top[: len(output)]
        likely = [top.tokens for top in tops] if tops else [(token,) for token in output]
        probs = [top.probs for top in tops] if tops else [(1.0,)] * len(output)
        if prompt and output:
            found.append(Example((*prompt, *output), len(prompt), likely, probs))
    return found


def stored_answer(tokens: Sequence[int], recalled: Callable[[tuple[int, ...]], Top | None]) -> RecordedAnswer:
    """A store's document as an answer whose targets are soft: `WRITTEN` for the token that stands there.

    The rest is shared among what the target held likely after the same two tokens, as far as that is `recalled`.
    """
    tops = []
    for at, written in enumerate(tokens):
        known = recalled(tuple(tokens[at - 2 : at])) if at >= 2 else None
        others = {} if known is None else dict(zip(known.tokens, known.probs, strict=True))
        total = sum(others.values())
        if not total:
            tops.append(Top((written,), (1.0,)))
            continue
        law = {token: (1 - WRITTEN) * p / total for token, p in others.items()}
        first = WRITTEN + law.pop(written, 0.0)
        tops.append(Top((written, *law), (first, *law.values())))
    return RecordedAnswer((), tuple(tokens), top=tuple(tops))


def short_list(examples: Iterable[Example], size: int, always: Iterable[int], width: int) -> torch.Tensor:
    """The `size` tokens of an exit, in order: those in `always`, the most frequent in the answers, then low ids.

    Byte-pair encodings number their tokens by how frequent they were elsewhere. `width` is the target's vocabulary.
    """
    counts: Counter[int] = Counter()
    for example in examples:
        counts.update(example.tokens[example.start :])
    ordered = dict.fromkeys([*always, *(token for token, _ in counts.most_common()), *range(width)])
    return torch.tensor(sorted(list(ordered)[: min(size, width)]))


def batches(examples: Sequence[Example], listed: torch.Tensor, tokens: int, order: random.Random) -> Iterator[Batch]:
    """All examples once, in a random order, about `tokens` of them in a batch."""
    shuffled = list(examples)
    order.shuffle(shuffled)
    cut: list[list[Example]] = []
    for start in range(0, len(shuffled), BUCKET):
        group: list[Example] = []
        for example in sorted(shuffled[start : start + BUCKET], key=lambda each: len(each.tokens)):
            if group and (len(group) + 1) * len(example.tokens) > tokens:
                cut.append(group)
                group = []
            group.append(example)
        cut.append(group)
    order.shuffle(cut)
    place = {token: at for at, token in enumerate(listed.tolist())}
    return (batch_of(group, place) for group in cut)


def batch_of(examples: Sequence[Example], place: dict[int, int]) -> Batch:
    """One batch; `place` says where a token stands on the list."""
    longest = max(len(example.tokens) for example in examples)
    most = max(len(tokens) for example in examples for tokens in example.likely)
    rows, columns, likely, probs = [], [], [], []
    for row, example in enumerate(examples):
        for column, (tokens, weights) in enumerate(zip(example.likely, example.probs, strict=True), example.start - 1):
            rows.append(row)
            columns.append(column)
            padding = most - len(tokens)
            likely.append([place.get(token, 0) for token in tokens] + [0] * padding)
            listed = [weight if token in place else 0.0 for token, weight in zip(tokens, weights, strict=True)]
            probs.append(listed + [0.0] * padding)
    return Batch(
        ids=torch.tensor([[*example.tokens] + [0] * (longest - len(example.tokens)) for example in examples]),
        rows=torch.tensor(rows),
        columns=torch.tensor(columns),
        likely=torch.tensor(likely),
        probs=torch.tensor(probs, dtype=torch.float32),
    )
