"""What the speculation cache was worth, counted from traces. The one place that says how.

* Hit rate = hits ÷ all rounds after the first. The first can have nothing prepared and is not counted.
* Rounds that were rolled back had nothing prepared on purpose. They are rounds like others in the hit rate, so that
  rolling back cannot improve it, and are counted apart as well.
* A figure that has nothing to measure yet is None, never zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import quantiles

from sssd_demo.trace import Fallback, MissReason, Round, SaguaroRound, Trace, Work, Worker


@dataclass(frozen=True)
class Tally:
    """How many of some rounds were hits."""

    hits: int
    rounds: int

    @property
    def rate(self) -> float | None:
        return self.hits / self.rounds if self.rounds else None


@dataclass(frozen=True)
class Latency:
    """Milliseconds from the beginning of a round to its end, over some rounds."""

    rounds: int
    p50: float | None
    p95: float | None


@dataclass(frozen=True)
class CacheSummary:
    """Of one answer or several. Rounds are those after the first of each."""

    all: Tally
    rolled_back: int  # of these rounds, those for which nothing was prepared after too many misses
    by_k: Mapping[int, Tally]  # by the number accepted, where anything was prepared
    by_fan_out: Mapping[int, Tally]  # by how many bonus tokens were prepared for that number accepted
    ranks: tuple[int, ...]  # of the bonus among the drafter's guesses, in every round that has one
    unranked: int  # rounds without a rank: the drafter made no guesses there
    fallbacks: Mapping[Fallback, int]  # what was served instead, first rounds included
    reasons: Mapping[MissReason, int]  # why, first rounds included
    wait_ms: float | None  # in all, that the target waited for drafts
    ngrams_ms: float | None  # in all, that looking n-grams up took, beside the drafter's answer or after it
    ngrams_exposed_ms: float | None  # of these, the part that came after the drafter's work for this round
    hit_latency: Latency
    miss_latency: Latency
    drafter_busy: float | None  # share of the time between the first round's beginning and the last one's end
    target_busy: float | None  # … with forwards and n-grams, not with waiting

    @property
    def hit_rate(self) -> float | None:
        return self.all.rate

    @property
    def prepared(self) -> Tally:
        """Without the rounds that were rolled back."""
        return Tally(self.all.hits, self.all.rounds - self.rolled_back)


def summarise_cache(traces: Iterable[Trace]) -> CacheSummary | None:
    """Sum up `traces`; None if no round of theirs had a speculation cache."""
    answers = [[(r, r.saguaro) for r in trace.rounds if r.saguaro is not None] for trace in traces]
    every = [pair for answer in answers for pair in answer]
    if not every:
        return None
    later = [(round_, work) for round_, work in every if work.why != "first"]
    cached = [work for _, work in later if work.keys]
    return CacheSummary(
        all=_tally(work for _, work in later),
        rolled_back=sum(work.why == "rolled back" for _, work in later),
        by_k=_tallies((work.outcome[0], work) for work in cached),
        by_fan_out=_tallies((fan_out(work), work) for work in cached),
        ranks=tuple(work.rank for _, work in later if work.rank is not None),
        unranked=sum(work.rank is None for _, work in later),
        fallbacks=dict(Counter(work.fallback for _, work in every if work.fallback is not None)),
        reasons=dict(Counter(work.why for _, work in every if work.why is not None)),
        wait_ms=sum(waited_ms(work) for _, work in every),
        ngrams_ms=sum(_lasted(work, "backup") for _, work in every),
        ngrams_exposed_ms=sum(_exposed_ms(work) for _, work in every),
        hit_latency=_latency([round_ for round_, work in later if work.hit]),
        miss_latency=_latency([round_ for round_, work in later if not work.hit]),
        drafter_busy=_busy(answers, "drafter"),
        target_busy=_busy(answers, "target"),
    )


def fan_out(work: SaguaroRound) -> int:
    """How many bonus tokens had been prepared for the number that was accepted."""
    return sum(accepted == work.outcome[0] for accepted, _ in work.keys)


def waited_ms(work: SaguaroRound) -> float:
    """How long the target waited for this round's draft."""
    return _lasted(work, "wait")


def _lasted(work: SaguaroRound, what: Work) -> float:
    return sum(span.end_ms - span.start_ms for span in work.spans if span.what == what)


def _exposed_ms(work: SaguaroRound) -> float:
    """How long n-grams were still looked up when the drafter was done: what its work did not hide of them."""
    drafted = max((span.end_ms for span in work.spans if span.who == "drafter"), default=float("-inf"))
    ngrams = [span for span in work.spans if span.what == "backup"]
    return sum(max(0.0, span.end_ms - max(span.start_ms, drafted)) for span in ngrams)


def _tally(works: Iterable[SaguaroRound]) -> Tally:
    found = [work.hit for work in works]
    return Tally(sum(found), len(found))


def _tallies(works: Iterable[tuple[int, SaguaroRound]]) -> dict[int, Tally]:
    groups: dict[int, list[SaguaroRound]] = {}
    for key, work in works:
        groups.setdefault(key, []).append(work)
    return {key: _tally(groups[key]) for key in sorted(groups)}


def _latency(rounds: Sequence[Round]) -> Latency:
    times = [round_.draft_ms + round_.verify_ms for round_ in rounds]
    if len(times) < 2:
        only = times[0] if times else None
        return Latency(len(times), only, only)
    cuts = quantiles(times, n=20, method="inclusive")
    return Latency(len(times), cuts[9], cuts[18])


def _busy(answers: Iterable[Sequence[tuple[Round, SaguaroRound]]], who: Worker) -> float | None:
    worked = lasted = 0.0
    for answer in answers:
        if not answer:
            continue
        begins, ends = answer[0][0].start_ms, answer[-1][0].end_ms
        lasted += ends - begins
        for round_, work in answer:
            if who == "target":
                worked += round_.verify_ms
            worked += sum(
                min(span.end_ms, ends) - max(span.start_ms, begins)
                for span in work.spans
                if span.who == who and span.what != "wait" and span.end_ms > begins and span.start_ms < ends
            )
    return worked / lasted if lasted else None
