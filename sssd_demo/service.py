"""From messages to a trace: the model, its text, its stores and its engine, put together.

The command line and the app both ask here, so that they cannot differ.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import psutil
import torch

from sssd_demo import models
from sssd_demo.answer import Answer, token_bytes
from sssd_demo.engine import Engine
from sssd_demo.errors import UserError
from sssd_demo.kv_cache import bytes_per_token
from sssd_demo.length import LengthPlanner
from sssd_demo.metrics import summarise
from sssd_demo.model_sources import Progress, no_draft_model
from sssd_demo.models import LoadedModel
from sssd_demo.passing_thread import in_passing_thread
from sssd_demo.peaks import with_peaks
from sssd_demo.profile_file import ProfileKey, load_profile, save_profile
from sssd_demo.request import EMPTY_PROMPT, Drafting, Length, Request, check_lengths
from sssd_demo.roofline import Profile, quick_probe
from sssd_demo.saguaro.cores import share_cores
from sssd_demo.saguaro.drafter_process import DrafterProcess
from sssd_demo.saguaro.options import SaguaroOptions
from sssd_demo.saguaro.worker import DraftSource
from sssd_demo.sampling import Sampling
from sssd_demo.speculators.draft_model import DraftModel
from sssd_demo.speculators.needs import WITH_DRAFT_MODEL, WITH_DRAFTER
from sssd_demo.speculators.registry import make_speculators
from sssd_demo.sssd.datastore import Datastore, token_dtype
from sssd_demo.sssd.live_store import LiveStore
from sssd_demo.sssd.merging import Limits
from sssd_demo.store_names import SHARED
from sssd_demo.stores import Stores, default_folder, shipped_folder
from sssd_demo.target import Target
from sssd_demo.threads import Threads
from sssd_demo.trace import AcceptanceRule, Trace

logger = logging.getLogger(__name__)

MAX_CONTEXT = 8192  # tokens; memory for longer ones would be better spent on more visitors
MIN_CONTEXT = 1024  # room for a question, an answer and the measurement of forward times
MAX_ROWS = 32  # sequences decoded together
CACHE_SHARE = 0.5  # of the memory that is free once the model is loaded
BASELINE_MIN_TOKENS = 24  # fewer say little about speed
# At most some 80 MB for each visitor: two full sub-indices and what grows into the third, of 6 or 8 bytes a token, and
# places of 2.2 kB; while it sorts, more than half as much again.
SESSION_LIMITS = Limits(max_tokens=2**20, max_sub_indices=2, max_places=20_000)
_SESSION = "session/"  # live stores' names hold a slash, which no file's name does
_SHARED = f"{SHARED}/"
_BASELINE_QUESTION = "Describe how a bicycle works, in one paragraph."

Messages = Sequence[dict[str, str]]


@dataclass(frozen=True)
class Settings:
    """All that a visitor can choose for one answer. Raises `UserError` when a value is out of range."""

    method: str = "sssd"
    max_new_tokens: int = 256
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    s_q: Length = "auto"
    datastore: str | None = None  # a store's name
    share: bool = False  # draw from the store of all visitors, and add the answer to it
    k: int | Literal["auto"] = "auto"  # tokens that a draft model drafts in a row
    rule: AcceptanceRule = "chain"  # by which drafts of a draft model are judged
    draft_temperature: float | None = None  # of a draft model; None: the answer's own
    saguaro: SaguaroOptions = SaguaroOptions()  # for methods that prepare drafts ahead

    def __post_init__(self) -> None:
        check_lengths(self.max_new_tokens, self.s_q)
        self.sampling()
        self.drafting()

    def drafting(self) -> Drafting:
        return Drafting(self.k, self.draft_temperature, self.rule)

    def sampling(self) -> Sampling:
        return Sampling(self.temperature, self.top_k, self.top_p, self.seed)


@dataclass(frozen=True)
class Baseline:
    """Autoregressive decoding as last measured here, one sequence alone."""

    tokens_per_second: float
    measured_at: datetime  # UTC


class Service:
    """A loaded model that answers. Thread-safe: any number of threads may call `ask`."""

    def __init__(
        self,
        model: LoadedModel,
        *,
        stores: Stores,
        threads: int | None = None,
        draft: LoadedModel | None = None,
        draft_device: str | None = None,
        draft_cores: tuple[int, ...] | None = None,
        context: int = MAX_CONTEXT,
    ) -> None:
        """Takes over `model` and `draft`, which are changed in place, and starts the engine's thread.

        A drafter in a process of its own, on `draft_device` (None: the CPU), is started when it is first asked for.
        """
        self.model = model
        self.draft = draft
        self.text = model.text
        self.stores = stores
        self.threads = threads or torch.get_num_threads()
        context = min(model.context_length, context)
        rows = _rows([model] if draft is None else [model, draft, draft], context)  # the drafter has a cache too
        target = Target(model.model, rows=rows, context_length=context)
        self.profile = Profile({})
        self.lengths = LengthPlanner(model.model.dtype.itemsize)
        self._baseline: Baseline | None = None
        self._session_stores: dict[str, LiveStore] = {}
        self._session_door = threading.Lock()
        self.cores = share_cores(self.threads, model.device.type, draft_device or "cpu", draft_cores)
        self._drafting = self._draft_model(rows, context)
        self.drafter = self._drafter(draft_device or "cpu", rows, context)
        self.engine = Engine(
            target,
            make_speculators(self._store, self._drafting, self.lengths.seconds, self.drafter),
            lengths=self.lengths,
            threads=Threads(self.threads, self.cores.beside),
        )

    @classmethod
    def open(
        cls,
        model: str,
        *,
        draft: str | None = None,
        needs_draft: bool = True,
        device: str | None = None,
        dtype: str = "auto",
        threads: int | None = None,
        draft_device: str | None = None,
        draft_cores: tuple[int, ...] | None = None,
        context: int | None = None,
        stores_folder: Path | None = None,
        progress: Progress | None = None,
    ) -> Service:
        """Load preset, folder or hub id `model`, warm it up and start the engine's thread.

        `draft` names a draft model instead of the preset's own; where no method `needs_draft`, none is loaded. Texts
        may have `context` tokens (None: as many as the model reads, at most 8192); the fewer, the more of them fit
        into memory at once. The speculation length left to the machine rests on a profile of forward times: the one
        kept from before (see the command `probe`), else a measurement of a second. Raises `UserError` as
        `models.load` does, and if memory does not suffice to decode.
        """

        def load() -> Service:
            if threads:
                torch.set_num_threads(threads)  # binds the calling thread only
            loaded = models.load(model, device=device, dtype=dtype, progress=progress)
            name = draft or loaded.draft
            small = models.load_draft(name, loaded, progress=progress) if name and needs_draft else None
            stores = Stores(
                stores_folder or default_folder(),
                loaded.text.fingerprint,
                shipped=shipped_folder(),
                vocab_size=loaded.text.vocab_size,
            )
            try:
                return cls(
                    loaded,
                    stores=stores,
                    threads=threads,
                    draft=small,
                    draft_device=draft_device,
                    draft_cores=draft_cores,
                    context=context or MAX_CONTEXT,
                )
            except (MemoryError, torch.OutOfMemoryError) as error:
                raise UserError(f"There is not enough memory for {model} to decode a single text.") from error

        service = in_passing_thread(load)
        try:
            if progress:
                progress("measuring this machine", None)
            service.use_profile(load_profile(service.profile_key()) or service.measure_profile())
        except BaseException:
            service.close()
            raise
        return service

    def profile_key(self) -> ProfileKey:
        model = self.model
        return ProfileKey(model.device_name, model.dtype, self.threads, model.name)

    def measure_profile(self) -> Profile:
        """The quick profile of this machine, kept for later runs."""
        model = self.model
        profile = self.engine.call(
            lambda target: with_peaks(quick_probe(target.time_forward), model.device, model.model.dtype)
        )
        save_profile(self.profile_key(), profile)
        return profile

    def time_forward(self, batch: int, q: int, context: int) -> float:
        """Seconds of one forward of the target, alone: `Target.time_forward` between two answers."""
        return self.engine.call(lambda target: target.time_forward(batch, q, context))

    def time_draft(self, batch: int, q: int, context: int) -> float:
        """The same of the draft model. Raises `UserError` where there is none."""
        small = self._drafting
        if small is None:
            raise no_draft_model(self.model.name, "speculative")
        return self.engine.call(lambda target: small.time_forward(batch, q, context))

    def use_profile(self, profile: Profile) -> None:
        """Choose speculation lengths by `profile` from now on, the batch's other sequences included."""
        self.profile = profile
        self.lengths.use(profile)

    def ask(
        self,
        messages: Messages | str,
        settings: Settings,
        *,
        conversation: str | None = None,
        raw: bool = False,
        keep_top: bool = False,
        session: str | None = None,
    ) -> Answer:
        """Submit a conversation, [{"role", "content"}, …] ending with the user's turn; returns at once.

        With `raw`, `messages` is a string that is tokenized without the chat template. Requests of one
        `conversation` need not read again what the earlier ones had. With `keep_top`, the trace's rounds hold the
        target's most probable tokens at each position. With `session`, drafts also come from that visitor's own
        store, and the answer is added to it when it has ended; `settings.share` does both with the store of all
        visitors, whose text is not in the rounds. Waits until there is a drafter, if the method has one.

        Raises `UserError` for an empty or too long prompt, an unknown method or one that needs a draft model where
        there is none, or a datastore that is not there or made for another tokenizer.
        """
        prompt = self._prompt(messages)
        self._check(settings)
        names, learners = self._sources(settings, session)
        request = Request(
            prompt=prompt,
            method=settings.method,
            max_new_tokens=settings.max_new_tokens,
            sampling=settings.sampling(),
            s_q=settings.s_q,
            stores=names,
            drafting=settings.drafting(),
            saguaro=settings.saguaro,
            end_tokens=self.text.end_tokens,
            conversation=conversation,
            keep_top=keep_top or bool(learners),
        )
        if settings.method in WITH_DRAFTER and self.drafter is not None:
            self.drafter.ensure()
        stream = self.engine.submit(request)
        trace = Trace(
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            device=self.model.device_name,
            dtype=self.model.dtype,
            preset=self.model.name,
            method=settings.method,
            settings=asdict(settings),
            messages=() if isinstance(messages, str) else tuple(dict(message) for message in messages),
            prompt=prompt,
            token_bytes=token_bytes(self.text, set(prompt)),
        )
        return Answer(stream, trace, self.text, learners=learners, withhold=settings.share)

    def methods(self) -> list[str]:
        return self.engine.methods

    def store_names(self) -> list[str]:
        """The stores that this model can draw from."""
        return self.stores.usable_names()

    def session_store(self, session: str, limits: Limits = SESSION_LIMITS) -> LiveStore:
        """The store of one visitor, in memory only; made with `limits` when it is first asked for."""
        with self._session_door:
            if session not in self._session_stores:
                self._session_stores[session] = LiveStore(
                    fingerprint=self.text.fingerprint, vocab_size=self.text.vocab_size, limits=limits
                )
            return self._session_stores[session]

    def drop_session(self, session: str) -> None:
        """Forget a visitor's store for good; an answer that is being written will not be added to it any more."""
        with self._session_door:
            store = self._session_stores.pop(session, None)
        if store is not None:
            store.close()

    def forget(self, conversation: str) -> None:
        """Drop what is kept for the conversation's next turn; its visitor has left."""
        self.engine.forget(conversation)

    def baseline(self) -> Baseline | None:
        """The autoregressive speed last measured here, or None before `measure_baseline`."""
        return self._baseline

    def measure_baseline(self) -> Baseline | None:
        """Answer a question autoregressively and note the speed; None if others were being answered meanwhile."""
        settings = Settings(method="autoregressive", max_new_tokens=2 * BASELINE_MIN_TOKENS)
        answer = self.ask([{"role": "user", "content": _BASELINE_QUESTION}], settings)
        for _ in answer:
            pass
        self.note_baseline(answer.trace)
        return self._baseline

    def note_baseline(self, trace: Trace) -> None:
        """Refresh the baseline by an answer, if it is autoregressive, ran alone and is long enough to tell."""
        speed = summarise(trace).tokens_per_second
        alone = all(round_.batch_size == 1 for round_ in trace.rounds)
        if trace.method == "autoregressive" and alone and speed and len(trace.token_ids()) >= BASELINE_MIN_TOKENS:
            self._baseline = Baseline(speed, datetime.now(UTC))

    def close(self) -> None:
        """Stop the engine's thread and let go of the stores; running answers end as cancelled."""
        self.engine.close()
        if self.drafter is not None:
            self.drafter.close()
        self.stores.close()
        with self._session_door:
            for store in self._session_stores.values():
                store.close()

    def _prompt(self, messages: Messages | str) -> tuple[int, ...]:
        if isinstance(messages, str):
            return tuple(self.text.encode(messages))
        if not messages or not messages[-1]["content"].strip():
            raise UserError(EMPTY_PROMPT)
        return tuple(self.text.encode_chat(messages))

    def _check(self, settings: Settings) -> None:
        """Raises `UserError` for what this model or machine cannot do."""
        if settings.method in WITH_DRAFT_MODEL and self.draft is None:
            raise no_draft_model(self.model.name, settings.method)
        if settings.s_q == "roofline" and self.profile.knee is None:
            raise UserError("The roofline's length needs this machine's peaks; please measure them: sssd_demo probe.")

    def _sources(self, settings: Settings, session: str | None) -> tuple[tuple[str, ...], list[LiveStore]]:
        """The names of the stores that are drafted from, and those of them that learn from the answer."""
        names: list[str] = []
        learners: list[LiveStore] = []
        if settings.datastore:
            self.stores.open(settings.datastore)  # a store that cannot be used is refused here, not in mid-answer
            names.append(settings.datastore)
        if session is not None:
            learners.append(self.session_store(session))
            names.append(_SESSION + session)
        if settings.share:
            learners.append(self.stores.shared())
            names.append(_SHARED)
        return tuple(names), learners

    def _draft_model(self, rows: int, context: int) -> DraftModel | None:
        if self.draft is None:
            return None
        small = Target(self.draft.model, rows=rows, context_length=min(context, self.draft.context_length))
        return DraftModel(small, self.model.model.config.get_text_config().vocab_size)

    def _drafter(self, device: str, rows: int, context: int) -> DrafterProcess | None:
        if self.draft is None:
            return None
        dtype = self.draft.dtype if device == self.draft.device.type else "auto"
        vocabulary = self.model.model.config.get_text_config().vocab_size
        source = DraftSource(self.draft.name, device, dtype, rows, context, vocabulary)
        return DrafterProcess(source, cores=self.cores.draft, threads=self.cores.draft_threads)

    def _store(self, name: str) -> Datastore | LiveStore:
        """What a request's name of a store means. Raises `UserError`."""
        if name == _SHARED:
            return self.stores.shared()
        if name.startswith(_SESSION):
            with self._session_door:
                store = self._session_stores.get(name.removeprefix(_SESSION))
            # Its visitor may have left since the request was made.
            return store or Datastore((), self.text.fingerprint, token_dtype(self.text.vocab_size))
        return self.stores.open(name)


def _rows(loaded: Sequence[LoadedModel], context: int) -> int:
    """How many sequences' keys and values, of all models, fit into the share of free memory that caches may take."""
    device = loaded[0].device
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
    else:
        free = psutil.virtual_memory().available
    row = sum(context * bytes_per_token(each.model.config, each.model.dtype) for each in loaded)
    return max(1, min(MAX_ROWS, int(CACHE_SHARE * free / row)))
