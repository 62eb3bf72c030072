"""Tiny models and scripted drafters, so that the logic can be tested in milliseconds and without weights."""

from __future__ import annotations

import random
from collections.abc import Sequence as Seq

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from sssd_demo.speculators.protocol import Outcome, Sequence
from sssd_demo.trace import ROOT, DraftTree, Law, Source

VOCABULARY = 32

SHAPES = {
    "llama": {},
    "qwen2": {},
    "qwen3": {"head_dim": 16},
    "olmo2": {},  # norms stand elsewhere: not a lean family, runs on transformers' own layers
}


def toy_model(kind: str = "llama", *, seed: int = 0, dtype: torch.dtype = torch.float32) -> PreTrainedModel:
    """A random causal language model of two layers, two query heads per key head."""
    config = AutoConfig.for_model(
        kind,
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        eos_token_id=None,
        bos_token_id=None,
        pad_token_id=None,
        **SHAPES[kind],
    )
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config, dtype=dtype).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3)
            elif "bias" in name:
                parameter.normal_(0, 0.1)
    return model


def point_tree(tokens: Seq[int], parents: Seq[int]) -> DraftTree:
    count = len(tokens)
    law: Law = "point"
    source: Source = "prompt"
    return DraftTree(
        tokens=tuple(tokens),
        parents=tuple(parents),
        probs=(0.5,) * count,
        laws=(law,) * count,
        sources=(source,) * count,
        match_lengths=(1,) * count,
    )


def random_tree(rng: random.Random, nodes: int, vocabulary: int = VOCABULARY) -> DraftTree:
    parents = [rng.randrange(-1, node) if node else ROOT for node in range(nodes)]
    return point_tree([rng.randrange(vocabulary) for _ in range(nodes)], parents)


class OracleSpeculator:
    """Drafts random trees into which the true continuations are mixed, so that paths of all lengths occur.

    `texts` maps a prompt to the greedy answer; a sequence whose prompt is unknown gets random trees.
    """

    learns_from_top = True

    def __init__(self, texts: dict[tuple[int, ...], Seq[int]], *, seed: int = 0) -> None:
        self.texts = texts
        self.rng = random.Random(seed)
        self.alive: set[int] = set()
        self.outcomes: list[Outcome] = []

    def begin(self, sequence: Sequence) -> None:
        self.alive.add(sequence.id)

    def propose(self, sequences: Seq[Sequence]) -> list[DraftTree]:
        return [self._tree(sequence) for sequence in sequences]

    def observe(self, outcomes: Seq[Outcome]) -> None:
        self.outcomes.extend(outcomes)

    def end(self, sequence: Sequence) -> None:
        self.alive.remove(sequence.id)

    def _tree(self, sequence: Sequence) -> DraftTree:
        budget = self.rng.randint(0, sequence.s_q - 1)
        prompt = tuple(sequence.tokens[: sequence.prompt_length])
        written = len(sequence.tokens) - sequence.prompt_length
        future = list(self.texts.get(prompt, ()))[written:]
        tokens: list[int] = []
        parents: list[int] = []
        tip, depth = ROOT, 0
        for node in range(budget):
            if depth < len(future) and self.rng.random() < 0.6:
                tokens.append(future[depth])
                parents.append(tip)
                tip, depth = node, depth + 1
            else:
                tokens.append(self.rng.randrange(VOCABULARY))
                parents.append(self.rng.randrange(-1, node) if node else ROOT)
        return point_tree(tokens, parents)
