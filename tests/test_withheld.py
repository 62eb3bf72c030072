"""Guesses that may not be shown are gone from a round, and only they."""

from sssd_demo import trace_file
from sssd_demo.metrics import summarise
from sssd_demo.trace import ROOT, Round, Trace, VerifiedTree

TREE = VerifiedTree(
    tokens=(1, 2, 3, 4, 5, 6),
    parents=(ROOT, ROOT, 0, 1, 0, 4),
    probs=(0.6, 0.5, 0.4, 0.3, 0.2, 0.1),
    laws=("point",) * 6,
    sources=("datastore", "datastore", "prompt", "prompt", "output", "datastore"),
    match_lengths=(4, 3, 2, 1, 0, 4),
    target_probs=(0.9, 0.1, 0.2, 0.3, 0.4, 0.5),
    coins=(None,) * 6,
    fates=("accepted", "rejected", "rejected", "ignored", "accepted", "rejected"),
)
ROUND = Round(1, 1, 8, 0.0, 1.0, 2.0, TREE, bonus=9, bonus_prob=0.5, committed=(1, 5, 9))


def test_unaccepted_nodes_of_the_source_go_and_what_stands_below_them_goes_too():
    shown = ROUND.withholding("datastore")
    assert shown.tree.tokens == (1, 3, 5)
    assert shown.tree.parents == (ROOT, 0, 0)
    assert shown.tree.sources == ("datastore", "prompt", "output")
    assert shown.tree.fates == ("accepted", "rejected", "accepted")
    assert shown.tree.target_probs == (0.9, 0.2, 0.4)
    assert shown.withheld == 3
    assert shown.committed == ROUND.committed


def test_withheld_nodes_count_as_drafted():
    prefill = Round(0, 1, 8, 0.0, 0.0, 5.0, VerifiedTree(), bonus=7, bonus_prob=0.5, committed=(7,))
    whole, shown = (summarise(trace(prefill, each)) for each in (ROUND, ROUND.withholding("datastore")))
    assert whole.withheld == 0
    assert shown.withheld == 3
    assert shown.drafted == whole.drafted == 6
    assert shown.drafted == shown.accepted + shown.rejected + shown.ignored + shown.withheld


def trace(*rounds):
    ids = {token for round_ in rounds for token in (*round_.tree.tokens, *round_.committed)}
    return Trace("2026-01-01", "cpu", "float32", "toy", "sssd", {}, (), (7,), dict.fromkeys(ids | {7}, b"x"), rounds)


def test_the_number_survives_a_file_and_is_written_only_where_there_is_one():
    shown = ROUND.withholding("datastore")
    data = trace_file.to_json(trace(Round(0, 1, 8, 0.0, 0.0, 5.0, VerifiedTree(), 7, 0.5, (7,)), shown))
    assert trace_file.from_json(data).rounds[1] == shown
    assert "withheld" not in data["rounds"][0]
    assert data["rounds"][1]["withheld"] == 3
