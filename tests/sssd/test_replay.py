"""Replaying recorded answers: the figures of the authors' own program, and small cases worked out by hand."""

import itertools
import time
from dataclasses import replace

import pytest

from sssd_demo.errors import UserError
from sssd_demo.sssd.constants import DEFAULT, FAITHFUL, SETTINGS
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.drafter import Drafter
from sssd_demo.sssd.recorded_answers import RecordedAnswer, read_recorded_answers
from sssd_demo.sssd.replay import Yielded, accepted_length, decode_again, replay
from sssd_demo.trace import EMPTY_TREE, ROOT, DraftTree, Top

# Tokens per step by s_q of the authors' own speculator, on the same answers.
REFERENCE_EMPTY = {4: 1.770, 8: 2.009, 16: 2.085, 32: 2.119}
REFERENCE_STORE = {4: 1.946, 8: 2.305, 16: 2.515, 32: 2.681}


@pytest.mark.parametrize("s_q", [4, 8, 16, 32])
@pytest.mark.parametrize("reference", [REFERENCE_EMPTY, REFERENCE_STORE], ids=["empty store", "store"])
def test_the_faithful_setting_reproduces_the_authors_tokens_per_step(data_folder, reference, s_q):
    answers = read_recorded_answers(data_folder / "smollm2_answers_dev.jsonl")
    stores = []
    if reference is REFERENCE_STORE:
        outputs = [answer.output for answer in read_recorded_answers(data_folder / "smollm2_conversations.jsonl")]
        stores.append(Datastore.build(outputs, fingerprint="f", vocab_size=49152))
    replayed = replay(answers, stores, s_q, FAITHFUL, time.perf_counter)
    assert replayed.tokens_per_step == pytest.approx(reference[s_q], rel=0.01)


ticks = itertools.count().__next__  # a clock that moves on by a second with every look


def one(prompt, output, s_q=4, store=()):
    stores = [Datastore.build(store, fingerprint="f", vocab_size=1000)]
    return replay([RecordedAnswer(tuple(prompt), tuple(output))], stores, s_q, FAITHFUL, ticks)


def test_new_text_comes_one_token_a_step():
    replayed = one(range(100, 110), range(20))
    assert (replayed.steps, replayed.tokens, replayed.tokens_per_step) == (20, 20, 1.0)


def test_copied_text_comes_s_q_tokens_a_step():
    prompt = [*range(40), 0]
    assert one(prompt, range(1, 25), s_q=4).tokens_per_step == 4
    assert one([999, 0], range(1, 25), s_q=4, store=[range(40)]).tokens_per_step == 4


def test_a_last_step_counts_a_bonus_even_beyond_the_recording():
    replayed = one([*range(40), 0], range(1, 23), s_q=4)  # 22 tokens in steps of 4: five full, then 2 accepted
    assert (replayed.steps, replayed.tokens) == (6, 5 * 4 + 3)


def test_counted_as_decoding_the_first_token_is_not_drafted_and_nothing_counts_that_was_not_written():
    copied = RecordedAnswer(
        (*range(40), 0), tuple(range(1, 23))
    )  # 1 token, then 21 in forwards of 4: five full, then 1
    assert decode_again(copied, [], 4, FAITHFUL) == Yielded(21, 6)
    assert decode_again(RecordedAnswer((9,), (1,)), [], 4, FAITHFUL) == Yielded(0, 0)
    assert decode_again(RecordedAnswer((9,), ()), [], 4, FAITHFUL).per_forward is None


def test_what_an_answer_at_its_limit_could_not_keep_is_not_drafted(monkeypatch):
    asked: list[int] = []
    draft = Drafter.draft

    def watched(self, known, s_q):
        asked.append(s_q)
        return draft(self, known, s_q)

    monkeypatch.setattr(Drafter, "draft", watched)
    decode_again(RecordedAnswer((999,), tuple(range(6))), [], 4, FAITHFUL, longest=6)
    assert asked == [4, 4, 3, 2, 1]


def test_the_time_of_every_step_is_taken():
    replayed = one(range(100, 110), range(20))
    assert len(replayed.draft_ms) == 20
    assert replayed.median_ms == pytest.approx(1000.0)
    assert replayed.p99_ms == pytest.approx(1000.0)


def test_short_answers_are_skipped_and_nothing_but_them_is_refused():
    short, long = RecordedAnswer((1,), tuple(range(19))), RecordedAnswer((1,), tuple(range(20)))
    assert replay([short, long], [], 4, FAITHFUL, ticks).tokens == 20
    with pytest.raises(UserError, match="no answer has 20 tokens"):
        replay([short], [], 4, FAITHFUL, ticks)


def test_without_a_draft_every_step_is_one_token():
    assert one([*range(40), 0], range(1, 25), s_q=1).tokens_per_step == 1


def test_the_accepted_length_is_that_of_the_path_that_agrees():
    tree = DraftTree(tokens=(1, 2, 3, 4), parents=(ROOT, 0, 0, 2))
    assert [accepted_length(tree, follows) for follows in ([1, 3, 4, 9], [1, 3], [1, 4], [2], [])] == [3, 2, 1, 0, 0]
    assert accepted_length(EMPTY_TREE, [1]) == 0


def test_lengths_and_decay_are_those_of_the_authors():
    assert [FAITHFUL.branch_length(s_q) for s_q in (2, 4, 5, 6, 8, 9, 32, 33, 48, 49, 64)] == [
        1, 3, 4, 5, 5, 6, 6, 8, 8, 10, 10,
    ]  # fmt: skip
    assert [round(FAITHFUL.decay(length), 9) for length in (1, 2, 3, 4)] == [0.7, 0.8, 0.9, 1.0]
    assert [FAITHFUL.children_cap(s_q) for s_q in (2, 4, 6, 64)] == [1, 3, 5, 5]
    assert SETTINGS["faithful"] is FAITHFUL


def test_what_was_held_likely_is_learnt_for_the_place_where_it_stood():
    """After 5 6 the text first goes on with 7, where the target held 8 likely, and then with 8."""
    output = [*range(30, 48), 5, 6, 7, *range(50, 60), 5, 6, 8, 20, 21]
    nothing = Top((), ())
    aligned = [Top((8,), (0.9,)) if token == 7 else nothing for token in output]

    def drafted(top):
        answer = RecordedAnswer((1, 2), tuple(output), top=tuple(top))
        return replay([answer], [], 3, replace(DEFAULT, prompt_doubt=50.0), lambda: 0.0).steps

    assert drafted(aligned) == drafted([nothing] * len(output)) - 1
    assert drafted(aligned[1:] + [nothing]) > drafted(aligned)
    assert drafted([nothing] + aligned[:-1]) > drafted(aligned)
