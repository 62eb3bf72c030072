"""The loop of rounds on a toy model: same text as plain decoding, exact ends, batches, cancellation, memory."""

import copy
import random
import threading

import pytest
import torch

from sssd_demo.engine import CHUNK_BESIDE, Engine
from sssd_demo.errors import UserError
from sssd_demo.length import LengthPlanner
from sssd_demo.pauses import Pauses
from sssd_demo.request import Request
from sssd_demo.sampling import Sampling
from sssd_demo.scratch_tree import ScratchTree
from sssd_demo.speculators.autoregressive import Autoregressive
from sssd_demo.target import Target
from sssd_demo.trace import EMPTY_TREE, ROOT
from tests.toys import VOCABULARY, OracleSpeculator, point_tree, random_tree, toy_model

MODEL = toy_model()
CONTEXT = 200


def greedy_text(prompt, count, model=MODEL):
    """Written without any of the project's code: argmax of transformers' own forward, one token at a time."""
    tokens = list(prompt)
    with torch.inference_mode():
        for _ in range(count):
            tokens.append(int(model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0, -1].argmax()))
    return tokens[len(prompt) :]


def random_prompt(rng, length):
    return tuple(rng.randrange(VOCABULARY) for _ in range(length))


class _Engines:
    def __init__(self):
        self.made = []

    def __call__(self, *, rows=4, oracle=None, lengths=None):
        target = Target(copy.deepcopy(MODEL), rows=rows, context_length=CONTEXT)
        speculators = {"autoregressive": Autoregressive(), "oracle": oracle or OracleSpeculator({})}
        self.made.append(Engine(target, speculators, lengths=lengths or LengthPlanner(bytes_per_weight=4)))
        return self.made[-1]


@pytest.fixture
def make_engine():
    engines = _Engines()
    yield engines
    for engine in engines.made:
        engine.close()


def written(rounds):
    return [token for round_ in rounds for token in round_.committed]


def test_drafting_changes_no_token_of_a_greedy_answer(make_engine):
    rng = random.Random(1)
    prompts = [random_prompt(rng, rng.randint(1, 40)) for _ in range(12)]
    answers = {prompt: greedy_text(prompt, 30) for prompt in prompts}
    oracle = OracleSpeculator(answers)
    engine = make_engine(oracle=oracle)
    streams = {p: engine.submit(Request(p, "oracle", 30, s_q=rng.choice([2, 5, 9, 16]))) for p in prompts}
    for prompt, stream in streams.items():
        rounds = list(stream)
        assert written(rounds) == answers[prompt]
        assert stream.finished.reason == "length"
        assert all(len(round_.tree) < round_.s_q for round_ in rounds)
    assert not oracle.alive
    assert any(len(outcome.path) > 2 for outcome in oracle.outcomes), "no long path was ever accepted"
    assert max(outcome.sequence.id for outcome in oracle.outcomes) == len(prompts)


def test_sampled_text_is_the_same_with_and_without_drafts_alone_and_in_a_batch(make_engine):
    rng = random.Random(2)
    prompts = [random_prompt(rng, 6) for _ in range(4)]
    requests = [
        Request(prompt, "autoregressive", 25, Sampling(temperature=0.8, top_p=0.9, seed=seed))
        for seed, prompt in enumerate(prompts)
    ]
    engine = make_engine()
    alone = [written(engine.submit(request)) for request in requests]
    oracle = OracleSpeculator({request.prompt: text for request, text in zip(requests, alone, strict=True)})
    drafted = make_engine(oracle=oracle)
    streams = [drafted.submit(Request(request.prompt, "oracle", 25, request.sampling, s_q=8)) for request in requests]
    assert [written(stream) for stream in streams] == alone
    assert len(set(map(tuple, alone))) == 4
    assert any(outcome.path for outcome in oracle.outcomes)


def test_another_seed_gives_another_text(make_engine):
    engine = make_engine()
    texts = [
        written(engine.submit(Request((1, 2, 3), "autoregressive", 20, Sampling(temperature=1.5, seed=seed))))
        for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]


