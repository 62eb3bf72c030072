"""A drafted chain and n-gram candidates as one tree."""

from __future__ import annotations

from itertools import accumulate
from operator import mul

from sssd_demo.sampled_tree import SampledTree
from sssd_demo.trace import ROOT, DraftTree

COLUMNS = tuple(DraftTree.__dataclass_fields__)


def mixed(chain: DraftTree, candidates: DraftTree, most: int) -> DraftTree:
    """The nodes of both, at most `most`; a candidate whose token the chain holds at the same place is that node.

    A sampled chain enters whole, since a token once sampled is never dropped. At a node with a sampled child, that one
    is tested first and the candidates share what is left (`rules.top_down`), so they may be chosen by looking at it.
    The whole is judged in that way even if the chain happens to hold all candidates.

    Of a chain chosen without chance, the nodes compete with the candidates by their scores, the probabilities of the
    way to them; a node of both has the better of its scores.
    """
    if isinstance(chain, SampledTree):
        if most <= len(chain):  # known before anything was sampled
            return chain
        return SampledTree.of(_joined(chain, candidates).first(most), chain.q, mixed=True)
    ways = tuple(accumulate(chain.probs, mul))
    tree = _joined(_with_probs(chain, ways), candidates)
    return _best(_with_probs(tree, _better(tree, candidates)), most)


def _with_probs(tree: DraftTree, probs: tuple[float, ...]) -> DraftTree:
    return DraftTree(**{name: getattr(tree, name) for name in COLUMNS} | {"probs": probs})


def _joined(chain: DraftTree, candidates: DraftTree) -> DraftTree:
    """All nodes of the chain, then what the candidates add."""
    columns = {name: list(getattr(chain, name)) for name in COLUMNS}
    found = {place: node for node, place in enumerate(zip(chain.parents, chain.tokens, strict=True))}
    places = {ROOT: ROOT}  # of the candidates' nodes in the whole tree
    for node, token in enumerate(candidates.tokens):
        at = (places[candidates.parents[node]], token)
        if at not in found:
            found[at] = len(columns["tokens"])
            for name in COLUMNS:
                columns[name].append(getattr(candidates, name)[node])
            columns["parents"][-1] = at[0]
        places[node] = found[at]
    return DraftTree(**{name: tuple(values) for name, values in columns.items()})


def _better(tree: DraftTree, candidates: DraftTree) -> tuple[float, ...]:
    """The scores of a tree, or those of its nodes among the candidates where these are better."""
    found = {place: node for node, place in enumerate(zip(tree.parents, tree.tokens, strict=True))}
    scores = list(tree.probs)
    places = {ROOT: ROOT}
    for node, parent in enumerate(candidates.parents):
        places[node] = found[places[parent], candidates.tokens[node]]
        scores[places[node]] = max(scores[places[node]], candidates.probs[node])
    return tuple(scores)


def _best(tree: DraftTree, most: int) -> DraftTree:
    """The `most` nodes with the best scores, best first; a node never scores better than the one it follows."""
    scores: list[float] = []
    for parent, score in zip(tree.parents, tree.probs, strict=True):
        scores.append(score if parent == ROOT else min(score, scores[parent]))
    order = sorted(range(len(tree)), key=lambda node: (-scores[node], node))[:most]
    places = {ROOT: ROOT} | {node: place for place, node in enumerate(order)}
    columns = {name: tuple(getattr(tree, name)[node] for node in order) for name in COLUMNS}
    parents = tuple(places[tree.parents[node]] for node in order)
    return DraftTree(**columns | {"parents": parents, "probs": tuple(scores[node] for node in order)})
