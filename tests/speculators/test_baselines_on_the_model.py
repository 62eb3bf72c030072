"""The baselines on the embedded model in float32: the very text of plain decoding, in one batch of all of them."""

import pytest

from sssd_demo.service import Settings
from sssd_demo.sssd.datastore import Datastore

pytestmark = pytest.mark.model

METHODS = ("prompt-lookup", "rest", "lookahead")
ASKED = (
    ("Write the sentence 'The cat sat on the mat.' three times.", {"temperature": 0.0}),
    ("def add(a, b):\n    return a + b\n\nRewrite this function with type hints.", {"temperature": 1.0, "seed": 5}),
)


def ask(service, asked, **settings):
    question, how = asked
    messages = [{"role": "user", "content": question}]
    return service.ask(messages, Settings(max_new_tokens=20, **how, **settings))


def traces(answers):
    for answer in answers:
        for _ in answer:
            pass
    return [answer.trace for answer in answers]


def test_the_baselines_change_no_token_greedy_or_sampled(embedded_service):
    service = embedded_service
    plain = traces([ask(service, asked, method="autoregressive") for asked in ASKED])
    known = [trace.token_ids()[:12] for trace in plain]
    vocab_size, fingerprint = service.text.vocab_size, service.text.fingerprint
    service.stores.save("half", Datastore.build(known, fingerprint=fingerprint, vocab_size=vocab_size))
    drafted = traces(
        [
            ask(service, asked, method=method, s_q=8, datastore="half" if method == "rest" else None)
            for method in METHODS
            for asked in ASKED
        ]
    )
    assert [trace.token_ids() for trace in drafted] == [trace.token_ids() for trace in plain] * len(METHODS)
    for method in METHODS:
        rounds = [round_ for trace in drafted if trace.method == method for round_ in trace.rounds]
        assert sum(len(round_.tree) + round_.scratch for round_ in rounds) > 10, method
    assert max(round_.batch_size for trace in drafted for round_ in trace.rounds) > 3
