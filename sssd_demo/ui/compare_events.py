"""What Gradio calls in the Compare tab: Run, Stop, question file, saving, replaying."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr

from sssd_demo.bench import BASELINE
from sssd_demo.compare import archive
from sssd_demo.compare.comparing import Comparing, Progress, check
from sssd_demo.compare.comparison import Comparison
from sssd_demo.compare.in_turn import InTurn
from sssd_demo.compare.plan import MOST_QUESTIONS, Lane, Plan, plan_for
from sssd_demo.compare.table import csv_table
from sssd_demo.errors import UserError
from sssd_demo.questions import Question, read_questions
from sssd_demo.speculators.needs import WITH_DRAFT_MODEL
from sssd_demo.ui.compare_lanes import Pair
from sssd_demo.ui.compare_layout import lane_choices, method_and_rule
from sssd_demo.ui.compare_pages import ComparePage, ComparePages, QuestionFile
from sssd_demo.ui.compare_results import results_value
from sssd_demo.ui.controls import AUTO
from sssd_demo.ui.datastore_access import StoreAccess, page_of
from sssd_demo.ui.datastore_fill import forget_files
from sssd_demo.ui.field_values import whole
from sssd_demo.ui.settings_panel import settings_from
from sssd_demo.ui.words import WORDS

SHOW_EVERY = 0.4  # seconds between two pictures while it runs: drawing takes time from what is measured
MOST_MEGABYTES = 4  # of a question file
TABLE_NAME, WHOLE_NAME = "sssd_demo_comparison.csv", "sssd_demo_comparison.zip"

# Values for race, results, notice, Run, Stop, the two Save buttons and the choice of what is on show.
Drawn = list[Any]
UNCHANGED: Drawn = [gr.skip()] * 8


class CompareEvents:
    """Each page has one comparison at a time; all wait for each other in `in_turn`."""

    def __init__(self, access: StoreAccess, in_turn: InTurn) -> None:
        self._access, self._pages = access, ComparePages(in_turn)

    def compare(self, prompt: str | None, request: gr.Request, *settings: Any) -> Drawn:
        page = page_of(request)
        try:
            service = self._access.service()
            if self._pages.get(page).busy:
                raise UserError(WORDS["compare.refuse.running"])
            offered = [value for _, value in lane_choices(service.methods())]
            plan = _plan(self._questions(page, prompt), offered, *settings)
            check(service, plan)
            self._pages.begin(page, lambda: Comparing(service, plan), service.model.text.end_tokens)
        except UserError as error:
            return _said(str(error))
        return self._drawn(page)

    def look_on(self, request: gr.Request) -> Iterator[list[Any]]:
        """Race and results while it runs; results only when there are new ones."""
        page = page_of(request)
        own = self._pages.get(page)
        comparing = own.comparing
        if own.busy and comparing is not None:
            finished = 0
            for progress in comparing.watch(SHOW_EVERY):
                if self._pages.get(page).comparing is not comparing:
                    break
                runs = len(progress.comparison.runs)
                results = results_value(progress.comparison) if runs != finished else gr.skip()
                finished = runs
                yield [self._race(own, progress), results]
        yield [gr.skip()] * 2  # Gradio sends the last value once more; by then another one may be on show

    def end(self, request: gr.Request) -> Drawn:
        """It is over: set what did not stream."""
        drawn = self._drawn(page_of(request))
        return [*drawn[:2], gr.skip(), *drawn[3:]]

    def stop(self, request: gr.Request) -> None:
        own = self._pages.get(page_of(request))
        if own.comparing is not None:
            own.comparing.stop()

    def show(self, chosen: str | None, request: gr.Request) -> Drawn:
        """The answers to one question in one repeat."""
        page = page_of(request)
        own = self._pages.get(page)
        pair = next((pair for pair in _pairs(own.comparison) if _value(pair) == chosen), None)
        if pair is None or own.busy:
            return UNCHANGED
        own.pair = pair
        return [*self._drawn(page)[:1], *UNCHANGED[1:]]

    def question_file(self, path: str, request: gr.Request) -> list[Any]:
        """Values for the line about the file, the button that drops it, and the notice."""
        own, name = self._pages.get(page_of(request)), Path(path).name
        try:
            size = os.path.getsize(path) / 10**6
            if size > MOST_MEGABYTES:
                raise UserError(WORDS["compare.refuse.file_too_big"].format(name=name, mb=size, most=MOST_MEGABYTES))
            found = read_questions(path, called=name)
            asked = read_questions(path, MOST_QUESTIONS, called=name)
        except UserError as error:
            return [gr.skip(), gr.skip(), str(error)]
        finally:
            forget_files([path])
        own.file = QuestionFile(name, tuple(asked), len(found))
        told = WORDS["compare.file_used"].format(name=_plain(name), n=len(asked), all=len(found))
        return [told, gr.update(interactive=True), ""]

    def drop_file(self, request: gr.Request) -> list[Any]:
        self._pages.get(page_of(request)).file = None
        return [WORDS["compare.file_none"], gr.update(interactive=False), ""]

    def load(self, path: str, request: gr.Request) -> Drawn:
        page = page_of(request)
        try:
            self._pages.show(page, archive.load(path))
        except UserError as error:
            return _said(str(error))
        finally:
            forget_files([path])
        return self._drawn(page)

    def save_table(self, request: gr.Request) -> list[str]:
        """The table for the browser to save, in base64, and a notice."""
        return self._saved(request, lambda comparison: csv_table(comparison).encode())

    def save_all(self, request: gr.Request) -> list[str]:
        return self._saved(request, archive.pack)

    def leave(self, request: gr.Request) -> None:
        self._pages.drop(page_of(request))

    def _saved(self, request: gr.Request, make: Any) -> list[str]:
        comparison = self._pages.get(page_of(request)).comparison
        if comparison is None or not comparison.runs:
            return ["", WORDS["compare.refuse.nothing"]]
        try:
            return [base64.b64encode(make(comparison)).decode(), ""]
        except UserError as error:
            return ["", str(error)]

    def _questions(self, page: str, prompt: str | None) -> tuple[Question, ...]:
        file = self._pages.get(page).file
        if file is not None:
            return file.questions
        if not prompt or not prompt.strip():
            raise UserError(WORDS["compare.refuse.empty"])
        return (Question(WORDS["compare.own_question"], "own", (prompt,)),)

    def _race(self, own: ComparePage, progress: Progress) -> dict[str, Any]:
        ahead = self._pages.ahead(own.comparing) if own.comparing and progress.phase == "queued" else 0
        return own.drawing.running(progress, ahead, own.shown)

    def _drawn(self, page: str) -> Drawn:
        own = self._pages.get(page)
        comparison = own.comparison
        if comparison is None:
            return UNCHANGED
        if own.comparing is not None and own.loaded is None:
            race = self._race(own, own.comparing.progress())
        else:
            race = own.drawing.recorded(comparison, own.shown or comparison.pairs[0])
        over = not own.busy
        pairs = _pairs(comparison) if over else []
        return [
            race,
            results_value(comparison),
            "",
            gr.update(interactive=over),
            gr.update(interactive=not over),
            *(gr.update(interactive=over and bool(comparison.runs)) for _ in range(2)),
            gr.update(
                choices=[(_label(comparison, pair), _value(pair)) for pair in pairs],
                value=_value(own.shown) if own.shown else None,
                visible=len(pairs) > 1,
            ),
        ]


def _plan(
    questions: tuple[Question, ...],
    offered: list[str],
    ticked: list[str] | None,
    s_q: list[str] | None,
    k: list[str] | None,
    store: str | None,
    max_tokens: float,
    repeats: float,
    temperature: float,
    top_k: float,
    top_p: float,
    seed: float,
    draft_temperature: str | None,
) -> Plan:
    """Values of controls as a plan, its lanes in the order `offered`. Raises `UserError` naming the wrong one.

    A method is a lane once for each of the lengths that it goes by: K with a draft model, s_q without.
    """
    common = settings_from(
        BASELINE, AUTO, store, temperature, top_k, top_p, max_tokens, seed,
        draft_temperature=draft_temperature,
    )  # fmt: skip
    lanes = []
    for value in sorted(ticked or [], key=lambda value: offered.index(value) if value in offered else len(offered)):
        method, rule = method_and_rule(value)
        drafts = method in WITH_DRAFT_MODEL
        for length in (k if drafts else s_q) or [AUTO]:
            chosen = settings_from(method, AUTO if drafts else length, k=length if drafts else AUTO, rule=rule)
            lanes.append(Lane(method, chosen.s_q, chosen.k, chosen.rule))
    return plan_for(questions, common, lanes, whole(repeats, WORDS["compare.repeats"]))


def _said(notice: str) -> Drawn:
    return [*UNCHANGED[:2], notice, *UNCHANGED[3:]]


def _pairs(comparison: Comparison | None) -> list[Pair]:
    return sorted(comparison.pairs) if comparison else []


def _value(pair: Pair) -> str:
    return f"{pair[0]}/{pair[1]}"


def _label(comparison: Comparison, pair: Pair) -> str:
    question = comparison.plan.questions[pair[0]]
    key = "compare.shown_repeat" if len(comparison.plan.questions) == 1 else "compare.shown_question"
    return WORDS[key].format(question=question.id, n=pair[1] + 1)


def _plain(name: str) -> str:
    """A file's name without what Markdown would make of it."""
    return "".join(letter if letter.isalnum() or letter in ".- " else "_" for letter in name).replace("_", "\\_")
