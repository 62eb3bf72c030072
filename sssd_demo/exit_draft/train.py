"""Teach an early exit to foretell its target."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel

from sssd_demo.errors import UserError
from sssd_demo.exit_draft.data import Batch, Example, batches
from sssd_demo.exit_draft.model import trained_state
from sssd_demo.exit_draft.record import ExitDraft

WARM_UP = 20  # steps
EARLY_SHARPNESS = 0.25  # of what the target's last norm makes of an early layer; with 1, guesses are wrong and certain
COOL_DOWN = 0.3  # the last share of the steps, over which the learning rate falls to nothing
DECAY = 0.01
LONGEST_GRADIENT = 1.0


@dataclass(frozen=True)
class Recipe:
    """How to train."""

    steps: int
    batch_tokens: int = 1024
    learning_rate: float = 1e-3
    seed: int = 0

    def rate(self, step: int) -> float:
        """Rising at first, then constant, falling at the end: a run can be prolonged while it is constant."""
        left = (self.steps - step) / max(1.0, COOL_DOWN * self.steps)
        return self.learning_rate * min(1.0, (step + 1) / WARM_UP, left)


@dataclass
class Progress:
    """Where a run stands."""

    step: int = 0
    tokens: int = 0  # foretold so far, repetitions counted
    loss: float = 0.0  # a moving mean of nats a token
    agreement: float = 0.0  # likewise, on what is being learnt


class Training:
    """One run. It can be saved between two steps and taken up again, also with more examples or steps."""

    def __init__(self, model: PreTrainedModel, draft: ExitDraft, recipe: Recipe) -> None:
        self.model = model
        self.progress = Progress()
        self._draft = draft
        self._recipe = recipe
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        trained = trained_state(model, draft)
        self._parameters = [each for name, each in model.named_parameters() if name in trained]
        for parameter in self._parameters:
            parameter.requires_grad_(True)
        self._optimizer = torch.optim.AdamW(self._parameters, lr=0.0, betas=(0.9, 0.95), weight_decay=DECAY, fused=True)

    def run(self, examples: Sequence[Example], after_step: Callable[[], None]) -> None:
        """Train until the recipe's last step; `after_step` is called after each."""
        self.model.train()
        order = random.Random(f"{self._recipe.seed}/{self.progress.step}")
        for batch in _endless(examples, self.model.lm_head.tokens, self._recipe.batch_tokens, order):
            if self.progress.step >= self._recipe.steps:
                break
            self._step(batch)
            after_step()
        self.model.eval()

    def save(self, path: Path) -> None:
        """Everything that is needed to go on."""
        unfinished = path.with_name(path.name + ".unfinished")
        state = {
            "trained": trained_state(self.model, self._draft),
            "list": self.model.lm_head.tokens,
            "optimizer": self._optimizer.state_dict(),
            "progress": vars(self.progress),
            "layers": (self._draft.copied, self._draft.trained),
        }
        torch.save(state, unfinished)
        unfinished.replace(path)

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from what `save` wrote."""
        self.model.load_state_dict(state["trained"], strict=False)
        self._optimizer.load_state_dict(state["optimizer"])
        self.progress = Progress(**state["progress"])

    def _step(self, batch: Batch) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = self._recipe.rate(self.progress.step)
        logits = listed_logits(self.model, batch)
        known = batch.probs.sum(-1).clamp_min(1e-6)
        # Cross-entropy against the target's law, as far as it is known and on the list.
        log_law = logits.log_softmax(-1).gather(-1, batch.likely)
        loss = -((batch.probs * log_law).sum(-1) / known)[batch.probs[:, 0] > 0].mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._parameters, LONGEST_GRADIENT)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self._note(loss.item(), foretold(logits, batch).float().mean().item(), len(batch.rows))

    def _note(self, loss: float, agreement: float, tokens: int) -> None:
        now = self.progress
        weight = max(0.02, 1 / (now.step + 1))
        now.loss += weight * (loss - now.loss)
        now.agreement += weight * (agreement - now.agreement)
        now.step += 1
        now.tokens += tokens


@torch.no_grad()
def soften(model: PreTrainedModel) -> None:
    """Scale down the logits of an untrained model, so that training need not begin with that."""
    model.model.norm.weight.mul_(EARLY_SHARPNESS)


def read_state(path: Path, draft: ExitDraft) -> dict[str, Any] | None:
    """What `Training.save` wrote for a `draft` like this one, if it did.

    Raises `UserError` if the file cannot be read, or is of a run with other layers.
    """
    if not path.is_file():
        return None
    try:
        state: dict[str, Any] = torch.load(path, weights_only=True)
        layers = tuple(map(tuple, state["layers"]))
    except Exception as error:  # the reader of pickled tensors raises many kinds
        raise UserError(f"{path} is no unfinished training, or a damaged one; please remove it.") from error
    if layers != (draft.copied, draft.trained):
        raise UserError(f"{path} is an unfinished training of other layers; please remove it, or name another folder.")
    return state


def listed_logits(model: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """Logits [N, tokens on the list] at the batch's places."""
    hidden = model.model(input_ids=batch.ids, use_cache=False).last_hidden_state
    return model.lm_head.exit(hidden[batch.rows, batch.columns])


def foretold(logits: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Whether the most likely token on the list is the target's [N]; what is not on it is never foretold."""
    return (logits.argmax(-1) == batch.likely[:, 0]) & (batch.probs[:, 0] > 0)


def _endless(examples: Sequence[Example], listed: torch.Tensor, tokens: int, order: random.Random) -> Iterator[Batch]:
    while True:
        yield from batches(examples, listed, tokens, order)
