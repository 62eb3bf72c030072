"""Questions that a model asks itself, and its greedy answers with the probabilities behind them: what a drafter learns.

What `datastores/sample_prompts.py` and the command `record` do one after the other, for one model family and with one
large batch: every row samples a user turn, answers it greedily, and starts anew. The lines are those of `record`.
It can be stopped at any time; started again, it goes on with new questions.

    python drafts/sample_answers.py --count 5000 --out answers.jsonl
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass, field
from os.path import commonprefix
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

from sssd_demo import models
from sssd_demo.text import Text

TEMPERATURE, TOP_P = 0.9, 0.95
LONGEST_QUESTION = 96  # tokens; a turn that has not ended by then is left out
SHORTEST_QUESTION = 12  # characters
KEPT = 8  # most likely tokens kept at each place of an answer
PROB_DIGITS = 4


class Batch:
    """A Llama in float32 that advances every row by one token, each at a place of its own."""

    def __init__(self, model: Any, rows: int, context: int) -> None:
        config = model.config
        self.heads, self.kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.head_dim = config.hidden_size // self.heads
        self.eps = config.rms_norm_eps
        self.embedding = model.model.embed_tokens.weight
        self.head = model.lm_head.weight
        self.norm = model.model.norm.weight
        self.layers = [
            (
                layer.input_layernorm.weight,
                torch.cat([getattr(layer.self_attn, f"{part}_proj").weight for part in "qkv"]),
                layer.self_attn.o_proj.weight,
                layer.post_attention_layernorm.weight,
                torch.cat([layer.mlp.gate_proj.weight, layer.mlp.up_proj.weight]),
                layer.mlp.down_proj.weight,
            )
            for layer in model.model.layers
        ]
        self.cache = torch.zeros(len(self.layers), 2, rows, self.kv_heads, context, self.head_dim)
        angles = torch.arange(context)[:, None] * model.model.rotary_emb.inv_freq
        self.cos, self.sin = torch.cat([angles, angles], -1).cos(), torch.cat([-angles.sin(), angles.sin()], -1)

    def read(self, tokens: list[int]) -> None:
        """What every row begins with, `tokens`, is computed once; rows never overwrite it."""
        for place, token in enumerate(tokens):
            self.step(torch.tensor([token]), torch.tensor([place]))
        self.cache[:] = self.cache[:, :, :1].clone()

    def step(self, tokens: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Logits [rows, V] after `tokens` [rows], which stand at `places` [rows]."""
        rows, end = torch.arange(len(tokens)), int(places.max()) + 1
        cos, sin = self.cos[places][:, None], self.sin[places][:, None]
        mask = (torch.arange(end) <= places[:, None])[:, None, None]
        hidden = self.embedding[tokens]
        turning = self.heads + self.kv_heads
        for layer, (attention_norm, qkv, out, mlp_norm, gate_up, down) in enumerate(self.layers):
            heads = (self._normed(hidden, attention_norm) @ qkv.T).view(len(tokens), -1, self.head_dim)
            turned = heads[:, :turning] * cos + heads[:, :turning].roll(self.head_dim // 2, -1) * sin
            keys, values = self.cache[layer]
            keys[rows, :, places] = turned[:, self.heads :]
            values[rows, :, places] = heads[:, turning:]
            query = turned[:, : self.heads].reshape(len(tokens), self.kv_heads, -1, self.head_dim)
            keys, values = keys[: len(tokens), :, :end], values[: len(tokens), :, :end]
            seen = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask)
            hidden = hidden + seen.reshape(len(tokens), -1) @ out.T
            gate, up = (self._normed(hidden, mlp_norm) @ gate_up.T).chunk(2, -1)
            hidden = hidden + (F.silu(gate) * up) @ down.T
        return self._normed(hidden, self.norm) @ self.head.T

    def _normed(self, hidden: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(hidden, weight.shape, weight, self.eps)


@dataclass
class Row:
    """One conversation as it grows: the template's opening, a sampled question, the template again, the answer."""

    tokens: list[int]
    given: list[int] = field(default_factory=list)  # tokens that are read and not chosen, the next first
    question: list[int] = field(default_factory=list)
    answering: bool = False
    answer_from: int = 0
    top: list[list[tuple[int, float]]] = field(default_factory=list)


class Sampler:
    """Rows that are always busy. `advance` makes one step and returns the lines of the answers that ended."""

    def __init__(self, batch: Batch, text: Text, rows: int, longest: int, known: set[str], seed: int) -> None:
        turns = [text.encode_chat([{"role": "user", "content": content}]) for content in ("One", "two")]
        self.opening = commonprefix(turns)
        self.closing = commonprefix([turn[::-1] for turn in turns])[::-1]  # of the user's turn, and the answer's head
        self.text, self.batch, self.longest, self.known = text, batch, longest, known
        self.random = torch.Generator().manual_seed(seed)
        self.rows = [self._fresh() for _ in range(rows)]
        self.ends = set(text.end_tokens)
        batch.read(self.opening[:-1])

    def _fresh(self) -> Row:
        return Row([*self.opening])

    def advance(self) -> list[dict[str, Any]]:
        for row in self.rows:
            if row.given:
                row.tokens.append(row.given.pop(0))
        last = torch.tensor([row.tokens[-1] for row in self.rows])
        logits = self.batch.step(last, torch.tensor([len(row.tokens) - 1 for row in self.rows]))
        law = logits.softmax(-1)
        best = law.topk(KEPT)
        drawn = self._drawn(logits)
        finished = []
        for at, row in enumerate(self.rows):
            if row.given:
                continue
            if row.answering:
                ids, probs = best.indices[at].tolist(), best.values[at].tolist()
                row.top.append([(id_, round(prob, PROB_DIGITS)) for id_, prob in zip(ids, probs, strict=True)])
                row.tokens.append(ids[0])
                if ids[0] in self.ends or len(row.top) == self.longest:
                    finished.append(self._line(row))
                    self.rows[at] = self._fresh()
            else:
                self._ask(at, row, drawn[at])
        return finished

    def _ask(self, at: int, row: Row, token: int) -> None:
        if token not in self.ends:
            row.question.append(token)
            row.tokens.append(token)
            if len(row.question) > LONGEST_QUESTION:
                self.rows[at] = self._fresh()
            return
        turn = self.text.decode(row.question).strip()
        if len(turn) < SHORTEST_QUESTION or turn in self.known:
            self.rows[at] = self._fresh()
            return
        self.known.add(turn)
        row.given, row.answering = [*self.closing], True
        row.answer_from = len(row.tokens) + len(self.closing)

    def _drawn(self, logits: torch.Tensor) -> list[int]:
        """One token for each row from its logits [rows, V], of the likeliest that have `TOP_P` together."""
        ordered = (logits / TEMPERATURE).topk(1000)  # of a sharp model, all that matter
        law = ordered.values.softmax(-1)
        law[law.cumsum(-1) - law >= TOP_P] = 0
        return ordered.indices.gather(1, torch.multinomial(law, 1, generator=self.random))[:, 0].tolist()

    def _line(self, row: Row) -> dict[str, Any]:
        return {
            "question_id": f"exit-{len(self.known):06}",
            "category": "sampled",
            "tokenizer": self.text.fingerprint,
            "prompt": row.tokens[: row.answer_from],
            "output": row.tokens[row.answer_from :],
            "top": row.top,
        }


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--preset", default="smollm2-135m")
    parser.add_argument("--count", type=int, default=5000, help="answers that the file should hold")
    parser.add_argument("--longest", type=int, default=192, help="tokens of an answer")
    parser.add_argument("--rows", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    model = models.load(args.preset, dtype="float32")
    args.out.touch()
    done = args.out.read_text(encoding="utf-8").count("\n")
    batch = Batch(model.model, args.rows, 64 + LONGEST_QUESTION + args.longest)
    sampler = Sampler(batch, model.text, args.rows, args.longest, set(), args.seed + done)
    started, tokens = time.monotonic(), 0
    with args.out.open("a", encoding="utf-8") as file:
        while done < args.count:
            for line in sampler.advance():
                file.write(json.dumps(line) + "\n")
                file.flush()
                done, tokens = done + 1, tokens + len(line["output"])
                sys.stderr.write(f"{done} answers, {tokens / (time.monotonic() - started):.0f} tokens/s\n")


if __name__ == "__main__":
    main()
