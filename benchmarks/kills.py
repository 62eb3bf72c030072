"""Kill a process that adds to a store on disk, at random moments, and look whether anything it acknowledged is lost.

    python benchmarks/kills.py --kills 50

A child process opens the store that the one before it left, adds documents as fast as it can, and prints the number of
each once `append` has returned. It indexes, merges and saves meanwhile, far more often than in use, so that kills hit
all of these. After each kill (SIGKILL) the store is opened here, and every acknowledged document must be found in it.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sssd_demo.errors import UserError
from sssd_demo.sssd import store_disk, store_file
from sssd_demo.sssd.live_store import LiveStore
from sssd_demo.sssd.merging import Limits

VOCABULARY = 5000
LIMITS = Limits(max_tokens=60_000, max_sub_indices=1000)
LONGEST_LIFE = 0.4  # seconds from the child's start of work to its death
PATIENCE = 60.0  # seconds that a store may take to index what its journal held


@dataclass
class Outcome:
    """What all kills came to."""

    kills: int = 0
    acknowledged: int = 0  # documents
    lost: int = 0
    refused: int = 0  # a file could not be opened, or was found damaged
    during_open: int = 0  # killed before the first document was acknowledged
    during_save: int = 0  # killed while a file was being replaced: an unfinished one was left
    before_rotation: int = 0  # killed when the store was saved, but its journal not shortened yet
    during_append: int = 0  # killed when a record was cut off, or whole but not acknowledged yet

    @property
    def fine(self) -> bool:
        return self.lost == self.refused == 0


def document(number: int) -> list[int]:
    """The document of that number, the same in every process; no two are equal."""
    rng = random.Random(number)
    return [number % VOCABULARY, *(rng.randrange(VOCABULARY) for _ in range(rng.randrange(20, 600)))]


def opened(path: Path) -> LiveStore:
    return LiveStore(fingerprint="kills", vocab_size=VOCABULARY, limits=LIMITS, path=path)


def live(path: Path) -> None:
    """The child: add documents until somebody ends this."""
    store_disk.JOURNAL_TOKENS, store_disk.JOURNAL_SHARE = 5000, 0.0
    store = opened(path)
    state = store.state()
    number = state.documents + state.waiting
    sys.stdout.write("open\n")
    sys.stdout.flush()
    while True:
        store.append(document(number))
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        number += 1


def kill_often(path: Path, kills: int, seed: int = 0) -> Outcome:
    """Start and kill the child `kills` times on the store at `path`."""
    rng = random.Random(seed)
    outcome = Outcome()
    for _ in range(kills):
        with subprocess.Popen(
            [sys.executable, __file__, "--live", str(path)], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            if rng.random() < 0.9:
                child.stdout.readline()  # it is open; else it dies while it starts
            time.sleep(rng.uniform(0, LONGEST_LIFE))
            child.kill()
            numbers = [line for line in child.stdout.read().split("\n")[:-1] if line != "open"]
        outcome.kills += 1
        outcome.during_open += not numbers
        outcome.acknowledged = max([outcome.acknowledged, *(int(number) + 1 for number in numbers)])
        outcome.during_save += any(path.parent.glob(f".{path.stem}.*.unfinished"))
        _look(path, outcome, rng)
    return outcome


def _look(path: Path, outcome: Outcome, rng: random.Random) -> None:
    """Open what the child left; all that it acknowledged has to be there."""
    journal = store_disk.journal_beside(path)
    size = journal.stat().st_size if journal.exists() else 0
    outcome.before_rotation += bool(size) and _first_number(journal) < _documents_saved(path)
    try:
        store = opened(path)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        outcome.refused += 1
        return
    cut_off = journal.stat().st_size < size
    searchable = store.wait(PATIENCE)
    state = store.state()
    outcome.during_append += cut_off or state.documents > outcome.acknowledged
    outcome.refused += state.problem is not None or not searchable
    kept = [text.tolist() for sub_index in store.sub_indices for text in sub_index.texts()]
    outcome.lost += sum(
        document(number) != (kept[number] if number < len(kept) else None) for number in range(outcome.acknowledged)
    )
    for number in rng.sample(range(outcome.acknowledged), min(100, outcome.acknowledged)):
        outcome.lost += not any(len(sub_index.find(document(number))) for sub_index in store.sub_indices)
    store.close()


def _first_number(journal: Path) -> float:
    """Of the first document in it; see `journal.py` for the layout."""
    _, _, records = journal.read_bytes().partition(b"\n")
    return int.from_bytes(records[:8], "little") if len(records) >= 8 else float("inf")


def _documents_saved(path: Path) -> int:
    header = store_file.read_header(path)
    return header.dropped + header.documents


def main() -> None:
    """Kill, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--live", type=Path, metavar="PATH", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.live:
        live(args.live)
    with tempfile.TemporaryDirectory() as folder:
        outcome = kill_often(Path(folder) / "killed.live", args.kills, args.seed)
    sys.stdout.write(json.dumps(asdict(outcome)) + "\n")
    sys.exit(not outcome.fine)


if __name__ == "__main__":
    main()
