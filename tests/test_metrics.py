"""How we count, on traces small enough to count by hand."""

import pytest

from sssd_demo.metrics import summarise
from sssd_demo.trace import EMPTY_VERIFIED_TREE, ROOT, Fate, Law, Round, Source, Trace, VerifiedTree

POINT: Law = "point"
PROMPT: Source = "prompt"


def tree(parents: list[int], fates: list[Fate]) -> VerifiedTree:
    n = len(parents)
    return VerifiedTree(
        tokens=tuple(range(100, 100 + n)),
        parents=tuple(parents),
        probs=(0.5,) * n,
        laws=(POINT,) * n,
        sources=(PROMPT,) * n,
        match_lengths=(1,) * n,
        target_probs=(0.5,) * n,
        coins=(None,) * n,
        fates=tuple(fates),
    )


def round_(index: int, start_ms: float, committed: tuple[int, ...], verified: VerifiedTree = EMPTY_VERIFIED_TREE):
    return Round(
        index=index,
        batch_size=1,
        s_q=8,
        start_ms=start_ms,
        draft_ms=2.0 * index,
        verify_ms=20.0 if index else 50.0,
        tree=verified,
        bonus=committed[-1],
        bonus_prob=0.9,
        committed=committed,
    )


def trace(*rounds: Round) -> Trace:
    return Trace(
        created="2026-01-01T00:00:00Z",
        device="test",
        dtype="float32",
        preset="toy",
        method="sssd",
        settings={},
        messages=(),
        prompt=(1, 2, 3),
        token_bytes={},
        rounds=rounds,
    )


PREFILL = round_(0, 1000.0, (7,))
# Root has children 0 and 1; 1 → 2 → 3; the path 1, 2 is accepted, 3 is refused.
BRANCHED = tree([ROOT, ROOT, 1, 2], ["rejected", "accepted", "accepted", "rejected"])
# A chain whose first token is refused.
REFUSED = tree([ROOT, 0, 1], ["rejected", "ignored", "ignored"])
DECODED = trace(PREFILL, round_(1, 1050.0, (101, 102, 8), BRANCHED), round_(2, 1080.0, (9,), REFUSED))


def test_prefill_forwards_count_as_target_forwards_but_not_in_tokens_per_forward():
    summary = summarise(DECODED, prefill_forwards=3)
    assert summary.tokens == 5
    assert summary.rounds == 3
    assert summary.target_forwards == 5
    assert summary.tokens_per_forward == 4 / 2


def test_the_decode_clock_starts_when_the_prefill_ends_and_includes_waiting_between_rounds():
    summary = summarise(DECODED)
    assert summary.seconds == pytest.approx(0.104)
    assert summary.decode_seconds == pytest.approx(0.054)
    assert summary.tokens_per_second == pytest.approx(4 / 0.054)
    assert summary.tpot_ms == pytest.approx(54 / 4)
    assert summary.ttft_ms == pytest.approx(50)


def test_draft_and_verify_times_are_medians_of_decode_rounds_only():
    summary = summarise(DECODED)
    assert summary.draft_ms == pytest.approx(3.0)
    assert summary.verify_ms == pytest.approx(20.0)


def test_every_drafted_node_has_one_fate():
    summary = summarise(DECODED)
    assert (summary.accepted, summary.rejected, summary.ignored) == (2, 3, 2)
    assert summary.drafted == 7


def test_positions_count_rounds_not_nodes():
    summary = summarise(DECODED)
    assert summary.drafted_by_position == (2, 2, 2)
    assert summary.accepted_by_position == (1, 1, 0)


def test_an_answer_of_one_token_has_no_decode_figures():
    summary = summarise(trace(PREFILL))
    assert summary.target_forwards == 1
    assert summary.ttft_ms == pytest.approx(50)
    assert summary.decode_seconds is None
    assert summary.tokens_per_second is None
    assert summary.tokens_per_forward is None
    assert summary.draft_ms is None


def test_nothing_is_counted_before_the_first_round():
    summary = summarise(trace())
    assert (summary.tokens, summary.rounds, summary.target_forwards) == (0, 0, 0)
    assert summary.seconds is None
    assert summary.ttft_ms is None


def test_a_running_answer_is_the_sum_of_its_rounds_so_far():
    summary = summarise(trace(*DECODED.rounds[:2]))
    assert summary.tokens == 4
    assert summary.tokens_per_second == pytest.approx(3 / 0.022)
