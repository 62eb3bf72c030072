"""What a visitor does in the Datastore tab, in a real browser: answers are scripted, stores are real."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from sssd_demo.ui import frame, growth_events
from sssd_demo.ui.datastore_lookup import LOOKED_UP
from sssd_demo.ui.launch import RunningApp, launch
from tests.browser.conftest import HOSTILE, ask, open_app, screenshot, wait_for_answer
from tests.ui.fakes import opens, wait_until
from tests.ui.store_fakes import StoreService

pytestmark = pytest.mark.browser

SENTENCES = ("The cat sat on the mat.", "The sea is calm at sunrise.", "Here is a list of things.", "Best regards.")
BASE = " ".join(SENTENCES * 20) + HOSTILE


def reply(question: str) -> str:
    chosen = random.Random(question).choices(SENTENCES, k=6)
    return " ".join(chosen)


@pytest.fixture(scope="module")
def service() -> StoreService:
    return StoreService(reply, delay=0.01, base_text=BASE)


@pytest.fixture(scope="module")
def app(service: StoreService) -> Iterator[RunningApp]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame, "recorded_run", lambda: None)
        patch.setattr(growth_events, "prompts", lambda: [f"question {n}" for n in range(200)])
        running = launch(opens(service), "fake")
        wait_until(lambda: running.host.service is not None)
        yield running
        running.close()


@pytest.fixture
def tab(page: Page) -> Page:
    """A fresh visitor's page with the tab open."""
    open_tab(page)
    expect(page.locator("#look-store input")).to_have_value("base")  # offered once the model is there
    return page


def open_tab(page: Page) -> None:
    page.get_by_role("tab", name="Datastore").click()
    expect(page.locator("#grow-play")).to_be_visible()


def look_up(page: Page, text: str, store: str = "") -> None:
    if store:
        page.locator("#look-store input").click()
        page.get_by_role("option", name=store).click()
    page.locator("#look-text").locator("input, textarea").fill(text)
    page.locator("#look-go").click()


def conversations(page: Page) -> int:
    return int(page.locator(".facts dd").first.inner_text())


def test_a_store_grows_pauses_goes_on_and_starts_over(tab: Page):
    expect(tab.locator(".sc-empty")).to_be_visible()
    expect(tab.locator("#grow .sm-empty")).to_be_visible()
    tab.locator("#grow-play").click()
    expect(tab.locator(".sg-now")).to_contain_text(re.compile(r"Conversation \d+ of 200: “question"))
    expect(tab.locator("#grow .sm-block").first).to_be_visible(timeout=20_000)
    expect(tab.locator(".sg-verdict")).to_contain_text("Over the last 10 conversations")
    expect(tab.locator("#grow .sm-events")).to_contain_text("merged into one")
    for name in ("both sources", "conversation only", "store only"):
        expect(tab.locator(".sc-name", has_text=name)).to_be_visible()
    screenshot(tab, "datastore_light")
    tab.locator("#grow-pause").click()
    expect(tab.locator(".sg-now")).to_contain_text("Paused after")
    paused = conversations(tab)
    tab.get_by_role("button", name="Resume").click()
    wait_until(lambda: conversations(tab) > paused)
    tab.locator("#grow-again").click()
    wait_until(lambda: conversations(tab) < paused)
    expect(tab.locator(".sg-now")).to_contain_text(re.compile(r"Conversation \d+ of 200"))


def test_old_text_is_dropped_on_screen_when_the_store_is_full(tab: Page, service: StoreService):
    service.delay = 0.0
    tab.locator("#grow-play").click()
    expect(tab.locator("#grow .sm-events")).to_contain_text("dropped the oldest", timeout=60_000)
    expect(tab.locator("#grow .sm-notes")).to_contain_text("documents dropped so far")
    expect(tab.locator(".sc-forgot").first).to_be_attached(timeout=20_000)
    service.delay = 0.01


