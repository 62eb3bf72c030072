"""What a round's trace says about its verification can be done again, and every lie in it is found."""

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest

from sssd_demo import trace_file
from sssd_demo.rechecked import Recheck, recheck
from sssd_demo.trace import ROOT, AcceptanceRule, Decision, Draw, Held, Round, VerifiedTree
from tests.toy_rounds import BUSH, toy_round, toy_trace

SETUPS: dict[str, dict[str, Any]] = {
    "chain": {"rule": "chain"},
    "block": {"rule": "block"},
    "tree, same law": {"rule": "tree", "parents": BUSH, "laws": ("sampled",) * 6},
    "tree, distinct": {"rule": "tree", "parents": BUSH, "laws": ("distinct",) * 6},
    "traversal, same law": {"rule": "traversal", "parents": BUSH, "laws": ("sampled",) * 6},
    "traversal, distinct": {"rule": "traversal", "parents": BUSH, "laws": ("distinct",) * 6},
    "point masses": {"rule": "chain", "parents": BUSH, "laws": ("point",) * 6},
    "mixed": {"rule": "tree", "parents": BUSH, "laws": ("sampled", "point", "sampled", "point", "point", "point")},
    "greedy": {"temperature": 0.0},
    "greedy point masses": {"temperature": 0.0, "parents": BUSH, "laws": ("point",) * 6},
    "nothing drafted": {"parents": (), "laws": ()},
}
WITH_DECISIONS = [name for name in SETUPS if name[:5] in ("chain", "block", "tree,", "trave", "mixed")]


def rounds(name: str, count: int = 60, limit: int = 99) -> list[Round]:
    return [toy_round(seed, limit=limit, **SETUPS[name]) for seed in range(count)]


def whats(checked: Recheck) -> set[str]:
    return {problem.what for problem in checked.problems}


@pytest.mark.parametrize("limit", [1, 2, 99])
@pytest.mark.parametrize("name", SETUPS)
def test_what_production_wrote_down_agrees_with_itself(name, limit):
    for round_ in rounds(name, limit=limit):
        checked = recheck(round_)
        assert checked.agrees, checked.problems
        assert list(checked.path) == round_.tree.accepted_path()
        tested = {step.node for step in checked.steps}
        assert {node for node, fate in enumerate(round_.tree.fates) if fate == "rejected"} <= tested


@pytest.mark.parametrize("name", WITH_DECISIONS)
def test_steps_stand_in_the_order_of_the_tests_with_the_thresholds_that_were_used(name):
    for round_ in rounds(name):
        for step, decision in zip(recheck(round_).steps, round_.decisions, strict=True):
            assert (step.node, step.coin, step.p, step.q) == (decision.node, decision.coin, decision.p, decision.q)
            assert step.threshold == pytest.approx(decision.threshold, rel=1e-12)


@pytest.mark.parametrize("name", ["chain", "block", "tree, same law", "traversal, distinct", "mixed", "point masses"])
def test_both_ways_of_drawing_the_bonus_are_told_apart(name):
    every = rounds(name)
    checked = [recheck(round_) for round_ in every]
    assert any(not each.residual for each in checked)
    if name == "point masses":
        return
    assert any(each.residual for each in checked)
    for round_, each in zip(every, checked, strict=True):
        assert round_.draw
        assert each.residual == (abs(round_.draw.prob - round_.bonus_prob) > 1e-12)


def test_a_file_changes_nothing():
    trace = toy_trace("block", tokens=20)
    read = trace_file.from_json(json.loads(json.dumps(trace_file.to_json(trace))))
    assert [recheck(round_) for round_ in read.rounds] == [recheck(round_) for round_ in trace.rounds]


# Lies. Each takes a round that agrees and changes one thing in it.


