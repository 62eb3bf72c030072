"""Traces survive the way to a file and back, and hostile files get one sentence."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from sssd_demo.errors import UserError
from sssd_demo.rechecked import recheck
from sssd_demo.trace import EMPTY_VERIFIED_TREE, Round, SaguaroRound, Span, Trace, VerifiedTree
from sssd_demo.trace_file import MAX_FILE_BYTES, from_json, load, save, to_json
from sssd_demo.ui.answer_payload import AnswerPayload
from tests.toy_rounds import BUSH, toy_trace


def sample_trace() -> Trace:
    """Three rounds: a prefill, a branching tree, and a last round that is cut before its bonus."""
    branching = VerifiedTree(
        tokens=(10, 11, 12, 13),
        parents=(-1, 0, 0, 2),
        probs=(0.5, 0.25, 3.0, 0.0),
        laws=("point", "sampled", "point", "point"),
        sources=("prompt", "model", "datastore", "output"),
        match_lengths=(4, 0, 2, 1),
        target_probs=(0.9, 0.1, 0.6, 0.2),
        coins=(0.3, 0.8, None, 0.99),
        fates=("accepted", "rejected", "accepted", "ignored"),
    )
    cut = VerifiedTree(
        tokens=(2, 7),
        parents=(-1, 0),
        probs=(1.0, 1.0),
        laws=("point", "point"),
        sources=("recycled", "jacobi"),
        match_lengths=(0, 0),
        target_probs=(1.0, 0.0),
        coins=(None, None),
        fates=("accepted", "ignored"),
    )
    saguaro = SaguaroRound(
        outcome=(1, 14),
        keys=((0, 9), (1, 2)),
        hit=False,
        fallback="backup",
        spans=(Span("drafter", "glue", 1.0, 2.5, tokens=4), Span("target", "wait", 30.0, 30.4)),
        why="miss",
        rank=3,
    )
    return Trace(
        created="2025-01-02T03:04:05+00:00",
        device="toy, 2 threads",
        dtype="float32",
        preset="toy",
        method="sssd",
        settings={"temperature": 0.0, "s_q": None, "stores": ["base"]},
        messages=({"role": "user", "content": "héllo <|im_end|>"},),
        prompt=(1, 5),
        token_bytes={token: bytes([token, 0xF0]) for token in (1, 2, 5, 7, 10, 11, 12, 13, 14)},
        rounds=(
            Round(0, 1, 1, 0.0, 0.0, 9.5, EMPTY_VERIFIED_TREE, 5, 0.8, (5,)),
            Round(1, 2, 8, 10.0, 0.25, 20.0, branching, 14, 0.7, (10, 12, 14)),
            Round(2, 1, 3, 31.0, 0.5, 20.0, cut, 14, 0.7, (2,), saguaro),
        ),
        finish_reason="end_of_text",
    )


def written(trace: Trace | None = None) -> dict:
    return json.loads(json.dumps(to_json(trace or sample_trace())))


def test_a_trace_survives_the_file(tmp_path):
    save(sample_trace(), tmp_path / "a.trace")
    assert load(tmp_path / "a.trace") == sample_trace()
    assert [file.name for file in tmp_path.iterdir()] == ["a.trace"]


def test_a_running_trace_survives_too(tmp_path):
    running = Trace("2025-01-02T03:04:05Z", "toy", "float32", "toy", "sssd", {}, (), (1,), {1: b"a"})
    save(running, tmp_path / "a.trace")
    assert load(tmp_path / "a.trace") == running


def test_the_format_is_the_documented_one():
    data = written()
    assert " ".join(data) == (
        "version created device dtype preset method settings messages prompt token_bytes rounds finish_reason"
    )
    assert data["token_bytes"]["1"] == "AfA="
    assert "saguaro" not in data["rounds"][0]
    assert data["rounds"][2]["saguaro"]["outcome"] == [1, 14]
    assert data["rounds"][1]["tree"]["fates"] == ["accepted", "rejected", "accepted", "ignored"]


@pytest.mark.parametrize(
    "trace",
    [
        toy_trace("chain", tokens=12),
        toy_trace("block", tokens=12),
        toy_trace("tree", parents=BUSH, laws=("distinct",) * 6, tokens=12),
        toy_trace("traversal", parents=BUSH, laws=("sampled",) * 6, tokens=12),
        toy_trace("tree", parents=BUSH, laws=("sampled", "point", "distinct", "point", "point", "point"), tokens=12),
        toy_trace(parents=BUSH, laws=("point",) * 6, tokens=12),
        toy_trace(temperature=0.0, tokens=12),
    ],
)
def test_sampled_rounds_survive_with_all_that_was_decided(tmp_path, trace):
    save(trace, tmp_path / "a.trace")
    assert load(tmp_path / "a.trace") == trace


def test_what_was_decided_is_written_only_where_a_draft_was_sampled():
    traces = [toy_trace(tokens=6), toy_trace(laws=("point",) * 4, tokens=6), toy_trace(temperature=0.0, tokens=6)]
    sampled, looked_up, greedy = (written(trace)["rounds"][1] for trace in traces)
    assert {"rule", "decisions", "draw"} <= sampled.keys()
    assert sampled["decisions"][0].keys() == {"node", "weight", "p", "q", "mass", "threshold", "coin", "held"}
    assert "decisions" not in looked_up
    assert looked_up["draw"].keys() == {"coin", "start", "prob"}
    assert "decisions" not in greedy
    assert "draw" not in greedy


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not JSON"),
        (b"\x89PNG\r\n", "not JSON"),
        (json.dumps(written()).encode()[:-100], "cut off"),
        (b"[" * 100_000, "not JSON"),
        (b"1" * 10_000, "not JSON"),
        (b"[1, 2]", "not a trace"),
        (b'{"questions": []}', "not a trace"),
        (b'{"version": 2}', "version 2"),
        (b'{"version": true}', "version True"),
    ],
)
def test_files_that_are_no_traces_are_named(tmp_path, content, said):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(UserError, match=said):
        load(tmp_path / "x.json")


def test_missing_and_huge_files_are_refused(tmp_path):
    with pytest.raises(UserError, match="cannot be read: No such file"):
        load(tmp_path / "absent.trace")
    with pytest.raises(UserError, match="cannot be read"):
        load(tmp_path)
    with pytest.raises(UserError, match="cannot be read"):
        load("zero\0byte")
    with (tmp_path / "huge.trace").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(UserError, match="at most 33,554,432"):
        load(tmp_path / "huge.trace")


def test_an_unwritable_place_is_named(tmp_path):
    with pytest.raises(UserError, match="cannot be written"):
        save(sample_trace(), tmp_path / "absent" / "a.trace")


def assign(*keys, value):
    def change(data):
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data.pop("prompt"), 'the file lacks the entry "prompt"'),
        (assign("rounds", 1, "tree", "parents", value=[-1, 0, 0]), "tree.parents has 3 entries for 4 tokens"),
        (assign("rounds", 1, "tree", "parents", 1, value=2), "parents must come before their children"),
        (assign("rounds", 1, "tree", "parents", 1, value=-2), "whole number of at least -1"),
        (assign("rounds", 1, "tree", "fates", 1, value="lost"), "one of accepted, rejected, ignored"),
        (assign("rounds", 1, "tree", "laws", 1, value=["point"]), "one of point, sampled"),
        (assign("rounds", 1, "tree", "sources", 1, value="moon"), "one of prompt, output"),
        (assign("rounds", 1, "tree", "fates", 1, value="accepted"), "not one path"),
        (assign("rounds", 1, "tree", "coins", 0, value=1.5), "at most 1"),
        (assign("rounds", 1, "committed", value=[10, 14]), "does not equal"),
        (assign("rounds", 1, "committed", value=[10, 12]), "does not equal"),  # only the last round may be cut
        (assign("rounds", 1, "s_q", value=4), "more than s_q - 1 = 3"),
        (assign("rounds", 1, "s_q", value=2**31), "at most 4096"),
        (assign("rounds", 1, "tree", "match_lengths", 0, value=2**31), "at most 32768"),
        (assign("rounds", 1, "index", value=3), "numbered from 0"),
        (assign("rounds", 1, "verify_ms", value=-1), "number of at least 0"),
        (assign("rounds", 1, "verify_ms", value=float("nan")), "number of at least 0"),
        (assign("rounds", 1, "draft_ms", value=float("inf")), "number of at least 0"),
        (assign("rounds", 1, "draft_ms", value=10**400), "number of at least 0"),
        (assign("rounds", 1, "bonus_prob", value=1.5), "at most 1.001"),
        (assign("rounds", 1, "bonus", value=True), "whole number"),
        (assign("rounds", 1, "bonus", value=2**40), "at most 2147483647"),
        (assign("rounds", 2, "saguaro", "outcome", value=[1]), "a pair"),
        (assign("rounds", 2, "saguaro", "spans", 0, "end_ms", value=0), "at least 1"),
        (assign("rounds", 2, "saguaro", "fallback", value="hope"), "one of immediate"),
        (assign("rounds", 2, "saguaro", "rank", value=0), "at least 1"),
        (assign("rounds", value={}), "should be a list"),
        (assign("finish_reason", value="bored"), "one of end_of_text, length, cancelled"),
        (assign("created", value="yesterday"), "ISO 8601"),
        (assign("device", value="\ud800"), "not valid Unicode"),
        (assign("token_bytes", "10", value="?"), "base64"),
        (assign("token_bytes", "ten", value=""), "not a token id"),
        (assign("token_bytes", "٣", value=""), "not a token id"),
        (lambda data: data["token_bytes"].pop("13"), "lacks the bytes of token 13"),
        (assign("messages", value=[{"role": "user"}]), 'lacks the entry "content"'),
        (assign("settings", value={"x": float("inf")}), "finite"),
    ],
)
def test_what_is_wrong_with_a_trace_is_named(change, said):
    data = written()
    change(data)
    with pytest.raises(UserError, match=said) as caught:
        from_json(data)
    assert "\n" not in str(caught.value)


DECISION = ("rounds", 1, "decisions", 0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (assign("rounds", 1, "rule", value="hierarchical"), "one of chain, block, tree, traversal"),
        (assign("rounds", 1, "rule", value=None), "one of chain, block, tree, traversal"),
        (assign("rounds", 1, "tree", "laws", 0, value="indistinct"), "one of point, sampled, distinct"),
        (assign("rounds", 1, "decisions", value={}), "should be a list"),
        (assign(*DECISION, value=[]), "should be an object"),
        (assign(*DECISION, "node", value=4), "a node that the tree of 4 nodes lacks"),
        (assign(*DECISION, "node", value=-1), "at least 0"),
        (assign(*DECISION, "node", value=1), "about a node twice"),
        (assign(*DECISION, "weight", value=2), "at most 1.001"),
        (assign(*DECISION, "p", value="0.5"), "should be a number"),
        (assign(*DECISION, "q", value=float("nan")), "should be a number"),
        (assign(*DECISION, "mass", value=-0.1), "at least 0"),
        (assign(*DECISION, "threshold", value=1.5), "at most 1.001"),
        (assign(*DECISION, "coin", value=None), "should be a number"),
        (assign(*DECISION, "held", value=None), "should be a list"),
        (assign(*DECISION, "held", 0, value=[1, 0.5, 0.5]), "token, p, q, residual"),
        (assign(*DECISION, "held", 0, value=[1, 0.5, 0.5, True]), "should be a number"),
        (assign(*DECISION, "held", 0, 0, value=1.0), "whole number"),
        (assign(*DECISION, "held", 0, 0, value=77), "lacks the bytes of token 77"),
        (assign("rounds", 1, "draw", value=[]), "should be an object"),
        (assign("rounds", 1, "draw", "coin", value=1.5), "at most 1.001"),
        (lambda data: data["rounds"][1]["draw"].pop("prob"), 'lacks the entry "prob"'),
        (lambda data: data["rounds"][1]["decisions"][0].pop("mass"), 'lacks the entry "mass"'),
    ],
)
def test_what_is_wrong_with_a_decision_is_named(change, said):
    data = written(toy_trace("block", tokens=6))
    change(data)
    with pytest.raises(UserError, match=said) as caught:
        from_json(data)
    assert "\n" not in str(caught.value)


def places(value, path=()):
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from places(entry, (*path, key))


HOSTILE: list[Any] = [
    None,
    True,
    -1,
    2**31,
    10**400,
    0.5,
    -0.5,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\ud800",
    [],
    {},
]
HOSTILE += [[[]], {"": {}}, [None], ["accepted"], [-1] * 3, "9" * 50, "<script>"]


@pytest.mark.parametrize(
    "whole", [sample_trace(), toy_trace("traversal", parents=BUSH, laws=("distinct",) * 6, tokens=8)]
)
def test_random_damage_never_raises_anything_but_a_user_error(whole):
    random_ = random.Random(7)
    every_place = [path for path in places(written(whole)) if path]
    for _ in range(2000):
        data = written(whole)
        for path in random_.sample(every_place, random_.choice([1, 1, 2, 5])):
            container = data
            try:
                for key in path[:-1]:
                    container = container[key]
                if random_.random() < 0.25:
                    del container[path[-1]]
                else:
                    container[path[-1]] = copy.deepcopy(random_.choice(HOSTILE))
            except (KeyError, IndexError, TypeError):
                continue  # an earlier change took this place away
        try:
            trace = from_json(data)
        except UserError:
            continue
        for round_, before in trace.contexts():  # what is let through is good enough for the views
            assert len(round_.tree.depths()) == len(round_.tree)
            assert all(token in trace.token_bytes for token in before)
            recheck(round_)
        json.dumps(AnswerPayload(trace).update(trace)).encode()
        json.dumps(to_json(trace)).encode()


def test_random_bytes_in_the_file_never_raise_anything_but_a_user_error(tmp_path):
    random_ = random.Random(8)
    content, path = json.dumps(written()).encode(), tmp_path / "x.trace"
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(random_.choice([1, 3, 10])):
            damaged[random_.randrange(len(damaged))] = random_.randrange(256)
        path.write_bytes(damaged[: random_.choice([len(damaged), random_.randrange(len(damaged))])])
        try:
            load(path)
        except UserError:
            continue
