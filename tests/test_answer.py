"""An answer on its way: what its trace knows of the tokens in its rounds."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from sssd_demo.answer import Answer
from sssd_demo.request import Finished
from sssd_demo.stream import Stream
from tests.toy_saguaro import FIRST, HIT, MISS, WORDS, saguaro_trace


def test_the_bytes_of_prepared_outcomes_are_in_the_trace():
    made = saguaro_trace([FIRST, HIT, MISS])
    stream = Stream()
    for round_ in made.rounds:
        stream.put(round_)
    stream.put(Finished("length", 1, 0))
    text: Any = SimpleNamespace(token_bytes=lambda token: WORDS[token].encode())
    answer = Answer(stream, replace(made, rounds=(), token_bytes={}), cast(Any, text))
    for _ in answer:
        pass
    prepared = {token for r in made.rounds if r.saguaro for _, token in r.saguaro.keys}
    assert prepared
    assert prepared <= answer.trace.token_bytes.keys()
