"""The target model: one forward over the draft trees of a whole batch → logits.

Only the engine's thread calls it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from transformers import PreTrainedModel

from sssd_demo.kv_cache import CacheWindow, KVCache, kv_shape
from sssd_demo.lean import make_lean, row_block
from sssd_demo.request import MAX_S_Q
from sssd_demo.trace import ROOT, DraftTree

PREFILL_CHUNK = 256  # prompt tokens per forward: cancelling need not wait for a whole long prompt


class Target:
    """A causal language model with a preallocated cache of `rows` sequences.

    Takes over `model` and changes it in place (see `lean.py`). `context_length` is the longest sequence in
    tokens; the cache has room for one draft tree beyond it.
    """

    def __init__(self, model: PreTrainedModel, *, rows: int, context_length: int) -> None:
        make_lean(model)
        self._model = model
        self._parameter = next(model.parameters())
        self._query_groups = model.config.num_attention_heads // kv_shape(model.config)[0]
        self.context_length = context_length
        self.cache = KVCache(
            model.config,
            rows=rows,
            capacity=context_length + max(MAX_S_Q, PREFILL_CHUNK),
            dtype=self._parameter.dtype,
            device=self._parameter.device,
        )

    @torch.inference_mode()
    def prefill(self, row: int, tokens: Sequence[int]) -> torch.Tensor:
        """Read up to `PREFILL_CHUNK` tokens into `row`, committed at once; logits [V] after the last of them."""
        logits = self._run(row, [tokens[0]], [chain(tokens[1:])], [0], last_only=True)
        self.cache.advance(row, len(tokens))
        return logits[0, -1]

    @torch.inference_mode()
    def forward(
        self, roots: Sequence[int], trees: Sequence[DraftTree], known: Sequence[int] | None = None
    ) -> torch.Tensor:
        """Logits [B, Q, V] for rows 0…B−1.

        `logits[b, 0]` follows the root, `logits[b, 1 + i]` follows node i; what stands beyond a smaller tree is
        padding, and Q = 1 + nodes of the largest tree. Nothing is committed: call `cache.keep_paths` next.

        A tree can grow: the first `known[b]` positions of a row (root and nodes) were computed by earlier forwards
        since the last commit and are not computed again. `logits[b, i]` then follows position known[b] + i.
        """
        return self._run(0, roots, trees, known or [0] * len(roots), last_only=False)

    def time_forward(
        self, batch: int, q: int, context: int, *, clock: Callable[[], float] = time.perf_counter
    ) -> float:
        """Seconds of one forward over `batch` rows with q tokens each after `context` committed ones.

        Overwrites rows 0…batch−1 and leaves them empty, so it is for a target that is not answering.
        """
        tree = chain([0] * (q - 1))
        self.cache.lengths[:batch] = [context] * batch
        self.cache.storage[:, :batch, :, :context].zero_()
        try:
            started = clock()
            # Reading a value back waits for a GPU to be done.
            self.forward([0] * batch, [tree] * batch)[0, 0, 0].item()
            return clock() - started
        finally:
            self.cache.lengths[:batch] = [0] * batch

    def _run(
        self,
        first_row: int,
        roots: Sequence[int],
        trees: Sequence[DraftTree],
        known: Sequence[int],
        *,
        last_only: bool,
    ) -> torch.Tensor:
        lengths = self.cache.lengths[first_row : first_row + len(roots)]
        q = max(1, *(1 + len(tree) - before for tree, before in zip(trees, known, strict=True)))
        device = self._parameter.device
        padding = [0] * q
        rows = list(zip(roots, trees, known, strict=True))
        ids = [([root, *tree.tokens] + padding)[before : before + q] for root, tree, before in rows]
        depths = [([0, *tree.depths()] + padding)[before : before + q] for _, tree, before in rows]
        positions = torch.tensor(depths) + torch.tensor(lengths)[:, None]
        starts = [length + before for length, before in zip(lengths, known, strict=True)]
        window = CacheWindow(self.cache, first_row, starts, q)
        output = self._model(
            input_ids=torch.tensor(ids, device=device),
            position_ids=positions.to(device),
            attention_mask=self._mask(lengths, trees, known, q, window.columns),
            cache=window,
            use_cache=True,
            logits_to_keep=1 if last_only else 0,
        )
        return output.logits

    def _mask(
        self, lengths: Sequence[int], trees: Sequence[DraftTree], known: Sequence[int], q: int, columns: int
    ) -> torch.Tensor:
        """Additive mask for `tree_attention`: a node sees the committed columns, its ancestors and itself."""
        sees: list[int] = []
        for length, tree, before in zip(lengths, trees, known, strict=True):
            committed = (1 << length) - 1
            # Padding queries also see the committed columns and the root: a softmax over nothing would be NaN.
            sees += [committed | row << length for row in ancestry(tree, before + q)[before:]]
        mask = torch.full((len(lengths), 1, q, columns), float("-inf"), dtype=self._parameter.dtype)
        mask.masked_fill_(from_bits(sees, columns).view(mask.shape), 0)
        mask = mask.repeat(1, 1, self._query_groups, 1)
        mask = F.pad(mask, (0, 0, 0, -mask.shape[2] % row_block(mask.dtype)))
        return mask.to(self._parameter.device)


def chain(tokens: Sequence[int]) -> DraftTree:
    """Tokens one after the other, as a tree for a forward; whence they came does not matter there."""
    return DraftTree(tokens=tuple(tokens), parents=tuple(range(ROOT, len(tokens) - 1)))


def ancestry(tree: DraftTree, q: int) -> list[int]:
    """For each of q positions which it sees, as bits: 0 is the root, 1 + n is node n, then comes padding."""
    sees = [1]
    for node, parent in enumerate(tree.parents[: q - 1]):
        sees.append(sees[1 + parent] | 1 << (1 + node))
    return sees + [1] * (q - len(sees))


def from_bits(rows: Sequence[int], columns: int) -> torch.Tensor:
    """Boolean [rows, columns]: whether a row has the bit of a column."""
    width = -(-columns // 8)
    packed = np.frombuffer(b"".join(row.to_bytes(width, "little") for row in rows), dtype=np.uint8)
    return torch.from_numpy(np.unpackbits(packed.reshape(-1, width), axis=1, count=columns, bitorder="little")).bool()
