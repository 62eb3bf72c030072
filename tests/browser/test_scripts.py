"""The scripts' pure parts, called by themselves on a blank page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page

from sssd_demo.rechecked import recheck
from sssd_demo.trace import ROOT, Trace
from sssd_demo.ui.answer_payload import AnswerPayload
from sssd_demo.ui.components import script_head
from tests.toy_rounds import BUSH, toy_trace
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


TOLD = {
    "chain": toy_trace("chain"),
    "block": toy_trace("block"),
    "tree": toy_trace("tree", parents=BUSH, laws=("distinct",) * 6),
    "traversal": toy_trace("traversal", parents=BUSH, laws=("sampled",) * 6),
    "mixed": toy_trace("tree", parents=BUSH, laws=("sampled", "point", "sampled", "point", "point", "point")),
    "point": toy_trace(parents=BUSH, laws=("point",) * 6),
    "greedy": toy_trace(temperature=0.0),
    "looked up": make_trace("the cat sat on the mat", "the cat sat on the hat " * 2),
}


def told_steps(blank: Page, trace: Trace) -> list[dict | None]:
    """What the page tells of each round's verification."""
    return blank.evaluate(
        """(value) => sssdDemo.unpack(value).rounds.map((round) =>
            sssdDemo.verificationSteps(sssdDemo.words, round))""",
        AnswerPayload(trace).update(trace),
    )


@pytest.mark.parametrize("name", TOLD)
def test_every_test_of_a_round_is_told_in_order_and_the_bonus_last(blank: Page, name: str):
    trace = TOLD[name]
    for round_, told in zip(trace.rounds, told_steps(blank, trace), strict=True):
        if told is None:
            assert not len(round_.tree)
            continue
        ended = len(round_.committed) == len(round_.tree.accepted_path())
        wanted = [step.node for step in recheck(round_).steps] + [ROOT] * (not ended)
        assert [step["token"]["node"] for step in told["steps"]] == wanted
        assert told["problems"] == []
        for text in (told["lead"], told["formula"], *(step["text"] for step in told["steps"])):
            assert "{" not in text
            assert "undefined" not in text
        assert told["lead"]


def test_a_test_is_told_with_its_fate_and_its_numbers(blank: Page):
    trace = TOLD["chain"]
    refused = 0
    for round_, told in zip(trace.rounds, told_steps(blank, trace), strict=True):
        for step, line in zip(recheck(round_).steps, told["steps"] if told else [], strict=False):
            fate = round_.tree.fates[step.node]
            assert fate in line["text"]
            facts = dict(line["facts"])
            numbers = [step.p, step.q, step.threshold, step.coin, step.mass]
            told_numbers = [float(facts[fact]) for fact in ("p", "q", "threshold", "coin", "mass")]
            assert told_numbers == pytest.approx(numbers, rel=1e-3)
            assert bool(line["left"]) == (fate == "rejected")
            refused += fate == "rejected"
    assert refused


def test_a_trace_that_contradicts_itself_is_told_so(blank: Page):
    trace = TOLD["chain"]
    at = next(index for index, round_ in enumerate(trace.rounds) if round_.decisions)
    decisions = trace.rounds[at].decisions
    changed = replace(trace.rounds[at], decisions=(replace(decisions[0], p=0.001), *decisions[1:]))
    lie = replace(trace, rounds=(*trace.rounds[:at], changed, *trace.rounds[at + 1 :]))
    (told,) = [told for index, told in enumerate(told_steps(blank, lie)) if index == at]
    assert told
    assert "the model's probability is recorded as 0.001" in told["problems"][0]
