"""What a visitor does in the Compare tab, in a real browser, with scripted answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from sssd_demo.ui import frame
from sssd_demo.ui.answer_payload import AnswerPayload
from sssd_demo.ui.components import script_head
from sssd_demo.ui.launch import RunningApp, launch
from tests.browser.conftest import HOSTILE, open_app, reply, screenshot
from tests.compare.fakes import CompareService
from tests.ui.fakes import make_trace, opens, wait_until

pytestmark = pytest.mark.browser

END = 60_000  # milliseconds that a scripted comparison may take


@pytest.fixture(scope="module")
def service() -> CompareService:
    return CompareService(reply, delay=0.01, base_text="quite another text")


@pytest.fixture(scope="module")
def app(service: CompareService) -> Iterator[RunningApp]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame, "recorded_run", lambda: None)
        running = launch(opens(service), "fake")
        wait_until(lambda: running.host.service is not None)
        yield running
        running.close()


@pytest.fixture
def tab(page: Page) -> Page:
    """A fresh visitor's page with the tab open."""
    open_tab(page)
    return page


def open_tab(page: Page) -> None:
    page.get_by_role("tab", name="Compare").click()
    expect(page.get_by_label("speculative · block")).to_be_visible()  # offered once the model is there


def run(page: Page, text: str) -> None:
    page.locator("#compare-prompt textarea").fill(text)
    page.locator("#compare-run").click()


def wait_for_end(page: Page, phase: str = "ended") -> None:
    expect(page.locator(".compare-lanes")).to_have_attribute("data-phase", phase, timeout=END)
    expect(page.locator("#compare-run")).to_be_enabled()


def set_clock(page: Page, ms: int) -> None:
    page.locator(".cl-slider").evaluate(
        "(slider, ms) => { slider.value = ms; slider.dispatchEvent(new Event('input')); }", ms
    )


def tokens_shown(page: Page) -> list[int]:
    return [page.locator(".cl-lane").nth(n).locator(".ts-answer .ts-token").count() for n in range(2)]


def test_lanes_fill_one_after_another_and_can_then_be_raced_on_one_clock(tab: Page):
    tab.get_by_label("speculative · chain").uncheck()
    run(tab, "a cat")
    expect(tab.locator(".cl-lane").nth(1)).to_contain_text("waits for its turn")
    expect(tab.locator(".cl-play")).to_be_disabled()
    wait_for_end(tab)
    expect(tab.locator(".cl-now")).to_have_text("Finished: 2 answers. Drag the clock or press play to see them race.")
    expect(tab.locator(".cr-same")).to_contain_text("Identical text: every method wrote plain decoding's answer")
    whole = tokens_shown(tab)
    assert whole[0] == whole[1] > 10
    set_clock(tab, 500)
    expect(tab.locator(".cl-clock")).to_have_text("0.50 s")
    slow, fast = tokens_shown(tab)
    assert 0 < slow < fast
    tab.locator(".cl-play").click()
    expect(tab.locator(".cl-play")).to_contain_text("play", timeout=END)  # paused again: it has come to the end
    expect(tab.locator(".compare-lanes")).to_have_attribute("data-at-end", "true")
    assert tokens_shown(tab) == whole
    screenshot(tab, "compare_light", full_page=True)


def test_a_token_can_be_pointed_at_and_sets_the_clock_to_its_moment(tab: Page):
    run(tab, "a cat")
    wait_for_end(tab)
    token = tab.locator(".cl-lane").nth(1).locator(".ts-token.fate-accepted").first
    token.hover()
    expect(tab.locator(".cl-detail")).to_contain_text(
        re.compile("“.+”, accepted, from the answer itself, match length")
    )
    token.click()
    expect(tab.locator(".compare-lanes")).to_have_attribute("data-at-end", "false")
    slow, fast = tokens_shown(tab)
    assert slow < fast


def test_the_race_goes_by_keys_alone(tab: Page):
    run(tab, "a cat")
    wait_for_end(tab)
    tab.locator(".cl-slider").focus()
    tab.keyboard.press("Home")
    expect(tab.locator(".cl-clock")).to_have_text("0.00 s")
    tab.keyboard.press("ArrowRight")
    expect(tab.locator(".cl-slider")).to_have_attribute("aria-valuetext", re.compile(r"0\.0[1-9] s"))
    tab.keyboard.press("End")
    expect(tab.locator(".compare-lanes")).to_have_attribute("data-at-end", "true")