def test_an_end_token_inside_a_draft_ends_the_answer_there(make_engine):
    prompt = (3, 1, 4)
    answer = greedy_text(prompt, 40)
    end = next(token for token in answer[6:] if token not in answer[:6])
    until_end = answer[: answer.index(end) + 1]
    for seed in range(6):
        engine = make_engine(oracle=OracleSpeculator({prompt: answer}, seed=seed))
        stream = engine.submit(Request(prompt, "oracle", 40, s_q=16, end_tokens=frozenset({end})))
        rounds = list(stream)
        assert written(rounds) == until_end
        assert stream.finished.reason == "end_of_text"
        for round_ in rounds:
            path = [round_.tree.tokens[node] for node in round_.tree.accepted_path()]
            assert (*path, round_.bonus)[: len(round_.committed)] == round_.committed
            assert len(path) <= len(round_.committed)


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 20])
def test_the_limit_is_kept_exactly(make_engine, limit):
    prompt = (5, 6)
    engine = make_engine(oracle=OracleSpeculator({prompt: greedy_text(prompt, 30)}))
    stream = engine.submit(Request(prompt, "oracle", limit, s_q=16))
    assert len(written(stream)) == limit
    assert stream.finished.reason == "length"


def test_an_answer_stops_at_the_end_of_the_context(make_engine):
    engine = make_engine()
    stream = engine.submit(Request((1,) * (CONTEXT - 5), "oracle", 50, s_q=16))
    assert len(written(stream)) == 5


def test_a_prompt_longer_than_the_context_is_refused_with_both_lengths(make_engine):
    with pytest.raises(UserError, match=f"{CONTEXT + 3} tokens.*{CONTEXT}"):
        make_engine().submit(Request((1,) * (CONTEXT + 3), "autoregressive", 5))


def test_an_unknown_method_is_refused_and_the_known_ones_are_listed(make_engine):
    with pytest.raises(UserError, match="autoregressive, oracle"):
        make_engine().submit(Request((1,), "magic", 5))


@pytest.mark.parametrize("bad", [{"max_new_tokens": 0}, {"s_q": 0}, {"s_q": 65}, {"s_q": "long"}, {"prompt": ()}])
def test_a_request_out_of_range_is_refused(bad):
    with pytest.raises(UserError):
        Request(**{"prompt": (1,), "method": "oracle", "max_new_tokens": 5} | bad)


def test_cancelling_ends_the_answer_and_frees_its_row(make_engine):
    oracle = OracleSpeculator({})
    engine = make_engine(rows=1, oracle=oracle)
    stream = engine.submit(Request((1, 2), "oracle", 150, s_q=2))
    rounds = iter(stream)
    next(rounds)
    stream.cancel()
    seen = list(rounds)
    assert stream.finished.reason == "cancelled"
    assert len(seen) < 148
    outcomes = len(oracle.outcomes)
    assert len(written(engine.submit(Request((1, 2), "autoregressive", 5)))) == 5
    assert len(oracle.outcomes) == outcomes, "a cancelled sequence went on"
    assert not oracle.alive


def test_more_requests_than_rows_wait_and_all_are_answered(make_engine):
    rng = random.Random(4)
    engine = make_engine(rows=2)
    prompts = [random_prompt(rng, 4) for _ in range(7)]
    streams = [engine.submit(Request(prompt, "autoregressive", 12)) for prompt in prompts]
    assert [written(stream) for stream in streams] == [greedy_text(prompt, 12) for prompt in prompts]


def test_two_answers_share_one_forward(make_engine):
    started = threading.Event()

    class Slow(OracleSpeculator):
        def propose(self, sequences):
            started.wait(10)
            return super().propose(sequences)

    engine = make_engine(oracle=Slow({}))
    first = engine.submit(Request((1,), "oracle", 10, s_q=2))
    second = engine.submit(Request((2,), "oracle", 10, s_q=2))
    started.set()
    assert max(round_.batch_size for stream in (first, second) for round_ in stream) == 2


