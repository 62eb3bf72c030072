"""All methods by name. A new method is one file beside this one and one line here."""

from __future__ import annotations

from collections.abc import Callable

from sssd_demo.speculators.autoregressive import Autoregressive
from sssd_demo.speculators.protocol import Speculator
from sssd_demo.speculators.sssd import Sssd
from sssd_demo.sssd.constants import FAITHFUL
from sssd_demo.sssd.drafter import Store

METHODS = ("autoregressive", "sssd", "sssd-faithful")


def make_speculators(open_store: Callable[[str], Store]) -> dict[str, Speculator]:
    """One speculator for each of `METHODS`; `open_store` gives a store by its name."""
    return {
        "autoregressive": Autoregressive(),
        "sssd": Sssd(open_store),
        "sssd-faithful": Sssd(open_store, FAITHFUL),
    }
