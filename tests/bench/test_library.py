"""The library's own decoding, on a toy model."""

from __future__ import annotations

from typing import cast

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from sssd_demo.bench.library import LibraryLane
from sssd_demo.models import LoadedModel
from sssd_demo.text import Text


class ByteText:
    """Token ids are bytes."""

    def __init__(self, end: int) -> None:
        self.end_tokens = frozenset({end})

    def encode_chat(self, messages: list[dict[str, str]]) -> list[int]:
        return list(messages[-1]["content"].encode())

    def decode(self, ids: tuple[int, ...]) -> str:
        return bytes(ids).decode(errors="replace")


def toy(end: int = 255) -> LoadedModel:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
    )
    model = LlamaForCausalLM(config).eval()
    model.generation_config.repetition_penalty = 5.0
    return LoadedModel(
        name="toy",
        model=model,
        text=cast(Text, ByteText(end)),
        device=torch.device("cpu"),
        device_name="a test",
        dtype="float32",
        dtype_reason="asked for",
        licence="none",
        source="made here",
        context_length=256,
        draft=None,
    )


def lane(loaded: LoadedModel, length: int) -> LibraryLane:
    return LibraryLane("transformers-generate", loaded, length, run=lambda answer: answer())


def greedy(loaded: LoadedModel, prompt: str, length: int) -> list[int]:
    ids = list(prompt.encode())
    for _ in range(length):
        with torch.inference_mode():
            ids.append(int(loaded.model(torch.tensor([ids])).logits[0, -1].argmax()))
    return ids[len(prompt.encode()) :]


def test_it_decodes_greedily_whatever_the_models_own_settings_say():
    loaded = toy()
    [reply] = lane(loaded, 12).answer([[{"role": "user", "content": "hello"}]])
    assert list(reply.token_ids) == greedy(loaded, "hello", 12)
    assert reply.text == bytes(reply.token_ids).decode(errors="replace")


def test_it_is_counted_like_our_own():
    [reply] = lane(toy(), 12).answer([[{"role": "user", "content": "hello"}]])
    summary = reply.summary
    assert (summary.tokens, summary.target_forwards, summary.tokens_per_forward) == (12, 12, 1.0)
    assert summary.decode_seconds is not None
    assert summary.ttft_ms is not None
    assert summary.seconds == pytest.approx(summary.ttft_ms / 1000 + summary.decode_seconds)
    assert summary.tokens_per_second == pytest.approx(11 / summary.decode_seconds)
    assert (summary.drafted, summary.draft_ms) == (0, None)


def test_it_stops_at_the_end_of_text_and_keeps_it():
    fourth = greedy(toy(), "hello", 4)[3]
    [reply] = lane(toy(fourth), 12).answer([[{"role": "user", "content": "hello"}]])
    assert reply.token_ids[-1] == fourth
    assert reply.summary.tokens == len(reply.token_ids) <= 4


def test_a_single_token_has_no_rate():
    [reply] = lane(toy(), 1).answer([[{"role": "user", "content": "hello"}]])
    assert reply.summary.tokens_per_second is None
    assert reply.summary.tokens == 1
