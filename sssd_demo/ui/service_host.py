"""Loads the model in the background, so that the page is there at once, and says how far it has come."""

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
OpenService = Callable[[Progress], Service]


@dataclass(frozen=True)
class Loading:
    """How far the model's loading has come; `fraction` is None where it cannot be known."""

    state: Literal["loading", "ready", "failed"]
    stage: str = ""
    fraction: float | None = None


class ServiceHost:
    """The one service of the app, from before it is there until it is closed. Thread-safe."""

    def __init__(self, open_service: OpenService) -> None:
        self._open_service = open_service
        self._loading = Loading("loading", WORDS["status.starting"])
        self._service: Service | None = None
        self._lock = threading.Lock()
        self._closed = False

    def start(self) -> None:
        """Begin to load; returns at once."""
        threading.Thread(target=self._load, name="load-model", daemon=True).start()

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

    def _load(self) -> None:
        try:
            service = self._open_service(self._progress)
            self._progress(WORDS["status.baseline"], None)
            service.measure_baseline()
        except UserError as error:
            self._loading = Loading("failed", str(error))
        except Exception:
            logger.exception("the model could not be loaded")
            self._loading = Loading("failed", WORDS["status.fault"])
        else:
            with self._lock:
                if not self._closed:
                    self._service = service
                    self._loading = Loading("ready", fraction=1.0)
                    return
            service.close()

    def _progress(self, stage: str, fraction: float | None) -> None:
        self._loading = Loading("loading", stage, fraction)
