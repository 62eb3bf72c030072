"""Measurements without a page: what is run, in which order, how it stops and fails."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import pytest

from sssd_demo import peaks
from sssd_demo.errors import UserError
from sssd_demo.service import Service
from sssd_demo.ui.roofline_board import Board, Boards
from sssd_demo.ui.roofline_job import SAMPLE, Job, Jobs, measure_machine, run_batches
from sssd_demo.ui.roofline_verdict import gain_sentence, gains_sentence, plan_sentence
from tests.ui.fakes import wait_until
from tests.ui.roofline_fakes import GUESSES, PROMPT, QUICK, RooflineService


@pytest.fixture
def service() -> RooflineService:
    return RooflineService()


def board_of(service: Any) -> Board:
    return Boards().of(cast(Service, service))


def run(board: Board, batches=(1, 2), methods=("sssd",)) -> Job:
    job = Job("run", "page", board, partial(run_batches, batches=batches, methods=methods))
    job.join(30)
    assert job.over
    return job


def test_every_method_is_run_at_every_batch_beside_plain_decoding(service: RooflineService):
    board = board_of(service)
    assert run(board).state().phase == "done"
    assert set(board.measured) == {(m, b) for m in ("autoregressive", "sssd") for b in (1, 2)}
    plain, ours = board.measured["autoregressive", 2].result, board.measured["sssd", 2].result
    assert plain.tokens_per_second == pytest.approx(2 / 0.021, rel=0.02)  # a forward and 1 ms beside it
    assert ours.tokens_per_second == pytest.approx(4 / 0.021, rel=0.02)
    assert board.gain("sssd", 2) == pytest.approx(2, rel=0.02)
    assert dict(ours.shared) == {2: ours.forwards}
    assert service.settings[0].s_q == 16  # first it is seen how many guesses are right
    assert all(settings.s_q == "auto" for settings in service.settings[SAMPLE:])


def test_the_plan_was_made_before_the_run_and_holds_where_times_are_as_measured(service: RooflineService):
    board = board_of(service)
    run(board, batches=(4,))
    measured = board.measured["sssd", 4]
    assert measured.plan is not None
    assert not measured.assumed
    assert measured.plan.played.tokens == 2.0
    assert measured.plan.played.s_q <= 1 + GUESSES
    assert board.stretch(4) == range(PROMPT + 8, PROMPT + 72)
    assert 0 < measured.plan.context < 64  # in part within the first block of the cache, in part in the second
    assert measured.plan.tokens_per_second == pytest.approx(measured.result.tokens_per_second, rel=0.1)
    assert "too many: the plan holds" in gain_sentence(board, "sssd", 4)


def test_small_batches_are_run_several_times_in_turn(service: RooflineService):
    board = board_of(service)
    run(board, batches=(1,))
    order = [settings.method for settings in service.settings[SAMPLE:]]
    assert order == ["autoregressive", "sssd", "sssd", "autoregressive"] * 2


def test_what_is_known_of_the_guesses_is_not_looked_at_again(service: RooflineService):
    board = board_of(service)
    run(board, batches=(2,))
    asked = len(service.settings)
    run(board, batches=(2,))
    assert all(settings.s_q == "auto" for settings in service.settings[asked:])


@pytest.mark.parametrize("method", ["lookahead", "speculative"])
def test_methods_whose_drafts_cannot_be_played_through_are_run_without_a_plan(service: RooflineService, method: str):
    board = board_of(service)
    run(board, batches=(2,), methods=(method,))
    assert board.yields[method] is None
    assert board.measured[method, 2].plan is None
    assert "no plan" in gain_sentence(board, method, 2)
    assert board.measured["autoregressive", 2].plan is not None


def test_a_run_that_is_stopped_keeps_what_it_had(service: RooflineService):
    service.delay = 0.002
    board = board_of(service)
    job = Job("run", "page", board, partial(run_batches, batches=(2, 16), methods=("sssd",)))
    wait_until(lambda: ("sssd", 2) in board.measured, 30)
    job.stop()
    job.join(30)
    assert job.state().phase == "stopped"
    assert ("sssd", 2) in board.measured
    assert ("sssd", 16) not in board.measured


def test_stopped_while_guesses_are_looked_at_nothing_is_known_of_them(service: RooflineService):
    service.delay = 0.01
    board = board_of(service)
    job = Job("run", "page", board, partial(run_batches, batches=(2,), methods=("sssd",)))
    wait_until(lambda: len(service.settings) > 0)
    job.stop()
    job.join(30)
    assert board.yields == {}
    assert board.measured == {}


def test_a_refusal_and_a_fault_end_it_with_a_sentence(service: RooflineService, monkeypatch):
    board = board_of(service)

    def refuse(*_args: Any, **_named: Any) -> None:
        raise UserError("The engine is closed.")

    def fail(*_args: Any, **_named: Any) -> None:
        raise RuntimeError("/secret/path")

    for broken, said in ((refuse, "The engine is closed."), (fail, "something went wrong")):
        monkeypatch.setattr(service, "ask", broken)
        state = run(board).state()
        assert state.phase == "failed"
        assert said in state.said
        assert "/secret" not in state.said


def test_one_measurement_runs_at_a_time_and_its_page_alone_stops_it(service: RooflineService):
    service.delay = 0.01
    board, jobs = board_of(service), Jobs()

    def make() -> Job:
        return Job("run", "a", board, partial(run_batches, batches=(2,), methods=("sssd",)))

    job = jobs.begin(make)
    with pytest.raises(UserError, match="Another measurement"):
        jobs.begin(make)
    jobs.stop("b")
    assert not job.batch.stopped
    jobs.stop("a")
    job.join(30)
    assert jobs.begin(make) is not job
    jobs.stop("a")


def test_the_machine_is_measured_and_the_board_plans_by_it(service: RooflineService, monkeypatch):
    monkeypatch.setattr(peaks, "CPU_SIDE", 32)
    monkeypatch.setattr(peaks, "BUFFER_BYTES", 2**16)
    service.profile = QUICK
    service.model.device = peaks.torch.device("cpu")
    board = board_of(service)
    assert board.quick
    job = Job("measure", "page", board, measure_machine)
    told = [state.share for state in job.watch(0.01)]
    assert job.state().phase == "done"
    assert told == sorted(told)
    assert {batch for batch, _, _ in service.profile.forward_seconds} == {1, 2, 4, 8, 16}


def test_another_model_has_a_board_of_its_own(service: RooflineService):
    boards = Boards()
    first = boards.of(cast(Service, service))
    assert boards.of(cast(Service, service)) is first
    assert boards.of(cast(Service, RooflineService())) is not first


# ---- sentences ----


def test_why_a_plan_did_not_hold_is_said_by_what_was_furthest_off(service: RooflineService):
    service.slowness = 2.0
    board = board_of(service)
    run(board, batches=(4,))
    said = plan_sentence(board.measured["sssd", 4])
    assert "a round took 41.0 ms, not 20.5" in said
    assert "100% too many" in said
    assert "busier than when" in said
    service.slowness = 10.0
    run(board, batches=(4,))
    assert "times as many as it were" in plan_sentence(board.measured["sssd", 4])
    service.slowness = 0.5
    run(board, batches=(4,))
    assert "less busy" in plan_sentence(board.measured["sssd", 4])


def test_others_in_the_same_forwards_are_named(service: RooflineService):
    service.others = 12
    board = board_of(service)
    run(board, batches=(4,))
    assert board.measured["sssd", 4].result.under_load
    assert "under load" in plan_sentence(board.measured["sssd", 4])


def test_batches_that_were_never_timed_are_named(service: RooflineService):
    service.profile, service.slowness = QUICK, 2.0
    board = board_of(service)
    run(board, batches=(1, 4))
    assert "had not been timed" in plan_sentence(board.measured["sssd", 4])
    assert "had not been timed" not in plan_sentence(board.measured["sssd", 1])


def test_guesses_that_came_out_otherwise_are_the_reason(service: RooflineService):
    board = board_of(service)
    run(board, batches=(2,))
    service.brings = lambda method: 0
    run(board, batches=(2,))
    assert "fewer guesses were right, 1.00 tokens a forward of each instead of 2.00" in plan_sentence(
        board.measured["sssd", 2]
    )


def test_the_verdict_tells_gain_loss_and_neither(service: RooflineService):
    board = board_of(service)
    run(board, batches=(2,))
    assert "guessing gains 2.0" in gain_sentence(board, "sssd", 2)
    service.brings = lambda method: 0
    run(board, batches=(2, 16))
    assert "neither gains nor loses" in gain_sentence(board, "sssd", 2)
    assert "guessing loses here, 0.5" in gain_sentence(board, "sssd", 16)  # 64 tokens where 32 are free
    assert gain_sentence(board, "sssd", 4) == ""


def test_where_guessing_stops_paying_is_said(service: RooflineService):
    board = board_of(service)
    assert "Only the plan" in gains_sentence(board, "sssd")
    run(board, batches=(2,))
    assert "at 2 sequences only" in gains_sentence(board, "sssd")
    run(board, batches=(1, 2, 4))
    assert "at every batch size" in gains_sentence(board, "sssd")
    service.brings = lambda method: 0
    run(board, batches=(16,))
    assert "up to 4 sequences; from 16 on it does not" in gains_sentence(board, "sssd")
    run(board, batches=(2,))
    assert "at the batch sizes 1, 4, and not" in gains_sentence(board, "sssd")
    run(board, batches=(1, 4))
    assert "at none of the batch sizes" in gains_sentence(board, "sssd")
