"""The drafter's process: it starts, answers, dies and is replaced, and never outlives who started it."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from sssd_demo.engine import Engine
from sssd_demo.errors import UserError
from sssd_demo.length import LengthPlanner
from sssd_demo.request import Drafting, Request
from sssd_demo.saguaro import drafter_process
from sssd_demo.saguaro.cores import available_cores, cores_of, share_cores
from sssd_demo.saguaro.drafter_process import Drafter, DrafterProcess
from sssd_demo.saguaro.messages import Ask, Ready, Reply
from sssd_demo.saguaro.options import SaguaroOptions
from sssd_demo.saguaro.worker import send
from sssd_demo.speculators.autoregressive import Autoregressive
from sssd_demo.speculators.protocol import Speculator
from sssd_demo.speculators.saguaro import Saguaro
from sssd_demo.sssd.datastore import Datastore, token_dtype
from sssd_demo.target import Target
from sssd_demo.threads import Threads
from sssd_demo.trace import Span
from tests.saguaro.drafters import CONTEXT, ToySource
from tests.saguaro.loads import Endless, damaged, dying
from tests.toys import VOCABULARY, toy_model

PROMPT = (3, 1, 4, 1, 5, 9, 2, 6)
GONE_WITHIN = 30  # seconds
ROOT = Path(__file__).parents[2]


class Made:
    """Engines with a drafter at their side; everything ends with the test."""

    def __init__(self):
        self.engines, self.drafters = [], []

    def drafter(self, load=None, **where):
        self.drafters.append(DrafterProcess(load or ToySource(), **where))
        return self.drafters[-1]

    def engine(self, drafter):
        versions = iter(range(1, 10**6)).__next__
        lengths = LengthPlanner(bytes_per_weight=4)
        empty = Datastore((), "toy", token_dtype(VOCABULARY))
        saguaro = Saguaro(drafter, lambda name: empty, lengths.seconds, versions=versions)
        target = Target(toy_model(), rows=4, context_length=CONTEXT)
        methods: dict[str, Speculator] = {"autoregressive": Autoregressive(), "saguaro": saguaro}
        self.engines.append(Engine(target, methods, lengths=lengths))
        return self.engines[-1]


@pytest.fixture
def made():
    made = Made()
    yield made
    for engine in made.engines:
        engine.close()
    for drafter in made.drafters:
        drafter.close()


def request(method="saguaro", tokens=60, **options):
    saguaro = SaguaroOptions(**({"budget": 6, "roll_back_after": 0} | options))
    return Request(PROMPT, method, tokens, s_q=8, drafting=Drafting(2), saguaro=saguaro)


def text(rounds):
    return [token for round_ in rounds for token in round_.committed]


def hits(rounds):
    return sum(round_.saguaro.hit for round_ in rounds[1:])


@pytest.mark.parametrize("place", ["process", "thread"])
def test_drafts_are_prepared_beside_the_target_and_the_text_is_its_own(made, place):
    drafter = made.drafter(place=place)
    drafter.ensure()
    engine = made.engine(drafter)
    expected = text(engine.submit(request("autoregressive")))
    rounds = list(engine.submit(request()))
    assert text(rounds) == expected
    assert hits(rounds), "a busy machine prepares now and then, if not in every round"
    assert rounds[1].saguaro.why == "first"
    for verifying, after in itertools.pairwise(rounds):
        began = verifying.start_ms + verifying.draft_ms
        prepared = [span for span in after.saguaro.spans if span.what == "glue"] if after.saguaro else []
        assert all(span.who == "drafter" for span in prepared)
        assert all(span.start_ms >= began - 50 for span in prepared)  # one clock for both: after the target did
    assert (drafter.current.process_id is None) == (place == "thread")


def test_a_killed_drafter_costs_no_answer_and_the_next_one_has_a_new_drafter(made):
    drafter = made.drafter()
    drafter.ensure()
    engine = made.engine(drafter)
    expected = text(engine.submit(request("autoregressive", tokens=120)))
    first = drafter.current.process_id
    rounds = []
    for round_ in engine.submit(request(tokens=120)):
        rounds.append(round_)
        if round_.saguaro is not None and round_.saguaro.hit and psutil.pid_exists(first):
            os.kill(first, signal.SIGKILL)
    assert text(rounds) == expected
    assert hits(rounds)
    assert rounds[-1].saguaro.why == "no drafter"
    drafter.ensure()
    assert drafter.current.process_id != first
    again = list(engine.submit(request(tokens=120)))
    assert text(again) == expected
    assert hits(again)


def test_a_new_drafter_takes_up_an_answer_that_was_begun_with_another(made):
    drafter = made.drafter(place="thread")
    drafter.ensure()
    engine = made.engine(drafter)
    expected = text(engine.submit(request("autoregressive", tokens=200)))
    first = drafter.current
    asked, send = itertools.count(1), first.send

    def die_when_asked_for_the_fifth_time(message):
        if isinstance(message, Ask) and next(asked) == 5:
            first.stop()
            drafter.ensure()
        return send(message)

    first.send = die_when_asked_for_the_fifth_time
    rounds = list(engine.submit(request(tokens=200)))
    assert text(rounds) == expected
    assert [round_.saguaro.why == "no drafter" for round_ in rounds[1:8]] == [*[False] * 4, True, False, False]
    assert hits(rounds[8:]) > 0


def test_who_cannot_be_started_says_why_in_one_sentence(made):
    with pytest.raises(UserError, match=r"could not be started: The weights of the toy are damaged\.$"):
        made.drafter(damaged).ensure()
    with pytest.raises(UserError, match="could not be started: its process has ended"):
        made.drafter(dying).ensure()
    with pytest.raises(UserError, match="not ready after"):
        made.drafter(Endless()).ensure(seconds=0.01)


def test_without_a_drafter_the_answer_is_written_all_the_same(made):
    engine = made.engine(made.drafter(dying))
    rounds = list(engine.submit(request()))
    assert text(rounds) == text(engine.submit(request("autoregressive")))
    assert {round_.saguaro.why for round_ in rounds[1:]} == {"no drafter"}


def test_a_late_draft_is_not_waited_for(made):
    drafter = made.drafter(place="thread")
    drafter.ensure()
    engine = made.engine(drafter)
    rounds = list(engine.submit(request(late_ms=0.0, roll_back_after=0)))
    assert text(rounds) == text(engine.submit(request("autoregressive")))
    assert "late" in {round_.saguaro.why for round_ in rounds[1:]}


class Scripted:
    """An end of the pipe that says what it is told to."""

    def __init__(self):
        here, self.there = multiprocessing.Pipe()
        self.drafter = Drafter(1, here, None)
        send(self.there, Ready({}))
        self.drafter.wait(10)

    def says(self, version, *spans):
        send(self.there, Reply(version, (), spans))


def test_what_the_drafter_did_for_nobody_is_told_with_the_next_reply():
    """It prepared, then a sequence left; or it drafted, but too late."""
    prepared, late = Span("drafter", "glue", 1.0, 2.0, 4), Span("drafter", "redraft", 2.0, 3.0, 1)
    looked = Span("drafter", "lookup", 4.0, 5.0)
    scripted = Scripted()
    scripted.says(1, prepared)
    scripted.says(2, late)
    scripted.says(3, looked)
    assert scripted.drafter.reply(3) == Reply(3, (), (prepared, late, looked))
    scripted.says(4, looked)
    assert scripted.drafter.reply(4) == Reply(4, (), (looked,))
    scripted.drafter.stop()


def test_a_drafter_that_falls_silent_is_given_up(monkeypatch):
    """As when its process was stopped but not ended: whoever has no limit of time would wait for ever."""
    scripted = Scripted()
    ready = [scripted.drafter.ready]
    assert scripted.drafter.reply(1, until=0.0) is None
    ready.append(scripted.drafter.ready)  # late by the visitor's own limit, and no more than that
    monkeypatch.setattr(drafter_process, "SILENT_SECONDS", 0.01)
    assert scripted.drafter.reply(1) is None
    ready.append(scripted.drafter.ready)
    assert ready == [True, True, False]
    scripted.drafter.stop()


def test_nothing_is_left_after_closing(made):
    drafter = made.drafter()
    drafter.ensure()
    running = drafter.current
    process = psutil.Process(running.process_id)
    drafter.close()
    assert not process.is_running()
    assert drafter.current is None
    assert not running.send(Ask(1, (), (), (), ()))
    drafter.ensure()  # it starts none any more
    assert drafter.current is None


def test_the_process_has_the_threads_and_cores_it_was_given(made, tmp_path):
    told = tmp_path / "told"
    cores = available_cores()[-1:]
    drafter = made.drafter(ToySource(told=str(told)), cores=tuple(cores), threads=1)
    drafter.ensure()
    pid, threads = told.read_text().split()
    assert int(pid) == drafter.current.process_id != os.getpid()
    assert threads == "1"
    assert psutil.Process(int(pid)).cpu_affinity() == cores


PARENT = """
import sys
import time
from sssd_demo.saguaro.drafter_process import DrafterProcess
from tests.saguaro.drafters import ToySource
from tests.saguaro.loads import Endless