def test_a_conversations_next_turn_reads_only_what_is_new(make_engine):
    engine = make_engine()
    first = Request((1, 2, 3, 4), "oracle", 10, s_q=4, conversation="a")
    answer = written(engine.submit(first))
    history = (*first.prompt, *answer, 9, 9)
    again = engine.submit(Request(history, "oracle", 10, s_q=4, conversation="a"))
    assert written(again) == greedy_text(history, 10)
    assert again.finished.reused_tokens == len(first.prompt) + len(answer) - 1
    edited = (1, 2, 7, *history[3:])
    changed = engine.submit(Request(edited, "oracle", 10, s_q=4, conversation="a"))
    assert written(changed) == greedy_text(edited, 10)
    assert changed.finished.reused_tokens == 2


def test_another_conversation_never_reads_the_memory_of_this_one(make_engine):
    engine = make_engine(rows=2)
    prompt = (1, 2, 3, 4, 5)
    list(engine.submit(Request(prompt, "oracle", 5, conversation="a")))
    for conversation in ("b", None):
        stream = engine.submit(Request((*prompt, 6), "oracle", 5, conversation=conversation))
        assert written(stream) == greedy_text((*prompt, 6), 5)
        assert stream.finished.reused_tokens == 0


def test_a_forgotten_conversation_is_read_afresh(make_engine):
    engine = make_engine()
    list(engine.submit(Request((1, 2, 3), "oracle", 5, conversation="a")))
    engine.forget("a")
    engine.call(lambda target: None)
    stream = engine.submit(Request((1, 2, 3, 4), "oracle", 5, conversation="a"))
    assert len(written(stream)) == 5
    assert stream.finished.reused_tokens == 0


def test_conversations_of_random_turns_edits_and_cancels_always_equal_a_fresh_answer(make_engine):
    rng = random.Random(7)
    engine = make_engine(rows=3)
    histories = {name: random_prompt(rng, 3) for name in "abcd"}
    for _ in range(25):
        name = rng.choice("abcd")
        prompt = histories[name]
        if len(prompt) > 90 or rng.random() < 0.2:
            prompt = prompt[: rng.randint(1, len(prompt))]
        stream = engine.submit(Request(prompt, "oracle", 12, s_q=6, conversation=name))
        rounds = iter(stream)
        answer = list(next(rounds).committed)
        if rng.random() < 0.3:
            stream.cancel()
        answer += written(rounds)
        assert answer == greedy_text(prompt, len(answer))
        histories[name] = (*prompt, *answer, *random_prompt(rng, 2))


def test_a_fault_in_drafting_ends_its_answers_and_the_engine_goes_on(make_engine):
    class Broken(OracleSpeculator):
        def propose(self, sequences):
            raise RuntimeError("secret path")

    engine = make_engine(oracle=Broken({}))
    with pytest.raises(UserError, match="internal error") as caught:
        list(engine.submit(Request((1, 2), "oracle", 10)))
    assert "secret" not in str(caught.value)
    assert written(engine.submit(Request((1, 2), "autoregressive", 5))) == greedy_text((1, 2), 5)


def test_running_out_of_memory_is_said_in_a_sentence(make_engine):
    class Greedy(OracleSpeculator):
        def propose(self, sequences):
            raise MemoryError

    with pytest.raises(UserError, match="out of memory"):
        list(make_engine(oracle=Greedy({})).submit(Request((1, 2), "oracle", 10)))


def test_a_tree_larger_than_allowed_is_a_fault_of_the_method(make_engine):
    class TooMuch(OracleSpeculator):
        def propose(self, sequences):
            for sequence in sequences:
                sequence.s_q += 5
            trees = super().propose(sequences)
            for sequence in sequences:
                sequence.s_q -= 5
            return trees

    with pytest.raises(UserError, match="internal error"):
        list(make_engine(oracle=TooMuch({})).submit(Request((1, 2), "oracle", 60, s_q=2)))


