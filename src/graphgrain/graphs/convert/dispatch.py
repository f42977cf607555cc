"""Graphs of any kind as a GraphBatch: which converter is for what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...errors import InvalidGraphError
from ..batch import GraphBatch
from .grakel import from_grakel, is_grakel
from .igraph import from_igraph, is_igraph
from .networkx import from_networkx, is_networkx
from .parts import shown
from .plain import from_plain, is_plain
from .pyg import from_pyg, is_pyg
from .rdkit import from_rdkit, is_rdkit

ACCEPTED = (
    "a GraphBatch, or a list whose items are graphs of networkx, igraph, PyTorch Geometric or "
    "GraKeL, RDKit molecules, (edges, labels) or (adjacency, labels) tuples"
)

# What an item is, in the words of messages; how to tell; how to turn a list of them into a batch.
KINDS: tuple[tuple[str, Callable[[Any], bool], Callable[[list[Any]], GraphBatch]], ...] = (
    ("GraphBatch", lambda x: isinstance(x, GraphBatch), GraphBatch.concatenate),
    ("networkx graph", is_networkx, from_networkx),
    ("igraph graph", is_igraph, from_igraph),
    ("GraKeL graph", is_grakel, from_grakel),
    ("RDKit molecule", is_rdkit, from_rdkit),
    ("PyTorch Geometric graph", is_pyg, from_pyg),
    ("tuple", is_plain, from_plain),
)


def as_graphs(x: Any) -> GraphBatch:
    """Turn whatever holds graphs into a :class:`GraphBatch`.

    Parameters
    ----------
    x : GraphBatch or sequence of graphs
        The items are all of one kind:

        - graphs of networkx or igraph (the attribute ``"label"`` of vertices and edges, if
          there is one), PyTorch Geometric ``Data``, GraKeL's graphs, RDKit molecules; each
          has a function of its own with more options, such as :func:`from_networkx`,
        - ``(edges, labels)`` or ``(edges, labels, edge_labels)`` with edges as pairs of vertex
          numbers counted from 0,
        - ``(adjacency, labels)`` with a square NumPy array or SciPy sparse matrix, whose
          entries other than 0 are edges,
        - GraphBatches, which are joined.

        ``labels`` is a sequence, None, or a dictionary from vertex to label, whose keys are then
        the vertices, whatever their names. ``edge_labels`` is a sequence in the order of the
        edges, or a dictionary from ``(u, v)`` to label.

    Examples
    --------
    >>> import graphgrain as gg
    >>> gg.as_graphs([([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "N"])])
    GraphBatch(2 graphs, 5 vertices, 3 edges, 3 vertex labels)
    """
    if isinstance(x, GraphBatch):
        return x
    for name, is_kind, _ in KINDS[:-1]:
        if is_kind(x) and not _holds(x, is_kind):
            raise InvalidGraphError(
                f"A list of graphs is expected; got a single {name}. Put it in a list: [graph]."
            )
    if isinstance(x, str | bytes | Mapping) or not _can_be_iterated(x):
        raise InvalidGraphError(
            f"Graphs are expected as {ACCEPTED}; got {shown(x)}. "
            "A file is read with graphgrain.load_tu(path) or graphgrain.load_mat(path)."
        )
    items = list(x)
    for _, is_kind, convert in KINDS:
        if all(map(is_kind, items)):
            return convert(items)
    for number, item in enumerate(items):
        if not any(is_kind(item) for _, is_kind, _ in KINDS):
            hint = " SMILES are read with graphgrain.from_smiles(list)." * isinstance(item, str)
            raise InvalidGraphError(
                f"Graphs are expected as {ACCEPTED}; item {number} is {shown(item)}.{hint}"
            )
    kinds = sorted({name for item in items for name, is_kind, _ in KINDS if is_kind(item)})
    raise InvalidGraphError(
        f"Graphs are expected as {ACCEPTED}, all of one kind; got a mixture of {', '.join(kinds)}."
    )


def _can_be_iterated(x: Any) -> bool:
    """Whether a loop over it works; PyTorch's data sets only have a length and items."""
    try:
        iter(x)
    except TypeError:
        return False
    return True


def _holds(x: Any, is_kind: Callable[[Any], bool]) -> bool:
    """Whether this is a collection of graphs that looks like a graph itself.

    PyTorch Geometric's data sets answer to the names of their items' attributes.
    """
    try:
        return not isinstance(x, tuple) and len(x) > 0 and is_kind(x[0])
    except (TypeError, KeyError, IndexError, AttributeError):
        return False