def number_changes(round_: Round):
    """(what was changed, the round with it) for every number of its decisions and its draw."""
    for at, decision in enumerate(round_.decisions):
        for name in ("weight", "p", "q", "mass", "threshold", "coin"):
            value = getattr(decision, name)
            for other in (value / 2, min(1.0, value + 0.01)):
                if abs(other - value) > 1e-9:  # else it is rounding
                    yield name, with_decision(round_, at, replace(decision, **{name: other}))
    if round_.draw is not None:
        for name in ("coin", "prob"):
            for other in (getattr(round_.draw, name) / 2, getattr(round_.draw, name) + 0.3):
                yield f"draw's {name}", replace(round_, draw=replace(round_.draw, **{name: other}))


def with_decision(round_: Round, at: int, decision: Decision) -> Round:
    return replace(round_, decisions=(*round_.decisions[:at], decision, *round_.decisions[at + 1 :]))


def with_column(round_: Round, column: str, node: int, value) -> Round:
    values = list(getattr(round_.tree, column))
    values[node] = value
    return replace(round_, tree=replace(round_.tree, **{column: tuple(values)}))


@pytest.mark.parametrize("name", WITH_DECISIONS)
def test_every_changed_number_of_a_decision_is_found(name):
    changes = 0
    for round_ in rounds(name, count=12):
        for what, changed in number_changes(round_):
            coin, start = changed.draw.coin, changed.draw.start
            if what == "draw's coin" and start <= coin <= start + changed.draw.prob:
                continue  # it would have drawn the same token
            assert not recheck(changed).agrees, (what, changed)
            changes += 1
    assert changes > 100


@pytest.mark.parametrize("name", ["point masses", "greedy", *WITH_DECISIONS])
def test_every_changed_fate_is_found(name):
    for round_ in rounds(name, count=12):
        for node, fate in itertools.product(range(len(round_.tree)), ("accepted", "rejected", "ignored")):
            if round_.tree.fates[node] != fate:
                assert "fate" in whats(recheck(with_column(round_, "fates", node, fate))), (node, fate)


@pytest.mark.parametrize("name", ["point masses", *WITH_DECISIONS])
def test_a_changed_coin_in_the_tree_is_found(name):
    for round_ in rounds(name, count=12):
        for node, coin in enumerate(round_.tree.coins):
            if coin is not None and name == "point masses":
                p = round_.tree.target_probs[node]
                other = p / 2 if coin >= p else (1 + p) / 2  # one that means the other verdict
                assert not p < 1 or not recheck(with_column(round_, "coins", node, other)).agrees
            elif coin is not None:
                assert "coin" in whats(recheck(with_column(round_, "coins", node, coin / 2)))
            else:
                assert not recheck(with_column(round_, "coins", node, 0.5)).agrees


@pytest.mark.parametrize("name", WITH_DECISIONS)
def test_a_changed_share_of_the_laws_is_found_where_it_was_tested(name):
    for round_ in rounds(name, count=12):
        for step in recheck(round_).steps:
            parent, law = round_.tree.parents[step.node], round_.tree.laws[step.node]
            first = step.node == round_.tree.children()[parent][0]  # later ones rest on what the refused one left
            if first:
                p = round_.tree.target_probs[step.node]
                assert "p" in whats(recheck(with_column(round_, "target_probs", step.node, p * 0.9)))
            if first and law != "point":
                q = round_.tree.probs[step.node]
                assert "q" in whats(recheck(with_column(round_, "probs", step.node, q * 0.9)))


@pytest.mark.parametrize("name", WITH_DECISIONS)
def test_changed_shares_that_a_decision_holds_are_found(name):
    found = 0
    for round_ in rounds(name, count=12):
        for at, decision in enumerate(round_.decisions):
            for place, held in enumerate(decision.held):
                if held.residual:
                    lie = replace(held, residual=held.residual * 0.9)
                    shares = (*decision.held[:place], lie, *decision.held[place + 1 :])
                    assert "residual" in whats(recheck(with_decision(round_, at, replace(decision, held=shares))))
                    found += 1
    assert found


