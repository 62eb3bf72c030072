"""What a method takes besides the target, which whoever deploys it has to provide. One line for each method."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Needs:
    """A draft model must have been trained; a datastore of past text only has to be there, and may be empty."""

    draft_model: bool = False
    datastore: bool = False
    drafter: bool = False  # a process of its own that holds the draft model


NEEDS = {
    "autoregressive": Needs(),
    "sssd": Needs(datastore=True),
    "sssd-faithful": Needs(datastore=True),
    "prompt-lookup": Needs(),
    "rest": Needs(datastore=True),
    "lookahead": Needs(),
    "speculative": Needs(draft_model=True),
    "saguaro": Needs(draft_model=True, drafter=True),
    "saguaro-sssd": Needs(draft_model=True, datastore=True, drafter=True),
}

WITH_DRAFT_MODEL = tuple(method for method, needs in NEEDS.items() if needs.draft_model)
WITH_DRAFTER = tuple(method for method, needs in NEEDS.items() if needs.drafter)
