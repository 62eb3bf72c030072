"""What the app costs on top of the engine: speed through its stream, bytes a round, stopping, two chats at once.

    python benchmarks/app_stream.py --json

The app runs in a process of its own, as `serve` starts it; this process is the visitor. Speeds are compared in
pairs, the command `generate` and the same question through `/chat`, each pair beginning with the other one:

* `app_over_command_line`: tokens per second of whole answers, prompt and waiting included. In the app the time runs
  from sending the question to receiving the last update, on the command line from the first forward to the last
  token. Nothing that comes late, or all at once, can make it look faster. But the command is a fresh process, while the
  app has answered before and still holds the template's keys and values, so this compares what a user waits for, not
  the app's cost.
* `engine_in_app_over_command_line`: tokens per second after the prompt by the rounds' own times on both sides, so only
  what the server's work beside it costs the engine.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any

import httpx
from gradio_client import Client

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = (
    "Write a numbered list from 1 to 6. Every item is the sentence: The cat sat on the mat.",
    "Write a short poem about the sea. Then write the same poem again, word for word.",
    "Explain in a few sentences how a bicycle stays upright.",
)
STARTS_WITHIN = 120  # seconds


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="smollm2-135m")
    parser.add_argument("--pairs", type=int, default=5, help="pairs of answers, over the questions in turn")
    parser.add_argument("--max-new-tokens", type=int, default=128)
    parser.add_argument("--s-q", default="8")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    settings = {"max_new_tokens": args.max_new_tokens, "s_q": args.s_q}
    with served(args.preset) as url:
        client = Client(url, verbose=False)
        ask(client, QUESTIONS[0], settings)  # warm-up
        pairs = [
            pair(client, args.preset, QUESTIONS[n % len(QUESTIONS)], settings, app_first=bool(n % 2))
            for n in range(args.pairs)
        ]
        result = {
            "pairs": pairs,
            "app_over_command_line": spread(
                [p["app"]["whole_tokens_per_second"] / p["command_line"]["whole_tokens_per_second"] for p in pairs]
            ),
            "engine_in_app_over_command_line": spread(
                [p["app"]["engine_tokens_per_second"] / p["command_line"]["engine_tokens_per_second"] for p in pairs]
            ),
            "bytes_per_round": {
                "page": page_bytes(url, QUESTIONS[1], settings),
                "api": api_bytes(url, QUESTIONS[1], settings),
            },
            "stop": stopping(client, settings),
            "two_at_once": two_at_once(url, settings),
        }
    sys.stdout.write((json.dumps(result) if args.json else json.dumps(result, indent=2)) + "\n")


@contextmanager
def served(preset: str) -> Iterator[str]:
    """The address of an app in a process of its own, its model loaded."""
    command = [sys.executable, "-m", "sssd_demo", "serve", "--preset", preset]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        if not found:
            raise SystemExit("The app did not start.")
        client = Client(found[0], verbose=False)
        deadline = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < deadline:
            try:
                client.predict("Hello", max_new_tokens=4, api_name="/chat")
                break
            except Exception as error:  # the model still loads; the library raises the bare class
                if "not ready" not in str(error):
                    raise
                threading.Event().wait(0.5)
        yield found[0]
    finally:
        server.terminate()
        server.wait(20)


def ask(client: Client, question: str, settings: dict[str, Any]) -> dict[str, Any]:
    """One answer streamed through the app, timed from sending the question to its last update."""
    started = time.perf_counter()
    updates = list(client.submit(question, **settings, api_name="/chat"))
    seconds = time.perf_counter() - started
    tokens = sum(len(round_["committed"]) for round_ in updates[-1]["rounds"])
    return {
        "whole_tokens_per_second": tokens / seconds,
        "engine_tokens_per_second": updates[-1]["tokens_per_second"],
        "tokens": tokens,
        "updates": len(updates),
    }


def generate(preset: str, question: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The same answer by the command, which loads the model outside the times that it prints."""
    command = [sys.executable, "-m", "sssd_demo", "generate", question, "--preset", preset, "--json"]
    command += ["--s-q", settings["s_q"], "--max-new-tokens", str(settings["max_new_tokens"])]
    printed = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    return {
        "whole_tokens_per_second": len(printed["token_ids"]) / printed["seconds"],
        "engine_tokens_per_second": printed["tokens_per_second"],
        "tokens": len(printed["token_ids"]),
    }


