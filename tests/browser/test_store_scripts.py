"""The pure parts of the chart's script, called by themselves on a blank page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from sssd_demo.ui.components import script_head

pytestmark = pytest.mark.browser

APART = 15


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.set_content(f"<html><head>{script_head()}</head><body></body></html>")
    yield page
    page.close()


@pytest.mark.parametrize(
    ("first", "last", "most", "found"),
    [
        (1, 2.08, 5, [1, 1.5, 2]),
        (0, 530, 5, [0, 200, 400]),
        (0, 1, 5, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 31_204, 3, [0, 20_000]),
    ],
)
def test_an_axis_has_few_and_round_numbers(blank: Page, first: float, last: float, most: int, found: list[float]):
    assert blank.evaluate("([a, b, most]) => sssdDemo.chartTicks(a, b, most)", [first, last, most]) == found


@pytest.mark.parametrize("places", [[10, 11, 12], [200, 200, 200], [5, 100, 6], [214, 0, 215]])
def test_names_at_the_ends_of_lines_never_overlap_and_keep_their_order(blank: Page, places: list[float]):
    moved = blank.evaluate("(places) => sssdDemo.spreadNames(places, 200)", places)
    order = sorted(range(len(places)), key=lambda at: (places[at], moved[at]))
    heights = [moved[at] for at in order]
    assert all(below - above >= APART for above, below in zip(heights, heights[1:], strict=False))
    assert max(heights) <= 200
