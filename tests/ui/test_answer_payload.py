import json
from dataclasses import replace

import pytest

from sssd_demo.rechecked import recheck
from sssd_demo.trace import Trace
from sssd_demo.ui.answer_payload import MOST_LEFT, AnswerPayload
from tests.toy_rounds import BUSH, toy_trace
from tests.ui.fakes import make_trace

SAMPLED = {
    "chain": toy_trace("chain"),
    "block": toy_trace("block"),
    "tree": toy_trace("tree", parents=BUSH, laws=("distinct",) * 6),
    "traversal": toy_trace("traversal", parents=BUSH, laws=("sampled",) * 6),
}

HOSTILE = [
    "${alert(1)}",
    "</script>",
    "<img src=x onerror=alert(1)>",
    "\\u \\u0041",
    "`tick` ```",
    "{{x}} {{{y}}}",
    "\ufeffbom",
    "\u202eright to left\u202c",
    "zero\u200bwidth",
    "👩‍🚀🔥🇫🇷 中文 नमस्ते",
    "a\ttab\r\nand \x00 nothing",
]


def drawn(trace: Trace) -> dict:
    return json.loads(json.dumps(AnswerPayload(trace).update(trace)))


def committed_texts(payload: dict) -> list[str]:
    """The shown text of each committed token, put together from what travels."""
    vocabulary = list(payload["vocabulary"])
    texts = []
    for round_ in payload["rounds"]:
        vocabulary += round_.get("w", [])
        path = [node for node, fate in enumerate(round_.get("f", "")) if fate == "a"]
        places = [*(round_["t"][node] for node in path), round_["b"]][: round_["k"]]
        texts += round_.get("x", [vocabulary[place][1] for place in places])
    return texts


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_travels_as_plain_data_and_comes_out_whole(text: str):
    trace = make_trace("question", text)
    assert "".join(committed_texts(drawn(trace))) == text
    assert AnswerPayload(trace).text == text


def test_a_growing_answer_only_adds_rounds_and_ends_like_the_whole_one():
    whole = make_trace("the cat sat", "the cat sat on the cat and the cat sat")
    growing = AnswerPayload(Trace(**{**vars(whole), "rounds": (), "finish_reason": None}), frozenset({2}))
    before: list[dict] = []
    for count in range(len(whole.rounds) + 1):
        part = Trace(**{**vars(whole), "rounds": whole.rounds[:count], "finish_reason": None})
        now = growing.update(part)["rounds"]
        assert now[:-1] == before[: len(now) - 1]
        before = now
    assert growing.update(whole) == AnswerPayload(whole, frozenset({2})).update(whole)


def test_fates_and_sources_are_those_of_the_trace():
    trace = make_trace("a b c a b", "a b c a b c a b c")
    payload = drawn(trace)
    for round_, sent in zip(trace.rounds, payload["rounds"], strict=True):
        assert sent.get("f", "") == "".join(fate[0] for fate in round_.tree.fates)
        assert sent.get("s", "") == "".join(source[0].upper() for source in round_.tree.sources)
        assert sent["k"] == len(round_.committed)


def test_tokens_computed_beside_the_tree_are_told():
    trace = make_trace("a b c a b", "a b c a b c a b c")
    trace = replace(trace, rounds=(trace.rounds[0], *(replace(round_, scratch=6) for round_ in trace.rounds[1:])))
    assert [sent.get("c", 0) for sent in drawn(trace)["rounds"]] == [round_.scratch for round_ in trace.rounds]


def test_the_end_token_has_no_text_whether_it_is_known_or_told_by_the_trace():
    trace = make_trace("q", "done")
    for ends in (frozenset({2}), frozenset()):
        assert committed_texts(AnswerPayload(trace, ends).update(trace))[-1] == ""


def test_nodes_are_told_by_places_that_the_vocabulary_already_has():
    trace = make_trace("the cat sat on the mat", "the cat sat on the hat " * 3)
    payload = drawn(trace)
    vocabulary = list(payload["vocabulary"])
    assert [vocabulary[place][0] for place in payload["prompt"]] == list(trace.prompt)
    for round_, sent in zip(trace.rounds, payload["rounds"], strict=True):
        vocabulary += sent.get("w", [])
        assert [vocabulary[place][0] for place in sent.get("t", [])] == list(round_.tree.tokens)
        assert vocabulary[sent["b"]][0] == round_.bonus
        assert [ord(letter) - ord("0") - 1 for letter in sent.get("p", "")] == list(round_.tree.parents)
    assert len({id_ for id_, _ in vocabulary}) == len(vocabulary)
    assert all(trace.token_bytes[id_].decode() == piece for id_, piece in vocabulary)


