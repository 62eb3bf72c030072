"""The app with a scripted service, and a Chromium that looks at it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from sssd_demo.ui import frame
from sssd_demo.ui.launch import RunningApp, launch
from tests.ui.fakes import FakeService, opens, wait_until

SCREENSHOTS = Path(__file__).parents[2] / "screenshots"
ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
)
# A slow machine may take its time: only a test that fails waits so long.
expect.set_options(timeout=30_000)
ADVICE = "no Chromium was found; install one (for example `playwright install chromium`) to run the browser tests"

RUN = "document.title='ran'"
MARKUP = f'<img src=x onerror="{RUN}"> ${{{RUN}}} </script><script>{RUN}</script> {{{{x}}}} <b>bold</b> &lt;kept&gt;'
HOSTILE = f"{MARKUP} `tick` \\u \\u0041 \ufeffbom \u202eright-to-left \u200bzero 👩\u200d🚀 नमस्ते"
ANSWERS = {
    "cat": "The cat sat on the mat.\nThe cat sat on the mat.\nThe cat sat on the mat.",
    "hostile": HOSTILE,
    "long": " ".join(f"item {n * 7919}" for n in range(200)),
    "other": "Something else, with `code <b>` and **bold** words.",
}


def reply(question: str) -> str:
    """The scripted answer to a question: the first of `ANSWERS` that it names, else its own words."""
    return next((answer for key, answer in ANSWERS.items() if key in question), f"You said: {question}")


@pytest.fixture(scope="session")
def service() -> FakeService:
    return FakeService(reply, delay=0.01)


@pytest.fixture(scope="session")
def app(service: FakeService) -> Iterator[RunningApp]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame, "recorded_run", lambda: None)
        running = launch(opens(service), "fake")
    wait_until(lambda: running.host.service is not None)
    yield running
    running.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        path = path or playwright.chromium.executable_path
        if not Path(path).exists():
            pytest.fail(ADVICE) if os.environ.get("CI") == "true" else pytest.skip(ADVICE)
        started = playwright.chromium.launch(executable_path=path, args=ARGUMENTS.split())
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser, app: RunningApp) -> Iterator[Page]:
    """A fresh visitor's page, ready to be asked; fails the test if the page reports a fault of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    open_app(page, app.url)
    yield page
    context.close()
    assert not faults


def open_app(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator(".frame-head")).to_have_attribute("data-state", re.compile("ready|busy"))


def type_and_send(page: Page, text: str) -> None:
    page.locator("#message textarea").fill(text)
    page.keyboard.press("Enter")


def ask(page: Page, text: str) -> None:
    """Send a message that is accepted."""
    type_and_send(page, text)
    expect(page.locator("#message textarea")).to_have_value("")


def upload(page: Page, path: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.locator("#import").click()
    chooser.value.set_files(path)


def wait_for_answer(page: Page) -> None:
    expect(page.locator(".answer-view")).to_have_attribute("data-state", "ended")
    expect(page.locator("#send")).to_be_enabled()


def screenshot(page: Page, name: str, full_page: bool = False) -> None:
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=full_page)
