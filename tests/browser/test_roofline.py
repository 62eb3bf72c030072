"""What a visitor does in the Roofline tab, in a real browser: forwards take a scripted time, all else is real."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import pytest
from playwright.sync_api import Browser, Page, expect

from sssd_demo.ui import frame
from sssd_demo.ui.launch import RunningApp, launch
from tests.browser.conftest import open_app, screenshot
from tests.ui.fakes import opens, wait_until
from tests.ui.roofline_fakes import RooflineService

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def service() -> RooflineService:
    return RooflineService()


@pytest.fixture(scope="module")
def app(service: RooflineService) -> Iterator[RunningApp]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame, "recorded_run", lambda: None)
        running = launch(opens(cast(Any, service)), "fake")
    wait_until(lambda: running.host.service is not None)
    yield running
    running.close()


@pytest.fixture
def tab(page: Page) -> Page:
    """A fresh visitor's page with the tab open and filled."""
    open_tab(page)
    return page


def open_tab(page: Page) -> None:
    page.get_by_role("tab", name="Roofline").click()
    expect(page.locator("#roof-chosen .rv-said")).to_contain_text("sequences")


def choose(page: Page, control: str, option: str) -> None:
    page.locator(f"{control} input").click()
    page.get_by_role("option", name=option, exact=True).click()


def set_batch(page: Page, batch: int) -> None:
    number = page.locator("#roof-batch input[type=number]")
    number.fill(str(batch))
    number.press("Enter")
    expect(page.locator("#roof-run-one")).to_have_text(f"Run b = {batch}")


def test_the_slider_plans_anew_by_keyboard_and_the_sentence_follows(tab: Page):
    expect(tab.locator("#roof-chosen .rv-said")).to_contain_text("At 8 sequences")
    slider = tab.locator("#roof-batch input[type=range]")
    slider.focus()
    slider.press("ArrowRight")
    expect(tab.locator("#roof-chosen .rv-said")).to_contain_text("At 9 sequences")
    expect(tab.locator("#roof-run-one")).to_have_text("Run b = 9")
    set_batch(tab, 16)
    roofline = tab.locator("#roof-chosen tbody tr").nth(1)
    expect(roofline).to_contain_text("32.0 tokens at the knee ÷ 16 = 2.0")
    for chart in ("The roof", "How long a forward takes"):
        expect(tab.get_by_role("img", name=re.compile(chart))).to_be_visible()
    expect(tab.locator("#roof-chosen .rc-label").first).to_be_visible()


def test_another_machine_is_drawn_and_called_computed(tab: Page):
    choose(tab, "#roof-hardware", "L4 (computed)")
    expect(tab.locator("#roof-chosen .rv-notes")).to_contain_text("Computed from the vendor's figures, not measured")
    expect(tab.locator("#roof-chosen .rc-legend").first).to_contain_text("roof of L4, computed")
    choose(tab, "#roof-model", "70B")
    expect(tab.locator("#roof-chosen .rv-notes")).to_contain_text("would not fit")
    choose(tab, "#roof-bits", "4")
    expect(tab.locator("#roof-devices .rv-said")).to_contain_text("With 4-bit weights")
    link = tab.locator("#roof-devices tbody a").first
    expect(link).to_have_attribute("rel", "noopener noreferrer")


def test_a_run_is_measured_next_to_its_plan_and_stays_for_other_visitors(tab: Page, browser: Browser, app: RunningApp):
    set_batch(tab, 4)
    tab.locator("#roof-run-one").click()
    verdict = tab.locator("#roof-measured .rv-said")
    expect(verdict).to_contain_text("At 4 sequences this machine writes")
    expect(verdict).to_contain_text("the plan holds")
    expect(tab.locator("#roof-measured .rv-now")).to_have_text("Finished.")
    expect(tab.locator("#roof-measured tbody tr")).to_have_count(2)
    expect(tab.locator("#roof-chosen .rv-notes")).to_contain_text("was measured here")
    expect(tab.locator("#roof-stop-run")).to_be_disabled()
    other = browser.new_page()
    open_app(other, app.url)
    open_tab(other)
    expect(other.locator("#roof-measured .rv-said")).to_contain_text("At 4 sequences this machine writes")
    other.close()


def test_a_sweep_shows_where_guessing_stops_paying(tab: Page, service: RooflineService):
    tab.locator("#roof-run-sweep").click()
    gain = tab.get_by_role("img", name=re.compile("Gain over plain decoding"))
    expect(tab.locator("#roof-measured tbody tr")).to_have_count(10, timeout=60_000)
    expect(gain).to_have_attribute("aria-label", re.compile("Guessing gains"))
    expect(tab.locator("#roof-measured .rc-first:not(.is-planned) .rc-dot").first).to_be_visible()
    screenshot(tab, "roofline_light", full_page=True)


def test_a_run_can_be_stopped(tab: Page, service: RooflineService):
    service.delay = 0.05
    tab.locator("#roof-run-sweep").click()
    expect(tab.locator("#roof-stop-run")).to_be_enabled()
    expect(tab.locator("#roof-measured .rv-progress")).to_be_visible()
    expect(tab.locator("#roof-measured .rv-now")).to_contain_text("tokens of each")
    tab.locator("#roof-stop-run").click()
    expect(tab.locator("#roof-measured .rv-now")).to_contain_text("Stopped")
    expect(tab.locator("#roof-run-one")).to_be_enabled()
    service.delay = 0.0


def test_too_many_sequences_are_refused_in_a_sentence(tab: Page):
    set_batch(tab, 64)
    tab.locator("#roof-run-one").click()
    expect(tab.locator("#roof-run-notice")).to_contain_text("at most 16 sequences at once, so 64 cannot be run")


def test_live_shows_what_visitors_do_and_moves_the_slider(tab: Page, service: RooflineService):
    tab.locator("#roof-live input").check()
    expect(tab.locator("#roof-chosen .rv-now")).to_contain_text("nobody is being answered")
    service.engine.busy = 3
    expect(tab.locator("#roof-chosen .rv-now")).to_contain_text("3 sequences being answered now")
    expect(tab.locator("#roof-batch input[type=number]")).to_have_value("3")
    service.engine.busy = 0
    tab.locator("#roof-live input").uncheck()
    expect(tab.locator("#roof-chosen .rv-now")).to_be_hidden()


def test_a_phone_shows_it_all_in_one_column(browser: Browser, app: RunningApp):
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    open_app(page, app.url)
    open_tab(page)
    expect(page.locator("#roof-measured .rc-svg").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    widths = page.locator(".rc-svg").evaluate_all("all => all.map((svg) => svg.getBoundingClientRect().right)")
    assert max(widths) <= 390
    screenshot(page, "roofline_phone_dark", full_page=True)
    context.close()
