"""How long a lookup takes in stores of 1, 10 and 50 million tokens of real text, and what a build beside it costs.

    python benchmarks/lookup.py

Stores hold whole documents (see `real_text.py`; making 50 million tokens takes minutes, once); the queries are the
ends of text cut off anywhere in documents of the same folders that are in none of them. A lookup is what one draft
asks of its store: suffixes of the query, longest first, until there are enough samples, and their continuations. Then
10 million tokens are added to a live store, which indexes them in the background, while text is drafted with that store
and a finished one. A draft uses all its sources: there being no model, the eight tokens that followed most often in the
first million tokens stand for what a target holds likely.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from drafting import Followers
from real_text import real_text

from sssd_demo import models
from sssd_demo.cpu_name import cpu_name
from sssd_demo.sssd.constants import DEFAULT
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.drafter import Drafter, Store
from sssd_demo.sssd.live_store import LiveStore
from sssd_demo.sssd.recycled import Recycled
from sssd_demo.sssd.sampled import look_up
from sssd_demo.text import Text
from sssd_demo.ui.launch import GIL_SECONDS

RESULT = Path(__file__).parent / "results" / "lookup.json"
HELD_OUT = 10  # every so many documents, one is in no store; queries come from those among the documents of a store
QUERIES = 5000
CONTEXT = 16  # tokens at the end of a text that are given to a lookup; it uses the last few
S_Q = 16
BUILT_BESIDE = 10_000_000
LEARNT_FROM = 1_000_000  # tokens, of which it is counted what followed each
CONVERSATION = 200  # tokens
PROMPT, ANSWER = 500, 200  # tokens of a held-out document that are drafted beside the build

Documents = Sequence[NDArray[np.uint32]]


def main() -> None:
    """Measure, print the figures and keep them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="smollm2-135m", help="the model whose tokenizer is used")
    parser.add_argument("--sizes", default="1,10,50", help="of the stores, in millions of tokens")
    parser.add_argument("--out", type=Path, default=RESULT)
    args = parser.parse_args()
    sizes = [int(float(part) * 1e6) for part in args.sizes.split(",")]
    sys.setswitchinterval(GIL_SECONDS)  # as in the app, where one thread drafts while others index
    result = measure(models.load_text(args.preset), sizes)
    args.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(shown(result) + "\n")


def measure(text: Text, sizes: Sequence[int]) -> dict[str, Any]:
    """Times of lookups for each size, largest last, and of a build beside drafting."""
    everything = real_text(text, int(max(*sizes, BUILT_BESIDE) * HELD_OUT / (HELD_OUT - 1) * 1.02))
    stores = {}
    for size in sizes:
        documents, held_out = _split(everything, size)
        contexts = _contexts(held_out)
        started = time.perf_counter()
        store = Datastore.build(documents, fingerprint=text.fingerprint, vocab_size=text.vocab_size)
        built = time.perf_counter() - started
        stores[store.tokens] = lookups(store, contexts) | {"build_seconds": built}
        del store
    return {
        "command": "python benchmarks/lookup.py",
        "machine": f"{cpu_name()}, Python {sys.version.split()[0]}",
        "text": f"{sum(map(len, everything)):,} tokens in {len(everything):,} documents",
        "s_q": S_Q,
        "stores": stores,
        "build": beside_a_build(text, *_split(everything, BUILT_BESIDE)),
    }


def lookups(store: Datastore, contexts: Sequence[list[int]]) -> dict[str, Any]:
    """Times of one lookup for each context, apart for those that match at least two tokens."""
    matched = [store.count(context[-2:]) > 0 for context in contexts]
    for context in contexts[:200]:
        look_up(store.sub_indices, context, S_Q, DEFAULT)
    times = []
    for context in contexts:
        started = time.perf_counter()
        look_up(store.sub_indices, context, S_Q, DEFAULT)
        times.append(1000 * (time.perf_counter() - started))
    held = sum(each.nbytes for each in store.sub_indices)
    return {
        "documents": store.documents,
        "bytes_per_token": held / store.tokens,
        "matched_share": sum(matched) / len(matched),
        "all_ms": _spread(times),
        "matched_ms": _spread(list(itertools.compress(times, matched))),
        "unmatched_ms": _spread([each for each, found in zip(times, matched, strict=True) if not found]),
    }


