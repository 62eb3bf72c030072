"""A target and a draft model by a script: the next token's logits follow from the last two tokens, by a table.

Like a real model they find those two in their cache, through the mask. A cache or a mask that is wrong makes them say
the wrong thing; what they should say is known without either.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any, cast

import torch
from torch import nn
from transformers import LlamaConfig, PreTrainedModel

from sssd_demo.kv_cache import CacheWindow
from sssd_demo.sampling import Sampling, distribution
from sssd_demo.speculators.draft_model import DraftModel
from sssd_demo.target import Target
from tests.proofs.worlds import Text

VOCABULARY = 5
CONTEXT = 64  # tokens


class ScriptedModel(nn.Module):
    """`table` [1 + V, V, V] holds the logits after (the token before, the last one); row 0 is for no token before."""

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__()
        self.config = LlamaConfig(
            num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1, hidden_size=2, head_dim=2
        )
        self.table = nn.Parameter(table, requires_grad=False)

    def forward(
        self,
        input_ids: torch.Tensor,
        position_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        cache: CacheWindow,
        **kwargs: Any,
    ) -> SimpleNamespace:
        """What is kept of a token is its id and its position."""
        kept = torch.stack((input_ids, position_ids), -1)[:, None].to(self.table.dtype)
        keys, _ = cache.write(0, torch.cat((kept, kept), 1))
        seen = attention_mask[:, 0, : input_ids.shape[1]] == 0
        just_before = seen & (keys[:, :, :, 1] == (position_ids - 1)[..., None])
        before = (just_before * (keys[:, :, :, 0] + 1)).sum(-1).long()
        return SimpleNamespace(logits=self.table[before, input_ids])


@dataclass(frozen=True)
class Script:
    """Random tables; the draft model's are the target's and noise."""

    seed: int = 0
    vocabulary: int = VOCABULARY
    noise: float = 1.5

    @cached_property
    def tables(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Of the target and of the draft model."""
        rng = random.Random(f"script {self.seed}")
        size = self.vocabulary
        target = [[[rng.gauss(0, 1) for _ in range(size)] for _ in range(size)] for _ in range(1 + size)]
        draft = [[[value + self.noise * rng.gauss(0, 1) for value in row] for row in rows] for rows in target]
        return torch.tensor(target), torch.tensor(draft)

    def target(self, rows: int, context_length: int = CONTEXT) -> Target:
        return _loaded(self.tables[0], rows, context_length)

    def draft(self, rows: int, context_length: int = CONTEXT) -> DraftModel:
        return DraftModel(_loaded(self.tables[1], rows, context_length), self.vocabulary)

    def p(self, text: Text, sampling: Sampling) -> list[float]:
        """The target's law after a text of at least two tokens, without its cache."""
        return _law(self.tables[0], text, sampling)

    def q(self, text: Text, sampling: Sampling) -> list[float]:
        """The draft model's."""
        return _law(self.tables[1], text, sampling)

    def law(self, text: Text, length: int, sampling: Sampling) -> dict[Text, float]:
        """The target's, of the next `length` tokens: the texts that are possible, and how likely each is."""
        if not length:
            return {(): 1.0}
        return {
            (token, *rest): share * mass
            for token, share in enumerate(self.p(text, sampling))
            if share
            for rest, mass in self.law((*text, token), length - 1, sampling).items()
        }


@dataclass(frozen=True)
class LoadDraft:
    """Called in the drafter's own process."""

    script: Script
    rows: int

    def __call__(self) -> DraftModel:
        return self.script.draft(self.rows)


def _loaded(table: torch.Tensor, rows: int, context_length: int) -> Target:
    model = cast(PreTrainedModel, ScriptedModel(table.clone()))
    return Target(model, rows=rows, context_length=context_length)


def _law(table: torch.Tensor, text: Text, sampling: Sampling) -> list[float]:
    law = distribution(table[1 + text[-2], text[-1]][None], sampling)[0].double()
    return (law / law.sum()).tolist()
