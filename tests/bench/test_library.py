"""The library's own decoding, plain and with its drafts, on a toy model."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from sssd_demo import models
from sssd_demo.bench import ASSISTED, BASELINE, LIBRARY, LOOKUP
from sssd_demo.bench.lanes import Reply
from sssd_demo.bench.library import Handed, LibraryLane, library_lanes, summary
from sssd_demo.engine import Engine
from sssd_demo.length import LengthPlanner
from sssd_demo.models import LoadedModel
from sssd_demo.request import Request
from sssd_demo.speculators.prompt_lookup import PromptLookup
from sssd_demo.target import Target
from sssd_demo.text import Text
from tests.toy_models import save_toy_model


class ByteText:
    """Token ids are bytes."""

    def __init__(self, end: int) -> None:
        self.end_tokens = frozenset({end})

    def encode_chat(self, messages: list[dict[str, str]]) -> list[int]:
        return list(messages[-1]["content"].encode())

    def decode(self, ids: tuple[int, ...]) -> str:
        return bytes(ids).decode(errors="replace")


def toy(end: int = 255, seed: int = 0) -> LoadedModel:
    torch.manual_seed(seed)
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


def lane(loaded: LoadedModel, length: int, name: str = LIBRARY[0], draft: LoadedModel | None = None) -> LibraryLane:
    return LibraryLane(name, loaded, length, run=lambda answer: answer(), draft=draft)


def ask(lane: LibraryLane, question: str = "hello") -> Reply:
    [reply] = lane.answer([[{"role": "user", "content": question}]])
    return reply


def greedy(loaded: LoadedModel, prompt: str, length: int) -> list[int]:
    ids = list(prompt.encode())
    for _ in range(length):
        with torch.inference_mode():
            ids.append(int(loaded.model(torch.tensor([ids])).logits[0, -1].argmax()))
    return ids[len(prompt.encode()) :]


def test_it_decodes_greedily_whatever_the_models_own_settings_say():
    loaded = toy()
    reply = ask(lane(loaded, 12))
    assert list(reply.token_ids) == greedy(loaded, "hello", 12)
    assert reply.text == bytes(reply.token_ids).decode(errors="replace")


def test_it_is_counted_like_our_own():
    reply = ask(lane(toy(), 12))
    summary = reply.summary
    assert (summary.tokens, summary.target_forwards, summary.tokens_per_forward) == (12, 12, 1.0)
    assert summary.decode_seconds is not None
    assert summary.ttft_ms is not None
    assert summary.seconds == pytest.approx(summary.ttft_ms / 1000 + summary.decode_seconds)
    assert summary.tokens_per_second == pytest.approx(11 / summary.decode_seconds)
    assert (summary.drafted, summary.draft_ms) == (0, None)


def test_it_stops_at_the_end_of_text_and_keeps_it():
    fourth = greedy(toy(), "hello", 4)[3]
    reply = ask(lane(toy(fourth), 12))
    assert reply.token_ids[-1] == fourth
    assert reply.summary.tokens == len(reply.token_ids) <= 4


def test_a_single_token_has_no_rate():
    reply = ask(lane(toy(), 1))
    assert reply.summary.tokens_per_second is None
    assert reply.summary.tokens == 1


# What transformers drafts in a loop of its own: some of it right, some wrong.
REPEATED = "abcabcab, abcabcab and abcab"


@pytest.mark.parametrize(("name", "seed"), [(LOOKUP, None), (ASSISTED, 0), (ASSISTED, 1)])
def test_with_drafts_the_library_says_the_same_in_fewer_forwards(name: str, seed: int | None):
    loaded = toy()
    reply = ask(lane(loaded, 40, name, None if seed is None else toy(seed=seed)), REPEATED)
    assert list(reply.token_ids) == greedy(loaded, REPEATED, 40)
    summary = reply.summary
    assert summary.tokens == 40
    assert summary.drafted == summary.accepted + summary.rejected + summary.ignored > 0
    assert summary.accepted == 40 - summary.target_forwards
    if seed == 0:  # drafts for itself
        assert summary.target_forwards <= 20
        assert summary.rejected == 0


def test_prompt_lookup_of_the_library_takes_as_many_forwards_as_our_own():
    loaded = toy()
    text = next(text for text in ("hello", "abcabc", REPEATED) if ask(lane(loaded, 60, LOOKUP), text).summary.accepted)
    theirs = ask(lane(loaded, 60, LOOKUP), text)
    target = Target(toy().model, rows=1, context_length=200)
    engine = Engine(target, {"prompt-lookup": PromptLookup()}, lengths=LengthPlanner(bytes_per_weight=4))
    prompt = tuple(text.encode())
    rounds = list(engine.submit(Request(prompt, "prompt-lookup", 60, s_q=16)))
    engine.close()
    assert [token for round_ in rounds for token in round_.committed] == list(theirs.token_ids)
    # The library drafts in the forward that reads the prompt, too; without an answer so far, it may find nothing there.
    assert abs(len(rounds) - theirs.summary.target_forwards) <= 1


def test_tokens_that_came_with_the_prompts_forward_are_in_no_rate():
    """Prompt of 5; its forward had 3 drafts and gave 2 tokens, the next had 2 drafts and gave 3, the last gave 1."""
    told = summary(
        [Handed(1.0, 5), Handed(2.0, 2), Handed(3.0, 3), Handed(4.0, 1)],
        [5 + 3, 1 + 2, 1 + 4],
    )
    assert (told.tokens, told.target_forwards) == (6, 3)
    assert told.tokens_per_forward == 2.0
    assert told.tokens_per_second == 2.0
    assert told.tpot_ms == 500
    assert (told.ttft_ms, told.seconds, told.decode_seconds) == (1000, 3.0, 2.0)
    assert (told.drafted, told.accepted, told.rejected, told.ignored) == (9, 3, 2, 4)
    assert told.drafted_by_position == (3, 3, 2, 1)
    assert told.accepted_by_position == (2, 1, 0, 0)


def test_lanes_share_one_copy_of_the_model_and_only_assisted_has_a_draft(tmp_path: Path):
    ours = models.load(str(save_toy_model(tmp_path / "target")), device="cpu", dtype="float32")
    small = str(save_toy_model(tmp_path / "draft"))
    lanes = library_lanes([BASELINE, "sssd", *LIBRARY], ours, 8, lambda answer: answer(), draft=small)
    assert list(lanes) == list(LIBRARY)
    answers = [ask(one, "the cat") for one in lanes.values()]
    assert len({answer.token_ids for answer in answers}) == 1
    assert [answer.summary.drafted > 0 for answer in answers][::2] == [False, True]


def test_no_model_is_loaded_where_no_lane_is_the_librarys():
    assert library_lanes([BASELINE, "sssd"], toy(), 8, lambda answer: answer()) == {}
