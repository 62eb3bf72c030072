"""`datastore`: build stores of past text, list them, and see what a query finds in one."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING, Any

from sssd_demo.errors import UserError

if TYPE_CHECKING:  # numpy and tokenizers are loaded by the action that needs them
    from sssd_demo.sssd.datastore import Datastore
    from sssd_demo.sssd.store_file import Header
    from sssd_demo.stores import Stores
    from sssd_demo.text import Text

DEFAULT_PRESET = "smollm2-135m"
CONTINUATION_TOKENS = 6
SHOWN_CONTINUATIONS = 10


def add_parser(subparsers: Any) -> None:
    """Declare the command and its actions."""
    parser = subparsers.add_parser("datastore", help="build, list and inspect stores of past text")
    actions = parser.add_subparsers(metavar="ACTION")

    build = actions.add_parser("build", help="make a store, in place of one of the same name")
    build.add_argument("name", metavar="NAME")
    build.add_argument(
        "--from",
        dest="sources",
        nargs="+",
        action="extend",
        required=True,
        metavar="PATH",
        help="text files, recorded answers (.jsonl), traces, folders of these, or stdlib: Python's own library",
    )
    _add_preset(build)
    build.set_defaults(run=build_store, show=show_built)

    listing = actions.add_parser("list", help="the stores that are there")
    listing.set_defaults(run=list_stores, show=show_list)

    info = actions.add_parser("info", help="what is in a store")
    info.add_argument("name", metavar="NAME")
    info.set_defaults(run=describe_store, show=show_info)

    lookup = actions.add_parser("lookup", help="how a store continues a text")
    lookup.add_argument("name", metavar="NAME")
    lookup.add_argument("text", metavar="TEXT", help="its last tokens are looked up")
    lookup.add_argument("--ids", action="store_true", help="TEXT is a list of token ids, such as 257,1,257")
    _add_preset(lookup)
    lookup.set_defaults(run=look_up, show=show_lookup)


def build_store(args: argparse.Namespace) -> dict[str, Any]:
    """Tokenize and index the sources; the store appears, or replaces the old one, only when it is complete."""
    from sssd_demo.sssd.datastore import Datastore
    from sssd_demo.sssd.documents import read_documents

    stores = _stores()
    stores.path(args.name)  # a bad name is refused before the work
    text = _text(args.preset)
    datastore = Datastore.build(
        read_documents(args.sources, text), fingerprint=text.fingerprint, vocab_size=text.vocab_size
    )
    if not datastore.tokens:
        raise UserError(f"The sources of {args.name} hold no tokens, so there is nothing to index.")
    stores.save(args.name, datastore)
    return _described(args.name, stores)


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
    stores.open(args.name)
    return _described(args.name, stores)


def look_up(args: argparse.Namespace) -> dict[str, Any]:
    """For each suffix of the query, longest first: how often it occurs and what follows."""
    from sssd_demo.sssd.constants import DEFAULT

    text = _text(args.preset)
    datastore = _stores(text.fingerprint).open(args.name)
    query = _ids(args.text, text.vocab_size) if args.ids else text.encode(args.text)
    if not query:
        raise UserError("The text to look up is empty.")
    query = query[-DEFAULT.longest_match :]
    levels = [_level(datastore, query[-length:], text) for length in range(len(query), 0, -1)]
    return {"name": args.name, "query": query, "levels": levels}


def show_built(result: dict[str, Any]) -> str:
    """One line about a new store."""
    return "Built " + _line(result)


def show_list(result: dict[str, Any]) -> str:
    """A line for each store."""
    return "\n".join(store.get("error") or _line(store) for store in result["stores"]) or "There are no datastores yet."


def show_info(result: dict[str, Any]) -> str:
    """The store and its sub-indices."""
    lines = [_line(result), f"tokenizer {result['fingerprint']}, {result['dtype']}"]
    for number, sub_index in enumerate(result["sub_indices"], 1):
        lines.append(f"sub-index {number}: {_amount(sub_index)}")
    return "\n".join(lines)


def show_lookup(result: dict[str, Any]) -> str:
    """A block for each match length."""
    lines = []
    for level in result["levels"]:
        lines.append(f"{level['match_length']} tokens {level['text']!r}: {level['count']:,} times")
        lines += [f"  {found['count']:4} × {found['text']!r}" for found in level["continuations"]]
    return "\n".join(lines)


def _add_preset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--preset", metavar="P", default=DEFAULT_PRESET, help="the model whose tokenizer is used (default: %(default)s)"
    )


def _stores(fingerprint: str | None = None) -> Stores:
    from sssd_demo.stores import Stores, default_folder

    return Stores(default_folder(), fingerprint)


def _text(preset: str) -> Text:
    from sssd_demo import models

    return models.load_text(preset)


def _described(name: str, stores: Stores) -> dict[str, Any]:
    header: Header = stores.header(name)
    return {
        "name": name,
        "file": str(stores.path(name)),
        "fingerprint": header.fingerprint,
        "dtype": header.dtype.name,
        "tokens": header.tokens,
        "documents": header.documents,
        "bytes": header.bytes,
        "sub_indices": [
            {"tokens": positions - documents, "documents": documents} for positions, documents in header.sub_indices
        ],
    }


def _level(datastore: Datastore, query: list[int], text: Text) -> dict[str, Any]:
    from sssd_demo.sssd.constants import DEFAULT
    from sssd_demo.sssd.datastore import sample

    samples = sample(datastore.sub_indices, query, DEFAULT.samples, CONTINUATION_TOKENS)
    continuations = Counter(tuple(continuation) for continuation in samples if continuation)
    return {
        "match_length": len(query),
        "text": _written(query, text),
        "count": datastore.count(query),
        "samples": len(samples),
        "continuations": [
            {"tokens": list(tokens), "text": _written(tokens, text), "count": count}
            for tokens, count in continuations.most_common(SHOWN_CONTINUATIONS)
        ],
    }


def _written(tokens: list[int] | tuple[int, ...], text: Text) -> str:
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


def _line(store: dict[str, Any]) -> str:
    return f"{store['name']}: {_amount(store)}, {store['bytes']:,} bytes"


def _amount(counted: dict[str, Any]) -> str:
    documents = counted["documents"]
    return f"{counted['tokens']:,} tokens in {documents:,} document{'s' * (documents != 1)}"