if __name__ == "__main__":
    drafter = DrafterProcess({"ready": ToySource, "loading": Endless}[sys.argv[2]](told=sys.argv[1]))
    drafter.ensure()
    print("ready", flush=True)
    while True:
        time.sleep(0.05)  # not one long wait: a signal that comes just before it would go unnoticed
"""


@pytest.mark.parametrize(
    ("when", "how"), [("ready", signal.SIGKILL), ("ready", signal.SIGINT), ("loading", signal.SIGKILL)]
)
def test_the_drafter_does_not_outlive_its_parent(tmp_path, when, how):
    script, told = tmp_path / "parent.py", tmp_path / "told"
    script.write_text(PARENT)
    os.mkfifo(told)  # reading it waits until the drafter is there
    command = [sys.executable, str(script), str(told), when]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    parent = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, start_new_session=True)
    assert parent.stdout is not None
    try:
        child = psutil.Process(int(told.read_text().split()[0]))
        if when == "ready":
            assert parent.stdout.readline() == b"ready\n"
        os.killpg(parent.pid, how) if how == signal.SIGINT else parent.send_signal(how)
        parent.wait(timeout=120)
        psutil.wait_procs([child], timeout=GONE_WITHIN)
        assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
    finally:
        parent.kill()
        parent.stdout.close()


def test_cores_are_shared_out_and_said():
    many = [*range(8)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sssd_demo.saguaro.cores.available_cores", lambda: many)
        assert share_cores(8, "cpu", "cpu").draft == (6, 7)
        assert share_cores(8, "cpu", "cpu").beside == 6
        assert share_cores(8, "cuda", "cpu").draft == tuple(range(1, 8))
        assert share_cores(8, "cuda", "cpu").beside == 8
        assert share_cores(8, "cpu", "cuda:0").draft == ()
        patch.setattr("sssd_demo.saguaro.cores.available_cores", lambda: [5])
        alone = share_cores(1, "cpu", "cpu")
        assert (alone.draft, alone.beside) == ((5,), 1)
        assert "share the same cores" in alone.note
    assert "share one device" in share_cores(2, "cuda", "cuda").note


@pytest.mark.parametrize("wrong", ["", "one", "0-", "-1", "0,", "99999", "9999", "1-0"])
def test_cores_that_are_none_are_refused_in_one_sentence(wrong):
    with pytest.raises(UserError, match=r"[Cc]ore"):
        cores_of(wrong)


def test_cores_are_read():
    there = available_cores()
    assert cores_of(str(there[0])) == (there[0],)
    assert cores_of(f" {there[0]} , {there[-1]}") == tuple(sorted({there[0], there[-1]}))


def test_the_target_leaves_cores_to_a_drafter_at_work(monkeypatch):
    used: list[int] = []
    monkeypatch.setattr("torch.set_num_threads", used.append)
    threads = Threads(4, beside=3)
    for beside in (False, True, True, False):
        threads.use(beside=beside)
    assert used == [4, 3, 4]
