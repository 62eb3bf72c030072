"""Logits → the target's distribution p, and the settings that shape it."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from sssd_demo.errors import UserError
from sssd_demo.trace import Top

MAX_TEMPERATURE = 2.0
COLDEST = 1e-6  # lower temperatures would overflow float32; this one is all but greedy already
MAX_TOP_K = 1000
TOP = 8  # most probable tokens that are kept of a position (Token Recycling, arXiv 2408.08696)
LEADING = 256  # most likely tokens that top-k and top-p look at first


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen. Temperature 0 is greedy decoding.

    Raises `UserError` when a value is out of range.
    """

    temperature: float = 0.0
    top_k: int = 0  # 0 keeps all tokens
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature <= MAX_TEMPERATURE:
            raise UserError(f"Temperature must lie between 0 and {MAX_TEMPERATURE:g}, but is {self.temperature:g}.")
        if not 0 <= self.top_k <= MAX_TOP_K:
            raise UserError(f"Top-k must lie between 0 (off) and {MAX_TOP_K}, but is {self.top_k}.")
        if not 0.0 < self.top_p <= 1.0:
            raise UserError(f"Top-p must be above 0 and at most 1, but is {self.top_p:g}.")
        if not 0 <= self.seed < 2**63:
            raise UserError(f"The seed must be a whole number from 0 to 2^63 - 1, but is {self.seed}.")

    @property
    def greedy(self) -> bool:
        return self.temperature == 0.0


def distribution(logits: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Probabilities [N, V] in float32 from logits [N, V]: temperature, then top-k, then top-p.

    Greedy settings give the one-hot law. Top-p keeps the smallest set of most likely tokens whose mass
    reaches `top_p` (Holtzman et al., arXiv 1904.09751). Ties at the edge of top-k or top-p are broken by
    token id, so the kept set is the same however many rows are computed together.
    """
    logits = logits.float()
    if sampling.greedy:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).float()
    logits = logits / max(sampling.temperature, COLDEST)
    p = torch.softmax(logits, -1)
    if not sampling.top_k and sampling.top_p >= 1.0:
        return p
    # A full sort of a large vocabulary takes milliseconds a row; nearly always some leading tokens hold the set.
    vocabulary = p.shape[-1]
    for count in (LEADING, 16 * LEADING, vocabulary):
        # All of top-k must be seen at once: top-p is a share of their mass.
        leading, ids = _most_likely(p, min(max(count, sampling.top_k + 1), vocabulary))
        kept = _kept(leading, sampling)
        ends_within = torch.where(kept, leading, 1.0).amin(-1) > leading[:, -1]
        if bool(ends_within.all()):
            break
    leading = leading * kept
    return torch.zeros_like(p).scatter_(-1, ids, leading / leading.sum(-1, keepdim=True))


def _most_likely(p: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The `count` largest probabilities [N, count] of each row and their ids, equal ones in the order of ids.

    Which of several tokens that equal the smallest one are among them is not defined.
    """
    ids = torch.topk(p, count, dim=-1, sorted=False).indices.sort(-1).values
    values, order = torch.sort(p.gather(-1, ids), dim=-1, descending=True, stable=True)
    return values, ids.gather(-1, order)


def _kept(ordered: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Which of the probabilities [N, count], largest first, are in the set: boolean [N, count]."""
    kept = torch.ones_like(ordered, dtype=torch.bool)
    if sampling.top_k:
        kept[:, sampling.top_k :] = False
    if sampling.top_p < 1.0:
        # Top-p is a share of what top-k left; without top-k that is all, also what lies beyond `ordered`.
        left = (ordered * kept).sum(-1, keepdim=True) if sampling.top_k else 1.0
        kept &= ordered.cumsum(-1) - ordered < sampling.top_p * left
    return kept


def top_tokens(logits: torch.Tensor) -> list[Top]:
    """The `TOP` most probable tokens at temperature 1 of each row of `logits` [N, V], best first."""
    logits = logits.float()
    best, tokens = logits.topk(min(TOP, logits.shape[-1]))
    probs = (best - logits.logsumexp(-1, keepdim=True)).exp()
    return [Top(tuple(row), tuple(p)) for row, p in zip(tokens.tolist(), probs.tolist(), strict=True)]
