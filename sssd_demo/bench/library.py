"""The model library's own greedy decoding as a lane: the same weights, dtype, threads and attention, its own loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter

import torch
from transformers import GenerationConfig
from transformers.generation.streamers import BaseStreamer

from sssd_demo.bench.lanes import Messages, Reply
from sssd_demo.metrics import Summary
from sssd_demo.models import LoadedModel

Run = Callable[[Callable[[], Reply]], Reply]


class Clock(BaseStreamer):
    """Notes when the library hands over the prompt, just before it reads it, and then each token."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def put(self, value: torch.Tensor) -> None:
        self.times.append(perf_counter())

    def end(self) -> None:
        """The last token has been noted already."""


class LibraryLane:
    """`generate(do_sample=False)` on a model of its own, since our target changes the one it is given.

    `run` runs it: on the thread that our own methods compute on, so that both have the same workers.
    """

    def __init__(self, name: str, loaded: LoadedModel, max_new_tokens: int, run: Run) -> None:
        self.name = name
        self._run = run
        self._loaded = loaded
        ends = sorted(loaded.text.end_tokens)
        # The model's own settings may hold a penalty or a temperature, which would be another task.
        self._config = GenerationConfig(
            do_sample=False,
            max_new_tokens=max_new_tokens,
            repetition_penalty=1.0,
            eos_token_id=ends or None,
            pad_token_id=ends[0] if ends else None,
        )

    def answer(self, conversations: Sequence[Messages]) -> list[Reply]:
        return [self._run(partial(self._answer, messages)) for messages in conversations]

    @torch.inference_mode()
    def _answer(self, messages: Messages) -> Reply:
        prompt = self._loaded.text.encode_chat(messages)
        ids = torch.tensor([prompt], device=self._loaded.device)
        clock = Clock()
        output = self._loaded.model.generate(  # type: ignore[operator]  # the library declares it a tensor
            ids, attention_mask=torch.ones_like(ids), generation_config=self._config, streamer=clock
        )
        token_ids = tuple(output[0, len(prompt) :].tolist())
        return Reply(_summary(clock.times), token_ids, self._loaded.text.decode(token_ids))


def _summary(times: list[float]) -> Summary:
    """The same counting as in `metrics.py` from the times of prompt, first token, … last token, in seconds."""
    start, first, last = times[0], times[1], times[-1]
    after_first = len(times) - 2
    decode_seconds = last - first if after_first else None
    return Summary(
        tokens=1 + after_first,
        rounds=1 + after_first,
        target_forwards=1 + after_first,
        tokens_per_forward=1.0 if after_first else None,
        seconds=last - start,
        decode_seconds=decode_seconds,
        tokens_per_second=after_first / decode_seconds if decode_seconds else None,
        ttft_ms=1000 * (first - start),
        tpot_ms=1000 * decode_seconds / after_first if decode_seconds else None,
        draft_ms=None,
        verify_ms=None,
        drafted=0,
        accepted=0,
        rejected=0,
        ignored=0,
        drafted_by_position=(),
        accepted_by_position=(),
    )
