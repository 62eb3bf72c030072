"""What stands beside an early-exit draft model's weights: whose layers it uses, whether it is whole, and its card."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sssd_demo.errors import UserError
from sssd_demo.wheel_files import sha256_of
from sssd_demo.whole_file import write_whole

RECORD_FILE = "exit_draft.json"
WEIGHTS_FILE = "exit.safetensors"


@dataclass(frozen=True)
class ExitDraft:
    """What stands in a folder's record."""

    target: str  # preset or hub id of the model whose layers are used
    copied: tuple[int, ...]  # the target's layers that come first, unchanged
    trained: tuple[int, ...]  # the target's layers that the trained ones began as
    size: int = 0  # bytes of the file of weights
    sha256: str = ""
    card: dict[str, Any] = field(default_factory=dict)  # how it was made, and what it was measured to do


def has_record(folder: Path) -> bool:
    """Whether `folder` holds an early-exit draft model, whole or not."""
    return (folder / RECORD_FILE).is_file()


def read_record(folder: Path, name: str) -> ExitDraft:
    """What `folder` holds under the `name` it was asked for.

    Raises `UserError` if the record cannot be read, or the file of weights is missing or not the one it tells of.
    """
    try:
        content = json.loads((folder / RECORD_FILE).read_text(encoding="utf-8"))
        draft = ExitDraft(**content | {key: tuple(map(int, content[key])) for key in ("copied", "trained")})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise _damaged(name, f"its {RECORD_FILE} cannot be read") from error
    weights = folder / WEIGHTS_FILE
    if not weights.is_file():
        raise _damaged(name, f"it lacks its file {WEIGHTS_FILE}")
    if (size := weights.stat().st_size) != draft.size:
        raise _damaged(name, f"its {WEIGHTS_FILE} has {size:,} bytes, not the expected {draft.size:,}")
    if sha256_of(weights) != draft.sha256:
        raise _damaged(name, f"the SHA-256 of its {WEIGHTS_FILE} is not the expected one")
    return draft


def write_record(draft: ExitDraft, folder: Path) -> None:
    """Write the record of a model whose weights are in `folder`."""
    write_whole(folder / RECORD_FILE, json.dumps(asdict(draft), indent=1) + "\n")


def write_card(folder: Path, card: dict[str, Any]) -> ExitDraft:
    """Keep `card` with the model in `folder`. Returns the record as written."""
    kept = replace(read_record(folder, str(folder)), card=card)
    write_record(kept, folder)
    return kept


def _damaged(name: str, how: str) -> UserError:
    return UserError(f"The draft model {name} is damaged: {how}; please get it again, or train it anew.")
