"""What the app costs on top of the engine: speed through its stream, bytes a round, stopping, two chats at once.

    python benchmarks/app_stream.py --json

The app runs in a process of its own, as `serve` starts it; this process is the visitor. Speeds are compared in
pairs: the command `generate`, then the same question through `/chat`, and so on in turn.
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
        pairs = [pair(client, args.preset, QUESTIONS[n % len(QUESTIONS)], settings) for n in range(args.pairs)]
        result = {
            "pairs": pairs,
            "app_over_command_line": spread([p["app_tokens_per_second"] / p["cli_tokens_per_second"] for p in pairs]),
            "engine_in_app_over_command_line": spread(
                [p["app_engine_tokens_per_second"] / p["cli_tokens_per_second"] for p in pairs]
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
    """One answer streamed; tokens per second by the times at which its rounds arrived here, and by the rounds' own.

    When this process gets no core, a whole answer can arrive at once, and the first figure is then meaningless.
    """
    arrivals: list[tuple[float, int]] = []  # (seconds, tokens so far)
    value: dict[str, Any] = {}
    for value in client.submit(question, **settings, api_name="/chat"):
        arrivals.append((time.perf_counter(), sum(len(round_["committed"]) for round_ in value["rounds"])))
    (started, first), (ended, last) = arrivals[0], arrivals[-1]
    return {
        "tokens_per_second": (last - first) / (ended - started),
        "engine_tokens_per_second": value["tokens_per_second"],  # by the rounds' own times
        "tokens": last,
    }


def pair(client: Client, preset: str, question: str, settings: dict[str, Any]) -> dict[str, float]:
    """The same question on the command line and through the app."""
    command = [sys.executable, "-m", "sssd_demo", "generate", question, "--preset", preset, "--json"]
    command += ["--s-q", settings["s_q"], "--max-new-tokens", str(settings["max_new_tokens"])]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    through_app = ask(client, question, settings)
    return {
        "cli_tokens_per_second": json.loads(printed)["tokens_per_second"],
        "app_tokens_per_second": through_app["tokens_per_second"],
        "app_engine_tokens_per_second": through_app["engine_tokens_per_second"],
        "tokens": through_app["tokens"],
    }


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
    controls = ["sssd", settings["s_q"], "none", 0, 0, 1, settings["max_new_tokens"], 0]
    return counted(stream_lines(url, "follow", [history, *controls]), url, question, settings)


def api_bytes(url: str, question: str, settings: dict[str, Any]) -> dict[str, float]:
    """Bytes per round to a program that uses `/chat`."""
    data = [question, [], "sssd", settings["max_new_tokens"], 0.0, 0, 1.0, 0, settings["s_q"], "none"]
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
