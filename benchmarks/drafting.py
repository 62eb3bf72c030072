"""How long SSSD takes to draft, with a datastore of a million tokens of real text and no model.

    python benchmarks/drafting.py --json

The text is Python's own standard library, so this runs anywhere. Some of its files go into a store, which is written
and mapped as in use; others are drafted piece by piece, as if a model were writing them. Times cover everything a
round does: entering the newest tokens into the trie, and what the target held likely after every guess into the
memory; looking up; combining. There being no model, the eight tokens that followed most often in the store's text stand
for what a target holds likely.
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sssd_demo import models
from sssd_demo.sampling import TOP
from sssd_demo.sssd.constants import SETTINGS, Settings
from sssd_demo.sssd.datastore import Datastore
from sssd_demo.sssd.documents import STDLIB, read_documents
from sssd_demo.sssd.drafter import Drafter
from sssd_demo.sssd.recycled import LONGEST_KEY, Recycled
from sssd_demo.sssd.replay import Step, accepted_length
from sssd_demo.stores import Stores
from sssd_demo.trace import EMPTY_TREE, Top

PROMPT_TOKENS = 500
ANSWER_TOKENS = 200
ANSWERS = 40


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--preset", default="smollm2-135m", help="preset or folder of the model whose tokenizer is used"
    )
    parser.add_argument("--tokens", type=int, default=1_000_000, help="size of the store")
    parser.add_argument("--s-q", default="4,8,16,32")
    parser.add_argument("--setting", choices=list(SETTINGS), default="default")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    s_qs = [int(part) for part in args.s_q.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        result = measure(args.preset, args.tokens, s_qs, SETTINGS[args.setting], Path(folder))
    sys.stdout.write((json.dumps(result) if args.json else shown(result)) + "\n")


def measure(preset: str, store_tokens: int, s_qs: list[int], settings: Settings, folder: Path) -> dict[str, Any]:
    """Build a store in `folder`, open it again and draft other text with it."""
    text = models.load_text(preset)
    documents = list(read_documents([STDLIB], text))
    random.Random(0).shuffle(documents)
    sizes = list(itertools.accumulate(map(len, documents)))
    in_store = next((n for n, size in enumerate(sizes, 1) if size >= store_tokens), len(documents))
    started = time.perf_counter()
    built = Datastore.build(documents[:in_store], fingerprint=text.fingerprint, vocab_size=text.vocab_size)
    build_seconds = time.perf_counter() - started
    followers = Followers(documents[:in_store])
    recycled = Recycled()
    for document in documents[:in_store]:
        recycled.learn(document, followers.tops(document))
    stores = Stores(folder, text.fingerprint)
    stores.save("benchmark", built.with_recycled(recycled))
    started = time.perf_counter()
    store = stores.open("benchmark")
    open_seconds = time.perf_counter() - started
    answers = [
        document[: PROMPT_TOKENS + ANSWER_TOKENS]
        for document in documents[in_store:]
        if len(document) >= PROMPT_TOKENS + ANSWER_TOKENS
    ][:ANSWERS]
    figures = {}
    for s_q in s_qs:
        steps = [step for answer in answers for step in rounds(answer, store, s_q, settings, followers)]
        milliseconds = [step.draft_ms for step in steps]
        figures[str(s_q)] = {
            "draft_ms": {"median": median(milliseconds), "p99": quantiles(milliseconds, n=100)[-1]},
            "tokens_per_step": 1 + mean(step.accepted for step in steps),
            "rounds": len(steps),
        }
    return {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "store_tokens": store.tokens,
        "build_seconds": build_seconds,
        "open_seconds": open_seconds,
        "s_q": figures,
    }


def rounds(
    answer: Sequence[int], store: Datastore, s_q: int, settings: Settings, followers: Followers
) -> Iterator[Step]:
    """Draft what follows the prompt in `answer` to its end; every round learns from the tree of the one before."""
    drafter = Drafter(answer[:PROMPT_TOKENS], [store], settings)
    before = written = PROMPT_TOKENS
    tree, top = EMPTY_TREE, list[Top]()
    while written < len(answer):
        known = answer[:written]
        started = time.perf_counter()
        drafter.update(known)
        if settings.recycle_rejected:
            drafter.verified(answer[before - LONGEST_KEY : before], tree, top)
        tree = drafter.draft(known, s_q)
        draft_ms = 1000 * (time.perf_counter() - started)
        step = Step(accepted_length(tree, answer[written:]), draft_ms)
        yield step
        top = [followers.top(token) for token in (known[-1], *tree.tokens)]
        before, written = written, written + step.accepted + 1


class Followers:
    """What followed each token most often in some texts."""

    def __init__(self, documents: list[Sequence[int]]) -> None:
        counts: dict[int, Counter[int]] = defaultdict(Counter)
        for document in documents:
            for token, following in itertools.pairwise(document):
                counts[token][following] += 1
        self._tops = {token: self._top(following) for token, following in counts.items()}

    def tops(self, document: Sequence[int]) -> list[Top]:
        """One entry for each token of `document`: what was likely in its place."""
        return [Top((), ()), *map(self.top, document[:-1])]

    def top(self, token: int) -> Top:
        return self._tops.get(token, Top((), ()))

    def _top(self, following: Counter[int]) -> Top:
        best = following.most_common(TOP)
        return Top(tuple(token for token, _ in best), tuple(count / following.total() for _, count in best))


def shown(result: dict[str, Any]) -> str:
    """The figures for a person."""
    lines = ["{store_tokens:,} tokens, built in {build_seconds:.2f} s, opened in {open_seconds:.3f} s".format(**result)]
    for s_q, figures in result["s_q"].items():
        times = figures["draft_ms"]
        lines.append(f"s_q {s_q:>2}: median {times['median']:.3f} ms, p99 {times['p99']:.3f} ms")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
