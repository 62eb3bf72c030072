"""All methods by name. A new method is one file beside this one, and a line here and in `needs.py`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count

from sssd_demo.speculators.autoregressive import Autoregressive
from sssd_demo.speculators.draft_length import VerifySeconds
from sssd_demo.speculators.draft_model import DraftModel
from sssd_demo.speculators.lookahead import Lookahead
from sssd_demo.speculators.prompt_lookup import PromptLookup
from sssd_demo.speculators.protocol import Speculator
from sssd_demo.speculators.rest import Rest
from sssd_demo.speculators.saguaro import DrafterLink, Saguaro
from sssd_demo.speculators.speculative import Speculative
from sssd_demo.speculators.sssd import Sssd
from sssd_demo.sssd.constants import FAITHFUL
from sssd_demo.sssd.drafter import Store

METHODS = (
    "autoregressive",
    "sssd",
    "sssd-faithful",
    "prompt-lookup",
    "rest",
    "lookahead",
    "speculative",
    "saguaro",
    "saguaro-sssd",
)


def make_speculators(
    open_store: Callable[[str], Store],
    draft: DraftModel | None,
    verify_seconds: VerifySeconds,
    drafter: DrafterLink | None = None,
) -> dict[str, Speculator]:
    """One speculator for each of `METHODS`, less those that need a draft model or a drafter where there is none.

    `open_store` gives a store by its name, `verify_seconds` the time of a target forward, `drafter` a draft model in a
    process of its own.
    """
    methods: dict[str, Speculator] = {
        "autoregressive": Autoregressive(),
        "sssd": Sssd(open_store),
        "sssd-faithful": Sssd(open_store, FAITHFUL),
        "prompt-lookup": PromptLookup(),
        "rest": Rest(open_store),
        "lookahead": Lookahead(verify_seconds),
    }
    if draft is not None:
        methods["speculative"] = Speculative(draft, verify_seconds)
    if drafter is not None:
        versions = partial(next, count(1))  # both ask the same drafter
        methods["saguaro"] = Saguaro(drafter, open_store, verify_seconds, versions=versions)
        methods["saguaro-sssd"] = Saguaro(drafter, open_store, verify_seconds, versions=versions, mix=True)
    return methods
