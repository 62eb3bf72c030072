"""What a lookup puts on the page, and what it keeps off it."""

from __future__ import annotations

import json
import re

from sssd_demo.sssd.datastore import Datastore
from sssd_demo.ui.datastore_lookup import LOOKED_UP, lookup_value, shared_lookup_value
from tests.ui.fakes import Vocabulary

WORDS = Vocabulary()


def look_up(query: str, *documents: str, value=lookup_value):
    store = Datastore.build([WORDS.encode(text) for text in documents], fingerprint="x", vocab_size=60_000)
    return value(store.sub_indices, WORDS.encode(query), WORDS.pieces.__getitem__)


def test_it_says_how_often_where_and_what_follows():
    value = look_up(" cat sat", "the cat sat on the mat", "a cat sat on it", "one cat sat in a box")
    assert value["said"] == "“ cat sat” occurs 3 times; most often followed by “ on” (2 of 3)."
    match = value["matches"][0]
    assert match["followers"] == [[" on", 2], [" in", 1]]
    assert {"at": [1, 3, 2], "text": ["one", " cat sat", " in a box"]} in match["places"]
    assert value["tree"]["root"] == [" cat", " sat"]
    assert value["tree"]["tokens"][0] == " on"


def test_what_was_not_used_and_what_did_not_occur_is_said():
    words = ["never", *[" ever"] * (LOOKED_UP - 2), " cat", " sat"]
    value = look_up("".join(words), "the cat sat on the mat", "the cat")
    assert value["query"] == {"pieces": words, "used": LOOKED_UP, "most": LOOKED_UP}
    told = f"Only the last 2 of the {len(words)} tokens you gave occur together. “ cat sat” occurs once"
    assert value["said"].startswith(told)
    assert [match["count"] for match in value["matches"]] == [0] * (LOOKED_UP - 2) + [1, 1]
    assert look_up(" dog", "the cat")["said"].startswith("“ dog” does not occur here")
    assert "nothing follows" in look_up(" cat", "the cat")["said"]


def test_of_the_shared_store_only_how_often_single_tokens_occur_is_told():
    value = look_up("so my password", *["so my password is swordfish"] * 7, "my own", value=shared_lookup_value)
    assert "text could be read out" in value["said"]
    assert "swordfish" not in json.dumps(value)
    assert value["matches"] == [
        {"length": 3, "told": "not shown for the shared store"},
        {"length": 2, "told": "not shown for the shared store"},
        {"length": 1, "told": "7 times"},
    ]
    assert (value["tree"], value["samples"]) == (None, 0)


def test_few_occurrences_in_the_shared_store_look_like_none():
    few = look_up(" my password", *["my", "so my password is swordfish"] * 4, value=shared_lookup_value)
    assert few == look_up(" my password", "something else", value=shared_lookup_value)
    assert [match["told"] for match in few["matches"]] == [
        "not shown for the shared store",
        "fewer than 5 times, or not at all",
    ]


def read_out(documents: list[list[int]], known: list[int], length: int, value) -> list[int]:
    """What follows `known`, as who may ask anything finds out: the token with the highest figures, again and again."""
    store = Datastore.build(documents, fingerprint="x", vocab_size=60_000)
    everything = sorted({token for document in documents for token in document})

    def figures(token: int) -> list[int]:
        told = value(store.sub_indices, [*known, token], WORDS.pieces.__getitem__)
        told["query"] = None
        return [int(number) for number in re.findall(r"\d+", json.dumps(told))]

    start = len(known)
    while len(known) < start + length:
        best, *others = sorted(everything, key=figures, reverse=True)
        if figures(best) == figures(others[0]):
            break  # nothing tells them apart
        known = [*known, best]
    return known[start:]


def test_a_document_of_the_shared_store_cannot_be_read_out_by_asking_what_occurs():
    secret = WORDS.encode("".join(f" secret{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(40)))
    others = [WORDS.encode(" the cat sat on the mat and a dog sat on it")] * 9
    documents = [*others, secret]
    assert read_out(documents, secret[:3], 37, lookup_value) == secret[3:]  # the attack works where text may be seen
    assert not {*read_out(documents, secret[:3], 37, shared_lookup_value)} & {*secret}


def test_not_even_a_frequent_text_can_be_chained_together():
    """Six copies of a text whose tokens are all different: with counts of pairs it could be read out whole."""
    secret = WORDS.encode("".join(f" frequent{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(40)))
    documents = [secret] * 6
    assert read_out(documents, secret[:1], len(secret) - 1, lookup_value) == secret[1:]
    assert read_out(documents, secret[:1], 39, shared_lookup_value) == []


def test_which_tokens_stand_together_is_not_told():
    straight = [" left x y west", " right x y east"]
    crossed = [" left x y east", " right x y west"]
    for query in (*straight, *crossed):
        assert look_up(query, *straight * 9) != look_up(query, *crossed * 9)
        told = [look_up(query, *texts * 9, value=shared_lookup_value) for texts in (straight, crossed)]
        assert told[0] == told[1]


def test_half_characters_are_bytes_and_whole_ones_are_characters():
    value = look_up("中", "ab 中文 yes")
    assert value["query"]["pieces"] == [[0xE4], [0xB8], [0xAD]]
    assert value["said"].startswith("“中” occurs once")
    assert value["matches"][0]["places"][0]["text"][:2] == ["ab ", "中"]
    assert value["matches"][0]["followers"] == [[[0xE6], 1]]
    assert "“<E6>”" in value["said"]
    assert "\ufffd" not in json.dumps(value, ensure_ascii=False)
