"""Convert graphs of any supported kind to a GraphBatch by choosing the converter."""

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

# For each kind of item: its name in messages, a test, and the converter for a list of items.
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

#: Number of rows of a column that :func:`holds_graphs` examines.
_SAMPLE = 32
#: Tokens of a SMILES.
_SMILES = re.compile(
    r"(?:(\[[^\]\s]+\]|Br|Cl|[BCNOPSFIbcnops*])|[-=#$:/\\~.()+]|%\d\d|%\(\d+\)|\d)+"
)


def as_graphs(x: Any) -> GraphBatch:
    """Convert graphs of any supported kind to a :class:`GraphBatch`.

    Parameters
    ----------
    x : GraphBatch or sequence of graphs
        A list, an array, a pandas or polars Series, or a table with one column. All items must
        be of the same kind:

        - SMILES strings, or RDKit molecules,
        - networkx or igraph graphs (the attribute ``"label"`` of vertices and edges is used if
          present), PyTorch Geometric ``Data`` objects, GraKeL graphs,
        - ``(edges, labels)`` or ``(edges, labels, edge_labels)`` with edges as pairs of vertex
          numbers counted from 0,
        - ``(adjacency, labels)`` with a square NumPy array or SciPy sparse matrix, whose
          nonzero entries are edges,
        - GraphBatches, which are concatenated.

        ``labels`` is a sequence, None, or a dictionary from vertex to label; the keys of the
        dictionary are then the vertices and can have any names. ``edge_labels`` is a sequence
        in the order of the edges, or a dictionary from ``(u, v)`` to label.

    Returns
    -------
    graphs : GraphBatch

    See Also
    --------
    from_smiles, from_rdkit, from_networkx, from_igraph, from_pyg, from_grakel :
        Converters for one kind of graph, with options for the labels.
    load_molecules, load_tu, load_mat : Read graphs from files.

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
    """Return whether a column of a table holds graphs, based on a sample of its rows.

    Parameters
    ----------
    column : pandas or polars Series, NumPy array or list
        Missing values are ignored. Graph objects are recognised by their class. Strings count as
        SMILES if most of the sample can be parsed and has at least three atoms on average, so
        that categories such as ``"C"`` and ``"N"`` are not mistaken for molecules. Without RDKit
        only the characters are checked.
    """
    if isinstance(column, GraphBatch):
        return True
    dtype: Any = getattr(column, "dtype", None)
    numeric = getattr(dtype, "is_numeric", None)  # polars; NumPy and pandas have kinds
    if getattr(dtype, "kind", "O") in "biufcmM" or (callable(numeric) and numeric()):
        return False
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
    """Return non-missing values spread over the whole column."""
    rows = getattr(column, "iloc", column)  # positional access also for pandas
    step = max(1, len(column) // (4 * _SAMPLE))
    items = [rows[row] for row in range(0, len(column), step)]
    found = [item for item in items if not is_missing(item)]
    return found[:: -(-len(found) // _SAMPLE) or 1]


def _can_be_iterated(x: Any) -> bool:
    """Return whether ``iter`` works; PyTorch's data sets only have ``len`` and indexing."""
    try:
        iter(x)
    except TypeError:
        return False
    return True


def _holds(x: Any, is_kind: Callable[[Any], bool]) -> bool:
    """Return whether this is a collection of graphs that looks like a graph itself.

    PyTorch Geometric's data sets also have the attributes of their items.
    """
    try:
        return not isinstance(x, tuple) and len(x) > 0 and is_kind(x[0])
    except (TypeError, KeyError, IndexError, AttributeError):
        return False
