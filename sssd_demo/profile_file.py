"""Measured profiles kept between runs, one JSON file for each machine, dtype, thread count and model."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from sssd_demo.folders import data_folder
from sssd_demo.roofline import Profile
from sssd_demo.whole_file import write_whole

logger = logging.getLogger(__name__)
VERSION = 2  # since 2 with the peaks


@dataclass(frozen=True)
class ProfileKey:
    """What a profile holds for; a change in any of these asks for a new measurement."""

    device: str
    dtype: str
    threads: int
    model: str

    @property
    def path(self) -> Path:
        """The file for this key; it need not exist."""
        words = json.dumps(asdict(self), sort_keys=True)
        # The hash tells apart what the readable part of the name cannot.
        readable = re.sub(r"[^A-Za-z0-9.]+", "-", f"{self.model}-{self.dtype}-{self.threads}")[-80:].strip("-.")
        return data_folder() / "probe" / f"{readable}-{sha256(words.encode()).hexdigest()[:12]}.json"


def save_profile(key: ProfileKey, profile: Profile) -> None:
    """Keep `profile` for later runs. A folder that cannot be written to is logged: it can be measured again."""
    data = {
        "version": VERSION,
        "key": asdict(key),
        "flops": profile.flops,
        "bandwidth": profile.bandwidth,
        "forward_seconds": [[*point, seconds] for point, seconds in sorted(profile.forward_seconds.items())],
    }
    path = key.path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(data))
    except OSError as error:
        logger.warning("The measured profile could not be kept in %s: %s", path.parent, error.strerror)


def load_profile(key: ProfileKey) -> Profile | None:
    """The profile kept for `key`, or None if there is none that can be read."""
    try:
        data = json.loads(key.path.read_text(encoding="utf-8"))
        if data["version"] != VERSION or data["key"] != asdict(key):
            return None
        forward = {(int(b), int(q), int(c)): float(seconds) for b, q, c, seconds in data["forward_seconds"]}
        return Profile(forward, flops=data["flops"], bandwidth=data["bandwidth"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        logger.warning("The kept profile %s cannot be read and will be measured again: %s", key.path, error)
        return None


def measured_at(key: ProfileKey) -> datetime | None:
    """When the profile kept for `key` was measured, in UTC; None if there is none."""
    try:
        return datetime.fromtimestamp(key.path.stat().st_mtime, UTC)
    except OSError:
        return None
