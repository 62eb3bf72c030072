"""A process that adds to a store is killed again and again; nothing that it acknowledged may be lost."""

import pytest

from benchmarks.kills import MOMENTS, RUNS, kill_often


@pytest.mark.parametrize("run", RUNS)
def test_nothing_acknowledged_is_lost_and_no_file_refused_however_often_the_process_is_killed(tmp_path, run):
    outcome = kill_often(tmp_path / "killed.live", kills=6, run=run, seed=1)
    assert (outcome.lost, outcome.refused) == (0, 0)
    assert outcome.chosen == 2 * len(MOMENTS)
    assert outcome.acknowledged > 100, "hardly anything was added, so the case was not tried"
    assert outcome.during_append >= 2, "no kill cut off a record, so the case was not tried"
    assert outcome.during_save >= 2, "no kill met a file being written, so the case was not tried"
    assert outcome.before_rotation >= 2, "no kill came between saving and shortening, so the case was not tried"
    assert (outcome.dropped > 0) == (run == "dropping")
