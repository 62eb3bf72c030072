"""A second language joins an English store: how its tokens per forward rise with its own answers.

No model is asked again: answers that it gave are drafted with more and more of the language's other answers stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from sssd_demo.experiments.figure import Axis, Figure, Series
from sssd_demo.experiments.held_out import unrelated
from sssd_demo.experiments.phrases import listed, moved
from sssd_demo.experiments.recycling import as_recorded, told
from sssd_demo.experiments.redraft import BOTH, redraft
from sssd_demo.sssd.constants import Settings
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.drafter import Store
from sssd_demo.sssd.recorded_answers import RecordedAnswer
from sssd_demo.sssd.replay import SHORTEST_ANSWER


def run(
    answers: Mapping[str, Sequence[RecordedAnswer]], english: Store, *, vocab_size: int, s_q: int, settings: Settings
) -> Figure:
    """Draft `answers`, by language, beside the store `english` and with none but the language's own.

    Each language needs two answers at least; see `usable`.
    """
    settings = as_recorded(settings, *answers.values())
    grown = {
        name: _grow(own, english, vocab_size=vocab_size, s_q=s_q, settings=settings) for name, own in answers.items()
    }
    steps, series = [], []
    for name, (sizes, beside, alone) in grown.items():
        steps.append(
            f"{name} {moved(beside[0], beside[-1])} with {sizes[-1]} tokens of its own, against {alone[-1]:.2f} "
            "without the English store"
        )
        series += [Series(f"{name}, after an English store", sizes, beside), Series(f"{name} alone", sizes, alone)]
    figure = Figure(
        experiment="languages-growth",
        title="A second language joins an English store",
        verdict=f"In tokens per forward, {listed(steps)}.",
        x=Axis("of the language's own answers in the store", "tokens"),
        y=Axis("tokens per forward", ""),
        series=tuple(series),
        kind="line",
        settings={},
    )
    return told(figure, settings)


def usable(answers: Sequence[RecordedAnswer]) -> list[RecordedAnswer]:
    """The answers that are long enough; of those that share a question or a long part, the first."""
    found: list[RecordedAnswer] = []
    for answer in answers:
        if len(answer.output) >= SHORTEST_ANSWER:
            found += unrelated([answer], found)
    return found


def _grow(
    answers: Sequence[RecordedAnswer], english: Store, *, vocab_size: int, s_q: int, settings: Settings
) -> tuple[tuple[int, ...], tuple[float, ...], tuple[float, ...]]:
    """Tokens stored, and tokens per forward beside the English store and without it, for 0, 1, 2, … answers stored.

    One answer at a time is held out and drafted with the others, so that all count however few there are.
    """
    points = []
    for stored in range(len(answers)):
        tokens, beside, alone = [], [], []
        for place, held_out in enumerate(answers):
            documents = [other.output for other in [*answers[place + 1 :], *answers[:place]][:stored]]
            own = Datastore.build(documents, fingerprint="", vocab_size=vocab_size)
            tokens.append(own.tokens)
            beside.append(redraft([held_out], [english, own], BOTH, s_q, settings).rate)
            alone.append(redraft([held_out], [own], BOTH, s_q, settings).rate)
        points.append((round(fmean(tokens)), fmean(beside), fmean(alone)))
    sizes, beside_english, on_its_own = zip(*points, strict=True)
    return sizes, beside_english, on_its_own
