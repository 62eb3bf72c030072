"""SSSD stated as plainly as possible, by scanning lists: what the fast code must equal, node for node."""

from collections import Counter
from dataclasses import dataclass

SEPARATOR = 10**9  # larger than any token, as in the datastore


@dataclass
class Expected:
    tokens: list
    parents: list
    probs: list
    sources: list
    match_lengths: list


def windows(prompt, output, length):
    """(source, run) of every window in the order of entering: cut at the prompt's end, full ones of the answer."""
    found = [("prompt", tuple(prompt[i : i + length])) for i in range(len(prompt))]
    found += [("output", tuple(output[i : i + length])) for i in range(len(output) - length + 1)]
    return found


def samples(sub_indices, query, most, length):
    """What follows evenly spaced occurrences of `query`, each sub-index (a list of documents) in suffix order."""
    found = []
    for documents in sub_indices:
        flat = [token for document in documents for token in (*document, SEPARATOR)]
        places = [i for i in range(len(flat)) if flat[i : i + len(query)] == list(query)]
        for place in sorted(places, key=lambda i: flat[i:]):
            after = flat[place + len(query) : place + len(query) + length]
            found.append(tuple(after[: after.index(SEPARATOR)] if SEPARATOR in after else after))
    taken = min(len(found), most)
    return [found[i * len(found) // taken] for i in range(taken)]


def draft(prompt, output, sub_indices, s_q, settings):
    """The draft tree after `prompt` + `output`."""
    context = [*prompt, *output]
    known = windows(prompt, output, settings.window)
    seeds = []  # (weight, decay, runs as (source, match length, run after the match), cap of the first token)
    for m in range(min(4, len(context)), 0, -1):
        query = tuple(context[-m:])
        runs = [(source, m, run[m:]) for source, run in known if run[:m] == query]
        if runs:
            seeds.append((0.6, 0.6 + 0.1 * m, runs, min(5, s_q - 1)))
    sampled = []
    for m in range(min(4, len(context)), 0, -1):
        length = s_q - 1 if s_q <= 5 else 5 if s_q <= 8 else 6 if s_q <= 32 else 8 if s_q <= 48 else 10
        sampled += [("datastore", m, run) for run in samples(sub_indices, context[-m:], settings.samples, length)]
        if len(sampled) >= settings.enough_samples:
            break
    seeds.append((1.0, 1.0, sampled, s_q - 1))

    tree = Expected([], [], [], [], [])
    paths = {(): -1}  # path from the root → place in the tree
    waiting = []

    def propose(rank, path, score):
        _, _, runs, first_cap = seeds[rank]
        here = [run for _, _, run in runs if run[: len(path)] == path]
        following = Counter(run[len(path)] for run in here if len(run) > len(path))  # keeps the order of first sight
        cap = min(5, s_q - 1) if path else first_cap
        best = sorted(following, key=lambda token: -following[token])[:cap]
        for order, token in enumerate(best):
            waiting.append(
                (-(score / len(here)) * following[token], -len(path) - 1, rank, paths[path], order, path, token)
            )

    for rank, (weight, _, _, _) in enumerate(seeds):
        propose(rank, (), weight)
    while waiting and len(tree.tokens) < s_q - 1:
        best = min(waiting)
        waiting.remove(best)
        negative, _, rank, parent, _, path, token = best
        _, decay, runs, _ = seeds[rank]
        longer = (*path, token)
        if longer not in paths:
            paths[longer] = len(tree.tokens)
            source, match_length, _ = next(run for run in runs if run[2][: len(longer)] == longer)
            tree.tokens.append(token)
            tree.parents.append(parent)
            tree.probs.append(-negative)
            tree.sources.append(source)
            tree.match_lengths.append(match_length)
        propose(rank, longer, -negative * decay)
    return tree
