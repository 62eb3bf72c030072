"""What Gradio calls for the lookup explorer: which words, in which store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from sssd_demo.errors import UserError
from sssd_demo.service import Service
from sssd_demo.sssd.sub_index import SubIndex
from sssd_demo.ui.datastore_access import StoreAccess, page_of
from sssd_demo.ui.datastore_layout import MINE, RUN, SHARED
from sssd_demo.ui.datastore_lookup import lookup_value, nothing, shared_lookup_value
from sssd_demo.ui.growth_runs import GrowthRuns
from sssd_demo.ui.sessions import Sessions
from sssd_demo.ui.words import WORDS

LONGEST_QUERY = 2000  # characters
CHAT_TOKENS = 12  # of the end of the chat that are looked up


class LookupEvents:
    """Looks into the page's own store, the one of its run in `runs`, and those with a name."""

    def __init__(self, access: StoreAccess, runs: GrowthRuns, sessions: Sessions) -> None:
        self._access, self._runs, self._sessions = access, runs, sessions

    def look_up(self, text: str | None, store: str | None, request: gr.Request) -> dict[str, Any]:
        text, store = text or "", store or MINE
        try:
            if not (isinstance(text, str) and isinstance(store, str)):  # programs may send anything
                raise UserError(WORDS["store.look.not_text"])
            if len(text) > LONGEST_QUERY:
                raise UserError(WORDS["store.look.too_long"].format(most=LONGEST_QUERY))
            service = self._access.service()
            sub_indices = self._sub_indices(service, store, page_of(request))
            ids = service.text.encode(text)
            if not ids:
                raise UserError(WORDS["store.look.empty_text"])
            value = shared_lookup_value if store == SHARED else lookup_value
            return value(sub_indices, ids, service.text.token_bytes)
        except UserError as error:
            return nothing(str(error))

    def emptied(self, store: str | None) -> Any:
        """The own store is empty now; what was found in it is no longer shown."""
        return nothing(WORDS["store.look.empty_mine"]) if (store or MINE) == MINE else gr.skip()

    def given(self, text: str, store: str | None, request: gr.Request) -> tuple[str, dict[str, Any]]:
        """`text` into the box, and looked up."""
        return text, self.look_up(text, store, request)

    def from_chat(self, store: str | None, request: gr.Request) -> tuple[Any, Any]:
        """The last words of the answer that the chat shows, or of its last one."""
        session, service = self._sessions.get(page_of(request)), self._access.host.service
        trace = session.shown or (session.traces[max(session.traces)] if session.traces else None)
        if trace is None or service is None:
            return gr.skip(), nothing(WORDS["store.look.no_chat"])
        written = [token for token in trace.token_ids() if token not in service.text.end_tokens]
        data = b"".join(trace.token_bytes[token] for token in written[-CHAT_TOKENS:])
        return self.given(data.decode("utf-8", errors="ignore"), store, request)

    def _sub_indices(self, service: Service, name: str, page: str) -> Sequence[SubIndex]:
        """What the store holds now. Raises `UserError` if there is none of that name, or nothing in it."""
        found: Sequence[SubIndex]
        if name == RUN:
            run = self._runs.get(page)
            found = run.sub_indices if run is not None and run.service is service else ()
            empty = WORDS["store.look.empty_run"]
        elif name == MINE:
            found, empty = service.session_store(page).sub_indices, WORDS["store.look.empty_mine"]
        elif name == SHARED:
            found, empty = service.stores.shared().sub_indices, WORDS["store.look.empty_store"]
        else:
            found, empty = service.stores.open(name).sub_indices, WORDS["store.look.empty_store"]
        if not found:
            raise UserError(empty)
        return found