class Planner(LengthPlanner):
    """Drafts `drafted` tokens, keeps `kept` of them, and remembers what it was asked."""

    def __init__(self, drafted=8, kept=3):
        super().__init__(bytes_per_weight=4)
        self.drafted, self.kept = drafted, kept
        self.asked = []

    def most(self, length, batch, context, last):
        return length if isinstance(length, int) else self.drafted

    def best(self, expected, fixed, context):
        self.asked.append((expected, fixed, context))
        return self.kept


class Full(OracleSpeculator):
    """Always drafts as much as it may, and remembers how much that was."""

    def __init__(self):
        super().__init__({})
        self.allowed: list[int] = []

    def propose(self, sequences):
        self.allowed += [sequence.s_q for sequence in sequences]
        return [random_tree(self.rng, sequence.s_q - 1) for sequence in sequences]


def test_an_open_length_is_chosen_after_drafting_and_the_tree_is_cut_to_it(make_engine):
    lengths, oracle = Planner(), Full()
    rounds = list(make_engine(lengths=lengths, oracle=oracle).submit(Request((1, 2, 3), "oracle", 40)))
    assert oracle.allowed[0] == 8
    assert {len(round_.tree) for round_ in rounds[1:10]} == {2}
    assert all(round_.s_q == 1 + len(round_.tree) for round_ in rounds[1:])
    ((expected,), fixed, context) = lengths.asked[0]
    assert (len(expected), fixed, context) == (8, [], 4)
    assert expected[:2] == pytest.approx([0, 0.5]), "at first a score is believed"


def test_in_a_pause_nothing_is_drafted_where_the_length_is_open_and_a_fixed_one_stays(make_engine, monkeypatch):
    monkeypatch.setattr(Pauses, "pausing", lambda self, methods, new: True)
    oracle = Full()
    engine = make_engine(lengths=Planner(), oracle=oracle)
    rounds = list(engine.submit(Request((1, 2, 3), "oracle", 20)))
    assert set(oracle.allowed) == {1}
    assert not any(len(round_.tree) for round_ in rounds)
    oracle.allowed.clear()
    list(engine.submit(Request((1, 2, 3), "oracle", 20, s_q=5)))
    assert oracle.allowed[0] == 5


def test_what_became_of_rounds_is_what_pauses_follow_from(make_engine, monkeypatch):
    observed = []
    monkeypatch.setattr(Pauses, "observe", lambda self, methods, **figures: observed.append((methods, figures)))
    engine = make_engine(lengths=Planner(), oracle=Full())
    rounds = list(engine.submit(Request((1, 2, 3), "oracle", 20)))
    list(engine.submit(Request((1, 2, 3), "oracle", 20, s_q=5)))
    assert len(observed) == len(rounds) - 1
    for round_, (methods, figures) in zip(rounds[1:], observed, strict=True):
        assert (methods, figures["tokens"]) == (["oracle"], len(round_.committed))
        assert figures["seconds"] >= (round_.draft_ms + round_.verify_ms) / 1e3
    assert observed[0][1]["drafted"]


def test_what_is_accepted_changes_what_is_expected(make_engine):
    lengths = Planner()
    list(make_engine(lengths=lengths, oracle=Full()).submit(Request((1, 2, 3), "oracle", 60)))
    first, last = lengths.asked[0][0][0], lengths.asked[-1][0][0]
    assert last[1] < first[1] / 2, "random drafts are hardly ever accepted, and that must be noticed"


def test_a_rule_other_than_auto_cuts_nothing(make_engine):
    lengths = Planner(drafted=6)
    rounds = list(make_engine(lengths=lengths, oracle=Full()).submit(Request((1, 2, 3), "oracle", 40, s_q="knee")))
    assert (len(rounds[1].tree), rounds[1].s_q) == (5, 6)
    assert not lengths.asked