def test_guesses_that_may_not_be_shown_are_counted():
    trace = make_trace("a b a c a d", "a d a b a c")
    rounds = tuple(round_.withholding("prompt") for round_ in trace.rounds)
    payload = drawn(replace(trace, rounds=rounds))
    assert [sent.get("h", 0) for sent in payload["rounds"]] == [round_.withheld for round_ in rounds]
    assert any("h" in sent for sent in payload["rounds"])


def test_a_recorded_answer_says_where_and_when():
    trace = make_trace("q", "a")
    recorded = AnswerPayload(trace, recorded=True).update(trace)["recorded"]
    assert recorded == {"device": "test bench, 2 threads", "date": "2025-11-29 16:20 UTC"}


@pytest.mark.parametrize("rule", SAMPLED)
def test_the_tests_of_sampled_rounds_travel_in_their_order_with_their_numbers(rule):
    trace = SAMPLED[rule]
    payload = drawn(trace)
    vocabulary = list(payload["vocabulary"])
    left = 0
    for round_, sent in zip(trace.rounds, payload["rounds"], strict=True):
        vocabulary += sent.get("w", [])
        if not len(round_.tree):
            assert "v" not in sent
            continue
        checked = recheck(round_)
        assert sent["r"] == rule
        for step, test in zip(checked.steps, sent["v"], strict=True):
            assert test[:2] == [step.node, int(step.passed)]
            numbers = [step.coin, step.threshold, step.p, step.q, step.weight, step.mass]
            assert test[2:8] == pytest.approx(numbers, rel=1e-3)
            shares = [test[at : at + 4] for at in range(8, len(test), 4)]
            held = {held.token: held for held in step.held}
            assert len(shares) <= MOST_LEFT
            for place, p, q, residual in shares:
                one = held[vocabulary[place][0]]
                assert [p, q, residual] == pytest.approx([one.p, one.q, one.residual], rel=1e-3)
            left += bool(shares)
            assert not (shares and step.passed)
        assert len(sent["g"]) == (4 if checked.residual else 3)
    assert left


def test_the_bonus_is_among_what_is_left_where_it_was_drawn_from_that():
    for trace in SAMPLED.values():
        for round_, sent in zip(trace.rounds, drawn(trace)["rounds"], strict=True):
            if len(sent.get("g", [])) == 4:
                end = round_.tree.accepted_path()[-1:] or [-1]
                last = [test for test in sent["v"] if round_.tree.parents[test[0]] == end[0]][-1]
                if round_.rule == "block":
                    last = sent["v"][len(round_.tree.accepted_path())]
                assert sent["b"] in last[8::4]


def test_rounds_that_were_not_sampled_carry_nothing_more():
    looked_up = drawn(make_trace("a b c a b", "a b c a b c a b c"))["rounds"]
    greedy = drawn(toy_trace(temperature=0.0))["rounds"]
    for sent in (*looked_up, *greedy):
        assert not sent.keys() & {"r", "v", "g", "u", "z"}
    for sent in drawn(toy_trace(laws=("point",) * 4))["rounds"]:
        assert not sent.keys() & {"r", "v", "z"}
        assert len(sent["g"]) == 3


def test_what_does_not_agree_travels():
    trace = SAMPLED["chain"]
    round_ = next(each for each in trace.rounds if each.decisions)
    first = replace(round_.decisions[0], coin=round_.decisions[0].coin / 2)
    changed = replace(round_, decisions=(first, *round_.decisions[1:]))
    rounds = tuple(changed if each is round_ else each for each in trace.rounds)
    sent = drawn(replace(trace, rounds=rounds))["rounds"]
    assert ["coin", 0, round_.tree.coins[0], first.coin] in sent[round_.index]["z"]
    assert all("z" not in each for at, each in enumerate(sent) if at != round_.index)
