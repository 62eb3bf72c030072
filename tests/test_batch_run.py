"""Batches on a random model, and the figures taken from them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sssd_demo.batch_run import LEAST_FORWARDS, Batch, batch_prompts, summed_up
from sssd_demo.bench.contamination import holds_question
from sssd_demo.errors import UserError
from sssd_demo.questions import read_questions
from sssd_demo.service import Service, Settings
from sssd_demo.stores import shipped_folder
from sssd_demo.trace import EMPTY_VERIFIED_TREE, Round, Trace
from tests.toy_models import save_toy_model

PROMPTS = ["the cat sat", "on the mat", "a user", "system"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("toy")
    opened = Service.open(
        str(save_toy_model(folder, vocab_size=325)), device="cpu", dtype="float32", stores_folder=folder / "stores"
    )
    yield opened
    opened.close()


def waiting(index: int, start: float, took: float, tokens: int = 1, batch: int = 2, draft: float = 0.0) -> Round:
    return Round(index, batch, 1, start, draft, took - draft, EMPTY_VERIFIED_TREE, 0, 1.0, (0,) * tokens)


def trace(rounds: list[Round], method: str = "autoregressive", prompt: int = 5) -> Trace:
    return Trace("", "", "", "", method, {}, (), (1,) * prompt, {}, tuple(rounds), "length")


def two_sequences(joins: int = 2, forwards: int = 12) -> list[Trace]:
    """Forwards of 10 ms, 2 ms apart; the second sequence joins after `joins` of the first one's."""
    first = [waiting(0, 0, 5, batch=1)]
    first += [waiting(1 + n, 12.0 * (1 + n), 10, batch=1 if n < joins else 2) for n in range(joins + forwards)]
    later = first[1 + joins :]
    second = [waiting(0, 12.0 * (1 + joins) - 2, 1)]
    second += [waiting(1 + n, round_.start_ms, 10, tokens=2) for n, round_ in enumerate(later)]
    return [trace(first), trace(second, prompt=30)]


def test_figures_are_of_the_stretch_in_which_all_are_written():
    result = summed_up([two_sequences()])
    assert result is not None
    assert result.batch == 2
    assert result.forwards == 12
    assert result.tokens_per_forward == 1.5
    seconds = (12 * 12 - 2) / 1000
    assert result.tokens_per_second == pytest.approx(36 / seconds)
    slow, fast = 1000 * seconds / 12, 1000 * seconds / 24
    assert result.ms_per_token[0] == pytest.approx((slow + fast) / 2)
    assert fast < result.ms_per_token[0] < result.ms_per_token[1] <= slow
    assert result.beside_ms == pytest.approx(2)
    assert result.verify_ms == pytest.approx(10)
    assert result.shared == ((2, 12),)
    assert not result.under_load
    assert result.context == round(30 + 25 / 2)


def test_who_else_shared_the_forwards_is_told():
    first, second = two_sequences()
    shared = [
        round_ if round_.index < 8 else waiting(round_.index, round_.start_ms, 10, batch=3) for round_ in first.rounds
    ]
    result = summed_up([[trace(shared), second]])
    assert result is not None
    assert result.under_load
    assert dict(result.shared)[3] > 0


def test_several_batches_make_one_result():
    one, twice = summed_up([two_sequences()]), summed_up([two_sequences(), two_sequences()])
    assert one is not None
    assert twice is not None
    assert twice.forwards == 2 * one.forwards
    assert twice.tokens_per_second == pytest.approx(one.tokens_per_second)


def test_too_few_forwards_in_common_are_no_result():
    assert summed_up([two_sequences(forwards=LEAST_FORWARDS - 1)]) is None
    assert summed_up([[trace([waiting(0, 0, 5)]), trace([])]]) is None


@pytest.mark.parametrize("method", ["autoregressive", "sssd"])
def test_a_batch_is_really_decoded_together(service: Service, method: str):
    heard: list[int] = []
    settings = Settings(method=method, max_new_tokens=40)
    traces = Batch(service).decode(PROMPTS, settings, heard.append)
    assert len(traces) == len(PROMPTS)
    assert heard == sorted(heard)
    result = summed_up([traces])
    assert result is not None
    assert result.method == method
    assert dict(result.shared) == {4: result.forwards}
    assert result.tokens_per_forward >= 1
    alone = Batch(service).decode(PROMPTS[:1], settings)[0]
    assert alone.token_ids()[: len(traces[0].token_ids())] == traces[0].token_ids()


def test_stop_ends_a_batch_and_none_begins_after_it(service: Service):
    batch = Batch(service)
    settings = Settings(method="autoregressive", max_new_tokens=200)
    traces = batch.decode(PROMPTS, settings, lambda tokens: batch.stop() if tokens > 3 else None)
    assert all(len(trace.token_ids()) < 200 for trace in traces)
    assert batch.decode(PROMPTS, settings) == []
    assert service.engine.busy == 0


def test_a_prompt_that_is_refused_takes_the_batch_with_it_and_leaves_nothing_running(service: Service):
    with pytest.raises(UserError, match="context holds"):
        Batch(service).decode(["cat", "cat " * 500], Settings(method="autoregressive", max_new_tokens=200))
    waited = threading.Event()
    for _ in range(200):
        if not service.engine.busy:
            return
        waited.wait(0.05)
    pytest.fail("an answer went on")


def test_a_closed_engine_is_told(tmp_path: Path):
    opened = Service.open(
        str(save_toy_model(tmp_path, vocab_size=325)), device="cpu", dtype="float32", stores_folder=tmp_path / "stores"
    )
    closing = threading.Thread(target=opened.close)
    with pytest.raises(UserError, match="changed or closed"):
        Batch(opened).decode(
            PROMPTS,
            Settings(method="autoregressive", max_new_tokens=200),
            lambda tokens: closing.start() if tokens == 2 else None,
        )
    closing.join(20)


def test_the_prompts_are_many_different_and_short():
    prompts = batch_prompts()
    assert len(prompts) == len(set(prompts)) == 64
    assert max(map(len, prompts)) < 300


@pytest.mark.model
def test_no_shipped_store_knows_a_prompt_of_the_batches(embedded_text, embedded_model_folder):
    from sssd_demo.stores import Stores

    folder = shipped_folder()
    assert folder is not None
    stores = Stores(folder, embedded_text.fingerprint, vocab_size=embedded_text.vocab_size)
    count = stores.open("base").count
    known = [one for one in batch_prompts() if holds_question(embedded_text.encode(one), count)]
    assert known == []
    others = {question.turns[0] for question in read_questions(Path("benchmarks/questions.jsonl"))}
    assert not others & set(batch_prompts())