def test_the_length_is_chosen_once_a_round_for_all_that_leave_it_open(make_engine):
    gate = threading.Event()

    class Slow(Full):
        def propose(self, sequences):
            gate.wait(10)
            return super().propose(sequences)

    lengths = Planner()
    engine = make_engine(lengths=lengths, oracle=Slow())
    streams = [engine.submit(Request((token,), "oracle", 20)) for token in (1, 2)]
    streams.append(engine.submit(Request((3,), "oracle", 20, s_q=5)))
    gate.set()
    starts = {round_.start_ms for stream in streams[:2] for round_ in stream if round_.index and len(round_.tree)}
    list(streams[2])
    assert len(lengths.asked) == len(starts)
    assert [5] in [fixed for _, fixed, _ in lengths.asked]


def test_the_most_probable_tokens_are_those_of_each_committed_position(make_engine):
    prompt = (3, 1, 4, 1, 5)
    answer = greedy_text(prompt, 20)
    oracle = OracleSpeculator({prompt: answer})
    rounds = list(make_engine(oracle=oracle).submit(Request(prompt, "oracle", 20, s_q=6, keep_top=True)))
    tops = [top for round_ in rounds for top in round_.top]
    assert [top.tokens[0] for top in tops] == answer
    for position in (0, 7, 19):
        with torch.inference_mode():
            logits = MODEL(input_ids=torch.tensor([[*prompt, *answer[:position]]])).logits[0, -1]
        expected = logits.softmax(-1).topk(8)
        assert tops[position].tokens == tuple(expected.indices.tolist())
        assert tops[position].probs == pytest.approx(expected.values.tolist(), abs=1e-5)
    learnt = [top for outcome in oracle.outcomes for top in outcome.committed_top]
    assert learnt == tops[1:], "what the speculator learns is what the rounds carry"


def test_a_speculator_is_told_what_was_likely_after_every_node_the_refused_ones_too(make_engine):
    prompt = (3, 1, 4, 1, 5)
    first, second = greedy_text(prompt, 2)
    wrong = [token for token in range(4) if token != second][:3]

    class Wrong(OracleSpeculator):
        """Two guesses for the next token, neither of them right, and one more after the second."""

        def _tree(self, sequence):
            return point_tree(wrong, (ROOT, ROOT, 1)) if sequence.s_q == 4 else EMPTY_TREE

    speculator = Wrong({})
    list(make_engine(oracle=speculator).submit(Request(prompt, "oracle", 5, s_q=4)))
    outcome = speculator.outcomes[0]
    assert outcome.path == ()
    for entry, guesses in enumerate(((), wrong[:1], wrong[1:2], wrong[1:])):
        with torch.inference_mode():
            logits = MODEL(input_ids=torch.tensor([[*prompt, first, *guesses]])).logits[0, -1]
        assert outcome.top[entry].tokens == tuple(logits.topk(8).indices.tolist())


def test_the_most_probable_tokens_are_kept_only_where_they_are_asked_for(make_engine):
    rounds = list(make_engine().submit(Request((1, 2), "oracle", 10, s_q=4)))
    assert not any(round_.top for round_ in rounds)


def test_round_zero_is_the_prefill_and_times_follow_each_other(make_engine):
    rounds = list(make_engine().submit(Request((1, 2, 3), "oracle", 12, s_q=4)))
    assert len(rounds[0].tree) == 0
    assert rounds[0].committed == (rounds[0].bonus,)
    assert [round_.index for round_ in rounds] == list(range(len(rounds)))
    for earlier, later in zip(rounds, rounds[1:], strict=False):
        assert earlier.end_ms <= later.start_ms


def test_closing_ends_running_answers_as_cancelled(make_engine):
    engine = make_engine()
    stream = engine.submit(Request((1,), "oracle", 190, s_q=2))
    rounds = iter(stream)
    next(rounds)
    engine.close()
    list(rounds)
    assert stream.finished.reason == "cancelled"
    with pytest.raises(UserError, match="shutting down"):
        engine.submit(Request((1,), "oracle", 5))


