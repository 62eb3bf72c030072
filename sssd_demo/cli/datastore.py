"""`datastore`: build stores of past text, add to them, list them, and see what a query finds in one."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm  # type: ignore[import-untyped]

from sssd_demo.cli import store_text
from sssd_demo.errors import UserError
from sssd_demo.store_names import SHARED

if TYPE_CHECKING:  # numpy and tokenizers are loaded by the action that needs them
    from sssd_demo.sssd.explorer import Match
    from sssd_demo.sssd.recycled import Recycled
    from sssd_demo.sssd.store_file import Header
    from sssd_demo.stores import Stores
    from sssd_demo.text import Text

SOURCES = "text files, recorded answers (.jsonl), traces, folders of these, or stdlib: Python's own library"
DEFAULT_PRESET = "smollm2-135m"
SHOWN_CONTINUATIONS = 10


def add_parser(subparsers: Any) -> None:
    """Declare the command and its actions."""
    parser = subparsers.add_parser("datastore", help="build, list and inspect stores of past text")
    actions = parser.add_subparsers(metavar="ACTION")

    build = actions.add_parser("build", help="make a store, in place of one of the same name")
    build.add_argument("name", metavar="NAME")
    build.add_argument(
        "--from", dest="sources", nargs="+", action="extend", required=True, metavar="PATH", help=SOURCES
    )
    build.add_argument(
        "--max-tokens", type=int, metavar="N", help="positions in a sub-index, 2 or more (default: as many as can be)"
    )
    _add_preset(build)
    build.set_defaults(run=build_store, show=store_text.built)

    add = actions.add_parser("add", help="add to a store, which is made if it is not there")
    add.add_argument("name", metavar="NAME")
    add.add_argument("sources", nargs="+", metavar="PATH", help=SOURCES)
    _add_preset(add)
    add.set_defaults(run=add_to_store, show=store_text.added)

    remove = actions.add_parser("remove", help="delete a store")
    remove.add_argument("name", metavar="NAME")
    remove.set_defaults(run=remove_store, show=store_text.removed)

    listing = actions.add_parser("list", help="the stores that are there")
    listing.set_defaults(run=list_stores, show=store_text.listed)

    info = actions.add_parser("info", help="what is in a store")
    info.add_argument("name", metavar="NAME", help=f"a store, or {SHARED}: the one that the app's visitors may feed")
    _add_preset(info)
    info.set_defaults(run=describe_store, show=store_text.described)

    lookup = actions.add_parser("lookup", help="how a store continues a text")
    lookup.add_argument("name", metavar="NAME")
    lookup.add_argument("text", metavar="TEXT", help="its last tokens are looked up")
    lookup.add_argument("--ids", action="store_true", help="TEXT is a list of token ids, such as 257,1,257")
    _add_preset(lookup)
    lookup.set_defaults(run=look_up, show=store_text.looked_up)


def build_store(args: argparse.Namespace) -> dict[str, Any]:
    """Tokenize and index the sources; the store appears, or replaces the old one, only when it is complete."""
    from sssd_demo.sssd.datastore import MAX_TOKENS, Datastore
    from sssd_demo.sssd.recycled import Recycled

    stores = _stores()
    stores.path(args.name)  # a bad name is refused before the work
    most = MAX_TOKENS if args.max_tokens is None else args.max_tokens
    if not 2 <= most <= MAX_TOKENS:
        raise UserError(f"A sub-index can have 2 to {MAX_TOKENS:,} positions, but not {most:,}.")
    text = _text(args.preset)
    recycled, blank = Recycled(most_places=None), list[Path]()
    with _keeping(args.name):
        datastore = Datastore.build(
            _documents(args.sources, text, recycled, blank),
            fingerprint=text.fingerprint,
            vocab_size=text.vocab_size,
            max_tokens=most,
        )
        if not datastore.tokens:
            raise UserError(f"The sources of {args.name} hold no tokens, so there is nothing to index.")
        with stores.changing(args.name):
            stores.save(args.name, datastore.with_recycled(recycled))
    return _described(args.name, stores) | {"recycled_seen": len(recycled), "blank_files": len(blank)}


def add_to_store(args: argparse.Namespace) -> dict[str, Any]:
    """Index the sources beside what is there; until that is complete, the store stays as it is."""
    from sssd_demo.sssd.datastore import Datastore, token_dtype
    from sssd_demo.sssd.recycled import Recycled

    text = _text(args.preset)
    stores = _stores(text.fingerprint)
    stores.path(args.name)
    recycled, blank = Recycled(most_places=None), list[Path]()
    before = Datastore((), text.fingerprint, token_dtype(text.vocab_size))
    if args.name in stores.names() and stores.is_shipped(args.name):
        raise UserError(f"The datastore {args.name} comes with the project and cannot be added to.")
    with _keeping(args.name), stores.changing(args.name):
        if args.name in stores.names():
            before = stores.open(args.name)
        after = before.with_documents(_documents(args.sources, text, recycled, blank), vocab_size=text.vocab_size)
        if after.tokens == before.tokens:
            raise UserError(f"The sources hold no tokens, so there is nothing to add to {args.name}.")
        stores.save(args.name, after.with_recycled(recycled))
    added = {"tokens": after.tokens - before.tokens, "documents": after.documents - before.documents}
    about_sources = {"recycled_seen": len(recycled), "blank_files": len(blank)}
    return _described(args.name, stores) | {"added": added} | about_sources


def remove_store(args: argparse.Namespace) -> dict[str, Any]:
    """Delete one of the user's own stores."""
    _stores().remove(args.name)
    return {"removed": args.name}


