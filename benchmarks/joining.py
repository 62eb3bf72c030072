"""A second chat begins while one runs: when does its first token come, and how much slower is the first one?

    python benchmarks/joining.py --repeats 5 --json

Both decode plainly, so a round of the first is one token. From the rounds' own times: how many rounds the first had
from the beginning of the second's prefill to the second's first token, the first's longest pause meanwhile, and the
time of a round before and after, next to what the measured forward times (`probe`) say it should be.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sssd_demo.bench.machine import machine_facts
from sssd_demo.questions import read_questions
from sssd_demo.roofline import forward_time
from sssd_demo.service import Service, Settings
from sssd_demo.trace import Round

ALONE = 24  # rounds of the first chat before the second begins
SETTLED = 2  # rounds after a change that are not counted: their forwards meet cold caches


def main() -> int:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="smollm2-135m")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    prompts = [question.turns[0] for question in read_questions(Path(__file__).with_name("batch_prompts.jsonl"))]
    service = Service.open(args.preset, dtype=args.dtype)
    try:
        joined(service, prompts[0], prompts[1])  # warm-up
        found = [joined(service, prompts[2 * n % 40], prompts[(2 * n + 1) % 40]) for n in range(args.repeats)]
    finally:
        service.close()
    result = {
        "machine": machine_facts(service, datetime.now(UTC).date().isoformat()),
        "pairs": found,
        **{key: median(pair[key] for pair in found) for key in found[0]},
    }
    sys.stdout.write((json.dumps(result) if args.json else json.dumps(result, indent=2)) + "\n")
    return 0


def joined(service: Service, first_prompt: str, second_prompt: str) -> dict[str, Any]:
    """The figures of one pair of chats."""
    settings = Settings(method="autoregressive", max_new_tokens=4 * ALONE)
    first = service.ask([{"role": "user", "content": first_prompt}], settings)
    for round_ in first:
        if round_.index == ALONE:
            break
    second = service.ask([{"role": "user", "content": second_prompt}], settings)
    for answer in (second, first):
        for _ in answer:
            pass
    begun = second.trace.rounds[0]
    ends = min(answer.trace.rounds[-1].start_ms for answer in (first, second))
    alone = [round_ for round_ in first.trace.rounds[SETTLED:] if round_.end_ms <= begun.start_ms]
    both = [round_ for round_ in first.trace.rounds if begun.end_ms <= round_.start_ms < ends][SETTLED:]
    pauses = [
        after.start_ms - before.end_ms
        for before, after in zip(first.trace.rounds, first.trace.rounds[1:], strict=False)
        if after.start_ms >= begun.start_ms and before.end_ms <= begun.end_ms
    ]
    took_alone, took_both = median(map(_took, alone)), median(map(_took, both))
    planned = [_planned(service, 1, first.trace.prompt, alone), _planned(service, 2, first.trace.prompt, both)]
    return {
        "rounds_until_first_token": sum(begun.start_ms <= each.start_ms < begun.end_ms for each in first.trace.rounds),
        "second_prompt_tokens": len(second.trace.prompt),
        "prefill_ms": begun.end_ms - begun.start_ms,
        "longest_pause_ms": max(pauses, default=0.0),
        "round_ms_alone": took_alone,
        "round_ms_both": took_both,
        "slowdown": took_both / took_alone,
        "planned_slowdown": planned[1] / planned[0],
        "slowdown_over_planned": took_both / took_alone / (planned[1] / planned[0]),
        "round_over_planned": took_both / planned[1],
    }


def _took(round_: Round) -> float:
    return round_.draft_ms + round_.verify_ms


def _planned(service: Service, batch: int, prompt: tuple[int, ...], rounds: list[Round]) -> float:
    """Milliseconds of a forward over one token of each, in the middle of these rounds."""
    context = len(prompt) + rounds[len(rounds) // 2].index
    return 1000 * forward_time(service.profile, batch, 1, context)


if __name__ == "__main__":
    sys.exit(main())
