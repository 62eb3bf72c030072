"""A model by name, ready to decode: preset, local folder or hub id → weights on their device, and text.

Presets and sources are in `model_sources.py`, and how a source becomes a folder in `model_folder.py`; this module
imports torch and transformers only when something is loaded, so that listing presets stays quick.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sssd_demo.cpu_name import cpu_name
from sssd_demo.errors import UserError
from sssd_demo.folders import cache_folder
from sssd_demo.model_folder import Found, check_whole, find_or_fetch, hub_reachable, remove_damaged
from sssd_demo.model_sources import PRESETS, Progress, default_preset, find_preset

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig, PreTrainedModel

    from sssd_demo.exit_draft.record import ExitDraft
    from sssd_demo.text import Text

CONTEXT_IF_UNSAID = 2048  # tokens


@dataclass(frozen=True)
class LoadedModel:
    """A model that can decode, and what a reader wants to know about it."""

    name: str  # as it was asked for
    model: PreTrainedModel  # in eval mode on `device`
    text: Text
    device: torch.device
    device_name: str  # e.g. "AMD EPYC, 2 threads" or "NVIDIA L4"
    dtype: str  # "float32", "bfloat16" or "float16"
    dtype_reason: str
    licence: str
    source: str
    context_length: int  # tokens, prompt and answer together
    draft: str | None  # what to load as draft model, if the preset has one


def load(
    name: str,
    *,
    device: str | None = None,
    dtype: str = "auto",
    progress: Progress | None = None,
    cache: Path | None = None,
) -> LoadedModel:
    """Load preset, local folder or hub id `name`, fetching it first if it must be.

    `device` is a torch device such as "cpu" or "cuda:0" (None: the GPU if there is one). `progress` hears what is
    being done. Raises `UserError` for unknown names, files that are missing or damaged, models that cannot
    speculate (see `refuse_unsuitable`), no source within reach, or too little memory.
    """
    from transformers import AutoConfig
    from transformers.utils import logging as transformers_logging

    from sssd_demo.dtype_choice import choose_dtype

    progress = progress or _no_progress
    chosen_device = _device(device)
    found = find_or_fetch(name, progress, cache or cache_folder())
    exit_draft, whole = _exit_draft(found, name, progress, cache or cache_folder())
    check_whole(whole.path, name)
    progress(f"loading {name}", None)
    transformers_logging.disable_progress_bar()
    try:
        config = AutoConfig.from_pretrained(whole.path, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"The folder of the model {name} holds no model configuration that can be read.") from error
    refuse_unsuitable(config, name)
    shape = config.get_text_config()
    hidden = getattr(shape, "hidden_size", 1024)
    choice = choose_dtype(dtype, chosen_device, hidden, getattr(shape, "intermediate_size", None) or 4 * hidden)
    model = _with_weights(found, whole, exit_draft, name, choice.dtype, chosen_device)
    if model._is_stateful:
        raise _unsuitable(name, "is recurrent", "its state cannot be rolled back when a draft is refused")
    preset = find_preset(name)
    return LoadedModel(
        name=name,
        model=model.eval(),
        text=_text(whole, name),
        device=chosen_device,
        device_name=_device_name(chosen_device),
        dtype=choice.dtype,
        dtype_reason=choice.reason,
        licence=found.weights.licence if found.weights else "not stated here; see where the model came from",
        source=found.source,
        context_length=getattr(shape, "max_position_embeddings", None) or CONTEXT_IF_UNSAID,
        draft=preset.draft.hub_id if preset and preset.draft else None,
    )


def _with_weights(
    found: Found, whole: Found, exit_draft: ExitDraft | None, name: str, dtype: str, device: torch.device
) -> PreTrainedModel:
    """Raises `UserError` for weights that cannot be read, or do not fit into memory."""
    import torch
    from transformers import AutoModelForCausalLM

    from sssd_demo.exit_draft.model import build

    weights_dtype = getattr(torch, dtype)
    try:
        if exit_draft is not None:
            return build(exit_draft, found.path, whole.path, name, dtype=weights_dtype, device=device)
        return AutoModelForCausalLM.from_pretrained(
            found.path, dtype=weights_dtype, attn_implementation="sdpa", local_files_only=True, device_map=device
        )
    except UserError:
        raise
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise UserError(f"There is not enough memory for {name} on {_device_name(device)}.") from error
    except Exception as error:  # the readers of weights raise many kinds, some their own
        raise UserError(f"The weights of {name} are missing, truncated or damaged: {_first_line(error)}.") from error


def load_draft(
    name: str, target: LoadedModel, *, progress: Progress | None = None, cache: Path | None = None
) -> LoadedModel:
    """Load `name` as the draft model of `target`, onto the same device and in the same dtype.

    Raises `UserError` like `load`, and for a model with another tokenizer: its token ids would mean other text.
    """
    text = load_text(name, progress=progress, cache=cache)
    if text.fingerprint != target.text.fingerprint:
        raise UserError(
            f"{name} cannot draft for {target.name}: it has another tokenizer, so its tokens mean other text; "
            "please choose a model of the same family."
        )
    return load(name, device=str(target.device), dtype=target.dtype, progress=progress, cache=cache)


def load_text(name: str, *, progress: Progress | None = None, cache: Path | None = None) -> Text:
    """Only the tokenizer and chat template of a model; its weights are not read. Raises `UserError` like `load`."""
    progress, cache = progress or _no_progress, cache or cache_folder()
    found = find_or_fetch(name, progress, cache, text_only=True)
    return _text(_exit_draft(found, name, progress, cache)[1], name)


def fetch(name: str, progress: Progress | None = None, *, cache: Path | None = None) -> list[Found]:
    """Get a model, and its preset's draft model, onto this machine without loading it; damaged ones anew.

    Returns where each is and came from. Raises `UserError` like `load`.
    """
    progress, cache = progress or _no_progress, cache or cache_folder()
    preset = find_preset(name)
    names = [weights.hub_id for weights in preset.members()] if preset else [name]
    every = []
    for member in names:
        found = find_or_fetch(member, progress, cache)
        if remove_damaged(found, member):
            found = find_or_fetch(member, progress, cache)
        every.append(found)
    return every


def default_name(device: str | None = None) -> str:
    """The preset to open on this machine when none was asked for: see `default_preset`.

    Raises `UserError` if `device` is not there.
    """
    import torch

    chosen = _device(device)
    if chosen.type != "cuda":
        return default_preset(chosen.type, 0)
    free_bytes, _ = torch.cuda.mem_get_info(chosen)
    return default_preset("cuda", free_bytes, hub=hub_reachable())


def fitting_presets(device: str | None = None) -> list[str]:
    """The presets whose pair fits into the memory of `device` (None: the GPU if there is one), in use or not."""
    import psutil
    import torch

    chosen = _device(device)
    if chosen.type == "cuda":
        memory = torch.cuda.get_device_properties(chosen).total_memory
    else:
        memory = psutil.virtual_memory().total
    return [preset.name for preset in PRESETS if preset.memory <= memory]


def refuse_unsuitable(config: PreTrainedConfig, name: str) -> None:
    """Raises `UserError` for a model whose layers cannot take back refused tokens, or see only part of the text."""
    if config.is_encoder_decoder:
        raise _unsuitable(name, "is an encoder-decoder", "only decoders are supported")
    shape = config.get_text_config()
    layers = set(getattr(shape, "layer_types", None) or ()) - {"full_attention"}
    if any("sliding" in kind or "chunked" in kind or "window" in kind for kind in layers):
        raise _unsuitable(name, "has sliding-window layers", "they forget tokens that a draft tree still needs")
    if layers:
        kinds = ", ".join(sorted(layers))
        raise _unsuitable(name, f"has recurrent or special layers ({kinds})", "their state cannot be rolled back")
    window = getattr(shape, "sliding_window", None)
    whole = getattr(shape, "max_position_embeddings", None) or CONTEXT_IF_UNSAID
    if window and getattr(shape, "use_sliding_window", True) and window < whole:
        raise _unsuitable(name, "has sliding-window layers", "they forget tokens that a draft tree still needs")


def _unsuitable(name: str, what: str, why: str) -> UserError:
    return UserError(f"The model {name} cannot be used: it {what}, and {why}.")


def _exit_draft(found: Found, name: str, progress: Progress, cache: Path) -> tuple[ExitDraft | None, Found]:
    """What kind of early-exit draft model was found, if it is one, and the whole model behind it: else just that."""
    from sssd_demo.exit_draft.record import has_record, read_record

    if not has_record(found.path):
        return None, found
    draft = read_record(found.path, name)
    return draft, find_or_fetch(draft.target, progress, cache)


def _text(found: Found, name: str) -> Text:
    from transformers import AutoTokenizer

    from sssd_demo.text import Text

    try:
        tokenizer = AutoTokenizer.from_pretrained(found.path, local_files_only=True)
    except Exception as error:  # the reader of tokenizer files raises the bare class
        raise UserError(f"The tokenizer of {name} is missing or damaged: {_first_line(error)}.") from error
    return Text(tokenizer, _configured_ends(found.path))


def _configured_ends(folder: Path) -> list[int]:
    for file_name in ("generation_config.json", "config.json"):
        try:
            settings: dict[str, Any] = json.loads((folder / file_name).read_text(encoding="utf-8"))
            ends = settings["eos_token_id"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        return [end for end in (ends if isinstance(ends, list) else [ends]) if isinstance(end, int)]
    return []


def check_device(name: str) -> None:
    """Raises `UserError` if this machine has no such torch device."""
    _device(name)


def _device(asked: str | None) -> torch.device:
    import torch

    if asked is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(asked)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # torch built without CUDA asserts
        raise UserError(f"The device {asked!r} is not there on this machine.") from error
    return device


def _device_name(device: torch.device) -> str:
    import torch

    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    if device.type != "cpu":
        return device.type
    threads = torch.get_num_threads()
    return f"{cpu_name()}, {threads} thread{'s' * (threads > 1)}"


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def _no_progress(stage: str, fraction: float | None) -> None:
    """Nobody listens."""
