"""A process that adds to a store is killed at random moments; nothing that it acknowledged may be lost."""

from benchmarks.kills import kill_often


def test_nothing_acknowledged_is_lost_and_no_file_refused_however_often_the_process_is_killed(tmp_path):
    outcome = kill_often(tmp_path / "killed.live", kills=10, seed=1)
    assert outcome.acknowledged > 20, "hardly anything was added, so the case was not tried"
    assert (outcome.lost, outcome.refused) == (0, 0)
