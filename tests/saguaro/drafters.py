"""Toy draft models that another process can load: it imports this module."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass

import torch

from sssd_demo.speculators.draft_model import DraftModel
from sssd_demo.target import Target
from tests.toys import VOCABULARY, toy_model

CONTEXT = 300


def sibling():
    """Near `toy_model()`, so that its drafts are often but not always accepted."""
    model = toy_model()
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.05 * parameter.abs().mean())
    return model


@dataclass(frozen=True)
class ToySource:
    """A sibling of the target, or the very target. With `told`, the process writes its id and thread count there."""

    rows: int = 4
    exact: bool = False
    told: str | None = None

    def __call__(self) -> DraftModel:
        if self.told:
            with open(self.told, "w", encoding="utf-8") as file:
                file.write(f"{os.getpid()} {torch.get_num_threads()}")
        model = toy_model() if self.exact else sibling()
        return DraftModel(Target(copy.deepcopy(model), rows=self.rows, context_length=CONTEXT), VOCABULARY)
