"""What the Datastore tab's handlers share: the service, once it is there, and the store of the page that asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from sssd_demo.errors import UserError
from sssd_demo.service import Service
from sssd_demo.sssd.live_store import LiveStore
from sssd_demo.ui.datastore_map import map_value
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.words import WORDS


def page_of(request: gr.Request) -> str:
    """The id of the page that a request comes from. Its own store, which the chat feeds too, has the same.

    Raises `gr.Error` if the request has none, as a program's may: two of them must not share a store.
    """
    if not request.session_hash:
        raise gr.Error(WORDS["refuse.no_page"], print_exception=False)
    return request.session_hash


@dataclass(frozen=True)
class StoreAccess:
    """The way to the stores of whatever model is loaded."""

    host: ServiceHost

    def service(self) -> Service:
        """Raises `UserError` before the model is there."""
        service, loading = self.host.service, self.host.loading
        if service is None:
            raise UserError(loading.stage if loading.state == "failed" else WORDS["store.loading"])
        return service

    def own(self, page: str) -> LiveStore:
        """The page's own store. Raises `UserError` like `service`."""
        return self.service().session_store(page)

    def own_map(self, page: str) -> dict[str, Any]:
        """The map of the page's own store; an empty one before the model is there."""
        if self.host.service is None:
            return map_value(None)
        store = self.own(page)
        return map_value(store.state(), store.limits)
