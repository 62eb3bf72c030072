"""Who draws from which store and who adds to it, through the real engine on a toy model."""

import json

import pytest
import torch

from sssd_demo import models, trace_file
from sssd_demo.answer import LEARNT_WHEN_CANCELLED, Answer
from sssd_demo.errors import UserError
from sssd_demo.metrics import summarise
from sssd_demo.request import Finished
from sssd_demo.service import Service, Settings
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.stores import Stores
from sssd_demo.stream import Stream
from sssd_demo.trace import Round, Top, Trace, VerifiedTree
from tests.toy_models import save_toy_model

QUESTION = "the cat sat"
PATIENCE = 20.0


@pytest.fixture(scope="module")
def toy_folder(tmp_path_factory):
    torch.manual_seed(1)  # an answer that goes on for a while
    return save_toy_model(tmp_path_factory.mktemp("toy"), vocab_size=325)  # as many as its tokenizer knows


@pytest.fixture(scope="module")
def padded_folder(tmp_path_factory):
    torch.manual_seed(0)
    return save_toy_model(tmp_path_factory.mktemp("padded"), vocab_size=512)


def opened(model_folder, stores_folder):
    model = models.load(str(model_folder), device="cpu", dtype="float32")
    text = model.text
    return Service(model, stores=Stores(stores_folder, text.fingerprint, vocab_size=text.vocab_size))


@pytest.fixture
def service(toy_folder, tmp_path):
    service = opened(toy_folder, tmp_path / "stores")
    yield service
    service.close()


def ask(service, text=QUESTION, *, session=None, **settings):
    chosen = Settings(**({"max_new_tokens": 24, "s_q": 8} | settings))
    return finish(service.ask(text, chosen, raw=True, session=session))


def finish(answer):
    for _ in answer:
        pass
    return answer.trace


def texts(store):
    assert store.wait(PATIENCE)
    return [text.tolist() for sub_index in store.sub_indices for text in sub_index.texts()]


def sources(trace):
    return {source for round_ in trace.rounds for source in round_.tree.sources}


def test_an_answer_is_added_to_its_visitors_store_once_it_has_ended(service):
    trace = ask(service, session="a")
    assert texts(service.session_store("a")) == [[*trace.prompt[-3:], *trace.token_ids()]]
    assert texts(service.session_store("b")) == []


def test_the_next_answer_draws_from_the_visitors_store_and_nobody_elses_does(service):
    first = ask(service, session="a")
    service.session_store("a").wait(PATIENCE)
    again = ask(service, session="a")
    assert again.token_ids() == first.token_ids()
    assert "datastore" in sources(again)
    assert len(again.rounds) < len(first.rounds)
    assert "datastore" not in sources(ask(service, session="b"))
    assert "datastore" not in sources(ask(service))


def test_an_answer_with_ids_that_the_tokenizer_does_not_know_is_given_but_not_learnt(padded_folder, tmp_path):
    service = opened(padded_folder, tmp_path)
    trace = ask(service, session="a", temperature=2.0)
    assert max(trace.token_ids()) >= service.text.vocab_size
    assert texts(service.session_store("a")) == []
    service.close()


def test_without_a_session_nothing_is_kept(service, tmp_path):
    ask(service)
    assert not (tmp_path / "stores").exists()


def test_a_stores_name_never_means_a_session_or_the_shared_store(service):
    for name in ("session/a", "shared/"):
        with pytest.raises(UserError, match="cannot be called"):
            ask(service, datastore=name)


