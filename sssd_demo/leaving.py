"""How a program ends that may have been interrupted in mid-work."""

from __future__ import annotations

import os
import sys
import threading
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """End this process with exit code `code`. Whatever must be closed is closed by then.

    A thread inside torch cannot be ended, and the interpreter's own end would abort on it.
    """
    if any(thread.daemon for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
