"""Rounds laid on two devices, against times worked out by hand, and what no layout may do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sssd_demo.roofline import Profile
from sssd_demo.saguaro.alone_times import AloneTimes, measure
from sssd_demo.saguaro.timeline import Timeline, measured
from sssd_demo.saguaro.two_devices import asynchronous, message_ms, reply_ms, synchronous
from sssd_demo.trace import SaguaroRound, Span, Trace
from tests.toy_saguaro import ALONE, FIRST, HIT, MESSAGE, MISS, STEP, VERIFY, Made, saguaro_trace, speculative_trace

BACKUP = Made(0, hit=False, why="miss", fallback="backup", rank=7)
LATE = Made(0, hit=False, why="late", fallback="backup", rank=None)
ROLLED_BACK = Made(1, hit=False, why="rolled back", fallback="immediate", rank=None)
ORPHAN = Made(0, hit=False, why="no drafter", fallback="backup", rank=None)
ALL = saguaro_trace([FIRST, HIT, MISS, HIT, BACKUP, HIT, LATE, ROLLED_BACK, HIT, ORPHAN])


def rows(timeline: Timeline) -> list[tuple[str, float, float]]:
    return [(bar.what, round(bar.start_ms, 6), round(bar.end_ms, 6)) for bar in timeline.bars if bar.what != "wait"]


def of(timeline: Timeline, index: int, *what: str) -> list[tuple[float, float]]:
    return [
        (round(bar.start_ms, 6), round(bar.end_ms, 6))
        for bar in timeline.bars
        if bar.round == index and bar.what in what
    ]


def work_of(trace: Trace, index: int) -> SaguaroRound:
    work = trace.rounds[index].saguaro
    assert work is not None
    return work


def test_a_first_round_a_hit_and_a_miss_by_hand():
    laid = asynchronous(saguaro_trace([FIRST, HIT, MISS]), ALONE)
    by_hand = [
        ("redraft", 0.25, 2.375),  # one token: the prompt was read before the clock began
        ("redraft", 2.375, 4.5),
        ("verify", 4.75, 16.75),
        ("glue", 5.0, 7.375),  # once the drafter was told that the target has begun
        ("branch", 7.375, 10.125),
        ("branch", 10.125, 12.875),
        ("lookup", 17.0, 17.5),
        ("verify", 17.75, 29.75),
        ("glue", 18.0, 20.375),
        ("branch", 20.375, 23.125),
        ("branch", 23.125, 25.875),
        ("lookup", 30.0, 30.5),
        ("redraft", 30.5, 32.75),  # all was accepted, so two tokens are new to the draft model
        ("redraft", 32.75, 34.875),
        ("verify", 35.125, 47.125),
    ]
    assert sorted(rows(laid), key=lambda row: row[1:]) == sorted(by_hand, key=lambda row: row[1:])
    assert laid.total_ms == pytest.approx(47.125)
    assert [each.hit for each in laid.hand_overs] == [None, True, False]
    assert laid.tokens == 2 + 3 + 2


def test_drafting_in_turn_by_hand():
    laid = synchronous(speculative_trace([2, 0]), ALONE)
    assert rows(laid) == [
        ("draft", 0.0, 2.125),
        ("draft", 2.125, 4.25),
        ("verify", 4.25, 16.25),
        ("draft", 16.25, 18.5),  # two tokens are new after a draft that was accepted whole
        ("draft", 18.5, 20.625),
        ("verify", 20.625, 32.625),
    ]


def test_slow_branches_hold_up_the_lookup():
    slow = AloneTimes(ALONE.target, Profile({(1, 1, 64): 0.010}))
    laid = asynchronous(saguaro_trace([FIRST, HIT]), slow)
    (last,) = [bar.end_ms for bar in laid.bars if bar.what == "branch"][-1:]
    ((begins, _),) = of(laid, 2, "lookup")
    assert begins == pytest.approx(last)
    assert begins > of(laid, 1, "verify")[0][1] + MESSAGE


def test_whatever_happened_no_step_begins_before_what_it_depends_on():
    laid = asynchronous(ALL, ALONE)
    verify = {bar.round: bar for bar in laid.bars if bar.what == "verify"}
    for who in ("drafter", "target"):
        bars = sorted((bar for bar in laid.bars if bar.who == who), key=lambda bar: bar.start_ms)
        assert all(a.end_ms <= b.start_ms + 1e-9 for a, b in zip(bars, bars[1:], strict=False))
    for index in range(2, len(ALL.rounds)):
        outcome = verify[index - 1].end_ms
        for start, _ in of(laid, index, "lookup", "redraft"):
            assert start >= outcome + MESSAGE - 1e-9
        for start, _ in of(laid, index, "branch"):
            assert start >= max((end for _, end in of(laid, index, "glue")), default=0.0)
        if work_of(ALL, index).why != "late":
            for _, end in of(laid, index, "lookup", "redraft", "backup"):
                assert verify[index].start_ms >= end - 1e-9
        assert verify[index].start_ms >= outcome


def test_the_drafter_learns_of_what_is_verified_by_a_message():
    laid = asynchronous(ALL, ALONE)
    for index in range(1, len(ALL.rounds)):
        for start, _ in of(laid, index + 1, "glue"):
            assert start >= next(each.ms for each in laid.hand_overs if each.round == index) + MESSAGE - 1e-9


def test_a_draft_that_was_late_by_the_clock_costs_what_the_target_waited():
    laid = asynchronous(saguaro_trace([FIRST, LATE]), ALONE)
    ((begins, ends),) = of(laid, 2, "wait")
    waited = next(s for s in work_of(saguaro_trace([FIRST, LATE]), 2).spans if s.what == "wait")
    assert ends - begins == pytest.approx(waited.end_ms - waited.start_ms)


def test_n_grams_that_stand_in_come_after_the_drafters_answer_and_those_that_join_beside_it():
    trace = saguaro_trace([FIRST, BACKUP])
    ((_, heard),) = of(asynchronous(trace, ALONE), 2, "wait")
    ((begins, ends),) = of(asynchronous(trace, ALONE), 2, "backup")
    assert begins == heard
    assert of(asynchronous(trace, ALONE), 2, "verify")[0][0] == ends

    last = trace.rounds[2]
    wait, backup = (next(span for span in work_of(trace, 2).spans if span.what == what) for what in ("wait", "backup"))
    early = replace(backup, start_ms=wait.start_ms, end_ms=wait.start_ms + backup.end_ms - backup.start_ms)
    spans = (*(span for span in work_of(trace, 2).spans if span is not backup), early)
    joined = replace(trace, rounds=(*trace.rounds[:2], replace(last, saguaro=replace(work_of(trace, 2), spans=spans))))
    laid = asynchronous(joined, ALONE)
    assert of(laid, 2, "backup")[0][0] == of(laid, 1, "verify")[0][1]
    assert laid.total_ms == pytest.approx(asynchronous(trace, ALONE).total_ms - (ends - begins))


def test_outcomes_and_tokens_are_those_of_the_trace():
    laid, here = asynchronous(ALL, ALONE), measured(ALL)
    assert here is not None
    assert [each.hit for each in laid.hand_overs] == [each.hit for each in here.hand_overs]
    assert laid.tokens == here.tokens


def test_messages_are_timed_on_hits_whose_draft_lay_ready():
    assert message_ms(saguaro_trace([FIRST, HIT, MISS])) == pytest.approx(MESSAGE)
    assert 0 < message_ms(saguaro_trace([FIRST, MISS])) < MESSAGE


def test_a_reply_is_charged_for_what_it_brings():
    """Laws that drafts were drawn from weigh more than a question."""
    trace = saguaro_trace([FIRST, HIT])
    heavy = with_spans(trace, 2, lambda span: replace(span, end_ms=span.end_ms + 1.0) if span.what == "wait" else span)
    heavy = with_spans(heavy, 1, lambda span: replace(span, end_ms=span.end_ms + 1.0) if span.what == "wait" else span)
    assert reply_ms(trace) == pytest.approx(MESSAGE)
    assert reply_ms(heavy) == pytest.approx(MESSAGE + 1.0)
    assert message_ms(heavy) == message_ms(trace)
    assert asynchronous(heavy, ALONE).total_ms == pytest.approx(asynchronous(trace, ALONE).total_ms + 2.0)


def test_what_the_drafter_did_too_late_for_one_round_still_keeps_it_busy():
    """The late lookup and redraft come with the next reply, before what was prepared since."""
    trace = saguaro_trace([FIRST, LATE, HIT])
    late = (Span("drafter", "lookup", 90.0, 90.5), Span("drafter", "redraft", 90.5, 96.5, 2))
    work = work_of(trace, 3)
    rounds = [*trace.rounds[:3], replace(trace.rounds[3], saguaro=replace(work, spans=(*late, *work.spans)))]
    laid = asynchronous(replace(trace, rounds=tuple(rounds)), ALONE)
    ((redraft, redrafted),) = of(laid, 3, "redraft")
    assert redrafted - redraft == pytest.approx(ALONE.draft_ms(1, 2, 64))
    ((glue, _),) = of(laid, 3, "glue")
    assert glue >= redrafted
    assert of(laid, 3, "lookup")[-1][0] >= of(laid, 3, "branch")[-1][1]


def test_the_widest_draft_of_a_batch_sets_what_verification_takes():
    steep = AloneTimes(Profile({(1, 1, 64): 0.010, (1, 11, 64): 0.020}), ALONE.draft)
    trace = saguaro_trace([FIRST])
    alone, beside = (asynchronous(trace, steep, beside=others) for others in ((), (wider(trace, 5),)))
    assert alone.total_ms + 3 == pytest.approx(beside.total_ms)  # six tokens instead of three


def test_the_fullest_cache_of_a_batch_sets_what_verification_takes():
    steep = AloneTimes(Profile({(1, 1, 64): 0.010, (1, 1, 512): 0.020}), ALONE.draft)
    trace = saguaro_trace([FIRST])
    alone, beside = (asynchronous(trace, steep, beside=others) for others in ((), (replace(trace, prompt=(1,) * 600),)))
    assert beside.total_ms > alone.total_ms + 8


def with_spans(trace: Trace, index: int, change: Callable[[Span], Span]) -> Trace:
    work = work_of(trace, index)
    changed = replace(trace.rounds[index], saguaro=replace(work, spans=tuple(map(change, work.spans))))
    return replace(trace, rounds=(*trace.rounds[:index], changed, *trace.rounds[index + 1 :]))


def wider(trace: Trace, withheld: int) -> Trace:
    rounds = [replace(each, withheld=withheld - len(each.tree)) if each.index else each for each in trace.rounds]
    return replace(trace, rounds=tuple(rounds))


def test_methods_are_not_taken_for_each_other():
    with pytest.raises(ValueError, match="prepares nothing"):
        asynchronous(speculative_trace([1]), ALONE)
    looked_up = speculative_trace([1])
    tree = replace(looked_up.rounds[1].tree, sources=("prompt", "prompt"))
    rounds = (looked_up.rounds[0], replace(looked_up.rounds[1], tree=tree))
    with pytest.raises(ValueError, match="draft model"):
        synchronous(replace(looked_up, rounds=rounds), ALONE)


def test_the_measured_clock_is_the_traces_own():
    here = measured(saguaro_trace([FIRST, HIT]))
    assert here is not None
    first = 2 * MESSAGE + 2 * STEP
    assert [round(ms, 6) for ms in (here.bars[0].start_ms, here.bars[0].end_ms)] == [MESSAGE, MESSAGE + STEP]
    assert of(here, 1, "verify") == [(first, first + VERIFY)]
    assert of(here, 2, "glue")[0][0] == pytest.approx(first)
    assert here.share("target") == pytest.approx(2 * VERIFY / here.total_ms)
    assert measured(saguaro_trace([])) is None


def test_in_turn_the_drafter_works_while_the_target_waits():
    here = measured(speculative_trace([1]))
    assert here is not None
    assert [(bar.who, bar.what, bar.start_ms, bar.end_ms) for bar in here.bars] == [
        ("drafter", "draft", 0.0, 2 * STEP),
        ("target", "verify", 2 * STEP, 2 * STEP + 14.0),
    ]
    assert here.hand_overs[0].hit is None


def test_both_models_are_timed_alone_and_looked_up_by_width_and_context():
    asked: list[tuple[int, int, int]] = []

    def target(batch: int, q: int, context: int) -> float:
        return 0.010 + 0.001 * q + 0.00001 * context

    found = measure(target, lambda b, q, c: 0.002, report=asked.append, contexts=(64, 512))
    assert found.verify_ms(1, 4, 64) == pytest.approx(14.0 + 0.64)
    assert found.verify_ms(1, 4, 100) == found.verify_ms(1, 4, 64)  # within one block of the cache
    assert found.draft_ms(1, 40, 300) == pytest.approx(2.0)
    assert {point[2] for point in asked} == {64, 512}
