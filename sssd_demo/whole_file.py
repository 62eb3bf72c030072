"""A small text file written whole or not at all."""

from __future__ import annotations

import secrets
from pathlib import Path


def write_whole(path: Path, content: str) -> None:
    """Write `content` to `path` as UTF-8; a file that is there is replaced only once the new one is complete.

    Raises `OSError` if that cannot be done, and then leaves nothing behind.
    """
    # A name of its own: another thread or process may be writing the same file.
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}.unfinished")
    try:
        unfinished.write_text(content, encoding="utf-8")
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
