"""The curve of a growing store: what is counted, and that drafting again counts the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from sssd_demo.service import Service, Settings
from sssd_demo.speculators import registry
from sssd_demo.speculators.sssd import Sssd
from sssd_demo.sssd.constants import DEFAULT
from sssd_demo.sssd.growth import WINDOW, Conversation, Snapshot, curve, measured, redraft
from sssd_demo.sssd.replay import Yielded
from tests.toy_models import save_toy_model

S_Q = 8


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("toy")
    # No more rows than the tokenizer has tokens: what this model writes at random must be text.
    path = save_toy_model(folder / "model", vocab_size=325)
    with pytest.MonkeyPatch.context() as patch:
        # Of refused guesses, which it leaves out, drafting again knows nothing.
        written_only = replace(DEFAULT, recycle_rejected=False)
        patch.setattr(registry, "Sssd", lambda open_store, settings=written_only: Sssd(open_store, settings))
        service = Service.open(str(path), dtype="float32", stores_folder=folder / "stores")
    yield service
    service.close()


def answers(service: Service, count: int):
    """(trace, the store before it) of some conversations of one session."""
    store = service.session_store("growing")
    settings = Settings(method="sssd", max_new_tokens=40, s_q=S_Q)
    for number in range(count):
        store.settle(10)
        before = Snapshot(store.sub_indices, recycled=store.recycled())
        asked = [{"role": "user", "content": f"the cat sat on the mat {number}"}]
        answer = service.ask(asked, settings, session="growing", keep_top=True)
        for _ in answer:
            pass
        yield answer.trace, before


def test_drafting_an_answer_again_with_all_sources_counts_what_decoding_it_counted(toy: Service):
    gained = 0
    for trace, before in answers(toy, 4):
        decode = trace.rounds[1:]
        live = Yielded(sum(len(round_.committed) for round_ in decode), len(decode))
        assert measured(trace, before, S_Q).both == live
        gained += live.tokens - live.forwards
    assert gained > 0


def test_an_empty_store_alone_is_plain_decoding(toy: Service):
    trace, _ = next(answers(toy, 1))
    alone = measured(trace, Snapshot(()), S_Q)
    assert alone.store_only.per_forward == 1.0
    assert alone.prompt_only == redraft(trace, (Snapshot(()),), S_Q, DEFAULT)


def conversation(both: int, prompt: int = 10, added: int = 0, dropped: int = 0) -> Conversation:
    """Ten forwards with these many tokens."""
    return Conversation(added, dropped, Yielded(both, 10), Yielded(prompt, 10), Yielded(10, 10), 0.1)


def test_a_point_sums_up_the_last_conversations_only():
    points = curve([conversation(100, added=1)] + [conversation(20, added=n) for n in range(2, WINDOW + 2)])
    assert points[0].both == 10.0
    assert points[-2].both == pytest.approx((100 + 9 * 20) / 100)
    assert (points[-1].both, points[-1].added) == (2.0, WINDOW + 1)
