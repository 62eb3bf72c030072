"""What a visitor does in the Saguaro tab, in a real browser: rounds are made by hand, all else is real."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from playwright.sync_api import Browser, Page, expect

from sssd_demo.ui import frame
from sssd_demo.ui.components import script_head
from sssd_demo.ui.launch import RunningApp, launch
from tests.browser.conftest import MARKUP, open_app, screenshot
from tests.ui.fakes import opens, wait_until
from tests.ui.saguaro_fakes import SaguaroService

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def service() -> SaguaroService:
    return SaguaroService()


@pytest.fixture(scope="module")
def app(service: SaguaroService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame, "recorded_run", lambda: None)
        patch.setenv("SSSD_DEMO_DATA", str(tmp_path_factory.mktemp("data")))
        running = launch(opens(cast(Any, service)), "fake")
        wait_until(lambda: running.host.service is not None)
        yield running
        running.close()


@pytest.fixture
def tab(page: Page) -> Page:
    """A fresh visitor's page with the tab open."""
    page.get_by_role("tab", name="Saguaro").click()
    expect(page.locator("#saguaro-run")).to_be_visible()
    return page


def run(page: Page) -> None:
    page.locator("#saguaro-run").click()
    expect(page.locator(".saguaro-view")).to_have_attribute("data-phase", "ended")


def test_a_run_shows_both_timelines_a_verdict_and_the_cache_of_a_round(tab: Page):
    run(tab)
    expect(tab.locator(".st-lane")).to_have_count(2)
    expect(tab.locator(".sv-verdict")).to_contain_text("because drafter and target share 2 cores")
    expect(tab.locator(".st-svg .st-hand.is-hit")).to_have_count(9)
    expect(tab.locator(".st-svg .st-hand.is-miss")).to_have_count(2)
    expect(tab.locator(".sk-cell.is-came")).to_have_count(1)
    expect(tab.locator("#saguaro-figures")).to_contain_text("Hits by fan-out")
    screenshot(tab, "saguaro_light", full_page=True)


def test_the_clocks_are_chosen_by_keyboard_and_never_mixed(tab: Page):
    run(tab)
    measured = tab.locator(".st-told").all_text_contents()
    tab.locator(".sv-clock input").first.focus()
    tab.keyboard.press("ArrowRight")
    expect(tab.locator(".sv-verdict")).to_contain_text("on two devices")
    expect(tab.locator(".sv-note")).to_contain_text("Computed for two devices from times measured here")
    assert tab.locator(".st-told").all_text_contents() != measured


def test_rounds_are_opened_by_arrow_keys_clicks_and_buttons(tab: Page):
    run(tab)
    tab.locator(".st-scroll").focus()
    tab.keyboard.press("Home")
    expect(tab.locator(".sk-head h3")).to_have_text("What was prepared for round 1")
    expect(tab.locator(".sk-none")).to_be_visible()
    for _ in range(4):
        tab.keyboard.press("ArrowRight")
    expect(tab.locator(".sk-badge")).to_have_text("○ miss")
    expect(tab.locator(".sk-cell.is-missed")).to_contain_text("(rank 5)")
    tab.get_by_role("button", name="next round").click()
    expect(tab.locator(".sk-badge")).to_have_text("● hit")
    tab.locator('.st-round[data-round="7"]').click(force=True, position={"x": 2, "y": 2})
    expect(tab.locator(".sk-head h3")).to_have_text("What was prepared for round 7")


def test_a_run_is_saved_and_replayed_as_recorded(tab: Page, tmp_path: Path):
    run(tab)
    with tab.expect_download() as download:
        tab.locator("#saguaro-save").click()
    path = tmp_path / "run.json"
    download.value.save_as(path)
    with tab.expect_file_chooser() as chooser:
        tab.locator("#saguaro-load").click()
    chooser.value.set_files(path)
    expect(tab.locator(".saguaro-view .av-badge")).to_contain_text("Recorded on test bench")
    expect(tab.locator(".st-lane")).to_have_count(2)