@pytest.mark.parametrize(
    ("reason", "tokens", "kept"),
    [
        ("cancelled", LEARNT_WHEN_CANCELLED - 1, 0),
        ("cancelled", LEARNT_WHEN_CANCELLED, 1),
        ("end_of_text", 2, 1),
    ],
)
def test_a_stopped_answer_is_added_if_it_is_long_enough_to_teach(service, reason, tokens, kept):
    stream = Stream()
    for index in range(tokens):
        stream.put(Round(index, 1, 1, 0.0, 0.0, 1.0, VerifiedTree(), bonus=7, bonus_prob=1.0, committed=(7,)))
    stream.put(Finished(reason, prefill_forwards=1, reused_tokens=0))
    trace = Trace("2026-01-01", "cpu", "float32", "toy", "sssd", {}, (), (1, 2, 3, 4), {})
    store = service.session_store("a")
    list(Answer(stream, trace, service.text, learners=[store]))
    assert texts(store) == [[2, 3, 4] + [7] * tokens] * kept


def test_a_visitor_who_left_is_forgotten_even_while_the_answer_runs(service):
    answer = service.ask(QUESTION, Settings(max_new_tokens=40), raw=True, session="a")
    rounds = iter(answer)
    next(rounds)
    service.drop_session("a")
    list(rounds)
    assert texts(service.session_store("a")) == []
    service.drop_session("never seen")


def test_the_shared_store_is_fed_and_drawn_from_only_by_who_says_so(service):
    ask(service, session="a")
    assert texts(service.stores.shared()) == []
    first = ask(service, share=True)
    assert texts(service.stores.shared()) == [[*first.prompt[-3:], *first.token_ids()]]
    assert "datastore" not in sources(ask(service))
    assert len(ask(service, share=True).rounds) < len(first.rounds)


def test_what_others_wrote_is_in_no_round_no_trace_and_no_file(service):
    """Their text is drafted, so a guess may be right; the wrong ones would let anybody read it."""
    prompt = service.text.encode(QUESTION)
    plain = finish(service.ask(QUESTION, Settings(method="autoregressive", max_new_tokens=24), raw=True, keep_top=True))
    likely = {
        token for round_ in plain.rounds for top in round_.top for token in top.tokens
    }  # the target's own guesses
    secret = [token for token in range(100, 325) if token not in likely.union(prompt, plain.token_ids())][:40]
    shared = service.stores.shared()
    for start in range(0, 40, 4):
        for before in {*prompt, *plain.token_ids()}:
            others = secret[start : start + 4]
            likely_there = [Top((token,), (1.0,)) for token in others]  # what a store remembers is never withheld
            shared.append([before, *others], likely_there)
    assert shared.wait(PATIENCE)
    rounds = []
    answer = service.ask(QUESTION, Settings(max_new_tokens=24, s_q=16, share=True), raw=True)
    for round_ in answer:
        rounds.append(round_)
    trace = answer.trace
    assert trace.token_ids() == plain.token_ids()
    assert sum(round_.withheld for round_ in rounds) > 0, "nothing of theirs was drafted, so the case was not tried"
    assert summarise(trace).drafted >= summarise(trace).withheld > 0
    for round_ in rounds:
        assert not {*round_.tree.tokens} & {*secret}
    assert not trace.token_bytes.keys() & {*secret}
    read_again = trace_file.from_json(json.loads(json.dumps(trace_file.to_json(trace))))
    assert [round_.withheld for round_ in read_again.rounds] == [round_.withheld for round_ in rounds]


def test_other_stores_guesses_are_shown_as_long_as_the_shared_store_is_not_drawn_from(service):
    prompt = service.text.encode(QUESTION)
    text = service.text
    store = Datastore.build([[*prompt, 310, 311]], fingerprint=text.fingerprint, vocab_size=text.vocab_size)
    service.stores.save("mine", store)
    shown = ask(service, datastore="mine", max_new_tokens=4)
    assert sum(round_.withheld for round_ in shown.rounds) == 0


def test_a_shared_store_in_use_elsewhere_is_refused_before_anything_runs(service, tmp_path):
    text = service.text
    elsewhere = Stores(tmp_path / "stores", text.fingerprint, vocab_size=text.vocab_size)
    elsewhere.shared()
    with pytest.raises(UserError, match="in use by another process"):
        ask(service, share=True)
    elsewhere.close()
    ask(service, share=True)
