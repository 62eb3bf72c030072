"""Every constant of SSSD in one place, with its origin.

"Authors" stands for the public code of arXiv 2411.05894's authors, whose numbers come from a grid search that was not
published. "Replay" marks what neither paper nor code description settles; the readings taken are those with which
`replay --setting faithful` comes to the tokens per step of the authors' own program (`tests/sssd/test_replay.py`):

* a source's node proposes at most `children_cap` tokens, except that the datastore's first tokens are free of it;
* the prompt source looks as deep as its window allows, not only `branch_length` tokens;
* a step counts accepted + 1 also at an answer's end.

What that leaves open was taken as is simplest: no window holds both prompt and answer, samples lie evenly over all
occurrences, and they are counted anew at each back-off level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sssd_demo.errors import UserError

# larger: merge.py; the others: blend.py
Combine = Literal["larger", "interpolated", "noisy-or"]


@dataclass(frozen=True)
class Settings:
    """What can be tuned. The defaults are the authors' values; lengths are in tokens."""

    longest_match: int = 4  # authors: query length; all m = 4…1 for the trie, back-off from 4 for the datastore
    window: int = 8  # authors: what the trie learns at each position, the match included
    lag: bool = True  # authors: the trie learns an answer's window once it is full
    samples: int = 100  # authors: continuations looked at per back-off level
    enough_samples: int = 50  # authors: with fewer, the oldest query token is dropped and the search repeated
    max_children: int = 5  # authors; replay: it limits a source's node, but not the datastore's first tokens

    combine: Combine = "larger"  # authors: of two scores for one token the larger holds
    prompt_weight: float = 0.6  # authors: the prompt source is over-confident … (0: it is not asked)
    decay_base: float = 0.6  # authors: … the more so the further it looks ahead …
    decay_per_matched_token: float = 0.1  # authors: … and the shorter its match
    datastore_weight: float = 1.0  # authors: count ratios of the datastore are believed as they are (0: not asked)
    short_match_discount: float = 0.0  # of the datastore's weight, for each token that its match is shorter

    # Where estimates are combined; see `blend.py`. Not in the authors' algorithm; the values are where a search begins.
    prompt_doubt: float = 1.0  # occurrences that are needed to be half believed
    datastore_doubt: float = 3.0  # the same for the longest match, and for one token less …
    datastore_doubt_growth: float = 1.0  # … this many times as many
    recycled_weight: float = 0.0  # on what the target held likely in places like this
    recycle_rejected: bool = False  # also what it held likely after guesses that it refused (in the engine only)
    online_trust: bool = False  # probabilities corrected by how often their kind came true
    cutoff: float = 0.0  # less probable nodes are left out

    def doubt(self, match_length: int) -> float:
        """Occurrences in the datastore that are needed to half believe what followed a match of this length."""
        return self.datastore_doubt * self.datastore_doubt_growth ** (self.longest_match - match_length)

    def decay(self, match_length: int) -> float:
        """γ(m): the factor on a prompt candidate's score for each token beyond the first."""
        return self.decay_base + self.decay_per_matched_token * match_length

    def children_cap(self, s_q: int) -> int:
        """Most children that a source proposes below one of its nodes (authors)."""
        return min(self.max_children, s_q - 1)

    def branch_length(self, s_q: int) -> int:
        """Tokens of continuation taken from the datastore for a draft of `s_q` tokens, root included (authors)."""
        if s_q <= 5:
            return s_q - 1
        return next((length for limit, length in ((8, 5), (32, 6), (48, 8)) if s_q <= limit), 10)


FAITHFUL = Settings()  # the authors' algorithm and constants
# Found by `calibrate` on recorded answers of SmolLM2-135M-Instruct, 2026-11-30; benchmarks/results/calibration.json has
# all tries, and what the choice is worth on other questions and with another model.
DEFAULT = replace(
    FAITHFUL,
    combine="interpolated",
    lag=False,
    window=16,
    prompt_doubt=2.0,
    datastore_doubt=12.0,
    datastore_doubt_growth=3.0,
    recycled_weight=0.6,
    recycle_rejected=True,  # recorded answers do not tell; benchmarks/rejected.py
    online_trust=True,
)
SETTINGS = {"faithful": FAITHFUL, "default": DEFAULT}


def find_setting(name: str) -> Settings:
    """The constants called `name`. Raises `UserError` for an unknown name, listing the known ones."""
    if name not in SETTINGS:
        raise UserError(f"There is no setting {name!r}; the known ones are: {', '.join(SETTINGS)}.")
    return SETTINGS[name]
