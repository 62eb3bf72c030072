"""The two-device clock: the rounds of an answer laid on two devices by the times of forwards measured alone.

Outcomes, hits and misses stay those of the trace. Only durations are replaced: every forward of drafter and target
takes what one of its width takes alone; looking up and sending take what they took in the trace, which is no less. A
step never begins before what it depends on has ended:

    n-grams    after the outcome of the last verification; where they only stand in, after the drafter's answer
    lookup     after the outcome was told, and all that the drafter did before has ended
    redraft    after the lookup that failed
    verify     after the draft has arrived, and the target's own n-grams are there
    glue       after the drafter was told of what is being verified
    branches   one after another, after the glue

Both devices read the prompt before the clock begins. Choosing tokens by a forward's logits is not charged, neither here
nor in drafting in turn. The result is computed, not measured, and has to be called so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from sssd_demo.saguaro.alone_times import AloneTimes
from sssd_demo.saguaro.timeline import Bar, Doing, HandOver, Timeline, looked_up, tokens_after_first
from sssd_demo.trace import Round, SaguaroRound, Span, Trace, Work, Worker

LEAST_SENDING_MS = 0.02  # a message between two processes on this kind of machine takes no less


def asynchronous(
    trace: Trace, alone: AloneTimes, *, beside: Sequence[Trace] = (), sending_ms: float | None = None
) -> Timeline:
    """A Saguaro answer on two devices. Every message between them takes `sending_ms`, by default as in the trace: one
    time for telling the drafter, another for its drafts, which bring the laws they were drawn from.

    `beside` are the other answers of its batch, whose drafts made the forwards wider. Raises `ValueError` for a trace
    without a speculation cache.
    """
    if any(round_.saguaro is None for round_ in trace.rounds[1:]):
        raise ValueError(f"the method {trace.method} prepares nothing ahead")
    sending = message_ms(trace) if sending_ms is None else sending_ms
    bringing = reply_ms(trace) if sending_ms is None else sending_ms
    plan = _Plan()
    told = 0.0  # when the drafter has heard what is being verified, and prepares for its outcomes
    for step in _steps(trace, alone, beside):
        round_, work = step.round, step.work
        ready = max(told, plan.ends("drafter"))
        before, asked_for = step.drafters_work()
        for span in before:
            ready = plan.add("drafter", span.what, ready, step.work_ms(span), round_.index)
        outcome = own = plan.ends("target")
        joining, standing_in = step.ngrams()
        for span in joining:
            own = plan.add("target", "backup", own, span.end_ms - span.start_ms, round_.index)
        answered = asked = max(outcome + sending, ready)
        for span in asked_for:
            answered = plan.add("drafter", span.what, answered, step.work_ms(span), round_.index)
        if work.why == "late":  # by the clock, whatever the drafter does
            arrives = own + sum(span.end_ms - span.start_ms for span in _of(work, "wait"))
        elif work.why == "no drafter" or answered == asked:
            arrives = own
        else:
            arrives = max(own, answered + bringing)
        if arrives > own:
            plan.add("target", "wait", own, arrives - own, round_.index)
        for span in standing_in:
            arrives = plan.add("target", "backup", arrives, span.end_ms - span.start_ms, round_.index)
        plan.hand_over(round_.index, arrives, looked_up(work))
        plan.add("target", "verify", arrives, step.verify_ms, round_.index)
        told = arrives + sending
    return plan.timeline(trace)


def synchronous(trace: Trace, alone: AloneTimes, *, beside: Sequence[Trace] = ()) -> Timeline:
    """An answer of standard speculative decoding: the draft model's forwards, then the target's, in turn.

    Nothing is charged for messages: drafter and target may well share a device. Raises `ValueError` for other drafts
    than those of a draft model.
    """
    plan = _Plan()
    unread = 1  # committed tokens whose keys and values the draft model lacks
    for step in _steps(trace, alone, beside):
        round_ = step.round
        depths = round_.tree.depths()
        if any(source != "model" for source in round_.tree.sources):
            raise ValueError("only drafts of a draft model can be laid out")
        deepest = max(depths, default=0)
        arrives = plan.ends("target")
        for level in range(deepest):
            width = unread if level == 0 else depths.count(level)
            arrives = plan.add("drafter", "draft", arrives, step.draft_ms(width), round_.index)
        plan.hand_over(round_.index, arrives, None)
        plan.add("target", "verify", arrives, step.verify_ms, round_.index)
        accepted = len(round_.tree.accepted_path())
        if not deepest:
            unread += len(round_.committed)
        else:
            unread = 1 + (accepted == deepest)  # a tree's last level is drafted but not read
    return plan.timeline(trace)


def message_ms(trace: Trace) -> float:
    """What one message between drafter and target took: the median from a round's beginning to its lookup.

    Of hits whose draft lay ready, so that the drafter was idle. Both shared the machine; alone it takes no longer.
    """
    taken = []
    for round_ in trace.rounds[1:]:
        work = round_.saguaro
        looked = _of(work, "lookup") if work is not None and work.hit else []
        if work is None or not looked:
            continue
        prepared = max((span.end_ms for span in _of(work, "glue", "branch")), default=round_.start_ms)
        if prepared <= round_.start_ms:
            taken.append(looked[0].start_ms - round_.start_ms)
    return max(LEAST_SENDING_MS, median(taken)) if taken else LEAST_SENDING_MS


def reply_ms(trace: Trace) -> float:
    """What a reply with its drafts took: the median from the end of the drafter's work to the end of the target's wait.

    Of rounds in which the target was waiting already.
    """
    taken = []
    for round_ in trace.rounds[1:]:
        waits = _of(round_.saguaro, "wait") if round_.saguaro else []
        worked = _of(round_.saguaro, "lookup", "redraft") if round_.saguaro else []
        if waits and worked and waits[-1].start_ms <= worked[-1].end_ms:
            taken.append(waits[-1].end_ms - worked[-1].end_ms)
    return max(LEAST_SENDING_MS, median(taken)) if taken else LEAST_SENDING_MS


@dataclass
class _Plan:
    """A timeline that grows; each side does one thing at a time."""

    bars: list[Bar] = field(default_factory=list)
    hand_overs: list[HandOver] = field(default_factory=list)
    free: dict[Worker, float] = field(default_factory=dict)

    def ends(self, who: Worker) -> float:
        """When `who` is done with everything so far."""
        return self.free.get(who, 0.0)

    def add(self, who: Worker, what: Doing, start: float, ms: float, round_: int) -> float:
        """Put a bar at `start`, or as soon after as `who` is free; returns when it ends."""
        start = max(start, self.ends(who))
        self.bars.append(Bar(who, what, start, start + ms, round_))
        self.free[who] = start + ms
        return start + ms

    def hand_over(self, round_: int, ms: float, hit: bool | None) -> None:
        self.hand_overs.append(HandOver(round_, ms, hit))

    def timeline(self, trace: Trace) -> Timeline:
        return Timeline(tuple(self.bars), tuple(self.hand_overs), self.ends("target"), tokens_after_first(trace))


@dataclass(frozen=True)
class _Step:
    """One round and what its forwards take alone."""

    round: Round
    context: int  # tokens in the fullest cache of the batch
    q: int
    alone: AloneTimes

    @property
    def work(self) -> SaguaroRound:
        assert self.round.saguaro is not None
        return self.round.saguaro

    @property
    def verify_ms(self) -> float:
        return self.alone.verify_ms(self.round.batch_size, self.q, self.context)

    def draft_ms(self, width: int) -> float:
        return self.alone.draft_ms(self.round.batch_size, max(1, width), self.context)

    def drafters_work(self) -> tuple[list[Span], list[Span]]:
        """What it did before it was asked for this round's draft, and from then on.

        The first is what it prepared, and drafts that came too late for earlier rounds. The question was answered with
        the last lookup.
        """
        spans = _of(self.work, "glue", "branch", "lookup", "redraft")
        asked = max((at for at, span in enumerate(spans) if span.what == "lookup"), default=None)
        if asked is None:
            asked = sum(span.what != "redraft" for span in spans)
        return spans[:asked], spans[asked:]

    def ngrams(self) -> tuple[list[Span], list[Span]]:
        """What the target looked up while the drafter was answering, and what once it had waited."""
        spans, waits = _of(self.work, "backup"), _of(self.work, "wait")
        ready = waits[-1].end_ms if waits else float("inf")
        return [span for span in spans if span.start_ms < ready], [span for span in spans if span.start_ms >= ready]

    def work_ms(self, span: Span) -> float:
        """What a stretch of the drafter's work takes alone."""
        if span.what == "lookup":
            return span.end_ms - span.start_ms
        reads_prompt = self.work.why == "first" and span is next(iter(_of(self.work, "redraft")), None)
        return self.draft_ms(1 if reads_prompt else span.tokens)


def _steps(trace: Trace, alone: AloneTimes, beside: Sequence[Trace]) -> Iterator[_Step]:
    widest: dict[float, int] = {}
    fullest: dict[float, int] = {}  # tokens in the cache
    for each in (trace, *beside):
        cached = len(each.prompt) - 1
        for round_ in each.rounds:
            widest[round_.start_ms] = max(widest.get(round_.start_ms, 1), _tokens(round_))
            fullest[round_.start_ms] = max(fullest.get(round_.start_ms, 0), cached)
            cached += len(round_.committed)
    for round_ in trace.rounds[1:]:
        yield _Step(round_, fullest[round_.start_ms], widest[round_.start_ms], alone)


def _tokens(round_: Round) -> int:
    """What the target's forward read of a sequence."""
    return 1 + len(round_.tree) + round_.withheld + round_.scratch


def _of(work: SaguaroRound, *what: Work) -> list[Span]:
    return [span for span in work.spans if span.what in what]
