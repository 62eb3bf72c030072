"""What a visitor does in the Chat tab, in a real browser, with answers that are scripted."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page, expect

from sssd_demo import trace_file
from sssd_demo.errors import UserError
from sssd_demo.trace import Round
from sssd_demo.ui import frame
from sssd_demo.ui.launch import launch
from tests.browser.conftest import (
    ANSWERS,
    HOSTILE,
    ask,
    open_app,
    reply,
    screenshot,
    type_and_send,
    upload,
    wait_for_answer,
)
from tests.ui.fakes import FakeService, make_trace, opens, wait_until

pytestmark = pytest.mark.browser

USER, MODEL = "#conversation .user", "#conversation .bot"


def bubbles(page: Page, selector: str) -> list[str]:
    return page.locator(f"{selector} .message-content, {selector} .md").all_inner_texts()


def token_text(page: Page) -> str:
    """The text of all tokens of the answer as a copy would have it."""
    return page.locator(".ts-answer").evaluate("element => element.textContent")


def rejected_nodes(round_: Round) -> list[int]:
    return [node for node, fate in enumerate(round_.tree.fates) if fate == "rejected"]


def test_ask_see_fates_open_a_round_and_step(page: Page):
    ask(page, "the cat please")
    wait_for_answer(page)
    assert token_text(page) == ANSWERS["cat"]
    for fate in ("accepted", "bonus", "plain"):
        expect(page.locator(f".ts-token.fate-{fate}").first).to_be_visible()
    expect(page.locator(".fg-verdict")).to_contain_text("right guesses")
    page.locator(".rs-bar").nth(2).click()
    expect(page.locator(".answer-view")).to_have_attribute("data-open", "2")
    expect(page.locator(".ts-round.is-open")).to_have_attribute("data-round", "2")
    expect(page.locator(".rs-bar.is-open")).to_have_attribute("data-round", "2")
    in_tree = page.locator(".dt-node.dt-accepted .dt-label").all_inner_texts()
    in_text = page.locator(".ts-round.is-open .fate-accepted").all_text_contents()
    assert [label.replace("·", " ").replace("⏎", "\n") for label in in_tree] == in_text
    page.get_by_role("button", name="Next forward").click()
    expect(page.locator(".answer-view")).to_have_attribute("data-open", "3")
    screenshot(page, "chat_light")


def test_rounds_play_one_after_another_until_paused(page: Page):
    ask(page, "the cat please")
    wait_for_answer(page)
    page.locator(".rs-bar").nth(1).click()
    page.locator(".av-play").click()
    expect(page.locator(".answer-view")).to_have_attribute("data-open", "2")
    expect(page.locator(".ts-round")).to_have_count(3)
    expect(page.locator(".answer-view")).to_have_attribute("data-open", "3")
    page.locator(".av-play").click()
    expect(page.locator(".av-play")).to_contain_text("play")


def test_rejected_and_ignored_guesses_can_be_shown_and_hidden(page: Page):
    ask(page, "the cat please")
    wait_for_answer(page)
    rejected, ignored = page.locator(".ts-draft.fate-rejected"), page.locator(".ts-draft.fate-ignored")
    expect(rejected.first).to_be_visible()
    expect(ignored.first).to_be_hidden()
    page.get_by_role("checkbox", name="rejected").uncheck()
    expect(page.locator(".ts-lost:visible")).to_have_count(0)
    page.get_by_role("checkbox", name="ignored").check()
    expect(rejected.first).to_be_hidden()
    expect(ignored.first).to_be_visible()
    assert token_text(page) == ANSWERS["cat"]


def test_guesses_that_lost_stand_behind_the_token_that_won_and_say_so(page: Page, service: FakeService):
    ask(page, "the cat please")
    wait_for_answer(page)
    lost = page.locator(".ts-lost.has-rejected")
    rounds = service.answers[-1].trace.rounds
    parents = {(round_.index, round_.tree.parents[n]) for round_ in rounds for n in rejected_nodes(round_)}
    expect(lost).to_have_count(len(parents))
    for box in lost.all():
        winner = box.evaluate(
            """box => {
                const next = box.nextElementSibling;
                return (next?.textContent.endsWith("\\n") ? next : box.previousElementSibling).className;
            }"""
        )
        assert "ts-token" in winner
        assert box.evaluate("box => getComputedStyle(box, '::before').content") == '"not"'


def test_the_figures_are_the_bars_that_stand_below_them(page: Page):
    ask(page, "the cat please")
    wait_for_answer(page)
    tokens, forwards = re.findall(r"(\d+) tokens ÷ (\d+) forwards", page.locator(".fg-counts").inner_text())[0]
    per_forward = float(page.locator(".fg-main dd").first.inner_text())
    assert per_forward == round(int(tokens) / int(forwards), 2)
    expect(page.locator(".rs-bar")).to_have_count(1 + int(forwards))
    page.locator(".rs-bar").last.click()
    expect(page.locator(".av-round-title")).to_contain_text(f"forward {forwards} of {forwards}")
    page.locator(".rs-bar").first.click()
    expect(page.locator(".av-round-title")).to_contain_text("reading the prompt")


def test_a_tree_too_wide_for_its_frame_says_that_there_is_more(page: Page):
    ask(page, "the cat please")
    wait_for_answer(page)
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".ts-token.fate-accepted").last.click()
    frame, scroll = page.locator(".dt-frame"), page.locator(".dt-scroll")
    expect(frame).to_have_class(re.compile("is-cut"))
    scroll.evaluate("scroll => { scroll.scrollLeft = scroll.scrollWidth; }")
    expect(frame).not_to_have_class(re.compile("is-cut"))


def test_another_forwards_tree_is_seen_from_its_beginning(page: Page):
    ask(page, "the cat please")
    wait_for_answer(page)
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".ts-token.fate-accepted").last.click()
    scroll = page.locator(".dt-scroll")
    scroll.evaluate("scroll => { scroll.style.height = '40px'; scroll.scrollLeft = scroll.scrollTop = 30; }")
    assert scroll.evaluate("scroll => [scroll.scrollLeft > 0, scroll.scrollTop > 0]") == [True, True]
    page.get_by_role("button", name="Previous forward").click()
    assert scroll.evaluate("scroll => [scroll.scrollLeft, scroll.scrollTop]") == [0, 0]


def test_a_large_tree_gets_room_and_what_stands_below_it_stays_in_sight(page: Page, tmp_path):
    branches = " ".join(f"x {letter} {letter}" for letter in "bcdefghijk")
    path = tmp_path / "wide.json"
    trace_file.save(make_trace(branches, "so x y", s_q=48), path)
    upload(page, path)
    expect(page.locator(".ts-end")).to_be_attached()
    page.locator(".rs-bar").last.click()
    page.locator(".rs-bar").nth(2).click()
    frame, detail = page.locator(".dt-frame").bounding_box(), page.locator(".av-detail").bounding_box()
    assert frame
    assert detail
    assert frame["height"] >= 219
    assert detail["y"] + detail["height"] <= 720
    expect(page.locator(".dt-frame")).to_have_class(re.compile("is-cut-below"))


def test_the_help_says_what_this_is_and_where_the_model_comes_from(page: Page):
    page.get_by_role("button", name="What is this?").click()
    expect(page.locator(".fh-about")).to_contain_text("one token at a time")
    expect(page.locator(".fh-about")).to_contain_text("licence none")
    page.keyboard.press("Escape")
    expect(page.locator(".fh-about")).to_be_hidden()


def test_the_whole_view_can_be_used_with_the_keyboard(page: Page):
    ask(page, "the cat please")
    wait_for_answer(page)
    page.locator(".rs-scroll").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".answer-view")).to_have_attribute("data-open", "1")
    page.locator('.ts-answer [tabindex="0"]').focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    last = page.locator(".ts-round").count() - 1
    expect(page.locator(".answer-view")).to_have_attribute("data-open", str(last))
    expect(page.locator(".av-detail")).to_contain_text("model's p")
    expect(page.locator(".av-live")).to_contain_text("added")


def test_a_drafts_origin_is_lit_up(page: Page):
    ask(page, "the cat please")
    wait_for_answer(page)
    page.locator(".ts-token.fate-accepted").last.click()
    page.locator(".dt-node.dt-accepted").first.hover()
    expect(page.locator(".av-origin")).to_contain_text("copied from")
    lit = page.locator(".ts-scroll .is-matched")
    expect(lit.first).to_be_attached()
    assert page.locator(".av-origin .is-copied").inner_text()


def test_hostile_text_is_shown_as_written_and_nothing_of_it_runs(page: Page):
    title = page.title()
    ask(page, f"hostile {HOSTILE}")
    wait_for_answer(page)
    assert token_text(page) == HOSTILE
    assert page.title() == title
    assert page.locator("#conversation img[src='x'], #answer img, #answer script").count() == 0
    shown = page.locator(MODEL).last.inner_text()
    for literal in (
        "<img src=x onerror=",
        "${document.title='ran'}",
        "</script>",
        "{{x}}",
        "<b>bold</b>",
        "&lt;kept&gt;",
    ):
        assert literal in shown
        assert literal in page.locator(USER).last.inner_text()
    assert "\ufffd" not in page.content()
    expect(page.locator(".ts-sign[data-sign='U+202E']")).to_be_attached()
    screenshot(page, "chat_hostile")


def test_stop_ends_the_answer_and_no_round_follows(page: Page, service: FakeService):
    ask(page, "a long one")
    expect(page.locator(".ts-round").nth(3)).to_be_attached()
    page.locator("#stop").click()
    wait_for_answer(page)
    rounds = page.locator(".ts-round").count()
    assert service.answers[-1].closed.is_set()
    assert rounds == len(service.answers[-1].trace.rounds) < 500
    expect(page.locator(".fg-verdict")).to_contain_text("Stopped after")
    ask(page, "the cat again")
    wait_for_answer(page)
    assert token_text(page) == ANSWERS["cat"]


def test_turns_build_on_the_visible_conversation(page: Page, service: FakeService):
    ask(page, "first words")
    wait_for_answer(page)
    ask(page, "something <b>other</b> please")
    wait_for_answer(page)
    assert [message["content"] for message in service.asked[-1][0]] == [
        "first words",
        "You said: first words",
        "something <b>other</b> please",
    ]
    before = len(service.asked)
    page.get_by_role("button", name="Retry").click()
    wait_until(lambda: len(service.asked) == before + 1)
    wait_for_answer(page)
    expect(page.locator(MODEL)).to_have_count(2)
    assert service.asked[-1][0] == service.asked[-2][0]


def test_an_edit_says_what_it_removes_and_can_be_undone(page: Page, service: FakeService):
    for text in ("one", "two", "three"):
        ask(page, text)
        wait_for_answer(page)
    # By keyboard: the list scrolls to its end a moment after an answer, and would slip from under the pointer.
    page.get_by_role("button", name="Edit").first.press("Enter")
    page.locator("#conversation textarea").fill("changed")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".notice")).to_contain_text("4 later messages")
    assert [message["content"] for message in service.asked[-1][0]] == ["changed"]
    expect(page.locator(USER)).to_have_count(1)
    page.locator("#undo").click()
    expect(page.locator(USER)).to_have_count(3)
    ask(page, "four")
    wait_for_answer(page)
    said = [message["content"] for message in service.asked[-1][0] if message["role"] == "user"]
    assert said == ["one", "two", "three", "four"]


def test_new_chat_forgets_and_begins_a_new_conversation(page: Page, service: FakeService):
    ask(page, "secret words")
    wait_for_answer(page)
    page.locator("#new-chat").click()
    expect(page.locator(USER)).to_have_count(0)
    ask(page, "hello")
    wait_for_answer(page)
    assert len(service.asked[-1][0]) == 1
    assert service.asked[-1][2] != service.asked[-2][2]
    assert service.asked[-2][2] in service.forgotten


def test_a_new_chat_in_mid_answer_stays_empty(page: Page, service: FakeService):
    ask(page, "a long one")
    expect(page.locator(".ts-round").nth(3)).to_be_attached()
    page.locator("#new-chat").click()
    wait_until(service.answers[-1].closed.is_set)
    expect(page.locator(".answer-view")).to_have_attribute("data-state", "empty")
    expect(page.locator(USER)).to_have_count(0)
    ask(page, "the cat please")
    wait_for_answer(page)
    assert token_text(page) == ANSWERS["cat"]
    expect(page.locator(USER)).to_have_count(1)


def test_a_refused_message_stays_in_its_box(page: Page):
    type_and_send(page, "x" * 4001)
    expect(page.locator(".notice")).to_contain_text("2,048")
    expect(page.locator("#message textarea")).to_have_value("x" * 4001)
    expect(page.locator(USER)).to_have_count(0)
    type_and_send(page, "   ")
    expect(page.locator(".notice")).to_contain_text("empty")


def test_a_message_sent_in_mid_answer_waits_in_its_box(
    page: Page, service: FakeService, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(service, "delay", 1.0)  # a round; the answer must not end before the second message
    ask(page, "a long one")
    expect(page.locator(".ts-round").nth(2)).to_be_attached()
    asked = len(service.asked)
    type_and_send(page, "too early")
    expect(page.locator(".notice")).to_contain_text("An answer is being written")
    page.locator("#stop").click()
    wait_for_answer(page)
    expect(page.locator("#message textarea")).to_have_value("too early")
    assert len(service.asked) == asked
    expect(page.locator(USER)).to_have_count(1)


def test_shift_enter_writes_a_new_line(page: Page):
    page.locator("#message textarea").fill("a")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("b")
    expect(page.locator("#message textarea")).to_have_value("a\nb")


def test_a_reload_keeps_the_conversation_and_a_lost_question(page: Page, app):
    ask(page, "remember me")
    wait_for_answer(page)
    ask(page, "a long one")
    expect(page.locator(".ts-round").nth(2)).to_be_attached()
    page.reload()
    expect(page.locator(USER)).to_have_count(1)
    expect(page.locator("#message textarea")).to_have_value("a long one")


def test_leaving_the_page_frees_its_place(browser: Browser, app, service: FakeService):
    context = browser.new_context()
    page = context.new_page()
    open_app(page, app.url)
    ask(page, "a long one")
    expect(page.locator(".ts-round").nth(2)).to_be_attached()
    answer = service.answers[-1]
    context.close()
    wait_until(answer.closed.is_set)
    wait_until(lambda: service.asked[-1][2] in service.forgotten)
    assert service.dropped[-1] == service.sessions[-1]
    assert len(answer.trace.rounds) < 400


def test_a_trace_is_saved_and_replayed(page: Page, tmp_path):
    ask(page, "the cat please")
    wait_for_answer(page)
    with page.expect_download() as download:
        page.locator("#export").click()
    path = tmp_path / "mine.json"
    download.value.save_as(path)
    assert trace_file.load(path).finish_reason == "end_of_text"
    page.locator("#new-chat").click()
    expect(page.locator(".answer-view")).to_have_attribute("data-state", "empty")
    upload(page, path)
    expect(page.locator(".answer-view")).to_have_attribute("data-state", "recorded")
    expect(page.locator(".answer-view .av-badge")).to_have_text("recorded")
    expect(page.locator(".av-caption")).to_contain_text("test bench, 2 threads")
    expect(page.locator(".ts-end").last).to_be_attached()
    assert token_text(page) == ANSWERS["cat"]
    trace = trace_file.load(path)
    for round_ in trace.rounds:
        own = ["bonus" if len(round_.tree) else "plain"]
        fates = ["accepted"] * len(round_.tree.accepted_path()) + own
        shown = page.locator(f'.ts-round[data-round="{round_.index}"] .ts-token').all()
        classes = [token.get_attribute("class") or "" for token in shown]
        assert all(f"fate-{fate}" in name for fate, name in zip(fates, classes, strict=False))
        assert len(classes) == len(round_.committed)


def test_a_bad_trace_file_gets_one_sentence(page: Page, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({"version": 7}))
    upload(page, path)
    expect(page.locator(".notice")).to_have_text(re.compile("version 7.*only version 1"))
    expect(page.locator(".answer-view")).to_have_attribute("data-state", "empty")


def test_an_earlier_answer_can_be_looked_at_again(page: Page):
    page.set_viewport_size({"width": 1280, "height": 1600})  # all messages fit: none slips from under the pointer
    ask(page, "the cat please")
    wait_for_answer(page)
    ask(page, "something other")
    wait_for_answer(page)
    assert token_text(page) == ANSWERS["other"]
    page.locator(f"{MODEL} .md").first.click()
    expect(page.locator(".ts-answer")).to_contain_text("cat")
    assert token_text(page) == ANSWERS["cat"]
    with page.expect_download() as download:
        page.locator("#export").click()
    assert trace_file.load(download.value.path()).messages[-1]["content"] == "the cat please"
    page.locator(f"{USER} .md").first.click()
    expect(page.locator(".notice")).to_be_hidden()


def test_an_example_asks_at_once(page: Page, service: FakeService):
    page.get_by_text("one sentence, six times").click()
    wait_for_answer(page)
    assert service.asked[-1][0][0]["content"].startswith("Write a numbered list")


def test_dark_and_narrow(browser: Browser, app):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    open_app(page, f"{app.url}?__theme=dark")
    ask(page, "the cat please")
    wait_for_answer(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    parts = ("#conversation", "#ask", "#unfold-settings", "#answer", "#text")
    boxes = [page.locator(name).bounding_box() for name in parts]
    tops = [box["y"] for box in boxes if box]
    assert len(tops) == len(parts)
    assert tops == sorted(tops)
    assert page.locator(".ts-scroll").evaluate("box => box.scrollWidth - box.clientWidth") == 0
    screenshot(page, "chat_phone_dark", full_page=True)
    context.close()


def test_on_a_phone_the_settings_unfold_right_below_the_message(browser: Browser, app):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    open_app(page, app.url)
    expect(page.locator("#settings-row")).to_be_hidden()
    page.locator("#unfold-settings").click()
    expect(page.locator("#unfold-settings")).to_have_attribute("aria-expanded", "true")
    settings, send, answer = (page.locator(name).bounding_box() for name in ("#settings-row", "#send", "#answer"))
    assert settings
    assert send
    assert answer
    assert send["y"] < settings["y"] < answer["y"]
    assert settings["y"] - send["y"] < 150
    page.locator("#unfold-settings").click()
    expect(page.locator("#settings-row")).to_be_hidden()
    page.close()


def test_nothing_is_cut_off_on_a_small_laptop(page: Page):
    ask(page, "the cat please")
    wait_for_answer(page)
    for name in ("#chat-left", "#text", ".av-detail"):
        box = page.locator(name).bounding_box()
        assert box
        assert box["y"] + box["height"] <= 720, name


def test_answers_are_remembered_on_this_page_unless_that_is_switched_off(page: Page, service: FakeService):
    ask(page, "the cat please")
    wait_for_answer(page)
    mine = service.sessions[-1]
    assert mine
    page.locator("#new-chat").click()
    ask(page, "the cat again")
    wait_for_answer(page)
    assert service.sessions[-1] == mine
    title = page.locator("#text > button")
    expect(page.locator("#own-store")).to_contain_text("+ this page's own store")
    expect(title).to_contain_text("remembered on this page only")
    title.click()
    page.locator("#forget").click()
    expect(page.locator("#notice")).to_contain_text("store is gone, pasted text and files too")
    assert service.dropped[-1] == mine
    page.locator("#remember input").uncheck()
    expect(title).to_contain_text("not remembered, not shared")
    expect(page.locator("#own-store")).to_be_hidden()
    ask(page, "the cat once more")
    wait_for_answer(page)
    assert service.sessions[-1] is None


def test_nothing_is_shared_until_a_visitor_asks_for_it(page: Page, service: FakeService):
    ask(page, "the cat please")
    wait_for_answer(page)
    assert not service.asked[-1][1].share
    page.locator("#text > button").click()
    expect(page.locator("#text")).to_contain_text("cannot be taken back")
    page.locator("#share input").check()
    expect(page.locator("#text > button")).to_contain_text("added to the shared store")
    ask(page, "the cat again")
    wait_for_answer(page)
    assert service.asked[-1][1].share


def test_guesses_of_others_are_counted_but_not_shown(page: Page, tmp_path):
    trace = make_trace("a b a c a d", "a d a b a c")
    rounds = tuple(round_.withholding("prompt") for round_ in trace.rounds)
    hidden = next(round_ for round_ in rounds if round_.withheld > 1)
    path = tmp_path / "shared.json"
    trace_file.save(replace(trace, rounds=rounds), path)
    upload(page, path)
    expect(page.locator(".ts-end")).to_be_attached()
    page.locator(".rs-bar").nth(hidden.index).click()
    said = f"{hidden.withheld} guesses from a datastore, not shown while you share"
    expect(page.locator(".av-round-title")).to_contain_text(said)
    expect(page.locator(".dt-note")).to_have_text(said)


def test_a_round_with_a_window_alone_says_so(page: Page, tmp_path):
    trace = make_trace("a b c", "x y a b c")
    rounds = tuple(replace(round_, scratch=6, s_q=round_.s_q + 6) for round_ in trace.rounds)
    path = tmp_path / "window.json"
    trace_file.save(replace(trace, rounds=rounds), path)
    upload(page, path)
    expect(page.locator(".ts-end")).to_be_attached()
    for guessed, said in ((False, "No guess was tested here; 6 tokens"), (True, "Beside these guesses, 6 tokens")):
        index = next(round_.index for round_ in rounds[1:] if bool(len(round_.tree)) == guessed)
        page.locator(".rs-bar").nth(index).click()
        expect(page.locator(".dt-note")).to_contain_text(said)


def test_two_visitors_do_not_mix(browser: Browser, app, service: FakeService, monkeypatch):
    contexts = [browser.new_context() for _ in range(2)]
    pages = [context.new_page() for context in contexts]
    for page in pages:
        open_app(page, app.url)
    with monkeypatch.context() as slowly:
        slowly.setattr(service, "delay", 0.3)
        ask(pages[0], "a long one")
        expect(pages[0].locator(".ts-round").nth(2)).to_be_attached()
    ask(pages[1], "the cat please")
    wait_for_answer(pages[1])
    assert token_text(pages[1]) == ANSWERS["cat"]
    pages[0].locator("#stop").click()
    wait_for_answer(pages[0])
    assert ANSWERS["long"].startswith(token_text(pages[0]))
    for context in contexts:
        context.close()


def test_who_waits_gets_their_own_answer_when_the_one_before_them_reloads(browser: Browser, service: FakeService):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame, "MAX_ROWS", 1)  # one answer at a time
        running = launch(opens(service), "fake")
    contexts = [browser.new_context() for _ in range(2)]
    first, second = pages = [context.new_page() for context in contexts]
    for page in pages:
        open_app(page, running.url)
    ask(first, "a long one")
    expect(first.locator(".ts-round").nth(3)).to_be_attached()
    ask(second, "the cat please")
    first.reload()
    wait_for_answer(second)
    assert token_text(second) == ANSWERS["cat"]
    type_and_send(first, "something other")  # in place of the lost question, which stands in the box
    wait_for_answer(first)
    assert token_text(first) == ANSWERS["other"]
    assert token_text(second) == ANSWERS["cat"]
    assert service.sessions[-1] != service.sessions[-2]
    for context in contexts:
        context.close()
    running.demo.close(verbose=False)


def test_a_page_left_open_over_a_restart_loses_nothing(browser: Browser):
    first, second = FakeService(reply), FakeService(reply)
    running = launch(opens(first), "fake")
    port = int(running.url.rstrip("/").rsplit(":", 1)[1])
    page = browser.new_page()
    open_app(page, running.url)
    ask(page, "before the restart")
    wait_for_answer(page)
    page.locator("#message textarea").fill("after it")
    running.close()
    running = launch(opens(second), "fake", port=port)
    wait_until(lambda: running.host.service is not None)
    open_app(page, running.url)
    expect(page.locator(USER)).to_have_count(1)
    expect(page.locator("#message textarea")).to_have_value("after it")
    page.locator("#message textarea").press("Enter")
    wait_for_answer(page)
    asked = [message["content"] for message in second.asked[-1][0]]
    assert asked == ["before the restart", "You said: before the restart", "after it"]
    page.close()
    running.close()


def test_the_recorded_run_plays_while_the_model_loads(browser: Browser, monkeypatch):
    trace = make_trace("the cat please", ANSWERS["cat"], pace_ms=5)
    monkeypatch.setattr(frame, "recorded_run", lambda: trace)
    released = threading.Event()

    def open_slowly(model, progress):
        progress("fetching the weights", 0.5)
        released.wait(30)
        return opens(FakeService())(model, progress)

    running = launch(open_slowly, "fake")
    page = browser.new_page()
    page.goto(running.url)
    expect(page.locator(".frame-head")).to_have_attribute("data-state", "loading")
    expect(page.locator(".fh-text")).to_contain_text("fetching the weights")
    expect(page.locator(".answer-view .av-badge")).to_have_text("recorded")
    expect(page.locator(".figures .av-badge")).to_have_text("recorded")
    expect(page.locator(".ts-end")).to_be_attached()
    type_and_send(page, "hello")
    expect(page.locator(".notice")).to_contain_text("not ready yet")
    expect(page.locator("#message textarea")).to_have_value("hello")
    expect(page.locator("#send")).to_have_text("Send")
    expect(page.locator(".answer-view")).to_have_attribute("data-state", "recorded")
    screenshot(page, "loading")
    released.set()
    expect(page.locator(".frame-head")).to_have_attribute("data-state", "ready")
    page.close()
    running.close()


def test_without_a_model_the_page_says_why_and_traces_still_play(browser: Browser, tmp_path):
    def fail(model, progress):
        raise UserError("The model cannot be reached.")

    path = tmp_path / "kept.json"
    trace_file.save(make_trace("the cat please", ANSWERS["cat"], pace_ms=5), path)
    running = launch(fail, "fake")
    page = browser.new_page()
    page.goto(running.url)
    expect(page.locator(".fh-text")).to_contain_text("The model cannot be reached.")
    upload(page, path)
    expect(page.locator(".ts-end")).to_be_attached()
    assert token_text(page) == ANSWERS["cat"]
    page.close()
    running.close()


def test_the_model_can_be_changed_for_everybody(browser: Browser):
    running = launch(opens(FakeService(reply)), "fake")
    page = browser.new_page()
    open_app(page, running.url)
    page.locator("#more-settings > button").click()
    choice = page.locator("#model input")
    expect(choice).to_have_value("fake")
    choice.fill("another")
    choice.press("Enter")
    expect(page.locator("#notice")).to_contain_text("Getting another ready")
    wait_until(lambda: running.host.model == "another" and running.host.service is not None)
    expect(page.locator(".frame-head")).to_have_attribute("data-state", "ready")
    ask(page, "the cat please")
    wait_for_answer(page)
    page.close()
    running.close()
