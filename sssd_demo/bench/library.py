"""The model library's own decoding as lanes: the same weights, dtype, threads and attention, its own loops.

Plain greedy decoding, prompt lookup, and assisted generation with a draft model, each as `generate` offers it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import torch
from transformers import GenerationConfig, PreTrainedModel
from transformers.generation.streamers import BaseStreamer

from sssd_demo import models
from sssd_demo.bench import ASSISTED, LIBRARY, LOOKUP
from sssd_demo.bench.lanes import Messages, Reply
from sssd_demo.metrics import Summary
from sssd_demo.models import LoadedModel
from sssd_demo.passing_thread import in_passing_thread
from sssd_demo.speculators.prompt_lookup import COPIED, LONGEST

Run = Callable[[Callable[[], Reply]], Reply]


@dataclass(frozen=True)
class Handed:
    """Tokens that the library handed over at once, `at` a time in seconds: the prompt, then what each forward gave."""

    at: float
    tokens: int


class Clock(BaseStreamer):
    """Notes when the library hands over the prompt, just before it reads it, and then the tokens of each forward."""

    def __init__(self) -> None:
        self.handed: list[Handed] = []

    def put(self, value: torch.Tensor) -> None:
        self.handed.append(Handed(perf_counter(), value.numel()))

    def end(self) -> None:
        """The last token has been noted already."""


class LibraryLane:
    """`generate(do_sample=False)` on a model of its own, since our target changes the one it is given.

    What `name`, one of `LIBRARY`, drafts with is the library's default, except that prompt lookup copies as many tokens
    after as long a match as our own. `draft` is the draft model of assisted generation. `run` runs an answer: on the
    thread that our own methods compute on, so that both have the same workers.
    """

    def __init__(
        self, name: str, loaded: LoadedModel, max_new_tokens: int, run: Run, draft: LoadedModel | None = None
    ) -> None:
        self.name = name
        self._run = run
        self._loaded = loaded
        self._draft: dict[str, Any] = {"assistant_model": draft.model} if draft else {}
        lookup = {"prompt_lookup_num_tokens": COPIED, "max_matching_ngram_size": LONGEST} if name == LOOKUP else {}
        ends = sorted(loaded.text.end_tokens)
        # The model's own settings may hold a penalty or a temperature, which would be another task.
        self._config = GenerationConfig(
            do_sample=False,
            max_new_tokens=max_new_tokens,
            repetition_penalty=1.0,
            eos_token_id=ends or None,
            pad_token_id=ends[0] if ends else None,
            **lookup,
        )

    def answer(self, conversations: Sequence[Messages]) -> list[Reply]:
        return [self._run(partial(self._answer, messages)) for messages in conversations]

    @torch.inference_mode()
    def _answer(self, messages: Messages) -> Reply:
        prompt = self._loaded.text.encode_chat(messages)
        ids = torch.tensor([prompt], device=self._loaded.device)
        clock = Clock()
        with _forwards(self._loaded.model) as lengths:
            output = self._loaded.model.generate(  # type: ignore[operator]  # the library declares it a tensor
                ids,
                attention_mask=torch.ones_like(ids),
                generation_config=self._config,
                streamer=clock,
                **self._draft,
            )
        token_ids = tuple(output[0, len(prompt) :].tolist())
        return Reply(summary(clock.handed, lengths), token_ids, self._loaded.text.decode(token_ids))


def library_lanes(
    names: Collection[str], ours: LoadedModel, max_new_tokens: int, run: Run, draft: str | None = None
) -> dict[str, LibraryLane]:
    """Those of `names` that are in `LIBRARY`, on one copy of `ours`; `draft` names the draft model where one is needed.

    Raises `UserError` like `models.load_draft`.
    """
    wanted = [name for name in names if name in LIBRARY]
    if not wanted:
        return {}

    def load() -> tuple[LoadedModel, LoadedModel | None]:
        copy = models.load(ours.name, device=str(ours.device), dtype=ours.dtype)
        return copy, models.load_draft(draft, copy) if draft and ASSISTED in wanted else None

    loaded, small = in_passing_thread(load)
    return {
        name: LibraryLane(name, loaded, max_new_tokens, run, small if name == ASSISTED else None) for name in wanted
    }


@contextmanager
def _forwards(model: PreTrainedModel) -> Iterator[list[int]]:
    """The number of tokens in each forward of `model` while the block runs."""
    lengths: list[int] = []

    def note(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        lengths.append(kwargs["input_ids"].shape[1])

    hook = model.register_forward_hook(note, with_kwargs=True)
    try:
        yield lengths
    finally:
        hook.remove()


def summary(handed: Sequence[Handed], lengths: Sequence[int]) -> Summary:
    """The same counting as in `metrics.py`, from what was handed over and the number of tokens in each forward.

    The library drafts already in the forward that reads the prompt, so that one may give several tokens. They are
    answer, but in no rate: rates count what came after the prompt was read.
    """
    prompt, first, last = handed[0], handed[1], handed[-1]
    tokens = sum(each.tokens for each in handed[1:])
    decoded = tokens - first.tokens
    forwards = len(lengths) - 1
    decode_seconds = last.at - first.at if forwards else None
    drafted = [lengths[0] - prompt.tokens, *(length - 1 for length in lengths[1:])]
    accepted = [each.tokens - 1 for each in handed[1:]]
    rejected = sum(kept < guessed for kept, guessed in zip(accepted, drafted, strict=True))
    return Summary(
        tokens=tokens,
        rounds=len(lengths),
        target_forwards=len(lengths),
        tokens_per_forward=decoded / forwards if forwards else None,
        seconds=last.at - prompt.at,
        decode_seconds=decode_seconds,
        tokens_per_second=decoded / decode_seconds if decode_seconds else None,
        ttft_ms=1000 * (first.at - prompt.at),
        tpot_ms=1000 * decode_seconds / decoded if decode_seconds else None,
        draft_ms=None,
        verify_ms=None,
        drafted=sum(drafted),
        accepted=sum(accepted),
        rejected=rejected,
        ignored=sum(drafted) - sum(accepted) - rejected,
        drafted_by_position=_reached(drafted, max(drafted)),
        accepted_by_position=_reached(accepted, max(drafted)),
    )


def _reached(lengths: Sequence[int], deepest: int) -> tuple[int, ...]:
    """Entry d − 1, up to `deepest`: how many of these chains have d tokens or more."""
    return tuple(sum(length >= depth for length in lengths) for depth in range(1, deepest + 1))