def test_what_cannot_be_asked_is_refused_in_a_sentence(tab: Page):
    tab.locator("#saguaro-question textarea").fill("")
    tab.locator("#saguaro-run").click()
    expect(tab.locator("#saguaro-notice")).to_contain_text("Please write a question.")
    tab.locator("#saguaro-sweep-fold > button").click()
    tab.locator("#saguaro-question textarea").fill("Where is the cat?")
    tab.locator("#saguaro-sweep").click()
    expect(tab.locator("#saguaro-notice")).to_contain_text("set a temperature above 0")


def test_a_run_can_be_stopped(tab: Page, service: SaguaroService):
    service.pause = 0.5
    tab.locator("#saguaro-run").click()
    expect(tab.locator("#saguaro-stop")).to_be_enabled()
    expect(tab.locator(".st-lane").first).to_be_visible(timeout=30_000)
    tab.locator("#saguaro-stop").click()
    expect(tab.locator(".saguaro-view")).to_have_attribute("data-phase", "stopped")
    expect(tab.locator("#saguaro-run")).to_be_enabled()
    service.pause = 0.0


def test_hits_and_misses_are_marked_in_the_chat(page: Page):
    page.locator("#message textarea").fill("Where is the cat?")
    page.keyboard.press("Enter")
    expect(page.locator(".answer-view")).to_have_attribute("data-state", "ended")
    expect(page.locator(".rs-cache.is-hit")).to_have_count(9)
    expect(page.locator(".rs-cache.is-miss")).to_have_count(2)
    page.locator(".rs-bar[data-round='2']").click()
    expect(page.locator(".av-round-title")).to_contain_text("● hit: this draft lay ready, one of 6 prepared outcomes")


def test_a_phone_shows_it_all_in_one_column(browser: Browser, app: RunningApp):
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    open_app(page, app.url)
    page.get_by_role("tab", name="Saguaro").click()
    run(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    screenshot(page, "saguaro_phone_dark", full_page=True)
    context.close()


def test_words_go_into_the_pictures_as_words(browser: Browser):
    blank = browser.new_page()
    blank.set_content(f"<html><head>{script_head()}</head><body></body></html>")
    title = blank.title()
    words = f"{MARKUP} \\u **bold**"
    rows = [
        {"k": 0, "path": words, "guesses": [words, words], "came": 0},
        {"k": 1, "path": words, "guesses": [], "missed": words},
    ]
    lane = {"key": "ahead", "name": words, "told": words, "bars": [["d", "p", 0, 5, 1]], "hands": [[1, 5, True]]}
    clock = {"lanes": [lane | {"total": 9}], "note": words, "verdict": words}
    value = {
        "phase": "ended",
        "now": words,
        "recorded": words,
        "asked": words,
        "facts": [[words, words]],
        "clocks": {"measured": clock, "computed": clock},
        "rounds": [{"n": 1, "mark": "hit", "title": words, "said": words, "rows": rows}],
    }
    panel = {"title": words, "said": words, "bars": [{"label": words, "share": 0.5, "value": words}]}
    figures = {"panels": [panel], "charts": [], "tables": [{"head": [words], "rows": [[words]]}], "notes": [words]}
    found = blank.evaluate(
        """([value, figures]) => ["saguaroView", "saguaroFigures"].map((drawer, at) => {
          const element = document.createElement("div");
          document.body.append(element);
          sssdDemo[drawer](element, { value: at ? figures : value }, () => {});
          return [element.querySelectorAll("img, script, b > *").length, element.textContent.includes("<img src=x")];
        })""",
        [value, figures],
    )
    assert found == [[0, True], [0, True]]
    assert blank.title() == title
    blank.close()


def test_an_empty_picture_says_what_will_stand_there(browser: Browser):
    blank = browser.new_page()
    blank.set_content(f"<html><head>{script_head()}</head><body><div id=here></div></body></html>")
    value = {"phase": "idle", "now": "Nothing yet.", "recorded": "", "clocks": {}, "rounds": []}
    blank.evaluate("(value) => sssdDemo.saguaroView(document.getElementById('here'), { value }, () => {})", value)
    expect(blank.locator(".st-empty")).to_contain_text("drafting in turn, and preparing ahead")
    expect(blank.locator(".sk-cache")).to_be_hidden()
    assert not re.search("undefined|NaN", blank.locator("#here").inner_text())
    blank.close()
