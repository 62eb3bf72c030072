"""What one forward of the target takes in operations and bytes, and where that stands under a machine's roof.

The classic Roofline model (Williams, Waterman, Patterson 2009): work that does few operations for every byte it reads
is held up by memory, work that does many by arithmetic. It knows nothing of what lies between two matrix products, so
a small model stays below it; `roofline.py` therefore plans by measured times.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from torch import nn

from sssd_demo.kv_cache import bytes_per_token
from sssd_demo.roofline import BATCHES, LENGTHS, Profile

if TYPE_CHECKING:
    from transformers import PreTrainedModel

COMPUTED_BATCHES = (*BATCHES, 64)
COMPUTED_CONTEXTS = (64, 512, 4096)


@dataclass(frozen=True)
class ModelShape:
    """As much of a dense decoder as its work depends on."""

    weights: int  # that every forward reads
    bytes_per_weight: float
    kv_bytes: float  # of one token's keys and values, over all layers
    attention_operations: int  # for one token to look at one other, over all layers
    looked_up: int = 0  # weights of a table that forwards read a few rows of

    def operations(self, batch: int, s_q: float, context: int) -> float:
        """Of one forward of `s_q` tokens of each of `batch` sequences after `context` committed ones."""
        seen = context + (s_q + 1) / 2  # tokens that one of a chain looks at on average, itself included
        return batch * s_q * (2 * self.weights + self.attention_operations * seen)

    def bytes(self, batch: int, s_q: float, context: int) -> float:
        """That the forward reads: the weights once, keys and values of every sequence once."""
        return self.weights * self.bytes_per_weight + batch * (context + s_q) * self.kv_bytes

    def memory(self, batch: int, context: int) -> float:
        """Bytes that the model and the keys and values of `batch` sequences of `context` tokens take."""
        return (self.weights + self.looked_up) * self.bytes_per_weight + batch * context * self.kv_bytes


@dataclass(frozen=True)
class OperatingPoint:
    """Where a forward stands in the picture."""

    intensity: float  # operations for every byte read
    operations_per_second: float


def shape_of(model: PreTrainedModel) -> ModelShape | None:
    """The shape of a loaded model, packed or not; None for a mixture of experts, whose reading depends on the text."""
    config = model.config.get_text_config()
    if any(getattr(config, name, None) for name in ("num_experts", "num_local_experts", "n_routed_experts")):
        return None
    tables = [part for part in model.modules() if isinstance(part, nn.Embedding)]
    weights = sum(_weights(part) for part in model.modules() if part not in tables)
    tied = bool(getattr(config, "tie_word_embeddings", False))  # the output reads all of it in every forward
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return ModelShape(
        weights=weights,
        bytes_per_weight=model.dtype.itemsize,
        kv_bytes=bytes_per_token(config, model.dtype),
        attention_operations=4 * config.num_hidden_layers * config.num_attention_heads * head_dim,
        looked_up=0 if tied else sum(_weights(table) for table in tables),
    )


def _weights(part: nn.Module) -> int:
    packed = getattr(part, "packed", None)  # see `packed_linear.py`: a tensor that is no parameter
    own = sum(parameter.numel() for parameter in part.parameters(recurse=False))
    return own + (0 if packed is None else packed.numel())


def operating_point(shape: ModelShape, batch: int, s_q: float, context: int, seconds: float) -> OperatingPoint:
    """Where the forward that took `seconds` stands."""
    operations = shape.operations(batch, s_q, context)
    return OperatingPoint(operations / shape.bytes(batch, s_q, context), operations / seconds)


def roof(flops: float, bandwidth: float, intensity: float) -> float:
    """The most operations per second that the model allows at `intensity` operations a byte."""
    return min(flops, bandwidth * intensity)


def computed_seconds(
    shape: ModelShape, batch: int, s_q: float, context: int, *, flops: float, bandwidth: float
) -> float:
    """The least time of a forward: as long as its arithmetic or its reading takes, whichever is longer."""
    return max(shape.operations(batch, s_q, context) / flops, shape.bytes(batch, s_q, context) / bandwidth)


def computed_profile(shape: ModelShape, *, flops: float, bandwidth: float) -> Profile:
    """A profile of a machine that nobody measured: every forward stands on the roof. To be labelled as such."""
    points = product(COMPUTED_BATCHES, LENGTHS, COMPUTED_CONTEXTS)
    seconds = {point: computed_seconds(shape, *point, flops=flops, bandwidth=bandwidth) for point in points}
    return Profile(seconds, flops=flops, bandwidth=bandwidth)