def test_a_closed_page_stops_its_run(browser: Browser, app: RunningApp, service: StoreService):
    page = browser.new_page()
    open_app(page, app.url)
    open_tab(page)
    dropped = len(service.dropped_sessions)
    page.locator("#grow-play").click()
    expect(page.locator(".sg-now")).to_contain_text("Conversation")
    page.close()
    wait_until(lambda: any(each.startswith("growth-") for each in service.dropped_sessions[dropped:]), 15)


def test_a_lookup_shows_counts_places_and_the_tree(tab: Page):
    look_up(tab, "once" + " and" * (LOOKED_UP - 3) + " The cat sat", "base")
    expect(tab.locator(".sl-verdict")).to_contain_text("occurs 19 times; most often followed by “ on” (19 of 19)")
    expect(tab.locator(".sl-token.is-used")).to_have_count(LOOKED_UP)
    expect(tab.locator(".sl-token.is-unused")).to_have_text("once")
    opened = tab.locator("details.sl-level[open]")
    expect(opened.locator(".sl-bars li")).to_have_count(1)
    expect(opened.locator(".sl-places li").first).to_contain_text("sub-index 1, document 1")
    expect(opened.locator(".sl-places mark").first).to_have_text(re.compile("The·cat·sat"))
    expect(tab.locator(".sl-trie .dt-node").nth(2)).to_be_visible()
    tab.locator("details.sl-level summary").last.press("Enter")
    expect(tab.locator("details.sl-level[open]")).to_have_count(2)
    screenshot(tab, "datastore_lookup", full_page=True)
    tab.locator("#look-examples button").first.click()
    expect(tab.locator(".sl-token.is-used").last).to_have_text("·the")


def test_what_cannot_be_looked_up_is_a_sentence(tab: Page):
    look_up(tab, "cat", "the store grown above")
    expect(tab.locator(".sl-verdict")).to_contain_text("press Play above")
    look_up(tab, "cat", "my own store")
    expect(tab.locator(".sl-verdict")).to_contain_text("Your store is empty")
    look_up(tab, "", "base")
    expect(tab.locator(".sl-verdict")).to_contain_text("Write one word or more")
    look_up(tab, "zebra")
    expect(tab.locator(".sl-verdict")).to_contain_text("does not occur here")
    look_up(tab, "x" * 3000)
    expect(tab.locator(".sl-verdict")).to_contain_text("at most 2000 characters")


def test_of_the_shared_store_nothing_but_a_few_counts_is_shown(tab: Page, service: StoreService):
    service.shared.append(service.words.encode("so my password is swordfish"))
    assert service.shared.wait(5)
    look_up(tab, " my password", "shared store")
    expect(tab.locator(".sl-verdict")).to_contain_text("tells only how often a single token occurs")
    expect(tab.locator(".sl-level").first).to_contain_text("not shown for the shared store")
    expect(tab.locator(".sl-level").last).to_contain_text("fewer than 5 times")
    expect(tab.locator(".sl-trie")).to_contain_text("Not shown")
    assert "swordfish" not in tab.content()


def test_hostile_text_in_a_store_is_shown_as_written(tab: Page):
    title = tab.title()
    look_up(tab, "<img src", "base")
    expect(tab.locator(".sl-places li").first).to_contain_text("onerror=")
    look_up(tab, "👩")
    expect(tab.locator(".sl-places mark").first).to_have_text("👩")
    expect(tab.locator(".sl-token.is-used").first).to_have_text("F0")
    assert tab.title() == title
    assert tab.locator("#look img, #look script").count() == 0
    assert "\ufffd" not in tab.content()