def test_a_cancelled_request_need_not_wait_for_a_row_to_end(make_engine):
    engine = make_engine(rows=1)
    first = engine.submit(Request((1, 2), "oracle", 150, s_q=2))
    rounds = iter(first)
    next(rounds)
    waiting = engine.submit(Request((3, 4), "oracle", 150, s_q=2))
    waiting.cancel()
    assert list(waiting) == []
    assert waiting.finished.reason == "cancelled"
    assert engine.busy == 1, "the first answer has the only row, and has it still"
    first.cancel()


def test_an_answer_that_failed_fails_again_when_it_is_read_again(make_engine):
    class Broken(OracleSpeculator):
        def propose(self, sequences):
            raise RuntimeError

    stream = make_engine(oracle=Broken({})).submit(Request((1, 2), "oracle", 10))
    for _ in range(2):
        with pytest.raises(UserError, match="internal error"):
            list(stream)


def test_what_is_still_in_the_inbox_when_the_engine_closes_is_answered(make_engine):
    inside, let_go = threading.Event(), threading.Event()

    def block(target):
        inside.set()
        let_go.wait(10)

    engine = make_engine()
    threading.Thread(target=engine.call, args=(block,), daemon=True).start()
    inside.wait(10)
    stream = engine.submit(Request((1, 2), "oracle", 10))
    refused = []

    def call():
        with pytest.raises(UserError, match="shutting down"):
            engine.call(lambda target: None)
        refused.append(True)

    calling = threading.Thread(target=call, daemon=True)
    calling.start()
    closing = threading.Thread(target=engine.close, daemon=True)
    closing.start()
    while not engine._closing:
        pass
    let_go.set()
    for thread in (closing, calling):
        thread.join(10)
    assert refused == [True]
    assert list(stream) == []
    assert stream.finished.reason == "cancelled"


def test_a_conversation_forgotten_while_others_are_answered_leaves_nothing(make_engine):
    engine = make_engine()
    other = engine.submit(Request((5, 6), "oracle", 190, s_q=1))
    others = iter(other)
    next(others)
    left = engine.submit(Request((1, 2, 3), "oracle", 150, s_q=1, conversation="a"))
    next(iter(left))
    left.cancel()
    engine.forget("a")
    list(left)
    again = engine.submit(Request((1, 2, 3, 4), "oracle", 5, s_q=1, conversation="a"))
    list(again)
    assert engine.busy == 1, "the other answer goes on all the time"
    assert again.finished.reused_tokens == 0
    other.cancel()


def test_a_measurement_between_two_turns_spoils_no_answer(make_engine):
    engine = make_engine()
    prompt = (1, 2, 3, 4)
    answer = written(engine.submit(Request(prompt, "oracle", 10, conversation="a")))
    engine.call(lambda target: target.time_forward(4, 2, 20))
    history = (*prompt, *answer, 9)
    assert written(engine.submit(Request(history, "oracle", 10, conversation="a"))) == greedy_text(history, 10)