def beside_a_build(text: Text, documents: Documents, held_out: Documents) -> dict[str, Any]:
    """Drafting times alone and while a live store takes in `documents`.

    Drafts come from a finished store of the same documents and from the live one, with all the sub-indices that it has
    not merged yet. Once all are searchable conversations are added to them: how soon are these found?
    """
    followers, recycled = _learnt(documents)
    store = Datastore.build(documents, fingerprint=text.fingerprint, vocab_size=text.vocab_size)
    live = LiveStore(fingerprint=text.fingerprint, vocab_size=text.vocab_size)
    rounds = _rounds([store.with_recycled(recycled), live], held_out, followers)
    for _ in range(200):
        next(rounds)
    before = _times(rounds, until=_after(5.0))
    conversation = held_out[0][:CONVERSATION]
    likely = followers.tops(conversation.tolist())
    found_after: list[float] = []
    most_sub_indices = 0

    def feed() -> None:
        for document in documents:
            live.append(document)
        live.wait()
        while not live.settle(0.2):
            started = time.perf_counter()
            live.append(conversation, likely)
            live.wait()
            found_after.append(1000 * (time.perf_counter() - started))

    def finished() -> bool:
        nonlocal most_sub_indices
        most_sub_indices = max(most_sub_indices, len(live.sub_indices))
        return not feeder.is_alive()

    feeder = threading.Thread(target=feed)
    started = time.perf_counter()
    feeder.start()
    beside = _times(rounds, until=finished)
    seconds = time.perf_counter() - started
    state = live.state()
    idle = _spread([*before, *_times(rounds, until=_after(5.0))])
    live.close()
    during = _spread(beside)
    return {
        "tokens": state.tokens,
        "sub_indices": len(state.segments),
        "most_sub_indices": most_sub_indices,
        "seconds": seconds,
        "idle_ms": idle,
        "during_ms": during,
        "p99_ratio": during["p99"] / idle["p99"],
        "conversation_found_after_ms": {"count": len(found_after), "most": max(found_after, default=None)},
    }


def _split(documents: Documents, tokens: int) -> tuple[Documents, Documents]:
    """The first documents, of at least `tokens` tokens, without those held out, and the held-out ones among them."""
    kept: list[NDArray[np.uint32]] = []
    held_out = []
    total = 0
    for number, document in enumerate(documents):
        if number % HELD_OUT == HELD_OUT // 2:
            held_out.append(document)
        else:
            kept.append(document)
            total += len(document)
            if total >= tokens:
                break
    return kept, held_out


def _contexts(documents: Documents) -> list[list[int]]:
    rng = random.Random(0)
    long_enough = [document for document in documents if len(document) > CONTEXT]
    chosen = rng.choices(long_enough, weights=[len(document) for document in long_enough], k=QUERIES)
    ends = ((document, rng.randrange(CONTEXT, len(document))) for document in chosen)
    return [document[end - CONTEXT : end].tolist() for document, end in ends]


def _learnt(documents: Documents) -> tuple[Followers, Recycled]:
    """What followed each token in the first documents, and a store's memory of it."""
    sizes = itertools.accumulate(map(len, documents))
    first = [document.tolist() for document, size in zip(documents, sizes, strict=True) if size <= LEARNT_FROM]
    followers, recycled = Followers(first), Recycled()
    for document in first:
        recycled.learn(document, followers.tops(document))
    return followers, recycled


def _rounds(stores: Sequence[Store], documents: Documents, followers: Followers) -> Iterator[float]:
    """Milliseconds of one round's drafting after another, endlessly, two tokens a round."""
    for document in itertools.cycle(documents):
        ids = document[: PROMPT + ANSWER].tolist()
        likely = followers.tops(ids)
        drafter = Drafter(ids[:PROMPT], stores, DEFAULT)
        for end in range(PROMPT + 2, len(ids), 2):
            started = time.perf_counter()
            drafter.update(ids[:end], likely[end - 2 : end])
            drafter.draft(ids[:end], S_Q)
            yield 1000 * (time.perf_counter() - started)


def _times(rounds: Iterator[float], until: Callable[[], bool]) -> list[float]:
    times = []
    while not until():
        times += itertools.islice(rounds, 20)
    return times


def _after(seconds: float) -> Callable[[], bool]:
    end = time.perf_counter() + seconds
    return lambda: time.perf_counter() > end


def _spread(times: Sequence[float]) -> dict[str, float]:
    if len(times) < 2:
        return {"count": len(times)}
    return {"count": len(times), "median": median(times), "p99": quantiles(times, n=100, method="inclusive")[-1]}


def shown(result: dict[str, Any]) -> str:
    """The figures for a person."""
    lines = [result["text"]]
    for tokens, found in result["stores"].items():
        line = "{:,} tokens: lookup median {:.3f} ms, p99 {:.3f} ms; {:.0%} match 2 tokens or more".format(
            int(tokens), found["all_ms"]["median"], found["all_ms"]["p99"], found["matched_share"]
        )
        for kind in ("matched", "unmatched"):
            line += f"; {kind}: {found[kind + '_ms'].get('median', 0):.3f}, {found[kind + '_ms'].get('p99', 0):.3f}"
        lines.append(line + f"; {found['bytes_per_token']:.2f} bytes a token; built in {found['build_seconds']:.1f} s")
    build = result["build"]
    during, idle, found = build["during_ms"], build["idle_ms"], build["conversation_found_after_ms"]
    lines.append(
        f"{build['tokens']:,} tokens built in the background in {build['seconds']:.1f} s; drafting p99 "
        f"{during['p99']:.3f} ms meanwhile, {idle['p99']:.3f} ms alone ({build['p99_ratio']:.2f}×); "
        f"the store had up to {build['most_sub_indices']} sub-indices, then {build['sub_indices']}"
    )
    if found["count"]:
        lines.append(
            f"{found['count']} conversations added beside the merging were found after {found['most']:.0f} ms at most"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
