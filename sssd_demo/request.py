"""What is submitted to the engine and what comes back at the end: plain picklable data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from sssd_demo.errors import UserError
from sssd_demo.saguaro.options import SaguaroOptions
from sssd_demo.sampling import MAX_TEMPERATURE, Sampling
from sssd_demo.trace import AcceptanceRule, FinishReason

# How many tokens the target processes of a sequence in a round, root included: a number, or a rule that finds one.
# auto: what pays best, by measured times and running acceptance; knee: where the measured time of a forward bends;
# roofline: the knee of the machine's peaks, shared by the batch.
Rule = Literal["auto", "knee", "roofline"]
Length = int | Rule
RULES: tuple[Rule, ...] = get_args(Rule)
ACCEPTANCE_RULES: tuple[AcceptanceRule, ...] = get_args(AcceptanceRule)

MAX_S_Q = 64
MAX_K = 16
MAX_NEW_TOKENS = 4096
EMPTY_PROMPT = "The prompt is empty; please write something."


@dataclass(frozen=True)
class Drafting:
    """How a draft model drafts, for the methods that have one. Raises `UserError` when a value is out of range.

    `k` is the number of tokens it drafts in a row, "auto" what pays by measured times and past acceptance. The rule
    shapes the draft: chain and block judge a chain, tree and traversal a small tree.
    """

    k: int | Literal["auto"] = "auto"
    temperature: float | None = None  # None: the answer's own
    rule: AcceptanceRule = "chain"

    def __post_init__(self) -> None:
        if self.k != "auto" and not (type(self.k) is int and 1 <= self.k <= MAX_K):  # bool is a subclass of int
            raise UserError(f"The draft length K must be 1 to {MAX_K} tokens or auto, but is {self.k}.")
        if self.rule not in ACCEPTANCE_RULES:
            raise _unknown_rule(self.rule)
        if self.temperature is not None and not 0.0 <= self.temperature <= MAX_TEMPERATURE:
            raise UserError(
                f"The draft's temperature must lie between 0 and {MAX_TEMPERATURE:g}, but is {self.temperature:g}."
            )


@dataclass(frozen=True)
class Request:
    """One answer to write. Token ids only: the engine knows nothing about text.

    Raises `UserError` when a value is out of range.
    """

    prompt: tuple[int, ...]
    method: str
    max_new_tokens: int
    sampling: Sampling = Sampling()
    s_q: Length = "auto"
    stores: tuple[str, ...] = ()  # names of the datastores to draw from
    end_tokens: frozenset[int] = frozenset()
    conversation: str | None = None  # requests of one conversation reuse each other's KV
    drafting: Drafting = Drafting()
    saguaro: SaguaroOptions = SaguaroOptions()
    keep_top: bool = False  # rounds carry the target's most probable tokens at each position

    def __post_init__(self) -> None:
        if not self.prompt:
            raise UserError(EMPTY_PROMPT)
        check_lengths(self.max_new_tokens, self.s_q)


@dataclass(frozen=True)
class Finished:
    """Why an answer ended, and what its rounds do not say."""

    reason: FinishReason
    prefill_forwards: int  # target forwards that read the prompt; a long prompt takes several
    reused_tokens: int  # prompt tokens whose KV was still there from the conversation's last turn


def check_lengths(max_new_tokens: int, s_q: Length) -> None:
    """Raises `UserError` when an answer's length or its speculation length is out of range."""
    if not 1 <= max_new_tokens <= MAX_NEW_TOKENS:
        raise UserError(f"The answer's length must be 1 to {MAX_NEW_TOKENS} tokens, but is {max_new_tokens}.")
    if s_q not in RULES and not (isinstance(s_q, int) and 1 <= s_q <= MAX_S_Q):
        raise UserError(f"The speculation length s_q must be 1 to {MAX_S_Q} or {', '.join(RULES)}, but is {s_q}.")


def _unknown_rule(name: str) -> UserError:
    if name == "hierarchical":
        return UserError("Hierarchical verification, made exact, is the rule called block; please choose block.")
    return UserError(f"There is no acceptance rule called {name!r}; the rules are {', '.join(ACCEPTANCE_RULES)}.")
