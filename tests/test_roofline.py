"""Choosing the speculation length from measured forward times; the machine here is a formula."""

import pytest

from sssd_demo.roofline import (
    BATCHES,
    CONTEXTS,
    LENGTHS,
    MAX_AUTO_S_Q,
    Point,
    Profile,
    forward_time,
    knee_s_q,
    probe,
    quick_probe,
)


class Machine:
    """A forward takes `fixed` seconds until it holds `knee` tokens, then grows in proportion."""

    def __init__(self, knee: float = 16, fixed: float = 0.02, per_context: float = 0.0):
        self.knee, self.fixed, self.per_context = knee, fixed, per_context
        self.calls: list[tuple[int, int, int]] = []

    def __call__(self, batch: int, length: int, context: int) -> float:
        self.calls.append((batch, length, context))
        return self.fixed * max(1.0, batch * length / self.knee) + self.per_context * batch * context


def test_the_length_is_the_longest_that_a_fifth_more_time_buys():
    profile = probe(Machine(knee=16))
    # T(1, m) = m / 16 of T(1, 1) beyond 16: 1.2 · 16 = 19.2
    assert knee_s_q(profile, 1, 64) == 19
    assert knee_s_q(profile, 2, 64) == 9
    assert knee_s_q(profile, 4, 64) == 4


def test_a_full_machine_is_not_speculated_on():
    profile = probe(Machine(knee=1))
    assert knee_s_q(profile, 1, 64) == 1
    assert knee_s_q(profile, 32, 512) == 1


def test_the_length_is_capped():
    assert knee_s_q(probe(Machine(knee=10_000)), 1, 64) == MAX_AUTO_S_Q


def test_nothing_measured_means_no_speculation():
    assert knee_s_q(Profile({}), 1, 64) == 1
    with pytest.raises(ValueError, match="no measured forward"):
        forward_time(Profile({}), 1, 1, 64)


def test_time_is_linear_between_measured_points_and_beyond_the_last():
    profile = Profile({(1, 1, 64): 1.0, (1, 4, 64): 2.0, (1, 1, 512): 3.0, (1, 4, 512): 6.0})
    assert forward_time(profile, 1, 1, 64) == 1.0
    assert forward_time(profile, 1, 2.5, 64) == 1.5
    assert forward_time(profile, 1, 7, 64) == 3.0
    assert forward_time(profile, 1, 1, 288) == 2.0
    assert forward_time(profile, 1, 1, 960) == 5.0
    assert forward_time(profile, 1, 1, 10) == 1.0


def test_a_batch_between_two_measured_ones_lies_between_them():
    profile = probe(Machine(knee=16))
    assert knee_s_q(profile, 4, 64) <= knee_s_q(profile, 3, 64) <= knee_s_q(profile, 2, 64)


def test_with_one_sequence_measured_a_batch_is_taken_as_one_long_sequence():
    profile = quick_probe(Machine(knee=16))
    assert knee_s_q(profile, 1, 64) == 19
    assert knee_s_q(profile, 2, 512) == 9


def test_the_probe_measures_every_point_and_warms_up_each():
    machine = Machine(knee=10_000)
    heard: list[Point] = []
    profile = probe(machine, repeats=3, report=heard.append)
    assert len(profile.forward_seconds) == len(BATCHES) * len(LENGTHS) * len(CONTEXTS) == len(set(heard))
    assert machine.calls.count((2, 4, 512)) == 4


def test_the_probe_stays_within_the_rows_there_are():
    profile = probe(Machine(), batches=(1, 2))
    assert {batch for batch, _, _ in profile.forward_seconds} == {1, 2}


def test_the_probe_leaves_hopeless_lengths_out():
    profile = probe(Machine(knee=1))
    assert max(length for batch, length, _ in profile.forward_seconds if batch == 1) == 8


def test_the_quick_probe_keeps_to_its_budget_and_measures_at_least_both_ends():
    slow = Machine(fixed=5.0)
    assert set(quick_probe(slow).forward_seconds) == {(1, 1, 64), (1, MAX_AUTO_S_Q, 64)}
    assert len(slow.calls) == 4
    fast = Machine(fixed=0.001)
    assert {length for _, length, _ in quick_probe(fast).forward_seconds} == set(LENGTHS)
    assert len(fast.calls) == 2 + 3 * len(LENGTHS)


def test_one_slow_forward_does_not_decide():
    def stalls_once(batch: int, length: int, context: int, seen: list[int] = []) -> float:  # noqa: B006
        seen.append(length)
        return 9.0 if seen.count(length) == 2 and length == 4 else 0.001

    assert quick_probe(stalls_once, budget_seconds=100).forward_seconds[1, 4, 64] == 0.001


def test_a_moments_disturbance_does_not_spoil_a_point():
    machine = Machine(knee=16)

    def disturbed(batch: int, length: int, context: int) -> float:
        return machine(batch, length, context) * (50 if 200 < len(machine.calls) < 220 else 1)

    assert probe(disturbed).forward_seconds == probe(Machine(knee=16)).forward_seconds


def test_a_large_forward_does_not_slow_the_small_one_measured_after_it():
    machine = Machine(knee=16)

    def forgetful(batch: int, length: int, context: int) -> float:
        cold = machine.calls and machine.calls[-1][0] * machine.calls[-1][1] > 8 * batch * length
        return machine(batch, length, context) * (2 if cold else 1)

    assert probe(forgetful).forward_seconds == probe(Machine(knee=16)).forward_seconds


def test_the_knee_needs_both_peaks():
    assert Profile({}, flops=9e11, bandwidth=4.5e10).knee == pytest.approx(20)
    assert Profile({}, flops=9e11).knee is None
