"""Many visitors at once, for minutes: does every stream end, does memory stay flat, is anybody left behind?

    python benchmarks/visitors.py --visitors 20 --minutes 5 --json

The app runs in a process of its own, as `serve` starts it. Each visitor is a thread that asks one question after the
other through `/chat`, with methods, lengths and temperatures of its own; now and then it leaves in mid-answer. Memory
is the server's resident set, read every few seconds.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from gradio_client import Client

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.app_stream import QUESTIONS, served
from sssd_demo.questions import read_questions

LEAVES = 0.1  # share of the answers that their visitor does not wait for
LONGEST_ANSWER = 120  # seconds without an end count as stuck
READ_EVERY = 5.0  # seconds


@dataclass
class Visitor:
    """What one visitor lived through."""

    name: int
    tokens: int = 0
    answers: int = 0
    left: int = 0
    seconds: float = 0.0  # spent waiting for answers that ended
    errors: list[str] = field(default_factory=list)

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="smollm2-135m")
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--max-new-tokens", type=int, default=64)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    questions = [question.turns[0] for question in read_questions(Path(__file__).with_name("questions.jsonl"))]
    with served(args.preset) as url:
        Client(url, verbose=False).predict(QUESTIONS[0], max_new_tokens=16, api_name="/chat")  # warm-up
        result = crowd(url, questions, args)
    sys.stdout.write((json.dumps(result) if args.json else json.dumps(result, indent=2)) + "\n")


def crowd(url: str, questions: list[str], args: argparse.Namespace) -> dict[str, Any]:
    """Let the visitors in, watch the server, and sum up when all have gone."""
    ends = time.monotonic() + 60 * args.minutes
    visitors = [Visitor(name) for name in range(args.visitors)]
    threads = [
        threading.Thread(target=visit, args=(visitor, url, questions, args.max_new_tokens, ends))
        for visitor in visitors
    ]
    server = next(child for child in psutil.Process().children() if "serve" in child.cmdline())
    memory = []
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        memory.append(server.memory_info().rss / 2**20)
        threads[0].join(READ_EVERY)
    speeds = [visitor.tokens_per_second for visitor in visitors]
    early, late = memory[len(memory) // 4 : len(memory) // 2], memory[-max(1, len(memory) // 4) :]
    return {
        "visitors": args.visitors,
        "minutes": args.minutes,
        "answers": sum(visitor.answers for visitor in visitors),
        "left_in_mid_answer": sum(visitor.left for visitor in visitors),
        "errors": [error for visitor in visitors for error in visitor.errors],
        "tokens_per_second": {"median": median(speeds), "slowest": min(speeds)},
        "slowest_over_median": min(speeds) / median(speeds) if median(speeds) else None,
        "memory_mb": {"second_quarter": median(early or memory), "last_quarter": median(late)},
    }


def visit(visitor: Visitor, url: str, questions: list[str], longest: int, ends: float) -> None:
    """Ask until the time is over. What goes wrong is noted, and the next question asked."""
    rng = random.Random(visitor.name)
    client = Client(url, verbose=False)
    while time.monotonic() < ends:
        settings = {
            "method": rng.choice(["sssd", "sssd", "autoregressive"]),
            "max_new_tokens": rng.randint(longest // 2, longest),
            "temperature": rng.choice([0.0, 0.8]),
            "seed": rng.randrange(1000),
            "datastore": rng.choice(["base", "none"]),
        }
        started = time.monotonic()
        job = client.submit(rng.choice(questions), **settings, api_name="/chat")
        try:
            if rng.random() < LEAVES:
                threading.Event().wait(rng.random() * 3)
                job.cancel()
                visitor.left += 1
                continue
            answer = job.result(timeout=LONGEST_ANSWER)
        except TimeoutError:
            visitor.errors.append(f"visitor {visitor.name}: no end after {LONGEST_ANSWER} s")
        except Exception as error:  # the library raises the bare class
            visitor.errors.append(f"visitor {visitor.name}: {type(error).__name__}: {error}")
        else:
            visitor.answers += 1
            visitor.seconds += time.monotonic() - started
            visitor.tokens += sum(len(round_["committed"]) for round_ in answer["rounds"])


if __name__ == "__main__":
    main()
