"""Keys and values of all sequences, allocated once, written in place.

One tensor holds every layer, so that keeping the accepted path of every sequence is a single gather. A row is a
sequence; a column is a token. Rows have their own lengths. This module knows nothing about drafting: a tree is
columns that were written past a row's length, of which some are kept.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence

import torch
from transformers import PretrainedConfig
from transformers.cache_utils import Cache

COLUMN_BLOCK = 64  # columns a forward reads are a multiple of this; see `lean.tree_attention`


class KVCache:
    """Storage [layers, rows, 2·kv_heads, capacity, head_dim]: a row's key heads first, then its value heads.

    `lengths[row]` counts the committed columns. Memory is `rows · capacity · bytes_per_token`; on Linux a CPU
    touches pages only as columns are first written.
    """

    def __init__(
        self, config: PretrainedConfig, *, rows: int, capacity: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        heads, head_dim = kv_shape(config)
        self.kv_heads = heads
        self.rows = rows
        self.capacity = capacity + -capacity % COLUMN_BLOCK
        self.lengths = [0] * rows
        shape = (config.num_hidden_layers, rows, 2 * heads, self.capacity, head_dim)
        self.storage = _zeros(shape, dtype, device)

    def keep_paths(self, paths: Sequence[Sequence[int] | None]) -> None:
        """Commit the root and the accepted nodes of rows 0…B−1 after a forward over their trees.

        `paths[row]` holds node indices in order of depth; node i stands in column length + 1 + i. All rows are
        compacted by one gather, and every row's length grows by 1 + len(path). A row whose path is None stays as it is.
        """
        rows, sources, targets = [], [], []
        for row, path in enumerate(paths):
            if path is None:
                continue
            first = self.lengths[row] + 1
            for depth, node in enumerate(path):
                if node != depth:  # a path that is already in place need not move
                    rows.append(row)
                    sources.append(first + node)
                    targets.append(first + depth)
            self.lengths[row] = first + len(path)
        if rows:
            # Sources are read before targets are written, so paths that move towards the root never overlap.
            self.storage[:, rows, :, targets] = self.storage[:, rows, :, sources]

    def advance(self, row: int, count: int) -> None:
        """Commit the `count` columns that stand after those committed, in the order in which they were written."""
        self.lengths[row] += count

    def truncate(self, row: int, length: int) -> None:
        """Forget all columns of `row` from `length` on."""
        self.lengths[row] = min(self.lengths[row], length)

    def swap(self, a: int, b: int, beyond: int = 0) -> None:
        """Exchange two rows, so that running sequences can stand side by side.

        As many columns `beyond` those committed come along: what was computed and may yet be kept.
        """
        if a == b:
            return
        used = max(self.lengths[a], self.lengths[b]) + beyond
        if used:
            self.storage[:, [a, b], :, :used] = self.storage[:, [b, a], :, :used]
        self.lengths[a], self.lengths[b] = self.lengths[b], self.lengths[a]


class CacheWindow(Cache):
    """The columns one forward writes and reads: rows `first` … `first + B − 1`, q new columns from `starts` [B] on.

    It is what transformers' layers see as their cache. Rows with fewer than q tokens write padding past their
    own columns, which no mask ever shows and the next forward overwrites.
    """

    def __init__(self, cache: KVCache, first: int, starts: Sequence[int], q: int) -> None:
        # Cache.__init__ would build per-layer caches of its own; this window only borrows the storage.
        self.layers = []
        self._view = cache.storage[:, first : first + len(starts)]
        self._heads = cache.kv_heads
        columns = max(starts) + q
        self.columns = columns + -columns % COLUMN_BLOCK
        self._start = starts[0] if len(set(starts)) == 1 else None
        self._q = q
        device = cache.storage.device
        if self._start is None:
            self._batch_index = torch.arange(len(starts), device=device)[:, None]
            self._columns = torch.tensor(starts, device=device)[:, None] + torch.arange(q, device=device)

    def write(self, layer: int, kv: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Store kv [B, 2·kv_heads, q, head_dim]; return keys and values [B, kv_heads, T, head_dim] as views."""
        view = self._view[layer]
        if self._start is None:
            view.transpose(1, 2)[self._batch_index, self._columns] = kv.transpose(1, 2)
        else:
            view[:, :, self._start : self._start + self._q] = kv
        return view[:, : self._heads, : self.columns], view[:, self._heads :, : self.columns]

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: object, **kwargs: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """transformers' own entry point, for layers that `lean.py` does not replace."""
        return self.write(layer_idx, torch.cat((key_states, value_states), dim=1))

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self.columns - self._q

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        return self.columns, 0


def _zeros(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Zeros, for a column that a mask hides still enters the sums as 0 · value, and 0 · NaN is NaN.

    On a CPU they are pages that the system provides as they are first written, small ones: with huge pages a single
    token would claim memory for thousands. So a cache for long texts costs what is used of it.
    """
    if device.type != "cpu":
        return torch.zeros(shape, dtype=dtype, device=device)
    memory = mmap.mmap(-1, math.prod(shape) * dtype.itemsize)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):  # Linux
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return torch.frombuffer(memory, dtype=dtype).view(shape)


def kv_shape(config: PretrainedConfig) -> tuple[int, int]:
    """(key/value heads, head size) of a transformers configuration."""
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return heads, head_dim


def bytes_per_token(config: PretrainedConfig, dtype: torch.dtype) -> int:
    """Bytes that one token's keys and values take over all layers."""
    heads, head_dim = kv_shape(config)
    return config.num_hidden_layers * 2 * heads * head_dim * dtype.itemsize