def pair(client: Client, preset: str, question: str, settings: dict[str, Any], *, app_first: bool) -> dict[str, Any]:
    """The same question on the command line and through the app, one after the other."""
    asked = {
        "app": lambda: ask(client, question, settings),
        "command_line": lambda: generate(preset, question, settings),
    }
    return {name: asked[name]() for name in sorted(asked, reverse=not app_first)}


def stream_lines(url: str, event: str, data: list[Any]) -> list[str]:
    """The lines that the server sends for one event, as a browser receives them."""
    base = f"{url}gradio_api"
    with httpx.Client(timeout=300, headers={"accept-encoding": "identity"}) as http:
        listed = http.get(f"{url}config").json()["dependencies"]
        index = next(dependency["id"] for dependency in listed if dependency["api_name"] == event)
        session = f"probe-{time.monotonic_ns()}"
        if event == "follow":
            send = next(dependency["id"] for dependency in listed if dependency["api_name"] == "send")
            run_to_end(http, base, session, send, [data[0][-1]["content"][0]["text"], data[0][:-1]])
        return run_to_end(http, base, session, index, data)


def run_to_end(http: httpx.Client, base: str, session: str, index: int, data: list[Any]) -> list[str]:
    """Join the queue with one event and read its stream until it has completed."""
    joined = {"data": data, "fn_index": index, "session_hash": session, "event_data": None}
    http.post(f"{base}/queue/join", json=joined).raise_for_status()
    lines = []
    with http.stream("GET", f"{base}/queue/data", params={"session_hash": session}) as stream:
        for line in stream.iter_lines():
            lines.append(line)
            if "process_completed" in line:
                break
    return lines


def page_bytes(url: str, question: str, settings: dict[str, Any]) -> dict[str, float]:
    """Bytes per round on the way to the page, conversation, figures and pictures included."""
    history = [{"role": "user", "content": [{"type": "text", "text": question}]}]
    controls = ["sssd", settings["s_q"], "none", 0, 0, 1, settings["max_new_tokens"], 0, False]
    controls += ["auto", "chain", ""]
    remember = False
    return counted(stream_lines(url, "follow", [history, remember, *controls]), url, question, settings)


def api_bytes(url: str, question: str, settings: dict[str, Any]) -> dict[str, float]:
    """Bytes per round to a program that uses `/chat`."""
    drafting = ["auto", "chain", None]
    data = [question, [], "sssd", settings["max_new_tokens"], 0.0, 0, 1.0, 0, settings["s_q"], "none", *drafting]
    return counted(stream_lines(url, "chat", data), url, question, settings)


def counted(lines: list[str], url: str, question: str, settings: dict[str, Any]) -> dict[str, float]:
    updates = [line for line in lines if '"process_generating"' in line]
    if not updates:
        raise SystemExit(f"The stream held no answer: {lines[-1][:300]}")
    rounds = len(Client(url, verbose=False).predict(question, **settings, api_name="/chat")["rounds"])
    sizes = [len(line.encode()) + 2 for line in updates]  # each message ends with an empty line
    return {"rounds": rounds, "messages": len(updates), "bytes": sum(sizes), "per_round": sum(sizes[1:]) / rounds}


def stopping(client: Client, settings: dict[str, Any]) -> dict[str, Any]:
    """Cancel in mid-answer; the next answer has the engine to itself from its first round on."""
    job = client.submit(QUESTIONS[1], **settings | {"max_new_tokens": 1024}, api_name="/chat")
    while len(job.outputs()) < 5:
        threading.Event().wait(0.02)
    job.cancel()
    following = client.predict(QUESTIONS[2], **settings, api_name="/chat")
    return {"batch_sizes_after": sorted({round_["batch_size"] for round_ in following["rounds"][1:]})}


def two_at_once(url: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Two visitors ask at the same time; both answers must grow side by side."""
    clients = [Client(url, verbose=False) for _ in range(2)]
    jobs = [
        client.submit(question, **settings, api_name="/chat")
        for client, question in zip(clients, QUESTIONS[1:], strict=True)
    ]
    answers = [job.result() for job in jobs]
    shared = [sum(round_["batch_size"] == 2 for round_ in answer["rounds"]) for answer in answers]
    return {"rounds_shared": shared, "updates": [len(job.outputs()) for job in jobs]}


def spread(values: list[float]) -> dict[str, float]:
    """{median, p25, p75}."""
    p25, median, p75 = quantiles(values if len(values) > 1 else values * 2, n=4, method="inclusive")
    return {"median": median, "p25": p25, "p75": p75}


if __name__ == "__main__":
    main()
