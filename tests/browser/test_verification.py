"""Stepping through a verification, in a real browser."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from sssd_demo import trace_file
from sssd_demo.rechecked import recheck
from sssd_demo.trace import Trace
from tests.browser.conftest import ask, screenshot, upload, wait_for_answer
from tests.toy_rounds import toy_trace
from tests.ui.fakes import FakeService

pytestmark = pytest.mark.browser

TRACE = toy_trace("chain")
REFUSED = next(r.index for r in TRACE.rounds if r.tree.fates[:2] == ("accepted", "rejected") and recheck(r).residual)


def replay(page: Page, trace: Trace, folder: Path) -> None:
    trace_file.save(trace, folder / "toy.json")
    upload(page, folder / "toy.json")
    expect(page.locator(".rs-bar")).to_have_count(len(trace.rounds))


def test_a_refused_guess_is_stepped_through_to_the_token_that_came_instead(page: Page, tmp_path: Path):
    replay(page, TRACE, tmp_path)
    page.locator(".rs-bar").nth(REFUSED).click()
    toggle = page.get_by_role("button", name="Verification, step by step")
    expect(toggle).to_have_attribute("aria-expanded", "false")
    expect(page.locator(".vs-body")).to_be_hidden()
    expect(page.locator(".vs-redone")).to_have_text(re.compile("agrees"))
    toggle.click()
    lines = page.locator(".vs-line")
    expect(lines).to_have_count(3)
    expect(lines.nth(0)).to_have_attribute("aria-current", "step")
    expect(lines.nth(0)).to_contain_text(": accepted")
    expect(page.locator(".dt-node.is-checked")).to_have_attribute("data-node", "0")
    page.get_by_role("button", name="Next check").click()
    expect(lines.nth(1)).to_have_attribute("aria-current", "step")
    expect(lines.nth(1)).to_contain_text("rejected")
    expect(page.locator(".dt-node.is-checked")).to_have_attribute("data-node", "1")
    expect(page.locator(".vs-left")).to_contain_text("left of the model's probabilities")
    assert page.locator(".vs-left tbody tr").count() >= 3
    screenshot(page, "verification", full_page=True)
    lines.nth(1).focus()
    page.keyboard.press("ArrowDown")
    expect(lines.nth(2)).to_be_focused()
    expect(lines.nth(2)).to_contain_text("comes next: drawn from what the refused guess left")
    expect(page.locator(".dt-node.is-checked")).to_have_class(re.compile("dt-bonus"))
    page.locator('.dt-node[data-node="0"]').click()
    expect(lines.nth(0)).to_have_attribute("aria-current", "step")
    page.get_by_role("button", name="Next forward").click()
    expect(page.locator(".vs-body")).to_be_visible()
    expect(lines.nth(0)).to_have_attribute("aria-current", "step")


def test_a_trace_that_was_changed_is_named_as_such(page: Page, tmp_path: Path):
    round_ = TRACE.rounds[REFUSED]
    first = replace(round_.decisions[0], q=round_.decisions[0].q / 2)
    rounds = list(TRACE.rounds)
    rounds[REFUSED] = replace(round_, decisions=(first, *round_.decisions[1:]))
    replay(page, replace(TRACE, rounds=tuple(rounds)), tmp_path)
    page.locator(".rs-bar").nth(REFUSED).click()
    expect(page.locator(".vs-redone")).to_contain_text("does not agree")
    expect(page.locator(".vs-redone")).to_contain_text("the draft's probability is recorded as")


def test_what_a_small_model_guesses_by_is_shown_where_it_guesses(page: Page, service: FakeService):
    expect(page.get_by_label("judged by")).to_be_hidden()
    page.get_by_label("method").click()
    page.get_by_role("option", name="speculative").click()
    rule = page.get_by_label("judged by")
    expect(rule).to_be_visible()
    expect(page.locator("#draft-hint")).to_contain_text("what HSD calls hierarchical, made exact")
    expect(page.get_by_label("extra datastore")).to_be_hidden()
    rule.click()
    page.get_by_role("option", name="block").click()
    page.get_by_label("guesses in a row (K)").click()
    page.get_by_role("option", name="3", exact=True).click()
    ask(page, "the cat please")
    wait_for_answer(page)
    drafting = service.asked[-1][1].drafting()
    assert (drafting.k, drafting.rule, drafting.temperature) == (3, "block", None)
