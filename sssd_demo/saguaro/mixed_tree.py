"""A drafted chain and n-gram candidates as one tree."""

from __future__ import annotations

from sssd_demo.sampled_tree import SampledTree
from sssd_demo.trace import ROOT, DraftTree


def mixed(chain: DraftTree, candidates: DraftTree, most: int) -> DraftTree:
    """`chain` whole, and of `candidates`, best first, as many as make `most` nodes in all.

    A candidate whose token the chain holds at the same place is that node. At a node with a sampled child, that one is
    tested first and the candidates share what is left (`rules.top_down`), so they may be chosen by looking at it.
    """
    columns = {name: list(getattr(chain, name)) for name in DraftTree.__dataclass_fields__}
    places: dict[int, int] = {ROOT: ROOT}  # of the candidates' nodes in the tree
    children = {
        (parent, token): node for node, (parent, token) in enumerate(zip(chain.parents, chain.tokens, strict=True))
    }
    for node, parent in enumerate(candidates.parents):
        if parent not in places:
            continue
        at = (places[parent], candidates.tokens[node])
        if at not in children and len(columns["tokens"]) < most:
            children[at] = len(columns["tokens"])
            for name in columns:
                columns[name].append(getattr(candidates, name)[node])
            columns["parents"][-1] = places[parent]
        if at in children:
            places[node] = children[at]
    tree = DraftTree(**{name: tuple(values) for name, values in columns.items()})
    return SampledTree.of(tree, chain.q) if isinstance(chain, SampledTree) else tree
