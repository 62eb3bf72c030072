"""Questions that the model itself asks: user turns sampled from it, as prompts for a store of its own answers.

An instruction-tuned model that is given the chat template up to where the user speaks goes on as a user (Magpie, arXiv
2406.08464). What comes out is written as a question file, so that `record` can answer it.

    python datastores/sample_prompts.py --count 1000 --out datastores/prompts.jsonl
"""

from __future__ import annotations

import argparse
import json
from collections import deque
from collections.abc import Iterator
from os.path import commonprefix
from pathlib import Path

from sssd_demo.request import Request
from sssd_demo.sampling import Sampling
from sssd_demo.service import Service
from sssd_demo.text import Text

SAMPLING = Sampling(temperature=0.9, top_p=0.95)
LONGEST = 96  # tokens; a turn that has not ended by then is left out
SHORTEST = 12  # characters
AHEAD = 32


def opening(text: Text) -> list[int]:
    """The tokens of the chat template up to where the user's first words stand."""
    return commonprefix([text.encode_chat([{"role": "user", "content": content}]) for content in ("One", "two")])


def sample(service: Service, count: int, seed: int) -> Iterator[str]:
    """`count` different user turns, as they come."""
    prompt = tuple(opening(service.text))
    found: set[str] = set()
    streams: deque = deque()
    while len(found) < count:
        while len(streams) < AHEAD:
            sampling = Sampling(SAMPLING.temperature, top_p=SAMPLING.top_p, seed=seed)
            seed += 1
            request = Request(prompt, "autoregressive", LONGEST, sampling, s_q=1, end_tokens=service.text.end_tokens)
            streams.append(service.engine.submit(request))
        stream = streams.popleft()
        turn = service.text.decode([token for round_ in stream for token in round_.committed]).strip()
        if stream.finished.reason == "end_of_text" and len(turn) >= SHORTEST and turn not in found:
            found.add(turn)
            yield turn
    for stream in streams:
        stream.cancel()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--preset", default="smollm2-135m")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    service = Service.open(args.preset, dtype=args.dtype)
    try:
        with args.out.open("w", encoding="utf-8") as file:
            for number, turn in enumerate(sample(service, args.count, args.seed), start=1):
                line = {"question_id": f"own-{number:04}", "category": "sampled", "turns": [turn]}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                file.flush()
    finally:
        service.close()


if __name__ == "__main__":
    main()
