"""What the actions of `datastore` have found, in words for a person."""

from __future__ import annotations

from typing import Any


def built(result: dict[str, Any]) -> str:
    """A new store, and what else is to be said about its sources."""
    return "\n".join([f"Built {_line(result)}", *_about_sources(result)])


def added(result: dict[str, Any]) -> str:
    """What came to a store, what is in it now, and what else is to be said about the sources."""
    return "\n".join([f"Added {_amount(result['added'])}. Now {_line(result)}", *_about_sources(result)])


def removed(result: dict[str, Any]) -> str:
    """One line about a store that was."""
    return f"Removed {result['removed']}."


def listed(result: dict[str, Any]) -> str:
    """A line for each store."""
    return "\n".join(store.get("error") or _line(store) for store in result["stores"]) or "There are no datastores yet."


def described(result: dict[str, Any]) -> str:
    """The store and its sub-indices."""
    lines = [_line(result), f"tokenizer {result['fingerprint']}, {result['dtype']}"]
    for number, sub_index in enumerate(result["sub_indices"], 1):
        lines.append(f"sub-index {number}: {_amount(sub_index)}{', full' * sub_index['full']}")
    if "journal_bytes" in result:
        lines.append(f"{result['dropped']:,} older documents dropped; {result['journal_bytes']:,} bytes in the journal")
    return "\n".join(lines)


def looked_up(result: dict[str, Any]) -> str:
    """A block for each match length."""
    lines = []
    for level in result["levels"]:
        lines.append(f"{level['match_length']} tokens {level['text']!r}: {level['count']:,} times")
        lines += [f"  {found['count']:4} × {found['text']!r}" for found in level["continuations"]]
    return "\n".join(lines)


def _about_sources(result: dict[str, Any]) -> list[str]:
    lines = []
    if blank := result["blank_files"]:
        lines.append(f"{_counted(blank, 'blank file')} {'was' if blank == 1 else 'were'} left out.")
    if result["recycled_seen"]:
        lines.append(
            f"It remembers which tokens the model held likely at {result['recycled']:,} places; these sources told of "
            f"{result['recycled_seen']:,}."
        )
    return lines


def _line(store: dict[str, Any]) -> str:
    return f"{store['name']}: {_amount(store)}, {store['bytes']:,} bytes"


def _amount(counts: dict[str, Any]) -> str:
    return f"{_counted(counts['tokens'], 'token')} in {_counted(counts['documents'], 'document')}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
