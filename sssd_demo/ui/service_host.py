"""Loads a model in the background, so that the page is there at once, and says how far it has come."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sssd_demo.errors import UserError
from sssd_demo.service import Service
from sssd_demo.ui.words import WORDS

logger = logging.getLogger(__name__)

Progress = Callable[[str, float | None], None]
OpenService = Callable[[str, Progress], Service]  # of the model with this name


@dataclass(frozen=True)
class Loading:
    """How far the model's loading has come; `fraction` is None where it cannot be known."""

    state: Literal["loading", "ready", "failed"]
    stage: str = ""
    fraction: float | None = None


class ServiceHost:
    """The one service of the app, from before it is there until it is closed. Thread-safe."""

    def __init__(self, open_service: OpenService, model: str) -> None:
        self._open_service = open_service
        self._model = model
        self._loading = Loading("loading", WORDS["status.starting"])
        self._service: Service | None = None
        self._lock = threading.Lock()
        self._refused = ""
        self._closed = False

    def start(self) -> None:
        """Begin to load; returns at once."""
        self._load_behind(self._model, otherwise=None)

    def change(self, model: str) -> None:
        """Load another model in place of this one, for everybody; returns at once.

        If it cannot be had, the one before is loaded again and `refused` says why. Raises `UserError` while a
        model is being loaded.
        """
        with self._lock:
            service, self._service = self._service, None
            if service is None:
                raise UserError(WORDS["refuse.loading"])
            before, self._model = self._model, model
            self._refused = ""
            self._loading = Loading("loading", WORDS["status.starting"])
        service.close()  # two models may not fit into memory together
        self._load_behind(model, otherwise=before)

    @property
    def model(self) -> str:
        """The name of the model that is there or on its way."""
        return self._model

    @property
    def refused(self) -> str:
        """Why the model asked for last could not be had; empty if it could."""
        return self._refused

    @property
    def loading(self) -> Loading:
        return self._loading

    @property
    def service(self) -> Service | None:
        """The service, or None while it loads and after it could not be had."""
        return self._service

    def close(self) -> None:
        """End the service, now or as soon as it is there."""
        with self._lock:
            self._closed = True
            service, self._service = self._service, None
        if service is not None:
            service.close()

    def forget(self, conversation: str) -> None:
        """Drop what the service keeps for a conversation that has ended."""
        service = self._service
        if service is not None:
            service.forget(conversation)

    def drop_store(self, page: str) -> None:
        """Drop the store of past text that belongs to a page."""
        service = self._service
        if service is not None:
            service.drop_session(page)

    def _load_behind(self, model: str, otherwise: str | None) -> None:
        threading.Thread(target=self._load, args=(model, otherwise), name="load-model", daemon=True).start()

    def _load(self, model: str, otherwise: str | None) -> None:
        try:
            service = self._open_service(model, self._progress)
            self._progress(WORDS["status.baseline"], None)
            service.measure_baseline()
        except UserError as error:
            self._fail(str(error), otherwise)
        except Exception:
            logger.exception("the model could not be loaded")
            self._fail(WORDS["status.fault"], otherwise)
        else:
            self._serve(service)

    def _serve(self, service: Service) -> None:
        with self._lock:
            if not self._closed:
                self._service = service
                self._loading = Loading("ready", fraction=1.0)
                return
        service.close()

    def _fail(self, reason: str, otherwise: str | None) -> None:
        self._refused = reason
        if otherwise is None:
            self._loading = Loading("failed", reason)
        else:
            self._model = otherwise
            self._load(otherwise, None)

    def _progress(self, stage: str, fraction: float | None) -> None:
        self._loading = Loading("loading", stage, fraction)
