"""The scripts' pure parts, called by themselves on a blank page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from sssd_demo.ui.answer_payload import AnswerPayload
from sssd_demo.ui.components import script_head
from tests.ui.fakes import make_trace

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.set_content(f"<html><head>{script_head()}</head><body></body></html>")
    yield page
    page.close()


@pytest.mark.parametrize(
    ("ids", "path", "match", "found"),
    [
        ([1, 2, 3, 9, 2], [3], 1, {"start": 1, "match": 1, "length": 2}),
        ([1, 2, 3, 1, 2, 4, 1, 2], [4], 2, {"start": 3, "match": 2, "length": 3}),
        ([7, 7, 7], [7], 1, {"start": 1, "match": 1, "length": 2}),  # may overlap what it continues
        ([1, 2, 3], [4], 1, None),
    ],
)
def test_the_latest_copy_is_found(blank: Page, ids: list[int], path: list[int], match: int, found: dict | None):
    call = "([ids, path, match]) => sssdDemo.findCopy(ids, path, match, 0, ids.length)"
    assert blank.evaluate(call, [ids, path, match]) == found


def test_every_draft_of_a_trace_is_found_where_its_source_says(blank: Page):
    trace = make_trace("the cat sat on the mat and the dog", "the cat sat on the dog and the cat sat on the mat " * 2)
    value = AnswerPayload(trace).update(trace)
    copies = blank.evaluate(
        """(value) => {
            const model = sssdDemo.unpack(value);
            return model.rounds.map((round) => round.nodes.map((node) => sssdDemo.copyOf(model, round, node)));
        }""",
        value,
    )
    drafts = 0
    for (round_, before), found in zip(trace.contexts(), copies, strict=True):
        context = [*trace.prompt, *before]
        for node, copy in enumerate(found):
            tree = round_.tree
            path = [tree.tokens[at] for at in tree.path_to(node)]
            wanted = context[len(context) - tree.match_lengths[node] :] + path
            assert context[copy["start"] : copy["start"] + copy["length"]] == wanted
            assert tree.sources[node] == "output" or copy["start"] + copy["length"] <= len(trace.prompt)
            drafts += 1
    assert drafts > 20


def test_tokens_of_the_browsers_model_are_those_of_the_trace(blank: Page):
    trace = make_trace("say", "👩\u200d🚀 and 中文 and <b>`x`</b> and 中文")
    value = AnswerPayload(trace).update(trace)
    tokens = blank.evaluate("(value) => sssdDemo.unpack(value).answer.map((token) => [token.id, token.fate])", value)
    assert [id_ for id_, _ in tokens] == trace.token_ids()
    fates = []
    for round_ in trace.rounds:
        accepted = len(round_.tree.accepted_path())
        last = "bonus" if len(round_.tree) else "plain"
        fates += (["accepted"] * accepted + [last])[: len(round_.committed)]
    assert [fate for _, fate in tokens] == fates
