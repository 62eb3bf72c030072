"""A tiny world in floats, as production meets it: logits in the model's type, laws shaped by sampling settings."""

from __future__ import annotations

import random

import torch

from sssd_demo.sampling import Sampling, distribution
from sssd_demo.trace import DraftTree
from tests.proofs.worlds import Text


class FloatWorld:
    """Random logits that depend on the whole text; the draft's are the target's and noise.

    `target` and `drafter` are the sampling settings of the two; `raw_q` is the drafter's law without them.
    """

    def __init__(self, vocabulary: int, dtype: torch.dtype, target: Sampling, drafter: Sampling, seed: int = 0) -> None:
        self.vocabulary = vocabulary
        self.target = target
        self._dtype = dtype
        self._drafter = drafter
        self._seed = seed
        self._rows: dict[Text, tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = {}

    def logits(self, text: Text) -> torch.Tensor:
        """The target's [V], in `dtype`."""
        return self._row(text)[0]

    def tree_logits(self, text: Text, tree: DraftTree) -> torch.Tensor:
        """The target's [1 + nodes, V]: after the text, and after each node."""
        return torch.stack([self.logits(text + _tokens(tree, row - 1)) for row in range(1 + len(tree))])

    def q(self, text: Text) -> torch.Tensor:
        return self._row(text)[1]

    def raw_q(self, text: Text) -> torch.Tensor:
        return self._row(text)[2]

    def p(self, text: Text) -> list[float]:
        """The target's law by its own settings, whose mass is 1 in float64."""
        law = distribution(self.logits(text)[None], self.target)[0].double()
        return (law / law.sum()).tolist()

    def law(self, length: int, text: Text = ()) -> dict[Text, float]:
        """Of the next `length` tokens: the texts that are possible, and how likely each is."""
        if not length:
            return {(): 1.0}
        return {
            (token, *rest): share * mass
            for token, share in enumerate(self.p(text))
            if share
            for rest, mass in self.law(length - 1, (*text, token)).items()
        }

    def _row(self, text: Text) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        if text not in self._rows:
            rng = random.Random(f"{self._seed} {text}")
            target = [rng.gauss(0, 0.8) for _ in range(self.vocabulary)]
            draft = torch.tensor([[value + rng.gauss(0, 1) for value in target]], dtype=self._dtype)
            q = distribution(draft, self._drafter)[0].double()
            raw_q = distribution(draft, Sampling(temperature=1.0))[0].double()
            self._rows[text] = torch.tensor(target, dtype=self._dtype), q / q.sum(), raw_q / raw_q.sum()
        return self._rows[text]


def _tokens(tree: DraftTree, node: int) -> Text:
    """On the way to `node`, its own included."""
    return tuple(tree.tokens[step] for step in tree.path_to(node))
