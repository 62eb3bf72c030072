"""Is it fair? The same questions in several languages, answered with an English store.

A store in English helps another language little, and a tokenizer made for English cuts other languages into more
tokens; what a reader waits for is neither tokens nor forwards but characters. `language_growth.py` then adds a
language's own answers to the store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from sssd_demo.bench import BASELINE
from sssd_demo.bench.figures import Sample, spread
from sssd_demo.bench.lanes import ServiceLane
from sssd_demo.bench.runner import measure
from sssd_demo.errors import UserError
from sssd_demo.experiments import language_growth
from sssd_demo.experiments.figure import Axis, Figure, Series
from sssd_demo.experiments.held_out import check_held_out
from sssd_demo.experiments.language_prompts import FIRST_LANGUAGE
from sssd_demo.experiments.phrases import listed
from sssd_demo.questions import Question
from sssd_demo.service import Service, Settings
from sssd_demo.sssd.constants import DEFAULT
from sssd_demo.sssd.recorded_answers import RecordedAnswer

METHOD = "sssd"
NOTES = {  # what a reader of these figures has to know about a model
    "smollm2-135m": "smollm2-135m was trained on English: what it writes in other languages is poor and repeats itself"
}


@dataclass(frozen=True)
class Budget:
    languages: int  # the first one included
    questions: int  # in each language
    max_new_tokens: int
    repeats: int


BUDGETS = {"small": Budget(3, 4, 64, 1), "full": Budget(4, 12, 128, 3)}


@dataclass(frozen=True)
class _Language:
    """All that was measured in one language."""

    name: str
    characters: int  # of its questions
    question_tokens: int
    samples: Mapping[str, list[Sample]]  # by lane
    answers: list[RecordedAnswer]  # of plain decoding, without end tokens

    def per_character(self, lane: str) -> dict[str, float]:
        """Milliseconds of decoding per character: mean, median, p25, p75 over the answers."""
        found = spread(_ms_per_character(sample) for sample in self.samples[lane])
        if found is None:
            raise UserError(f"No answer in {self.name} was long enough to be timed.")
        return found

    def answer_tokens_per_character(self) -> float:
        texts = [sample.reply.text for sample in self.samples[BASELINE]]
        return sum(len(answer.output) for answer in self.answers) / max(1, sum(map(len, texts)))

    def tokens_per_forward(self) -> float:
        return fmean(sample.reply.summary.tokens_per_forward or 1.0 for sample in self.samples[METHOD])


def run(
    service: Service,
    prompts: Mapping[str, Sequence[str]],
    *,
    store: str,
    budget: Budget,
    s_q: int,
    tell: Callable[[str], None],
) -> list[Figure]:
    """Ask the first questions of the first languages of `prompts`, by plain decoding and by SSSD with `store`.

    Raises `UserError` for an unknown store, one that knows a question or an answer, or answers too short to be
    timed. The last figure is missing if no second language has two answers that can be drafted again.
    """
    english = service.stores.open(store)
    chosen = {name: list(texts[: budget.questions]) for name, texts in list(prompts.items())[: budget.languages]}
    questions = [
        Question(f"{name} {number}", name, (text,))
        for name, texts in chosen.items()
        for number, text in enumerate(texts, start=1)
    ]
    common: dict[str, Any] = {"max_new_tokens": budget.max_new_tokens}
    lanes = [
        ServiceLane(BASELINE, service, Settings(method=BASELINE, **common)),
        ServiceLane(METHOD, service, Settings(method=METHOD, s_q=s_q, datastore=store, **common)),
    ]
    outcome = measure(lanes, questions, repeats=budget.repeats, tell=tell)
    if outcome.skipped:
        raise UserError(f"A question could not be answered: {next(iter(outcome.skipped.values()))}")
    languages = [_language(service, name, texts, outcome.samples) for name, texts in chosen.items()]
    for language in languages:
        check_held_out(language.answers, english, store)
    told: dict[str, Any] = {"store": store, "s_q": s_q, "questions": budget.questions, "repeats": budget.repeats}
    told |= {"max_new_tokens": budget.max_new_tokens, "temperature": 0}
    told |= {"tokens_per_forward": {language.name: language.tokens_per_forward() for language in languages}}
    if service.model.name in NOTES:
        told["note"] = NOTES[service.model.name]
    figures = [_waiting(languages, told), _tokens(languages, told)]
    others = {one.name: language_growth.usable(one.answers) for one in languages if one.name != FIRST_LANGUAGE}
    others = {name: answers for name, answers in others.items() if len(answers) > 1}
    if others:  # an answer or two may be all that a model has to say
        tell("drafting the answers again with stores of their own language")
        growth = language_growth.run(others, english, vocab_size=service.text.vocab_size, s_q=s_q, settings=DEFAULT)
        figures.append(replace(growth, settings=told | growth.settings))
    return figures


def _language(service: Service, name: str, texts: list[str], samples: Sequence[Sample]) -> _Language:
    own = [sample for sample in samples if sample.question.category == name]
    by_lane = {lane: [sample for sample in own if sample.lane == lane] for lane in (BASELINE, METHOD)}
    answers = [
        RecordedAnswer(
            tuple(service.text.encode_chat([{"role": "user", "content": sample.question.turns[0]}])),
            tuple(token for token in sample.reply.token_ids if token not in service.text.end_tokens),
        )
        for sample in by_lane[BASELINE]
    ]
    tokens = sum(len(service.text.encode(text)) for text in texts)
    return _Language(name, sum(map(len, texts)), tokens, by_lane, answers)


def _ms_per_character(sample: Sample) -> float | None:
    tpot, text = sample.reply.summary.tpot_ms, sample.reply.text
    return tpot * len(sample.reply.token_ids) / len(text) if tpot and text else None


def _waiting(languages: list[_Language], told: dict[str, Any]) -> Figure:
    """How long a character takes."""
    names = tuple(language.name for language in languages)
    plain, drafted = series = [
        Series.of_spreads(lane, names, [language.per_character(lane) for language in languages], "median")
        for lane in (BASELINE, METHOD)
    ]
    note = f" ({told['note']})" if "note" in told else ""
    times = [
        f"{after:.1f} ms a character in {name} instead of {before:.1f} ({language.tokens_per_forward():.2f} tokens a "
        "forward)"
        for name, before, after, language in zip(names, plain.y, drafted.y, languages, strict=True)
    ]
    return Figure(
        experiment="languages",
        title="How long a reader waits for a character",
        verdict=f"With an English store, {METHOD} takes {listed(times)}{note}.",
        x=Axis("language", ""),
        y=Axis("decoding time", "ms per character"),
        series=tuple(series),
        kind="bar",
        settings=told | {"spread": "median and quartiles of the answers"},
    )


def _tokens(languages: list[_Language], told: dict[str, Any]) -> Figure:
    """How many tokens a character takes, in questions that say the same and in the answers."""
    names = tuple(language.name for language in languages)
    first, *others = languages
    ratios = [f"{one.question_tokens / first.question_tokens:.1f} times as many in {one.name}" for one in others]
    return Figure(
        experiment="languages-tokens",
        title="How many tokens the same takes to say",
        verdict=f"The same questions take {first.question_tokens} tokens in {first.name} and {listed(ratios)}.",
        x=Axis("language", ""),
        y=Axis("tokens", "per character"),
        series=(
            Series(
                "questions, the same in every language",
                names,
                tuple(language.question_tokens / language.characters for language in languages),
            ),
            Series("answers", names, tuple(language.answer_tokens_per_character() for language in languages)),
        ),
        kind="bar",
        settings=told | {"question_tokens": {language.name: language.question_tokens for language in languages}},
    )
