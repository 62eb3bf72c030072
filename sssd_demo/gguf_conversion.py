"""A GGUF file unpacked into a folder that transformers loads quickly: safetensors, tokenizer, chat template."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
from transformers.utils import logging as transformers_logging

from sssd_demo.errors import UserError


def convert(gguf: Path, folder: Path, dtype: str, end_tokens: Sequence[str]) -> None:
    """Write the model in `gguf` to the existing `folder`, its weights dequantised and stored as `dtype`.

    `end_tokens` become the end-of-text ids of the generation settings. Raises `UserError` if `gguf` is not a
    model that transformers can read.
    """
    transformers_logging.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
        model = AutoModelForCausalLM.from_pretrained(
            gguf.parent,
            gguf_file=gguf.name,
            quantization_config=GgufConfig(dequantize=True),
            dtype=getattr(torch, dtype),
        )
    except (ValueError, KeyError, OSError, RuntimeError, NotImplementedError) as error:
        raise UserError(f"The model file {gguf.name} cannot be read as a GGUF model.") from error
    model.generation_config.eos_token_id = tokenizer.convert_tokens_to_ids(list(end_tokens))
    model.save_pretrained(folder, max_shard_size="1TB")  # one file, so that one hash covers it
    tokenizer.save_pretrained(folder)
    del model
    gc.collect()  # the weights are large, and the model that is loaded next needs the room