@pytest.mark.parametrize("name", WITH_DECISIONS)
def test_a_decision_that_is_gone_is_missed_and_two_in_the_wrong_order_are_noticed(name):
    for round_ in rounds(name, count=12):
        for at in range(len(round_.decisions)):
            assert not recheck(replace(round_, decisions=round_.decisions[:at] + round_.decisions[at + 1 :])).agrees
        if len(round_.decisions) > 1:
            first, second, *rest = round_.decisions
            assert "order" in whats(recheck(replace(round_, decisions=(second, first, *rest))))
        if round_.decisions:
            assert "missing" in whats(recheck(replace(round_, draw=None)))
            assert "missing" in whats(recheck(with_decision(round_, 0, replace(round_.decisions[0], held=())))) or (
                round_.tree.laws[round_.decisions[0].node] == "point"
            )


def test_a_bonus_drawn_from_p_although_a_draft_was_refused_is_found():
    """The bug of forgetting the residual, as a trace would show it."""
    for round_ in rounds("chain"):
        if recheck(round_).residual:
            assert round_.draw
            lie = Draw(round_.draw.coin, max(0.0, round_.draw.coin - round_.bonus_prob / 2), round_.bonus_prob)
            assert "bonus" in whats(recheck(replace(round_, draw=lie)))


def test_another_rule_than_the_one_that_decided_does_not_agree():
    wrong: list[tuple[str, AcceptanceRule]] = [
        ("chain", "block"),
        ("block", "chain"),
        ("tree, same law", "traversal"),
        ("traversal, distinct", "tree"),
    ]
    for name, rule in wrong:
        agree = [recheck(replace(round_, rule=rule)).agrees for round_ in rounds(name)]
        assert agree.count(False) > len(agree) // 2, (name, rule)


def test_a_bonus_or_a_text_that_is_not_what_the_tests_gave_is_found():
    for name in ("chain", "point masses", "greedy"):
        for round_ in rounds(name, count=12):
            for other in (round_.bonus + 1, round_.bonus - 1):
                changed = replace(round_, committed=(*round_.committed[:-1], other))
                assert not recheck(changed).agrees
            if name == "greedy":
                assert not recheck(replace(round_, bonus_prob=0.0, bonus=99)).agrees


def test_a_greedy_draft_that_was_likelier_than_what_was_chosen_is_found():
    for round_ in rounds("greedy point masses", count=12):
        for node, fate in enumerate(round_.tree.fates):
            if fate == "rejected":
                assert "likelier" in whats(recheck(with_column(round_, "target_probs", node, 0.99)))


def test_two_tokens_cannot_both_have_been_drawn():
    round_ = next(each for each in rounds("point masses") if each.tree.fates[0] == "accepted")
    sibling = round_.tree.children()[ROOT][1]
    assert "stretch" in whats(recheck(with_column(round_, "coins", sibling, 0.0)))


def test_a_second_guess_of_the_same_token_is_no_contradiction():
    tree = VerifiedTree(
        tokens=(3, 3), parents=(ROOT, ROOT), probs=(0.5, 0.5), laws=("point", "point"), sources=("prompt", "output"),
        match_lengths=(1, 1), target_probs=(0.6, 0.6), coins=(0.2, 0.2), fates=("accepted", "rejected"),
    )  # fmt: skip
    assert recheck(Round(1, 1, 3, 0.0, 0.0, 1.0, tree, bonus=4, bonus_prob=0.5, committed=(3, 4))).agrees


