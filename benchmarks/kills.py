"""Kill a process that adds to a store on disk, at any moment, and look whether anything it acknowledged is lost.

    python benchmarks/kills.py --kills 50

A child process opens the store that the one before it left, adds documents as fast as it can, and prints the number of
each once `append` has returned. It indexes, merges, drops and saves meanwhile, far more often than in use. The kills
(SIGKILL) come at random moments; after every third, one more comes at each of the `MOMENTS` when a file is being
changed. After each kill the store is opened here: every acknowledged document must be found in it under its number,
unless it is one of the oldest and the store has as many sub-indices full of newer ones as it may have.

There are two runs: one store keeps everything, the other is so small that documents are dropped all the time.
A kill cannot show a missing fsync: what the process has written, the system keeps.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sssd_demo.errors import UserError
from sssd_demo.sssd import store_disk, store_file
from sssd_demo.sssd.journal import Journal
from sssd_demo.sssd.live_store import LiveStore
from sssd_demo.sssd.merging import Limits

VOCABULARY = 5000
LONGEST = 600  # tokens of a document
RUNS = {
    "keeping": Limits(max_tokens=60_000, max_sub_indices=1000),
    "dropping": Limits(max_tokens=6000, max_sub_indices=3),
}
LONGEST_LIFE = 0.4  # seconds from the child's start of work to its death
PATIENCE = 60.0  # seconds that a store may take to index what its journal held, or a child to come to a moment

# A record is half written; a new store file is complete, but not in its place; it is, but the journal holds the same.
Moment = Literal["append", "save", "rotation"]
MOMENTS: tuple[Moment, ...] = get_args(Moment)


@dataclass
class Outcome:
    """What all kills came to."""

    kills: int = 0
    chosen: int = 0  # of them, not at a random moment
    acknowledged: int = 0  # documents
    dropped: int = 0  # documents, the oldest, for which there was no room
    lost: int = 0
    refused: int = 0  # a file could not be opened, or was found damaged
    during_open: int = 0  # killed before the first document was acknowledged
    during_save: int = 0  # killed while the store's file was being replaced: an unfinished one was left
    before_rotation: int = 0  # killed when the store was saved, but its journal not shortened yet
    during_append: int = 0  # killed when a record was cut off, or whole but not acknowledged yet

    @property
    def fine(self) -> bool:
        return self.lost == self.refused == 0


def document(number: int) -> list[int]:
    """The document of that number, the same in every process; no two are equal."""
    rng = random.Random(number)
    return [number % VOCABULARY, *(rng.randrange(VOCABULARY) for _ in range(rng.randrange(20, LONGEST)))]


def opened(path: Path, limits: Limits) -> LiveStore:
    return LiveStore(fingerprint="kills", vocab_size=VOCABULARY, limits=limits, path=path)


def live(path: Path, limits: Limits, moment: Moment | None, delay: float) -> None:
    """The child: add documents until somebody ends this, or it does so itself at `moment`, after `delay` seconds."""
    store_disk.JOURNAL_TOKENS, store_disk.JOURNAL_SHARE = 5000, 0.0
    store = opened(path, limits)
    state = store.state()
    number = state.dropped + state.documents + state.waiting
    if moment is not None:
        _die_at(moment, path, time.monotonic() + delay)
    sys.stdout.write("open\n")
    sys.stdout.flush()
    while True:
        store.append(document(number))
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        number += 1


def _die_at(moment: Moment, path: Path, earliest: float) -> None:
    append, replace = Journal.append, os.replace
    fatal = {"save": path, "rotation": store_disk.journal_beside(path)}.get(moment)

    def append_or_die(journal: Journal, documents: Sequence[NDArray]) -> None:
        before = journal.path.stat().st_size
        append(journal, documents)
        if moment == "append" and time.monotonic() > earliest:
            os.truncate(journal.path, (before + journal.path.stat().st_size) // 2)
            os.kill(os.getpid(), signal.SIGKILL)

    def replace_or_die(source: Path, target: Path) -> None:
        if target == fatal and time.monotonic() > earliest:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(source, target)

    setattr(Journal, "append", append_or_die)  # noqa: B010 - a method may not be assigned to by name
    setattr(os, "replace", replace_or_die)  # noqa: B010


def kill_often(path: Path, kills: int, run: str, seed: int = 0) -> Outcome:
    """Start and kill the child on the store at `path`, `kills` times at random moments and as often at chosen ones."""
    rng = random.Random(seed)
    outcome = Outcome()
    for number in range(kills):
        _kill_once(path, run, None, outcome, rng)
        if number % len(MOMENTS) == len(MOMENTS) - 1:
            for moment in MOMENTS:
                _kill_once(path, run, moment, outcome, rng)
    return outcome


def _kill_once(path: Path, run: str, moment: Moment | None, outcome: Outcome, rng: random.Random) -> None:
    life = rng.uniform(0, LONGEST_LIFE)
    command = [sys.executable, __file__, "--live", str(path), "--run", run]
    if moment is not None:
        command += ["--moment", moment, "--delay", str(life)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        if moment is not None or rng.random() < 0.9:
            child.stdout.readline()  # it is open; else it dies while it starts
        killer = threading.Timer(PATIENCE if moment is not None else life, child.kill)
        killer.start()
        numbers = [line for line in child.stdout.read().split("\n")[:-1] if line != "open"]
        killer.cancel()
    outcome.kills += 1
    outcome.chosen += moment is not None
    outcome.during_open += not numbers
    outcome.acknowledged = max([outcome.acknowledged, *(int(number) + 1 for number in numbers)])
    outcome.during_save += any(path.parent.glob(f".{path.name}.*.unfinished"))
    _look(path, RUNS[run], outcome, rng)


def _look(path: Path, limits: Limits, outcome: Outcome, rng: random.Random) -> None:
    """Open what the child left; all that it acknowledged has to be there, but for what there was no room for."""
    journal = store_disk.journal_beside(path)
    size = journal.stat().st_size if journal.exists() else 0
    first, saved = _first_number(journal) if size else None, _documents_saved(path) if path.exists() else 0
    if first is not None:
        outcome.before_rotation += first < saved
        outcome.lost += max(0, first - saved)
    try:
        store = opened(path, limits)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        outcome.refused += 1
        return
    cut_off = journal.stat().st_size < size
    searchable = store.wait(PATIENCE) and store.settle(PATIENCE)
    state = store.state()
    outcome.during_append += cut_off or state.dropped + state.documents > outcome.acknowledged
    outcome.refused += state.problem is not None or not searchable
    full = [each for each in state.segments if each.kind == "full" and each.tokens > limits.max_tokens - 2 * LONGEST]
    if len(full) < limits.max_sub_indices:
        outcome.lost += state.dropped - outcome.dropped
    outcome.dropped = state.dropped
    there = range(state.dropped, outcome.acknowledged)
    kept = [text.tolist() for sub_index in store.sub_indices for text in sub_index.texts()]
    outcome.lost += sum(
        document(number) != (kept[place] if place < len(kept) else None) for place, number in enumerate(there)
    )
    for number in rng.sample(there, min(100, len(there))):
        outcome.lost += not any(len(sub_index.find(document(number))) for sub_index in store.sub_indices)
    store.close()


def _first_number(journal: Path) -> int | None:
    """Of the first document in it; see `journal.py` for the layout."""
    _, _, records = journal.read_bytes().partition(b"\n")
    return int.from_bytes(records[:8], "little") if len(records) >= 8 else None


def _documents_saved(path: Path) -> int:
    header = store_file.read_header(path)
    return header.dropped + header.documents


def main() -> None:
    """Kill, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="at random moments, for each run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--live", type=Path, metavar="PATH", help=argparse.SUPPRESS)
    parser.add_argument("--run", choices=RUNS, help=argparse.SUPPRESS)
    parser.add_argument("--moment", choices=MOMENTS, help=argparse.SUPPRESS)
    parser.add_argument("--delay", type=float, default=0.0, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.live:
        live(args.live, RUNS[args.run], args.moment, args.delay)
    with tempfile.TemporaryDirectory() as folder:
        outcomes = {run: kill_often(Path(folder) / f"{run}.live", args.kills, run, args.seed) for run in RUNS}
    sys.stdout.write(json.dumps({run: asdict(outcome) for run, outcome in outcomes.items()}, indent=1) + "\n")
    sys.exit(not all(outcome.fine for outcome in outcomes.values()))


if __name__ == "__main__":
    main()
