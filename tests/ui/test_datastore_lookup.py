"""What a lookup puts on the page, and what it keeps off it."""

from __future__ import annotations

import json

from sssd_demo.sssd.datastore import Datastore
from sssd_demo.ui.datastore_lookup import LOOKED_UP, lookup_value
from tests.ui.fakes import Vocabulary

WORDS = Vocabulary()


def look_up(query: str, *documents: str, secret: bool = False):
    store = Datastore.build([WORDS.encode(text) for text in documents], fingerprint="x", vocab_size=60_000)
    return lookup_value(store.sub_indices, WORDS.encode(query), WORDS.pieces.__getitem__, secret=secret)


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


def test_of_a_secret_store_only_counts_leave_the_server():
    value = look_up(" my password", "so my password is swordfish", "say my password again", secret=True)
    said = value.pop("said")
    assert said == "“ my password” occurs 2 times. What follows is not shown: this store holds text of others."
    assert not any(word in json.dumps(value) for word in ("swordfish", "again", '"so"', '"say"', " is"))
    assert value["tree"] is None
    assert [match["places"] for match in value["matches"]] == [[], []]
    assert value["matches"][0]["followers"] == [[None, 1], [None, 1]]
    assert value["matches"][0]["per_sub_index"] == [[1, 2]]


def test_half_characters_are_bytes_and_whole_ones_are_characters():
    value = look_up("中", "ab 中文 yes")
    assert value["query"]["pieces"] == [[0xE4], [0xB8], [0xAD]]
    assert value["said"].startswith("“中” occurs once")
    assert value["matches"][0]["places"][0]["text"][:2] == ["ab ", "中"]
    assert value["matches"][0]["followers"] == [[[0xE6], 1]]
    assert "“<E6>”" in value["said"]
    assert "\ufffd" not in json.dumps(value, ensure_ascii=False)
