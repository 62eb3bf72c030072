"""`python -m sssd_demo serve` as a process: its address, a port that is taken, its end."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

import httpx
import pytest

NO_MODEL = ["--model", "no/such/model"]  # the page is there all the same


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sssd_demo", "serve", *NO_MODEL, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A test run in the background ignores Ctrl+C, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@pytest.fixture
def taken_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        yield held.getsockname()[1]


def test_a_port_in_use_is_one_sentence_and_exit_2(taken_port: int):
    with start("--port", str(taken_port)) as process:
        printed, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert printed == ""
    assert said == f"Port {taken_port} is in use; choose another with --port.\n"


def test_the_address_is_printed_once_the_page_can_be_opened_and_ctrl_c_ends_it():
    with start() as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        url = line.split(" at ")[1].split()[0]
        page = httpx.get(url).text
        assert "sssd_demo" in page
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode in (0, 130)
    assert "Traceback" not in said
