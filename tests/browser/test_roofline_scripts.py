"""The pure parts of the Roofline tab's pictures, called by themselves on a blank page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from sssd_demo.ui.components import script_head

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.set_content(f"<html><head>{script_head()}</head><body></body></html>")
    yield page
    page.close()


@pytest.mark.parametrize(
    ("first", "last", "most", "found"),
    [
        (1, 12, 7, [1, 2, 5, 10]),
        (1, 1000, 7, [1, 10, 100, 1000]),
        (0.3, 0.9, 7, [0.5]),
        (1, 1e6, 4, [1, 100, 10_000, 1_000_000]),
    ],
)
def test_a_logarithmic_axis_has_few_and_round_numbers(
    blank: Page, first: float, last: float, most: int, found: list[float]
):
    ticks = blank.evaluate("([a, b, most]) => sssdDemo.logTicks(a, b, most)", [first, last, most])
    assert ticks == pytest.approx(found)


def test_words_go_into_a_picture_as_words(blank: Page):
    title = blank.title()
    words = "<img src=x onerror=\"document.title='ran'\">**bold**"
    axis = {"label": words, "scale": "linear"}
    line = {"look": "first", "name": words, "line": True, "shape": "circle", "points": [[1, 2], [2, 3]]}
    chart = {"title": words, "x": axis, "y": axis, "series": [line | {"labels": [words, ""]}], "said": words}
    value = {
        "now": words,
        "said": words,
        "notes": [words],
        "facts": [[words, words]],
        "table": {"head": [words], "rows": [[words]]},
        "charts": [chart | {"levels": [{"label": words, "y": 2}]}],
    }
    drawn = blank.evaluate(
        """(value) => {
          const element = document.createElement("div");
          document.body.append(element);
          sssdDemo.rooflineView(element, { value }, () => {});
          const text = (name) => element.querySelector(name).textContent;
          return [element.querySelectorAll("img").length, text(".rv-notes b"), text(".rv-said")];
        }""",
        value,
    )
    assert drawn == [0, "bold", words]
    assert blank.title() == title
