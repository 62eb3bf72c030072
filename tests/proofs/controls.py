"""Which proof each seeded bug must fail."""

from __future__ import annotations

from dataclasses import dataclass

from sssd_demo.rules import top_down, traversal
from tests.proofs import altered_rules, wrong_coins, wrong_drafters, wrong_rules
from tests.proofs.exact import Method


@dataclass(frozen=True)
class Control:
    line: str  # the name of one of `setups.LINES`
    bug: str
    method: Method


WITH, WITHOUT = "siblings drawn with replacement", "siblings drawn without replacement"

CONTROLS = [
    Control("chain", "everything is accepted", Method(rule=wrong_rules.accepts_everything)),
    Control("chain", "accepted where it is the target's most likely token", Method(rule=wrong_rules.accepts_by_argmax)),
    Control("chain", "refused without residual", Method(rule=altered_rules.draws_from_all_of_p(top_down))),
    Control("chain", "a coin passes at <= instead of <", Method(rule=altered_rules.at_most(top_down))),
    Control("chain", "raw q reported, drawn at another temperature", Method(wrong_drafters.reports_the_raw_law)),
    Control("chain", "the most likely tokens reported as sampled", Method(wrong_drafters.takes_the_most_likely)),
    Control("chain", "a sampled token dropped as unlikely", Method(wrong_drafters.drops_the_unlikely)),
    Control("chain", "one coin drafts and tests", Method(keys=wrong_coins.OneCoinDraftsAndTests())),
    Control("chain", "one coin tests and draws", Method(keys=wrong_coins.OneCoinTestsAndDraws())),
    Control("block", "last ratio uncapped", Method(rule=altered_rules.last_ratio_uncapped)),
    Control("block", "ends at the first failure", Method(rule=altered_rules.stops_at_the_first_failure)),
    Control("block", "residual of the chain rule", Method(rule=altered_rules.block_with_the_chains_residual)),
    Control("block", "one coin tests all depths", Method(keys=wrong_coins.OneCoinForAllDepths())),
    Control("block", "coins of tests keyed by position alone", Method(keys=wrong_coins.TestsByPositionAlone())),
    Control("block", "coins of drafts keyed by position alone", Method(keys=wrong_coins.DraftsByPositionAlone())),
    Control("block", "raw q reported, drawn at another temperature", Method(wrong_drafters.reports_the_raw_law)),
    Control(
        f"tree, {WITH}", "the most likely tokens reported as sampled", Method(wrong_drafters.takes_the_most_likely)
    ),
    Control(f"tree, {WITH}", "equal siblings merged", Method(wrong_drafters.merges_equal_siblings)),
    Control(
        f"tree, {WITH}",
        "every sibling tested against all of p",
        Method(rule=wrong_rules.tests_every_sibling_against_all_of_p),
    ),
    Control(
        f"tree, {WITH}",
        "tested as if drawn without replacement",
        Method(rule=wrong_rules.tests_as_if_drawn_to_be_distinct),
    ),
    Control(
        f"tree, {WITHOUT}", "tested as if drawn with replacement", Method(wrong_drafters.draws_without_replacement)
    ),
    Control(
        f"tree, {WITHOUT}",
        "every sibling tested against all of p",
        Method(rule=wrong_rules.tests_every_sibling_against_all_of_p),
    ),
    Control(
        f"traversal, {WITH}",
        "a node tested by its ratio alone",
        Method(rule=altered_rules.tests_a_node_by_its_ratio_alone),
    ),
    Control(
        f"traversal, {WITH}", "refused without residual", Method(rule=altered_rules.draws_from_all_of_p(traversal))
    ),
    Control(
        f"traversal, {WITHOUT}", "tested as if drawn with replacement", Method(wrong_drafters.draws_without_replacement)
    ),
    Control(
        f"traversal, {WITHOUT}", "refused without residual", Method(rule=altered_rules.draws_from_all_of_p(traversal))
    ),
    Control("tree of candidates", "everything is accepted", Method(rule=wrong_rules.accepts_everything)),
    Control(
        "tree of candidates", "refused without residual", Method(rule=wrong_rules.candidates_refused_without_residual)
    ),
    Control(
        "tree of candidates",
        "one running coin, duplicates counted twice",
        Method(rule=wrong_rules.running_sum_with_duplicates),
    ),
    Control("tree of candidates", "one coin for all depths", Method(keys=wrong_coins.OneCoinForAllDepths())),
    Control(
        "sampled tokens and candidates",
        "candidates tested first, an equal sampled token merged",
        Method(rule=wrong_rules.candidates_before_the_sampled),
    ),
    Control(
        "sampled tokens and candidates",
        "candidates tried by all of p",
        Method(rule=altered_rules.draws_from_all_of_p(top_down)),
    ),
    Control(
        "sampled tokens and candidates",
        "a sampled token dropped as unlikely",
        Method(wrong_drafters.drops_the_unlikely),
    ),
]
