"""One answer on its way from the engine to whoever asked."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace

from sssd_demo.errors import UserError
from sssd_demo.request import Finished
from sssd_demo.sssd.live_store import LiveStore, conversation_document
from sssd_demo.stream import Stream
from sssd_demo.text import Text
from sssd_demo.trace import Round, Trace

logger = logging.getLogger(__name__)

LEARNT_WHEN_CANCELLED = 20  # tokens; less of a stopped answer teaches a store nothing


class Answer:
    """One answer on its way. Iterate over it for the rounds; `trace` grows with them.

    When it has ended, the stores `learners` are given it. With `withhold`, rounds are without those guesses of a
    datastore that the target did not accept, so that nobody reads in them what others wrote.
    """

    def __init__(
        self,
        stream: Stream,
        trace: Trace,
        text: Text,
        *,
        learners: Iterable[LiveStore] = (),
        withhold: bool = False,
    ) -> None:
        self.trace = trace
        self._stream = stream
        self._text = text
        self._learners = tuple(learners)
        self._withhold = withhold

    def __iter__(self) -> Iterator[Round]:
        """Rounds as they happen, until the answer ends. Raises `UserError` if it cannot go on."""
        for round_ in self._stream:
            if self._withhold:
                round_ = round_.withholding("datastore")
            held = {held.token for decision in round_.decisions for held in decision.held}
            prepared = {token for _, token in round_.saguaro.keys} if round_.saguaro else set()
            ids = {*round_.tree.tokens, *round_.committed, round_.bonus, *held, *prepared}
            self.trace = self.trace.with_round(round_, token_bytes(self._text, ids - self.trace.token_bytes.keys()))
            yield round_
        self.trace = replace(self.trace, finish_reason=self.finished.reason)
        self._teach()

    def cancel(self) -> None:
        """Stop after the round now running; iteration then ends with `finish_reason` "cancelled"."""
        self._stream.cancel()

    def _teach(self) -> None:
        learners, self._learners = self._learners, ()
        output = self.trace.token_ids()
        top = [top for round_ in self.trace.rounds for top in round_.top]
        if self.trace.finish_reason == "cancelled" and len(output) < LEARNT_WHEN_CANCELLED:
            return
        for store in learners:
            try:
                store.append(conversation_document(self.trace.prompt, output), top)
            except (UserError, ValueError) as error:  # ValueError: an id from beyond the tokenizer's vocabulary
                logger.warning("An answer was not added to a store: %s", error)

    @property
    def finished(self) -> Finished:
        """How the answer ended. Raises `RuntimeError` while it runs."""
        if self._stream.finished is None:
            raise RuntimeError("the answer has not ended yet")
        return self._stream.finished


def token_bytes(text: Text, ids: Iterable[int]) -> dict[int, bytes]:
    """The bytes of each id, as a trace keeps them."""
    return {token: text.token_bytes(token) for token in ids}
