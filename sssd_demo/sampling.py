"""Logits → the target's distribution p, and the settings that shape it."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from sssd_demo.errors import UserError

MAX_TEMPERATURE = 2.0
MAX_TOP_K = 1000


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
    logits = logits / sampling.temperature
    if not sampling.top_k and sampling.top_p >= 1.0:
        return torch.softmax(logits, -1)
    ordered, ids = torch.sort(logits, dim=-1, descending=True, stable=True)
    probs = torch.softmax(ordered, -1)
    if sampling.top_k:
        probs[..., sampling.top_k :] = 0.0
        probs /= probs.sum(-1, keepdim=True)
    if sampling.top_p < 1.0:
        mass_before = probs.cumsum(-1) - probs
        probs[mass_before >= sampling.top_p] = 0.0
        probs /= probs.sum(-1, keepdim=True)
    return torch.zeros_like(probs).scatter_(-1, ids, probs)