def list_stores(args: argparse.Namespace) -> dict[str, Any]:
    """Every store, those that cannot be used with the reason."""
    stores = _stores()
    found = []
    for name in stores.names():
        try:
            found.append(_described(name, stores))
        except UserError as error:
            found.append({"name": name, "error": str(error)})
    return {"stores": found}


def describe_store(args: argparse.Namespace) -> dict[str, Any]:
    """Sizes of one store, after its contents have been checked."""
    stores = _stores()
    if args.name == SHARED and SHARED not in stores.names():
        return _shared(args.preset)
    stores.open(args.name)
    return _described(args.name, stores)


def look_up(args: argparse.Namespace) -> dict[str, Any]:
    """For each suffix of the query that a draft would look up, longest first: how often it occurs and what follows."""
    from sssd_demo.sssd.explorer import explore

    text = _text(args.preset)
    datastore = _stores(text.fingerprint).open(args.name)
    query = _ids(args.text, text.vocab_size) if args.ids else text.encode(args.text)
    if not query:
        raise UserError("The text to look up is empty.")
    found = explore(datastore.sub_indices, query)
    levels = [_level(match, found.query[-match.length :], text) for match in found.matches]
    return {"name": args.name, "query": list(found.query), "levels": levels}


def _add_preset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--preset", metavar="P", default=DEFAULT_PRESET, help="the model whose tokenizer is used (default: %(default)s)"
    )


def _stores(fingerprint: str | None = None) -> Stores:
    from sssd_demo.stores import Stores

    return Stores.usual(fingerprint)


def _documents(sources: Sequence[str], text: Text, recycled: Recycled, blank: list[Path]) -> Iterator[Sequence[int]]:
    """The documents of `sources`, with a progress bar on stderr if that is a terminal.

    `recycled` learns from them, and `blank` gets the files that hold nothing.
    """
    from sssd_demo.sssd.documents import read_documents

    with tqdm(total=1.0, bar_format="{desc} {percentage:3.0f}% {elapsed}", leave=False, disable=None) as bar:

        def progress(share: float) -> None:
            bar.n = share
            bar.refresh()

        bar.set_description_str("reading")
        yield from read_documents(sources, text, progress=progress, recycled=recycled, skipped=blank.append)
        bar.set_description_str("sorting")


@contextmanager
def _keeping(name: str) -> Iterator[None]:
    """Says what Ctrl+C has left; a store is replaced only when its successor is complete."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"Interrupted; the datastore {name} is as it was.", file=sys.stderr)
        raise


def _text(preset: str) -> Text:
    from sssd_demo import models

    return models.load_text(preset)


def _shared(preset: str) -> dict[str, Any]:
    """The store that visitors share, as its files tell without opening it: the app may have it open."""
    from sssd_demo.sssd.store_disk import journal_beside

    stores = _stores(_text(preset).fingerprint)
    path = stores.shared_path()
    if not os.path.exists(path):
        raise UserError(f"Nobody has shared anything yet with the tokenizer of {preset}.")
    journal = journal_beside(path)
    journal_bytes = journal.stat().st_size if journal.exists() else 0  # it is written after the store itself
    return _told(SHARED, str(path), stores.shared_header()) | {"journal_bytes": journal_bytes}


def _described(name: str, stores: Stores) -> dict[str, Any]:
    return _told(name, str(stores.file(name)), stores.header(name)) | {"shipped": stores.is_shipped(name)}


def _told(name: str, file: str, header: Header) -> dict[str, Any]:
    return {
        "name": name,
        "file": file,
        "fingerprint": header.fingerprint,
        "dtype": header.dtype.name,
        "tokens": header.tokens,
        "documents": header.documents,
        "bytes": header.bytes,
        "dropped": header.dropped,
        "recycled": header.recycled,
        "sub_indices": [
            {"tokens": positions - documents, "documents": documents, "full": place < header.sealed}
            for place, (positions, documents) in enumerate(header.sub_indices)
        ],
    }


def _level(match: Match, query: Sequence[int], text: Text) -> dict[str, Any]:
    return {
        "match_length": match.length,
        "text": _written(query, text),
        "count": match.count,
        "samples": match.looked_at,
        "continuations": [
            {"tokens": [follower.token], "text": _written([follower.token], text), "count": follower.count}
            for follower in match.followers[:SHOWN_CONTINUATIONS]
        ],
    }


def _written(tokens: Sequence[int], text: Text) -> str:
    """Bytes that are part of a character are shown as bytes."""
    return b"".join(text.token_bytes(token) for token in tokens).decode("utf-8", "backslashreplace")


def _ids(written: str, vocab_size: int) -> list[int]:
    try:
        ids = [int(part) for part in written.split(",")]
    except ValueError as error:
        raise UserError(f"{written!r} is not a list of token ids such as 257,1,257.") from error
    if not all(0 <= token < vocab_size for token in ids):
        raise UserError(f"A token id must be one of 0 to {vocab_size - 1}.")
    return ids
