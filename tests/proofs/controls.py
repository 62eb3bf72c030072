"""Which proof each seeded bug must fail."""

from __future__ import annotations

from dataclasses import dataclass

from sssd_demo.rules import top_down, traversal
from tests.proofs import altered_rules as altered
from tests.proofs import wrong_coins, wrong_drafters, wrong_rules
from tests.proofs.exact import Method
from tests.proofs.setups import LINES, Line

BUGS = {
    "chain": {
        "everything is accepted": Method(rule=wrong_rules.accepts_everything),
        "accepted where it is the target's most likely token": Method(rule=wrong_rules.accepts_by_argmax),
        "refused without residual": Method(rule=altered.draws_from_all_of_p(top_down)),
        "a coin passes at <= instead of <": Method(rule=altered.at_most(top_down)),
        "raw q reported, drawn at another temperature": Method(wrong_drafters.reports_the_raw_law),
        "the most likely tokens reported as sampled": Method(wrong_drafters.takes_the_most_likely),
        "a sampled token dropped as unlikely": Method(wrong_drafters.drops_the_unlikely),
        "one coin drafts and tests": Method(keys=wrong_coins.OneCoinDraftsAndTests()),
        "one coin tests and draws": Method(keys=wrong_coins.OneCoinTestsAndDraws()),
    },
    "block": {
        "last ratio uncapped": Method(rule=altered.last_ratio_uncapped),
        "ends at the first failure": Method(rule=altered.stops_at_the_first_failure),
        "residual of the chain rule": Method(rule=altered.block_with_the_chains_residual),
        "one coin tests all depths": Method(keys=wrong_coins.OneCoinForAllDepths()),
        "coins of tests keyed by position alone": Method(keys=wrong_coins.TestsByPositionAlone()),
        "coins of drafts keyed by position alone": Method(keys=wrong_coins.DraftsByPositionAlone()),
        "raw q reported, drawn at another temperature": Method(wrong_drafters.reports_the_raw_law),
    },
    "tree, drawn with replacement": {
        "the most likely tokens reported as sampled": Method(wrong_drafters.takes_the_most_likely),
        "equal siblings merged": Method(wrong_drafters.merges_equal_siblings),
        "every sibling tested against all of p": Method(rule=wrong_rules.tests_every_sibling_against_all_of_p),
        "tested as if drawn without replacement": Method(rule=wrong_rules.tests_as_if_drawn_to_be_distinct),
    },
    "tree, drawn without replacement": {
        "tested as if drawn with replacement": Method(wrong_drafters.draws_without_replacement),
        "every sibling tested against all of p": Method(rule=wrong_rules.tests_every_sibling_against_all_of_p),
    },
    "traversal, drawn with replacement": {
        "a node tested by its ratio alone": Method(rule=altered.tests_a_node_by_its_ratio_alone),
        "refused without residual": Method(rule=altered.draws_from_all_of_p(traversal)),
    },
    "traversal, drawn without replacement": {
        "tested as if drawn with replacement": Method(wrong_drafters.draws_without_replacement),
        "refused without residual": Method(rule=altered.draws_from_all_of_p(traversal)),
    },
    "tree of candidates": {
        "everything is accepted": Method(rule=wrong_rules.accepts_everything),
        "refused without residual": Method(rule=wrong_rules.candidates_refused_without_residual),
        "one running coin, duplicates counted twice": Method(rule=wrong_rules.running_sum_with_duplicates),
        "one coin for all depths": Method(keys=wrong_coins.OneCoinForAllDepths()),
    },
    "sampled tokens and candidates": {
        "candidates first, an equal sampled token merged": Method(rule=wrong_rules.candidates_before_the_sampled),
        "candidates tried by all of p": Method(rule=altered.draws_from_all_of_p(top_down)),
        "a sampled token dropped as unlikely": Method(wrong_drafters.drops_the_unlikely),
    },
}


@dataclass(frozen=True)
class Control:
    line: Line
    bug: str
    method: Method


CONTROLS = [Control(line, bug, method) for line in LINES for bug, method in BUGS[line.name].items()]
