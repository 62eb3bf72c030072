"""Times of forwards measured alone, target and draft model each, so that they are measured once on a machine."""

from __future__ import annotations

from dataclasses import replace

from sssd_demo.profile_file import ProfileKey, load_profile, save_profile
from sssd_demo.saguaro.alone_times import AloneTimes
from sssd_demo.service import Service


class AloneKept:
    """Times of forwards measured alone, kept in memory for each service, and on disk."""

    def __init__(self) -> None:
        self._kept: tuple[Service, AloneTimes] | None = None

    def known(self, service: Service) -> AloneTimes | None:
        """What was measured of the service's models, now or in an earlier run of the program."""
        if self._kept is not None and self._kept[0] is service:
            return self._kept[1]
        if service.draft is None:
            return None
        target, draft = (load_profile(key) for key in _keys(service))
        if target is None or draft is None:
            return None
        self._kept = service, AloneTimes(target, draft)
        return self._kept[1]

    def keep(self, service: Service, times: AloneTimes) -> None:
        """Keep `times`, just measured of the service's models."""
        self._kept = service, times
        for key, profile in zip(_keys(service), (times.target, times.draft), strict=True):
            save_profile(key, profile)


def _keys(service: Service) -> tuple[ProfileKey, ProfileKey]:
    """Where the times of both models are kept: apart from the profile by which lengths are planned."""
    key = service.profile_key()
    assert service.draft is not None
    return replace(key, model=f"{key.model} alone"), replace(key, model=f"{service.draft.name} alone")
