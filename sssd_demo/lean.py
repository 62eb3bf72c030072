"""transformers' decoder layers with less between the matrix products.

At one to sixteen tokens a forward, a small model spends more time on small operations than on its weights. This
module replaces, in place, the parts of a loaded model whose form it knows: query, key and value projections
become one product, gate and up projections become one, RMS norms use torch's fused kernel, the cache is written by
one copy, and weights are packed (`packed_linear.py`). A model of another form keeps its own layers; it is right all
the same, only slower.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from sssd_demo.kv_cache import CacheWindow
from sssd_demo.packed_linear import pack

# Families whose layers are: RMS norm, attention with half-rotated positions, RMS norm, gated MLP.
LEAN_FAMILIES = ("Llama", "Qwen2", "Qwen3", "Mistral")
TREE_ATTENTION = "sssd_tree"


def make_lean(model: PreTrainedModel) -> None:
    """Use tree attention in every layer of `model`, and lean layers where they are known. Changes the model."""
    ALL_ATTENTION_FUNCTIONS.register(TREE_ATTENTION, _tree_attention_interface)
    model.config._attn_implementation = TREE_ATTENTION
    _replace_parts(model)


def _replace_parts(parent: nn.Module) -> None:
    for name, part in list(parent.named_children()):
        kind = type(part).__name__
        family = next((family for family in LEAN_FAMILIES if kind.startswith(family)), None)
        replacement = _REPLACEMENTS.get(kind.removeprefix(family)) if family else None
        if replacement:
            setattr(parent, name, replacement(part))
        elif isinstance(part, nn.Linear):
            setattr(parent, name, pack(part))
        else:
            _replace_parts(part)


def row_block(dtype: torch.dtype) -> int:
    """What the attention's query rows are a multiple of.

    Padding costs nearly as much as rows that are asked for, and in a batch attention is a large part of a forward. In
    float32 8 rows give the same bits as 32 in half the time (on AVX2); in bfloat16 nobody has compared them yet where
    a CPU computes in it.
    """
    return 8 if dtype == torch.float32 else 32


def tree_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor, scale: float | None
) -> torch.Tensor:
    """Attention output [B, q, heads, head_dim] for query [B, heads, q, head_dim], key/value [B, kv_heads, T, head_dim].

    Query heads that share a key head are laid out as further query positions, so keys are never repeated: `mask` is
    additive, [B, 1, R, T], its first heads/kv_heads · q rows in that order.

    R is a multiple of `row_block` and T of `COLUMN_BLOCK`, so that the kernel cuts its work in the same way however
    many tokens are verified together. On a CPU the logits along a drafted chain are then the same to the last bit as
    without a draft, also in bfloat16, where another order of summing now and then turns a near-tie. In a branching
    tree a node's ancestors may stand in other columns than in plain decoding, and that order remains different.
    """
    batch, heads, q, head_dim = query.shape
    folded = query.reshape(batch, key.shape[1], -1, head_dim)
    rows = folded.shape[2]
    padded = F.pad(folded, (0, 0, 0, mask.shape[2] - rows))
    output = F.scaled_dot_product_attention(padded, key, value, attn_mask=mask, scale=scale)
    return output[:, :, :rows].reshape(batch, heads, q, head_dim).transpose(1, 2)


def _tree_attention_interface(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    return tree_attention(query, key, value, attention_mask, scaling), None


class _LeanNorm(nn.Module):
    def __init__(self, norm: Any) -> None:
        super().__init__()
        self.weight = norm.weight
        self.eps = norm.variance_epsilon

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(hidden, self.weight.shape, self.weight, self.eps)


class _LeanLayer(nn.Module):
    """One decoder layer: norm, attention, norm, gated MLP, each half added to what it was given."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        attention, mlp = layer.self_attn, layer.mlp
        self.qkv = pack(_fuse(attention.q_proj, attention.k_proj, attention.v_proj))
        self.out = pack(attention.o_proj)
        self.gate_up = pack(_fuse(mlp.gate_proj, mlp.up_proj))
        self.down = pack(mlp.down_proj)
        self.activation = mlp.act_fn
        self.attention_norm = _LeanNorm(layer.input_layernorm)
        self.mlp_norm = _LeanNorm(layer.post_attention_layernorm)
        self.query_norm = getattr(attention, "q_norm", None)
        self.key_norm = getattr(attention, "k_norm", None)
        self.index = attention.layer_idx
        self.scale = attention.scaling
        self.head_dim = attention.head_dim
        self.heads = attention.q_proj.out_features // self.head_dim
        self.rotated = self.heads + attention.k_proj.out_features // self.head_dim  # query heads, then key heads

    def forward(
        self,
        hidden_states: torch.Tensor,
        attention_mask: torch.Tensor,
        position_embeddings: tuple[torch.Tensor, torch.Tensor],
        cache: CacheWindow,
        **kwargs: Any,
    ) -> torch.Tensor:
        hidden = hidden_states + self._attend(
            self.attention_norm(hidden_states), attention_mask, position_embeddings, cache
        )
        gate, up = self.gate_up(self.mlp_norm(hidden)).chunk(2, dim=-1)
        return hidden + self.down(self.activation(gate) * up)

    def _attend(
        self,
        hidden: torch.Tensor,
        mask: torch.Tensor,
        position_embeddings: tuple[torch.Tensor, torch.Tensor],
        cache: CacheWindow,
    ) -> torch.Tensor:
        batch, q, _ = hidden.shape
        heads = self.qkv(hidden).view(batch, q, -1, self.head_dim).transpose(1, 2)
        if self.query_norm is not None and self.key_norm is not None:
            heads[:, : self.heads] = self.query_norm(heads[:, : self.heads])
            heads[:, self.heads : self.rotated] = self.key_norm(heads[:, self.heads : self.rotated])
        cos, signed_sin = position_embeddings
        rotated = heads[:, : self.rotated]
        turned = torch.roll(rotated, self.head_dim // 2, dims=-1)
        rotated.mul_(cos.unsqueeze(1)).addcmul_(turned, signed_sin.unsqueeze(1))
        key, value = cache.write(self.index, heads[:, self.heads :])
        output = tree_attention(heads[:, : self.heads], key, value, mask, self.scale)
        return self.out(output.reshape(batch, q, -1))


class _SignedRotary(nn.Module):
    """Cosines and sines with the sign of "rotate half" already in the sines: x·cos + roll(x)·sin."""

    def __init__(self, rotary: nn.Module) -> None:
        super().__init__()
        self.rotary = rotary

    def forward(self, hidden: torch.Tensor, position_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        cos, sin = self.rotary(hidden, position_ids)
        half = sin.shape[-1] // 2
        return cos, torch.cat((-sin[..., :half], sin[..., half:]), dim=-1)


_REPLACEMENTS: dict[str, type[nn.Module]] = {
    "DecoderLayer": _LeanLayer,
    "RMSNorm": _LeanNorm,
    "RotaryEmbedding": _SignedRotary,
}


def _fuse(*projections: nn.Linear) -> nn.Linear:
    """One linear layer whose output is the projections' outputs side by side."""
    weight = torch.cat([projection.weight for projection in projections])
    fused = nn.Linear(weight.shape[1], weight.shape[0], bias=projections[0].bias is not None, device="meta")
    fused.weight = nn.Parameter(weight, requires_grad=False)
    if projections[0].bias is not None:
        fused.bias = nn.Parameter(torch.cat([projection.bias for projection in projections]), requires_grad=False)
    return fused