def test_text_goes_into_the_own_store_can_be_found_and_emptied(tab: Page, tmp_path: Path):
    tab.locator("#fill-text textarea").fill("a purple elephant dances")
    tab.locator("#fill-add").click()
    expect(tab.locator("#fill-notice")).to_contain_text("Added 1 document, 4 tokens from the pasted text")
    expect(tab.locator("#mine .sm-block")).to_be_visible()
    look_up(tab, " purple", "my own store")
    expect(tab.locator(".sl-verdict")).to_contain_text("followed by “ elephant”")
    photo = tmp_path / "photo.txt"
    photo.write_bytes(b"\x89PNG\0")
    with tab.expect_file_chooser() as chooser:
        tab.locator("#fill-files").click()
    chooser.value.set_files(photo)
    expect(tab.locator("#fill-notice")).to_contain_text("photo.txt is not text")
    expect(tab.locator("#mine .sm-block")).to_contain_text("4")
    tab.locator("#fill-clear").click()
    expect(tab.locator("#mine .sm-empty")).to_be_visible()
    tab.locator("#look-go").click()
    expect(tab.locator(".sl-verdict")).to_contain_text("Your store is empty")


def test_forgetting_in_the_chat_clears_what_this_tab_shows_of_the_store(tab: Page):
    tab.locator("#fill-text textarea").fill("a purple elephant dances")
    tab.locator("#fill-add").click()
    expect(tab.locator("#look-store input")).to_have_value("my own store")
    expect(tab.locator("#mine .sm-notes")).to_contain_text("room for")
    look_up(tab, " purple")
    expect(tab.locator(".sl-verdict")).to_contain_text("followed by “ elephant”")
    tab.get_by_role("tab", name="Chat").click()
    expect(tab.locator("#own-store")).to_contain_text("(4 tokens)")
    tab.locator("#text > button").click()
    tab.locator("#forget").click()
    expect(tab.locator("#own-store")).to_contain_text("(0 tokens)")
    open_tab(tab)
    expect(tab.locator(".sl-verdict")).to_contain_text("Your store is empty")
    expect(tab.locator("#fill-notice")).not_to_contain_text("Added")
    expect(tab.locator("#mine .sm-empty")).to_be_visible()


def test_what_one_visitor_adds_no_other_can_find(tab: Page, browser: Browser, app: RunningApp):
    tab.locator("#fill-text textarea").fill("a secret walrus sings")
    tab.locator("#fill-add").click()
    expect(tab.locator("#fill-notice")).to_contain_text("Added 1 document")
    other = browser.new_page()
    open_app(other, app.url)
    open_tab(other)
    expect(other.locator("#mine .sm-empty")).to_be_visible()
    look_up(other, " walrus", "my own store")
    expect(other.locator(".sl-verdict")).to_contain_text("Your store is empty")
    look_up(other, " walrus", "base")
    expect(other.locator(".sl-verdict")).to_contain_text("does not occur here")
    other.close()


def test_the_last_words_of_the_chat_are_looked_up(page: Page):
    open_tab(page)
    page.locator("#look-chat").click()
    expect(page.locator(".sl-verdict")).to_contain_text("no answer in your chat yet")
    page.get_by_role("tab", name="Chat").click()
    ask(page, "question 7")
    wait_for_answer(page)
    open_tab(page)
    page.locator("#look-chat").click()
    last = reply("question 7").split()[-1]
    typed = page.locator("#look-text").locator("input, textarea")
    expect(typed).to_have_value(re.compile(re.escape(last) + "$"))
    look_up(page, typed.input_value(), "my own store")
    expect(page.locator(".sl-verdict")).to_contain_text("occurs once")


def test_a_phone_shows_it_all_in_one_column(browser: Browser, app: RunningApp):
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    open_app(page, app.url)
    open_tab(page)
    page.locator("#grow-play").click()
    expect(page.locator(".sg-verdict")).to_contain_text("conversations")
    expect(page.locator(".sc-legend")).to_contain_text("store only")
    look_up(page, " cat", "base")
    expect(page.locator(".sl-verdict")).to_contain_text("occurs 20 times")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    screenshot(page, "datastore_phone_dark", full_page=True)
    context.close()
