"""Convert graphs of any supported kind to a GraphBatch by choosing the converter."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypedDict, Unpack

from ...errors import InvalidGraphError, InvalidParameterError, MissingDependencyError
from ..batch import GraphBatch
from ..tables import is_missing, items_of, read_table, the_column, with_table
from .igraph import from_igraph, is_igraph
from .networkx import from_networkx, is_networkx
from .parts import column_items, shown
from .plain import from_adjacency, from_grakel, from_plain, is_adjacency, is_grakel, is_plain
from .pyg import from_pyg, is_pyg
from .rdkit import ATOMS, LabelOptions, from_rdkit, from_smiles, is_rdkit, parse_molecules

ACCEPTED = (
    "a GraphBatch, or a list, a Series or a column of a table whose items are SMILES strings, "
    "RDKit molecules, graphs of networkx, igraph, PyTorch Geometric or GraKeL, adjacency matrices, "
    "(edges, labels) or (adjacency, labels) tuples"
)


class ReadingOptions(TypedDict, total=False):
    """Options of :func:`as_graphs` for the kinds of graphs that have them."""

    vertex_label: str | None
    edge_label: str | None
    direction: str
    standardize: str | None


class Kind(NamedTuple):
    """A kind of items that :func:`as_graphs` accepts."""

    name: str  # in messages
    test: Callable[[Any], bool]
    convert: Callable[..., GraphBatch]  # for a list of items
    help: str  # the public function with more options
    options: frozenset[str] = frozenset()


_NAMED = frozenset(("vertex_label", "edge_label", "direction"))
_ARCS = frozenset(("direction",))
_MOLECULES = frozenset(("standardize",))
KINDS = (
    Kind("SMILES string", lambda x: isinstance(x, str), from_smiles, "from_smiles", _MOLECULES),
    Kind("GraphBatch", lambda x: isinstance(x, GraphBatch), GraphBatch.concatenate, "GraphBatch"),
    Kind("networkx graph", is_networkx, from_networkx, "from_networkx", _NAMED),
    Kind("igraph graph", is_igraph, from_igraph, "from_igraph", _NAMED),
    Kind("GraKeL graph", is_grakel, from_grakel, "from_grakel"),
    Kind("RDKit molecule", is_rdkit, from_rdkit, "from_rdkit", _MOLECULES),
    Kind("PyTorch Geometric graph", is_pyg, from_pyg, "from_pyg", _NAMED),
    Kind("adjacency matrix", is_adjacency, from_adjacency, "from_adjacency", _ARCS),
    Kind("tuple", is_plain, from_plain, "from_edge_list", _ARCS),
)

#: Number of rows of a column that :func:`holds_graphs` examines.
_SAMPLE = 32
#: Tokens of a SMILES.
_SMILES = re.compile(
    r"(?:(\[[^\]\s]+\]|Br|Cl|[BCNOPSFIbcnops*])|[-=#$:/\\~.()+]|%\d\d|%\(\d+\)|\d)+"
)


def as_graphs(
    x: Any,
    *,
    graphs: str | None = None,
    id: str | None = None,
    **options: Unpack[ReadingOptions],
) -> GraphBatch:
    """Convert graphs of any supported kind to a :class:`GraphBatch`.

    Parameters
    ----------
    x : GraphBatch or sequence of graphs
        A list, an array, a Series, or a table (of pandas, polars, Arrow, DuckDB, or a dictionary
        of columns). All items must be of the same kind:

        - SMILES strings, or RDKit molecules,
        - networkx or igraph graphs (see :func:`from_networkx` for their labels), PyTorch
          Geometric ``Data`` objects, GraKeL graphs,
        - ``(edges, labels)`` or ``(edges, labels, edge_labels)`` with edges as pairs of vertex
          numbers counted from 0,
        - ``(adjacency, labels)`` with a square NumPy array or SciPy sparse matrix, whose
          nonzero entries are edges, or such matrices alone,
        - GraphBatches, which are concatenated.

        ``labels`` is a sequence, None, or a dictionary from vertex to label; the keys of the
        dictionary are then the vertices and can have any names. ``edge_labels`` is a sequence
        in the order of the edges, or a dictionary from ``(u, v)`` to label.
    graphs : str, optional
        Column of a table that holds the graphs; needed unless it is the only one. All other
        columns become :attr:`GraphBatch.columns`.
    id : str, optional
        Column of a table that identifies the graphs; it becomes the column ``"id"``.
    vertex_label, edge_label : str or None, optional
        Attributes to use as labels, for graphs of networkx, igraph and PyTorch Geometric.
    direction : {"ignore", "vertices"}, optional
        Treatment of directed edges, for these graphs, matrices and tuples; see
        :func:`from_networkx`.
    standardize : {"largest", "cleanup", "parent"}, optional
        Standardise molecules; see :func:`from_rdkit`.

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
    >>> table = {"structure": ["CCO", "CN"], "compound": ["m1", "m2"], "pH": [7.1, 9.5]}
    >>> gg.as_graphs(table, graphs="structure", id="compound").columns["id"].tolist()
    ['m1', 'm2']
    """
    unknown = next((name for name in options if name not in ReadingOptions.__annotations__), None)
    if unknown is not None:
        raise TypeError(
            f"as_graphs has the options {', '.join(ReadingOptions.__annotations__)}; got "
            f"{unknown!r}."
        )
    if isinstance(x, GraphBatch) and not options:
        return x
    if graphs is not None or id is not None:
        return _from_table(x, graphs, id, options)
    if not isinstance(x, list):
        _refuse_single(x)
    items = column_items(x)
    for kind in KINDS:
        if all(map(kind.test, items)):
            _check_options(kind, options)
            return kind.convert(items, **options)
    raise _mixed_up(items)


def _from_table(x: Any, graphs: str | None, id: str | None, options: ReadingOptions) -> GraphBatch:
    """Convert a column of a table, with the other columns."""
    table = read_table(x)
    if table is None:
        raise InvalidParameterError(
            f"graphs= and id= name columns of a table; got {shown(x)}. Leave them out, or give a "
            "data frame or a dictionary of columns."
        )
    column = the_column(table, graphs, "graphs")
    if id is not None:
        the_column(table, id, "ids")
    return with_table(as_graphs(items_of(table[column]), **options), table, column, id)


def _refuse_single(x: Any) -> None:
    """Raise an error unless ``x`` is a collection."""
    if isinstance(x, str):
        raise InvalidGraphError(
            f"A list of graphs is expected; got a single string, {shown(x)}. For one molecule put "
            "its SMILES in a list: [smiles]. A file is read with graphgrain.load_molecules(path), "
            "graphgrain.load_tu(path) or graphgrain.load_mat(path)."
        )
    for kind in KINDS[2:-1]:
        if kind.test(x) and not _holds(x, kind.test):
            raise InvalidGraphError(
                f"A list of graphs is expected; got a single {kind.name}. Put it in a list: "
                "[graph]."
            )
    table = read_table(x)
    if table is not None and table.keys() >= {"source", "target"}:
        raise InvalidGraphError(
            "A list of graphs is expected; got a table of edges (columns source and target). "
            "Read it with graphgrain.from_edge_list(table, graph='...'), where graph is the "
            "column that says to which graph an edge belongs."
        )
    if table is not None:
        return
    if isinstance(x, bytes | Mapping) or not _can_be_iterated(x):
        raise InvalidGraphError(f"Graphs are expected as {ACCEPTED}; got {shown(x)}.")


def _check_options(kind: Kind, options: ReadingOptions) -> None:
    """Raise an error if an option is not for graphs of this kind."""
    for name in options:
        if name not in kind.options:
            raise InvalidParameterError(
                f"{name} is for {', '.join(k.name for k in KINDS if name in k.options)} items; "
                f"these are {kind.name} items. See graphgrain.{kind.help} for their options."
            )


def _mixed_up(items: list[Any]) -> InvalidGraphError:
    """Return the error for items that are not all graphs of one kind."""
    first: dict[str, int] = {}
    for number, item in enumerate(items):
        if is_missing(item):
            return InvalidGraphError(
                f"Every row must hold a graph; item {number} is missing ({item!r}). Drop such rows "
                "together with their targets."
            )
        kind = next((kind for kind in KINDS if kind.test(item)), None)
        if kind is None:
            return InvalidGraphError(
                f"Graphs are expected as {ACCEPTED}; item {number} is {shown(item)}. A list of "
                "edges is written (edges, labels), or (edges, None) without labels."
            )
        first.setdefault(kind.name, number)
    listed = ", ".join(f"{name} (item {number})" for name, number in sorted(first.items()))
    return InvalidGraphError(
        f"The graphs of a list must all be of one kind; got a mixture of {listed}. Convert each "
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
    return any(all(map(kind.test, sample)) for kind in KINDS[1:])


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
    present = [item for item in items if not is_missing(item)]
    return present[:: -(-len(present) // _SAMPLE) or 1]


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
