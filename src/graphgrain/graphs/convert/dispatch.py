"""Graphs of any kind as a GraphBatch: which converter is for what."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import InvalidGraphError, MissingDependencyError
from ..batch import GraphBatch
from .igraph import from_igraph, is_igraph
from .networkx import from_networkx, is_networkx
from .parts import column_items, is_missing, shown
from .plain import from_grakel, from_plain, is_grakel, is_plain
from .pyg import from_pyg, is_pyg
from .rdkit import ATOMS, LabelOptions, from_rdkit, from_smiles, is_rdkit, parse_molecules

ACCEPTED = (
    "a GraphBatch, or a list, a Series or a column of a table whose items are SMILES strings, "
    "RDKit molecules, graphs of networkx, igraph, PyTorch Geometric or GraKeL, (edges, labels) or "
    "(adjacency, labels) tuples"
)

# The name of a kind of item in messages; how it is recognised; its converter for a list of items.
KINDS: tuple[tuple[str, Callable[[Any], bool], Callable[[list[Any]], GraphBatch]], ...] = (
    ("GraphBatch", lambda x: isinstance(x, GraphBatch), GraphBatch.concatenate),
    ("SMILES string", lambda x: isinstance(x, str), from_smiles),
    ("networkx graph", is_networkx, from_networkx),
    ("igraph graph", is_igraph, from_igraph),
    ("GraKeL graph", is_grakel, from_grakel),
    ("RDKit molecule", is_rdkit, from_rdkit),
    ("PyTorch Geometric graph", is_pyg, from_pyg),
    ("tuple", is_plain, from_plain),
)

#: Rows of a column that :func:`holds_graphs` looks at.
_SAMPLE = 32
#: What a SMILES is made of; each atom is a group.
_SMILES = re.compile(
    r"(?:(\[[^\]\s]+\]|Br|Cl|[BCNOPSFIbcnops*])|[-=#$:/\\~.()+]|%\d\d|%\(\d+\)|\d)+"
)


def as_graphs(x: Any) -> GraphBatch:
    """Turn graphs of any kind into a :class:`GraphBatch`.

    Parameters
    ----------
    x : GraphBatch or sequence of graphs
        A list, an array, a pandas or polars Series, or a table with one column. The items are
        all of one kind:

        - SMILES strings, or RDKit molecules,
        - graphs of networkx or igraph (the attribute ``"label"`` of vertices and edges, if
          there is one), PyTorch Geometric ``Data``, GraKeL's graphs,
        - ``(edges, labels)`` or ``(edges, labels, edge_labels)`` with edges as pairs of vertex
          numbers counted from 0,
        - ``(adjacency, labels)`` with a square NumPy array or SciPy sparse matrix, whose
          entries other than 0 are edges,
        - GraphBatches, which are joined.

        ``labels`` is a sequence, None, or a dictionary from vertex to label, whose keys are then
        the vertices, whatever their names. ``edge_labels`` is a sequence in the order of the
        edges, or a dictionary from ``(u, v)`` to label.

    See Also
    --------
    from_smiles, from_rdkit, from_networkx, from_igraph, from_pyg, from_grakel :
        The same for one kind of graphs, with options for what becomes a label.
    load_molecules, load_tu, load_mat : Graphs from files.

    Examples
    --------
    >>> import graphgrain as gg
    >>> gg.as_graphs([([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "N"])])
    GraphBatch(2 graphs, 5 vertices, 3 edges, 3 vertex labels)
    >>> gg.as_graphs(["CCO", "c1ccccc1"])
    GraphBatch(2 graphs, 9 vertices, 8 edges, 2 vertex labels, 2 edge labels)
    """
    if isinstance(x, GraphBatch):
        return x
    if isinstance(x, str):
        raise InvalidGraphError(
            f"A list of graphs is expected; got a single string, {shown(x)}. For one molecule put "
            "its SMILES in a list: [smiles]. A file is read with graphgrain.load_molecules(path), "
            "graphgrain.load_tu(path) or graphgrain.load_mat(path)."
        )
    for name, is_kind, _ in KINDS[:-1]:
        if is_kind(x) and not _holds(x, is_kind):
            raise InvalidGraphError(
                f"A list of graphs is expected; got a single {name}. Put it in a list: [graph]."
            )
    if isinstance(x, bytes | Mapping) or not _can_be_iterated(x):
        raise InvalidGraphError(f"Graphs are expected as {ACCEPTED}; got {shown(x)}.")
    items = column_items(x)
    for _, is_kind, convert in KINDS:
        if all(map(is_kind, items)):
            return convert(items)
    for number, item in enumerate(items):
        if is_missing(item):
            raise InvalidGraphError(
                f"Every row must hold a graph; item {number} is missing ({item!r}). Drop such rows "
                "together with their targets."
            )
        if not any(is_kind(item) for _, is_kind, _ in KINDS):
            raise InvalidGraphError(
                f"Graphs are expected as {ACCEPTED}; item {number} is {shown(item)}."
            )
    first: dict[str, int] = {}
    for number, item in enumerate(items):
        first.setdefault(next(name for name, is_kind, _ in KINDS if is_kind(item)), number)
    found = ", ".join(f"{name} (item {number})" for name, number in sorted(first.items()))
    raise InvalidGraphError(
        f"The graphs of a list must all be of one kind; got a mixture of {found}. Convert each "
        "kind with as_graphs and add the batches: as_graphs(a) + as_graphs(b)."
    )


def holds_graphs(column: Any) -> bool:
    """Whether a column of a table holds graphs, judged by a sample of its rows.

    Parameters
    ----------
    column : pandas or polars Series, NumPy array or list
        Missing values are passed over. Graph objects are recognised by their class. Strings are
        SMILES if most of a sample parse and have three atoms on average, so that a column of
        categories such as ``"C"`` and ``"N"`` is not taken for molecules. Without RDKit the
        characters decide.
    """
    if isinstance(column, GraphBatch):
        return True
    dtype: Any = getattr(column, "dtype", None)
    numeric = getattr(dtype, "is_numeric", None)  # polars; NumPy and pandas have kinds
    if getattr(dtype, "kind", "O") in "biufcmM" or (callable(numeric) and numeric()):
        return False  # no need to look at the rows
    sample = _sample(column)
    if not sample:
        return False
    if all(isinstance(item, str) for item in sample):
        return _are_smiles(sample)
    return any(all(map(is_kind, sample)) for name, is_kind, _ in KINDS if name != "SMILES string")


def _are_smiles(texts: list[str]) -> bool:
    plausible = [text.strip() for text in texts if _SMILES.fullmatch(text.strip())]
    atoms = sum(len(ATOMS.findall(text)) for text in plausible)
    if 2 * len(plausible) <= len(texts) or atoms < 3 * len(plausible):
        return False
    try:
        return 2 * len(parse_molecules(plausible, LabelOptions()).positions) > len(texts)
    except MissingDependencyError:
        return True


def _sample(column: Any) -> list[Any]:
    """Some values that are there, from the whole length of a column."""
    count = len(column)
    rows = getattr(column, "iloc", column)  # by position in pandas, whatever the index
    step = max(1, count // (4 * _SAMPLE))
    found: list[Any] = []
    for row in range(0, count, step):
        item = rows[row]
        if not is_missing(item):
            found.append(item)
            if len(found) == _SAMPLE:
                break
    return found


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
