"""An early-exit draft model: the folder it is kept in, and how it is built from that and the target's own weights.

It is the target with few layers and a short list of tokens. Of its layers the first ones are the target's own, as they
are; the others began as layers of the target and were trained, with the norm after them. The exit is the target's own
output matrix, cut down to the tokens on the list. Only what was trained is kept in the folder.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as serialized
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel
from transformers.initialization import no_init_weights

from sssd_demo.errors import UserError
from sssd_demo.exit_draft.record import WEIGHTS_FILE, ExitDraft, write_record
from sssd_demo.wheel_files import sha256_of
from sssd_demo.whole_file import AS_USUAL, replacing

EMBEDDING, HEAD, NORM, LIST = "model.embed_tokens.weight", "lm_head.weight", "model.norm.weight", "exit.tokens"
KEPT_DTYPE = torch.float16  # small numbers all of them, and finer there than bfloat16


class ExitHead(nn.Module):
    """Logits of the tokens on a list; minus infinity for all others, so that they are as wide as the target's."""

    def __init__(self, weight: torch.Tensor, tokens: torch.Tensor, width: int) -> None:
        """`weight` [tokens on the list, hidden]."""
        super().__init__()
        self.exit = nn.Linear(weight.shape[1], weight.shape[0], bias=False, device="meta")
        self.exit.weight = nn.Parameter(weight, requires_grad=False)
        self.width = width
        self.tokens: torch.Tensor
        self.register_buffer("tokens", tokens)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        logits = self.exit(hidden)
        wide = logits.new_full((*logits.shape[:-1], self.width), float("-inf"))
        return wide.index_copy_(-1, self.tokens, logits)


def build(
    draft: ExitDraft, folder: Path, target_folder: Path, name: str, *, dtype: torch.dtype, device: torch.device
) -> PreTrainedModel:
    """The model of `folder`, in eval mode; `target_folder` holds the target whose layers it borrows.

    Raises `UserError` if that target is another one than it was trained with.
    """
    try:
        with safe_open(folder / WEIGHTS_FILE, "pt") as file:
            own = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (it is no dict)
        tokens = own.pop(LIST).long()
        model = _assembled(draft, target_folder, tokens, own)
        nn.Module.to(model, device=device, dtype=dtype)  # of transformers' own, no types are known
        return model.eval()
    except (SafetensorError, KeyError, RuntimeError, ValueError, IndexError, OSError) as error:
        raise UserError(f"The draft model {name} does not fit its target {draft.target}.") from error


def begin(draft: ExitDraft, target_folder: Path, tokens: torch.Tensor) -> PreTrainedModel:
    """An untrained one in float32: every layer as it is in the target, and an exit for `tokens` [N]."""
    return _assembled(draft, target_folder, tokens, {})


def trained_state(model: PreTrainedModel, draft: ExitDraft) -> dict[str, torch.Tensor]:
    """The tensors of `model` that were trained, by their names in it."""
    first = len(draft.copied)
    prefixes = tuple(f"model.layers.{first + n}." for n in range(len(draft.trained)))
    return {key: value for key, value in model.state_dict().items() if key == NORM or key.startswith(prefixes)}


def save(model: PreTrainedModel, draft: ExitDraft, folder: Path) -> ExitDraft:
    """Keep what was trained in `folder`, made if it is not there. Returns the record as written."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {key: value.to(KEPT_DTYPE).contiguous() for key, value in trained_state(model, draft).items()}
    tensors[LIST] = model.lm_head.tokens.int()
    path = folder / WEIGHTS_FILE
    with replacing(path, mode=AS_USUAL) as file:
        file.write(serialized(tensors))
    kept = replace(draft, size=path.stat().st_size, sha256=sha256_of(path))
    write_record(kept, folder)
    return kept


def _assembled(
    draft: ExitDraft, target_folder: Path, tokens: torch.Tensor, own: dict[str, torch.Tensor]
) -> PreTrainedModel:
    config = AutoConfig.from_pretrained(target_folder, local_files_only=True)
    config.num_hidden_layers = len(draft.copied) + len(draft.trained)
    config.tie_word_embeddings = False
    with no_init_weights():
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="sdpa")
    borrowed = draft.copied if own else draft.copied + draft.trained
    state = own | _from_target(target_folder, borrowed, with_norm=not own)
    head = state.pop(HEAD)
    model.lm_head = ExitHead(head[tokens].float(), tokens, config.vocab_size)
    model.load_state_dict(state | {f"lm_head.{key}": value for key, value in model.lm_head.state_dict().items()})
    return model


def _from_target(folder: Path, layers: tuple[int, ...], *, with_norm: bool) -> dict[str, torch.Tensor]:
    """Embedding, output matrix and `layers`, renumbered from 0; reads no more than these."""
    found: dict[str, torch.Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            for key in file.keys():  # noqa: SIM118
                _, _, rest = key.partition("model.layers.")
                layer, _, part = rest.partition(".")
                if key in (EMBEDDING, HEAD) or (with_norm and key == NORM):
                    found[key] = file.get_tensor(key)
                elif rest and int(layer) in layers:
                    found[f"model.layers.{layers.index(int(layer))}.{part}"] = file.get_tensor(key)
    found.setdefault(HEAD, found[EMBEDDING])  # tied, where it is not kept apart
    return found
