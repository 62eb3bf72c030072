"""The one endpoint for programs: `/chat`, which streams an answer's text and rounds."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import gradio as gr

from sssd_demo import trace_file
from sssd_demo.errors import UserError
from sssd_demo.metrics import summarise
from sssd_demo.service import Service
from sssd_demo.ui.answer_payload import AnswerPayload
from sssd_demo.ui.chat_tab import ENGINE
from sssd_demo.ui.pace import Pace
from sssd_demo.ui.service_host import ServiceHost
from sssd_demo.ui.sessions import Sessions, new_id
from sssd_demo.ui.settings_panel import settings_from
from sssd_demo.ui.words import WORDS

logger = logging.getLogger(__name__)


def add_chat(host: ServiceHost, sessions: Sessions, *, capacity: int) -> None:
    """Add `/chat` to the current app, in the same queue as the page's own answers."""

    def chat(
        message: str,
        history: list[dict[str, str]] | None = None,
        method: str = "sssd",
        max_new_tokens: int = 256,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 0,
        s_q: str = "auto",
        datastore: str = "none",
        k: str = "auto",
        rule: str = "chain",
        draft_temperature: float | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Answer `message` after `history`, [{"role", "content"}, …]. Nothing of it is remembered or shared.

        `k`, `rule` (chain, block, tree, traversal) and `draft_temperature` are for methods that draft with a model.
        Each value has all so far: text, rounds (as in a trace file), finish_reason (null while it runs),
        tokens_per_forward, tokens_per_second.
        """
        if host.service is None:
            raise gr.Error(WORDS["refuse.loading"], print_exception=False)
        session = sessions.get(f"api-{new_id()}")
        try:
            _check(message, history)
            settings = settings_from(
                method, s_q, datastore, temperature, top_k, top_p, max_new_tokens, seed,
                k=k, rule=rule, draft_temperature=draft_temperature,
            )  # fmt: skip
            asked = [*(history or []), {"role": "user", "content": message}]
            session.running = host.service.ask(asked, settings)
            yield from _values(host.service, session.running)
        except UserError as error:
            raise gr.Error(str(error), print_exception=False) from error
        except Exception as error:
            logger.exception("an answer failed")
            raise gr.Error(WORDS["refuse.fault"], print_exception=False) from error
        finally:  # also when the caller cancelled or went away
            sessions.end_conversation(session.id)

    gr.api(chat, api_name="chat", concurrency_id=ENGINE, concurrency_limit=capacity)


def _check(message: Any, history: Any) -> None:
    """Raises `UserError` unless these are a message and turns, whatever a program has sent."""
    if not isinstance(message, str):
        raise UserError(WORDS["refuse.message"])
    if not message.strip():
        raise UserError(WORDS["refuse.empty"])
    turns = history if isinstance(history, list) else [] if history is None else [None]
    if not all(isinstance(t, dict) and all(isinstance(t.get(key), str) for key in ("role", "content")) for t in turns):
        raise UserError(WORDS["refuse.history"])


def _values(service: Service, answer: Any) -> Iterator[dict[str, Any]]:
    payload = AnswerPayload(answer.trace, service.model.text.end_tokens)

    rounds: list[dict[str, Any]] = []

    def value() -> dict[str, Any]:
        trace = answer.trace
        payload.update(trace)
        summary = summarise(trace)
        rounds.extend(trace_file.round_to_json(round_) for round_ in trace.rounds[len(rounds) :])
        return {
            "text": payload.text,
            "rounds": list(rounds),
            "finish_reason": trace.finish_reason,
            "tokens_per_forward": summary.tokens_per_forward,
            "tokens_per_second": summary.tokens_per_second,
        }

    pace = Pace()
    for _ in answer:
        if pace.due():
            with pace.update():
                yield value()
    yield value()