def test_what_was_saved_is_replayed_by_somebody_else_as_recorded(
    tab: Page, browser: Browser, app: RunningApp, tmp_path: Path
):
    run(tab, "a cat")
    wait_for_end(tab)
    with tab.expect_download() as download:
        tab.locator("#compare-save-all").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    with tab.expect_download() as download:
        tab.locator("#compare-save-table").click()
    assert Path(download.value.path()).read_text().startswith("lane,method,rule")
    figures = tab.locator(".cr-table").inner_text()
    other = browser.new_page()
    open_app(other, app.url)
    open_tab(other)
    with other.expect_file_chooser() as chooser:
        other.locator("#compare-load").click()
    chooser.value.set_files(saved)
    expect(other.locator(".compare-lanes .av-badge")).to_be_visible()
    expect(other.locator(".cl-now")).to_contain_text("Recorded on test bench, 2 threads")
    assert other.locator(".cr-table").inner_text() == figures
    saved.write_bytes(saved.read_bytes()[:500])
    with other.expect_file_chooser() as chooser:
        other.locator("#compare-load").click()
    chooser.value.set_files(saved)
    expect(other.locator("#compare-notice")).to_contain_text("is not a saved comparison, or it was cut off")
    expect(other.locator(".cr-table")).to_be_visible()  # what was there before stays
    other.close()


def test_stop_keeps_what_is_finished_and_refusals_keep_everything(tab: Page, service: CompareService):
    run(tab, " ")
    expect(tab.locator("#compare-notice")).to_contain_text("The question is empty")
    service.delay = 0.05
    run(tab, "a long one")
    expect(tab.locator(".cl-lane").first.locator(".ts-answer .ts-token").nth(3)).to_be_visible()
    expect(tab.locator("#compare-notice .notice")).to_be_hidden()
    tab.locator("#compare-stop").click()
    wait_for_end(tab, "stopped")
    service.delay = 0.01
    expect(tab.locator(".cl-now")).to_have_text("Stopped after 0 of 3 answers.")
    expect(tab.locator("#compare-prompt textarea")).to_have_value("a long one")
    expect(tab.locator("#compare-save-all")).to_be_disabled()


def test_hostile_text_is_shown_as_written(tab: Page):
    title = tab.title()
    run(tab, "hostile ${alert(1)} <img src=x onerror=alert(1)>")
    wait_for_end(tab)
    written = tab.locator(".cl-lane").first.locator(".ts-answer")
    assert written.inner_text().startswith(HOSTILE[:60])
    assert tab.locator("#compare-race img, #compare-race script, #compare-results img").count() == 0
    assert tab.title() == title
    assert "\ufffd" not in tab.content()


def test_a_phone_shows_lanes_below_each_other_and_nothing_sticks_out(browser: Browser, app: RunningApp):
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    open_app(page, app.url)
    open_tab(page)
    run(page, "a cat")
    wait_for_end(page)
    lanes = [page.locator(".cl-lane").nth(n).bounding_box() for n in range(2)]
    assert lanes[0] is not None
    assert lanes[1] is not None
    assert lanes[1]["y"] >= lanes[0]["y"] + lanes[0]["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    screenshot(page, "compare_phone_dark", full_page=True)
    context.close()


def test_the_clock_counts_exactly_the_rounds_that_were_over(browser: Browser):
    page = browser.new_page()
    page.set_content(f"<html><head>{script_head()}</head><body></body></html>")
    trace = make_trace("the cat", "the cat sat on the mat and the cat sat on the mat")
    value = AnswerPayload(trace).update(trace)
    moments = page.evaluate("(value) => sssdDemo.momentsOf(sssdDemo.unpack(value))", value)
    assert sum(moment["accepted"] + moment["own"] for moment in moments) == len(trace.token_ids())
    for index, moment in enumerate(moments):
        exact = trace.rounds[index].end_ms - trace.rounds[0].start_ms
        assert abs(moment["end"] - exact) < 1
        for clock, over in ((moment["end"], index + 1), (moment["end"] - 0.01, index)):
            assert page.evaluate("([m, t]) => sssdDemo.overAt(m, t)", [moments, clock]) == over
    assert page.evaluate("(m) => sssdDemo.overAt(m, Infinity)", moments) == len(moments)
    page.close()
