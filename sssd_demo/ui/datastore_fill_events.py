"""What Gradio calls for filling a visitor's own store: text, files, the standard library; progress, Cancel, Empty."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from sssd_demo.errors import UserError
from sssd_demo.text import Text
from sssd_demo.ui.datastore_access import StoreAccess, page_of
from sssd_demo.ui.datastore_fill import FillJob, FillJobs, Read, forget_files, pasted, standard_library, uploaded
from sssd_demo.ui.datastore_layout import MINE
from sssd_demo.ui.datastore_map import map_value
from sssd_demo.ui.words import WORDS

SHOW_EVERY = 0.5  # seconds between two looks at how far it has come
SETTLED_WITHIN = 10.0  # seconds that a store is watched after text was added

Drawn = list[Any]  # values for the notice, the map and Cancel
_UNCHANGED: Drawn = [gr.skip()] * 3


class FillEvents:
    """At most one source at a time goes into a page's store."""

    def __init__(self, access: StoreAccess) -> None:
        self._access, self._jobs = access, FillJobs()

    def text(self, text: str | None, request: gr.Request) -> Drawn:
        return self._begin(request, lambda tokenizer: pasted(text or "", tokenizer), WORDS["store.fill.pasted"])

    def files(self, paths: list[str] | None, request: gr.Request) -> Drawn:
        uploads = [str(path) for path in paths or []]
        names = ", ".join(Path(path).name for path in uploads)
        return self._begin(request, lambda tokenizer: uploaded(uploads, tokenizer), names, uploads)

    def stdlib(self, request: gr.Request) -> Drawn:
        return self._begin(request, standard_library, WORDS["store.fill.the_stdlib"])

    def follow(self, request: gr.Request) -> Iterator[Drawn]:
        """…and last the store to look something up in: the own one, once there is something new in it."""
        page = page_of(request)
        job = self._jobs.get(page)
        if job is None:  # it was refused, and the notice says why
            yield [*_UNCHANGED, gr.skip()]
            return
        for state in job.watch(SHOW_EVERY):
            if self._left(page, job):
                return
            looked_into = gr.update(value=MINE) if state.phase == "done" else gr.skip()
            yield [state.said, self._access.own_map(page), gr.update(interactive=not state.over), looked_into]
        if self._left(page, job) or self._access.host.service is None:
            return
        self._access.own(page).settle(SETTLED_WITHIN)  # merging goes on for a while
        yield [gr.skip(), self._access.own_map(page), gr.skip(), gr.skip()]

    def _left(self, page: str, job: FillJob) -> bool:
        """Whether the page was closed; to ask for its store would make a new one."""
        return self._jobs.get(page) is not job

    def cancel(self, request: gr.Request) -> None:
        self._jobs.cancel(page_of(request))

    def clear(self, request: gr.Request) -> Drawn:
        page = page_of(request)
        self._jobs.cancel(page)
        if self._access.host.service is not None:
            self._access.host.service.drop_session(page)
        return [WORDS["store.fill.cleared"], map_value(None), gr.update(interactive=False)]

    def leave(self, request: gr.Request) -> None:
        self._jobs.drop(page_of(request))

    def _begin(
        self, request: gr.Request, source: Callable[[Text], Read], what: str, uploads: Sequence[str] = ()
    ) -> Drawn:
        page = page_of(request)
        try:
            read = source(self._access.service().text)
            self._jobs.begin(page, lambda: FillJob(self._access.own(page), read, what, uploads=uploads))
        except UserError as error:
            forget_files(uploads)
            return [str(error), gr.skip(), gr.skip()]
        return ["", gr.skip(), gr.update(interactive=True)]