def test_a_chain_by_hand():
    """q = 0.8 for the first token, of which the target thinks 0.4: accepted with probability 0.5."""
    held = (Held(0, 0.4, 0.8, 0.0), Held(1, 0.6, 0.2, 1.0))
    tree = VerifiedTree(
        tokens=(0,), parents=(ROOT,), probs=(0.8,), laws=("sampled",), sources=("model",), match_lengths=(0,),
        target_probs=(0.4,), coins=(0.7,), fates=("rejected",),
    )  # fmt: skip
    decision = Decision(0, weight=1.0, p=0.4, q=0.8, mass=0.4, threshold=0.5, coin=0.7, held=held)
    round_ = Round(
        1, 1, 2, 0.0, 0.0, 1.0, tree, bonus=1, bonus_prob=0.6, committed=(1,), rule="chain",
        decisions=(decision,), draw=Draw(0.3, 0.0, 1.0),
    )  # fmt: skip
    checked = recheck(round_)
    assert checked.agrees, checked.problems
    assert checked.residual
    (step,) = checked.steps
    assert (step.threshold, step.passed) == (0.5, False)
    lower = with_decision(round_, 0, replace(decision, coin=0.4))
    assert whats(recheck(lower)) >= {"fate", "coin", "text"}


def test_a_block_by_hand():
    """w = 1, then min(1, 0.3 / 0.6) = 0.5; S = 0.1 behind it, so h = 0.1 / (0.1 + 1 − 0.5) = 1/6; at the end 0.25."""
    tree = VerifiedTree(
        tokens=(0, 1), parents=(ROOT, 0), probs=(0.6, 0.8), laws=("sampled",) * 2, sources=("model",) * 2,
        match_lengths=(0, 0), target_probs=(0.3, 0.4), coins=(0.5, 0.2), fates=("accepted", "accepted"),
    )  # fmt: skip
    first = Decision(0, 1.0, 0.3, 0.6, 0.3, 1 / 6, 0.5, (Held(0, 0.3, 0.6, 0.0), Held(1, 0.7, 0.4, 1.0)))
    second = Decision(1, 0.5, 0.4, 0.8, 0.1, 0.25, 0.2, (Held(1, 0.4, 0.8, 0.0), Held(0, 0.6, 0.2, 1.0)))
    round_ = Round(
        1, 1, 3, 0.0, 0.0, 1.0, tree, bonus=2, bonus_prob=0.5, committed=(0, 1, 2), rule="block",
        decisions=(first, second), draw=Draw(0.6, 0.5, 0.5),
    )  # fmt: skip
    checked = recheck(round_)
    assert checked.agrees, checked.problems
    assert [step.threshold for step in checked.steps] == pytest.approx([1 / 6, 0.25])
    assert [step.passed for step in checked.steps] == [False, True]  # the last test passed takes the first with it
    assert not checked.residual


def test_withheld_guesses_leave_a_round_that_can_still_be_checked():
    for name in ("mixed", "point masses", "greedy point masses"):
        for round_ in rounds(name):
            assert recheck(round_.withholding("prompt")).agrees


def test_steps_of_point_masses_say_what_their_columns_say():
    for round_ in rounds("point masses"):
        assert not round_.decisions
        for step in recheck(round_).steps:
            tree = round_.tree
            assert (step.p, step.q, step.coin) == (tree.target_probs[step.node], 1.0, tree.coins[step.node])
            assert step.threshold == step.p
            assert step.passed == (step.coin is not None and step.coin < step.p)


def test_a_deep_tree_of_a_file_does_not_exhaust_the_stack():
    count = 5000
    one = toy_round(0, rule="traversal").tree
    columns = {name: (getattr(one, name)[0],) * count for name in VerifiedTree.__dataclass_fields__}
    tree = VerifiedTree(**columns | {"parents": tuple(range(ROOT, count - 1))})
    decision = replace(toy_round(0, rule="traversal").decisions[0], node=count - 1)
    round_ = Round(
        1, 1, count + 1, 0.0, 0.0, 1.0, tree, bonus=1, bonus_prob=0.5, committed=(1,), rule="traversal",
        decisions=(decision,),
    )  # fmt: skip
    assert not recheck(round_).agrees