def test_a_long_prompt_is_read_between_the_rounds_of_others_and_stalls_nobody(make_engine):
    engine = make_engine()
    long = tuple(random_prompt(random.Random(7), CONTEXT - 10))
    first = engine.submit(Request((1, 2, 3), "autoregressive", 60))
    rounds = iter(first)
    next(rounds)
    second = engine.submit(Request(long, "autoregressive", 5))
    texts = [written(rounds), written(second)]
    assert second.finished.prefill_forwards == -(-len(long) // CHUNK_BESIDE)
    assert [texts[0], texts[1]] == [greedy_text((1, 2, 3), 60)[1:], greedy_text(long, 5)]


def test_who_leaves_while_a_prompt_is_being_read_spoils_neither_it_nor_the_others(make_engine):
    """The rows that follow move up: random lengths of prompts and answers, conversations that go on."""
    rng = random.Random(8)
    for seed in range(4):
        engine = make_engine(rows=3, oracle=OracleSpeculator({}, seed=seed))
        asked = []
        for at in range(14):
            prompt = random_prompt(rng, rng.choice([3, 20, CHUNK_BESIDE + 9, 2 * CHUNK_BESIDE + 5]))
            count = rng.randint(1, 20)
            request = Request(prompt, rng.choice(["oracle", "autoregressive"]), count, conversation=f"c{at % 4}")
            stream = engine.submit(request)
            if rng.random() < 0.2:
                stream.cancel()
            else:
                asked.append((prompt, count, stream))
        for prompt, count, stream in asked:
            assert written(stream) == greedy_text(prompt, count)


class Failing(OracleSpeculator):
    """Raises for sequences whose prompt begins with 9, at the place named."""

    def __init__(self, place):
        super().__init__({})
        self.place = place

    def propose(self, sequences):
        self._fail_at("propose", sequences)
        return super().propose(sequences)

    def observe(self, outcomes):
        self._fail_at("observe", [outcome.sequence for outcome in outcomes])
        super().observe(outcomes)

    def begin(self, sequence):
        self._fail_at("begin", [sequence])
        super().begin(sequence)

    def end(self, sequence):
        self._fail_at("end", [sequence])
        self.alive.discard(sequence.id)

    def _fail_at(self, place, sequences):
        if place == self.place and any(sequence.tokens[0] == 9 for sequence in sequences):
            raise RuntimeError("made to fail")


@pytest.mark.parametrize("place", ["begin", "propose", "observe", "end"])
def test_a_sequence_that_fails_takes_nobody_with_it(make_engine, place):
    engine = make_engine(oracle=Failing(place))
    prompts = [(1, 2), (9, 1), (3, 4), (9, 9)]
    streams = [engine.submit(Request(prompt, "oracle", 25, s_q=6)) for prompt in prompts]
    for prompt, stream in zip(prompts, streams, strict=True):
        if prompt[0] == 9 and place != "end":
            with pytest.raises(UserError, match="internal error"):
                list(stream)
        else:
            assert written(stream) == greedy_text(prompt, 25)
    assert written(engine.submit(Request((5, 5), "autoregressive", 5))) == greedy_text((5, 5), 5)


class WithScratch(OracleSpeculator):
    """Every tree has two scratch nodes in a row, which begin with the true next token; remembers what comes back."""

    def __init__(self, texts):
        super().__init__(texts)
        self.returned = []

    def propose(self, sequences):
        trees = []
        for sequence in sequences:
            if sequence.s_q < 3:
                trees.append(EMPTY_TREE)
                continue
            sequence.s_q -= 2
            tree = self._tree(sequence)
            sequence.s_q += 2
            nodes = len(tree)
            beside = point_tree([*tree.tokens, 7, 8], [*tree.parents, ROOT, nodes])
            trees.append(ScratchTree.of(beside, 2))
        return trees

    def observe(self, outcomes):
        super().observe(outcomes)
        for outcome in outcomes:
            before = outcome.sequence.tokens[: -len(outcome.committed)]
            self.returned.append((before, outcome.tree, outcome.scratch_next))


def test_scratch_nodes_are_computed_and_handed_back_but_never_become_text(make_engine):
    prompt = (4, 2)
    oracle = WithScratch({prompt: greedy_text(prompt, 30)})
    rounds = list(make_engine(oracle=oracle).submit(Request(prompt, "oracle", 30, s_q=8)))
    assert written(rounds) == greedy_text(prompt, 30)
    assert [round_.scratch for round_ in rounds] == [2 if round_.s_q >= 3 else 0 for round_ in rounds]
    assert all(len(round_.tree) + round_.scratch < round_.s_q for round_ in rounds)
    assert len(oracle.returned) == len(rounds) - 1
    assert len([after for _, _, after in oracle.returned if after]) > 3
    for before, _, after in oracle.returned:
        if after:
            assert list(after) == [greedy_text((*before, 7), 1)[0], greedy_text((*before, 7, 8), 1)[0]]
