"""Matched pairs: pairs of graphs that differ in one place, summarised by how y changes.

1. For every place where a graph can change, list a hash of the rest of the graph and a hash of the
   part at that place (``core/change_places.py``): :func:`_places_of`.
2. Match graphs with the same rest and different parts. If two graphs can be matched in several
   ways, keep the one with the largest common rest: a join in a temporary database
   (:func:`matched_rows`), which sorts on disk, so that memory use does not grow with the number of
   graphs, places or pairs.
3. Group matched pairs with the same two parts, whatever the rest, into one change:
   :func:`_change`.

Parts are named with a notation similar to SMILES (:func:`part_name`).
"""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby, islice, pairwise
from typing import Any, NamedTuple

import numpy as np

from ..core.change_places import BRANCH, EDGE, PLACE, VERTEX, find_places
from ..core.hashing import hash_labels
from ..core.threads import run
from ..errors import GraphgrainWarning, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..parameters import JOBS, Number, Whole, check_value
from .activity_cliffs import graphs_of, numbers_of, selected, warn_of_missing
from .graph_index import GraphIndex, frozen

_KINDS = {BRANCH: "branch", VERTEX: "vertex", EDGE: "edge"}
#: Number of graphs whose places are listed together, of graphs per thread, and of changes named
#: together.
_TOGETHER, _AT_ONCE, _NAMED = 2048, 256, 1024
#: Maximum number of example pairs per change.
_EXAMPLES = 5
#: Memory of the temporary database in KiB; the rest is on disk.
_MEMORY = 1 << 16

_TABLES = """
CREATE TABLE graphs (number INTEGER PRIMARY KEY, whole INTEGER, y REAL);
CREATE TABLE places (rest INTEGER, part INTEGER, surroundings INTEGER, graph INTEGER,
                     anchor INTEGER, other INTEGER, size INTEGER, kind INTEGER);
"""
#: Pairs of places with the same rest and different parts, one for each pair of graphs. Equal
#: graphs, which can also be matched by an automorphism, are left out, and ties are broken
#: independently of the order of the graphs.
_MATCHED = """
WITH matched AS (
  SELECT a.part AS before, b.part AS after, a.kind AS kind, a.surroundings AS surroundings,
         a.graph AS first, b.graph AS second, a.anchor, a.other, b.anchor, b.other,
         h.y - g.y AS step, a.size AS size,
         ROW_NUMBER() OVER (PARTITION BY MIN(a.graph, b.graph), MAX(a.graph, b.graph)
           ORDER BY a.size DESC, a.kind, a.part, b.part, a.surroundings) AS turn
  FROM places a JOIN places b ON b.rest = a.rest AND b.part > a.part AND b.graph <> a.graph
  JOIN graphs g ON g.number = a.graph JOIN graphs h ON h.number = b.graph
  WHERE g.whole <> h.whole)
SELECT * FROM matched WHERE turn = 1
ORDER BY before, after, kind, MIN(first, second), MAX(first, second)
"""


class Match(NamedTuple):
    """A pair of graphs that differ in one place."""

    before: int  # hash of the part of the first graph, less than that of the second
    after: int
    kind: int
    surroundings: int
    first: int
    second: int
    first_anchor: int
    first_other: int
    second_anchor: int
    second_other: int
    step: float
    size: int  # number of vertices of the common rest
    turn: int


class Surroundings(NamedTuple):
    """A change in one structural environment.

    Attributes
    ----------
    name : str
        The vertex at which the change occurs, with its neighbours in the common part.
    pairs : int
        Number of pairs.
    mean : float
        Mean change of y.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], list(text)) for text in ("CCO", "CCN")]
    >>> [change] = gg.changes(graphs, [1.0, 3.0], min_pairs=1)
    >>> change.surroundings
    [Surroundings(name='C(C)', pairs=1, mean=-2.0)]
    """

    name: str
    pairs: int
    mean: float


class Change(NamedTuple):
    """Replacement of one part by another, over all pairs that differ in nothing else.

    Attributes
    ----------
    before, after : str
        The parts. A branch begins with the bond by which it is attached; a missing branch is
        "nothing".
    kind : {"branch", "vertex", "edge"}
        Whether a branch, the label of a vertex with several neighbours, or the label of an edge
        is replaced.
    pairs : int
        Number of pairs.
    mean, low, high : float
        Mean change of y, and its confidence interval, which is NaN for a single pair.
    surroundings : list of Surroundings
        Environments of the change, the most frequent first.
    examples : list of tuples
        Example pairs: the graph with ``before``, and the graph with ``after``.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], list(text)) for text in ("CCO", "CCN")]
    >>> [change] = gg.changes(graphs, [1.0, 3.0], min_pairs=1)
    >>> change.before, change.after, change.kind, change.mean
    ('-N', '-O', 'branch', -2.0)
    """

    before: str
    after: str
    kind: str
    pairs: int
    mean: float
    low: float
    high: float
    surroundings: list[Surroundings]
    examples: list[tuple[int, int]]


def changes(
    graphs: Any,
    y: Any,
    *,
    min_pairs: int = 3,
    max_size: int = 10,
    radius: int = 1,
    coverage: float = 0.95,
    n_jobs: int | None = None,
) -> list[Change]:
    """Find replacements in pairs of graphs that differ in one place, and how they change y.

    This is matched molecular pair analysis, for any labelled graphs. Two graphs are matched if
    they are identical except for one place: a branch is replaced, added or removed, or a vertex or
    an edge has another label. A branch can be attached by any bridge, so the result does not
    depend on rules about which bonds to cut. If two graphs can be matched in several ways, the one
    with the largest common part is used.

    Parameters
    ----------
    graphs : GraphIndex, or anything that :func:`as_graphs` accepts
    y : array-like, or str for an index
        Measured values, as in :func:`cliffs`.
    min_pairs : int, default=3
        Minimum number of pairs of a change.
    max_size : int, default=10
        Maximum number of vertices of a branch, which also has at most half of the graph's
        vertices.
    radius : int, default=1
        Radius of the environment of a change, in edges.
    coverage : float, default=0.95
        Coverage of the confidence interval of the mean. It is Student's interval for independent
        pairs; pairs that share a graph are not independent, so it is only a guide.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    changes : list of Change
        The changes, most frequent first. Each is listed in one direction only: from nothing, from
        the part with the shorter name, or in alphabetical order.

    Warns
    -----
    GraphgrainWarning
        If equal graphs have different y (repeated measurements), or if y is missing for some
        graphs.

    See Also
    --------
    cliffs : Find pairs that are similar and differ in y.

    Notes
    -----
    Graphs are not matched if a ring is opened, closed or resized, if a part between two others is
    replaced by one of another size, or if they differ in a whole component.

    Common parts are compared by colour refinement that takes into account the place of the change,
    the distances from it, and the shortest cycle through every edge. This distinguishes molecules,
    but specially constructed graphs can be confused.

    Places and pairs are sorted and joined in a temporary file, so memory use does not grow with
    their number, nor, for an index, with the number of graphs.

    References
    ----------
    Hussain, Rea: Computationally Efficient Algorithm to Identify Matched Molecular Pairs in Large
    Data Sets. Journal of Chemical Information and Modeling 50, 2010.

    Examples
    --------
    >>> import graphgrain as gg
    >>> chains = [[("C" * n) + end for end in "ON"] for n in range(3, 6)]
    >>> graphs = [([(i, i + 1) for i in range(len(c) - 1)], list(c)) for two in chains for c in two]
    >>> [change] = gg.changes(graphs, [1.0, 3.0, 2.0, 4.5, 3.0, 4.5])[-1:]
    >>> change.before, change.after, change.pairs, change.mean
    ('-N', '-O', 3, -2.0)
    """
    check_value("min_pairs", min_pairs, Whole(1))
    check_value("max_size", max_size, Whole(1))
    check_value("radius", radius, Whole(0))
    check_value("n_jobs", n_jobs, JOBS)
    if not Number(0.0).allows(coverage) or coverage >= 1.0:
        raise InvalidParameterError(f"coverage must be between 0 and 1; got {coverage!r}.")
    collection = frozen(graphs) if isinstance(graphs, GraphIndex) else as_graphs(graphs)
    if isinstance(collection, GraphIndex):
        n_jobs = n_jobs or collection.n_jobs
    source = graphs_of(collection)
    if source is None:
        raise InvalidParameterError("Changes are found in graphs; got an index of features.")
    values = numbers_of(source, len(collection), y)
    measured = np.flatnonzero(~np.isnan(values))
    warn_of_missing(len(values) - len(measured), len(values))

    def select(rows: np.ndarray) -> GraphBatch:
        return selected(source, measured[rows])

    with closing(new_database()) as connection:
        for begin in range(0, len(measured), _TOGETHER):
            rows = np.arange(begin, min(begin + _TOGETHER, len(measured)))
            store_places(
                connection, select(rows), begin, values[measured[rows]], max_size, radius, n_jobs
            )
        _warn_of_duplicates(connection)
        groups = (
            _Group(group)
            for _, rows in groupby(matched_rows(connection), key=lambda row: row[:3])
            if len(group := list(rows)) >= min_pairs
        )
        listed = []
        for some in iter(lambda: list(islice(groups, _NAMED)), []):
            numbers = np.unique(np.concatenate([group.shown for group in some]))
            shown = _Shown(select(numbers), numbers)
            listed += [_change(shown, group, radius, coverage, measured) for group in some]
    return sorted(listed, key=lambda change: (-change.pairs, change.before, change.after))


def new_database() -> sqlite3.Connection:
    """Return a temporary database for places, in memory up to a limit."""
    connection = sqlite3.connect("", isolation_level=None)
    connection.execute(f"PRAGMA cache_size=-{_MEMORY}")
    connection.executescript(_TABLES)
    return connection


def store_places(
    connection: sqlite3.Connection,
    batch: GraphBatch,
    first: int,
    y: np.ndarray,
    max_size: int,
    radius: int,
    n_jobs: int | None,
) -> None:
    """Insert graphs and all places where they can change."""
    whole: np.ndarray = np.empty(len(batch), dtype=np.uint64)
    parts = _places_of(batch, first, int(max_size), int(radius), n_jobs, whole)
    connection.execute("BEGIN")
    rows = zip(range(first, first + len(batch)), _signed(whole), y.tolist(), strict=True)
    connection.executemany("INSERT INTO graphs VALUES (?, ?, ?)", rows)
    for places in parts:
        # The same part of the same graph at equivalent places is counted once.
        _, distinct = np.unique(places[["graph", "rest", "part"]], return_index=True)
        places = places[distinct]
        columns = [_signed(places[name]) for name in ("rest", "part", "surroundings")]
        columns += [places[name].tolist() for name in ("graph", "anchor", "other", "size", "kind")]
        connection.executemany(
            "INSERT INTO places VALUES (?, ?, ?, ?, ?, ?, ?, ?)", zip(*columns, strict=True)
        )
    connection.execute("COMMIT")


def _signed(hashes: np.ndarray) -> list[int]:
    """Return hashes as signed integers, as SQLite has them, in the same order."""
    return (hashes ^ np.uint64(1 << 63)).view(np.int64).tolist()


def matched_rows(connection: sqlite3.Connection) -> Iterator[Match]:
    """Yield matched pairs, ordered by their parts."""
    connection.execute("CREATE INDEX by_rest ON places (rest, part)")
    return map(Match._make, connection.execute(_MATCHED))


def _places_of(
    batch: GraphBatch, first: int, max_size: int, radius: int, n_jobs: int | None, whole: np.ndarray
) -> list[np.ndarray]:
    labels = hash_labels(batch.label_table)[batch.label_codes]
    edge_labels = np.empty(0, dtype=np.uint64)
    if batch.edge_label_codes is not None and batch.edge_label_table is not None:
        edge_labels = hash_labels(batch.edge_label_table, 1)[batch.edge_label_codes]
    graph = (batch.indptr, batch.indices, labels, edge_labels)

    def work(begin: int, end: int) -> np.ndarray:
        low, high = batch.offsets[begin], batch.offsets[end]
        entries = int(batch.indptr[high] - batch.indptr[low])
        room: np.ndarray = np.empty(2 * int(high - low) + entries + entries // 2 + 1, dtype=PLACE)
        count = find_places(
            batch.offsets, graph, begin, end, first + begin, max_size, radius, room,
            whole[begin:end],
        )  # fmt: skip
        return room[:count].copy()

    return run(work, list(pairwise([*range(0, len(batch), _AT_ONCE), len(batch)])), n_jobs)


def _warn_of_duplicates(connection: sqlite3.Connection) -> None:
    [count] = connection.execute(
        "SELECT SUM(n) FROM "
        "(SELECT COUNT(*) AS n FROM graphs GROUP BY whole HAVING MIN(y) < MAX(y))"
    ).fetchone()
    if count:
        warnings.warn(
            f"{count:,} graphs are equal to others with a different "
            "y: measured twice? Each of them is matched separately. gg.duplicates lists equal "
            "graphs.",
            GraphgrainWarning,
            stacklevel=3,
        )


class _Group:
    """The pairs of one change, and their steps grouped by surroundings."""

    def __init__(self, rows: list[Match]) -> None:
        self.first = rows[0]
        self.examples = [(row.first, row.second) for row in rows[:_EXAMPLES]]
        self.steps = np.array([row.step for row in rows])
        codes = np.array([row.surroundings for row in rows])
        _, firsts, which = np.unique(codes, return_index=True, return_inverse=True)
        self.counts = np.bincount(which)
        self.means = np.bincount(which, weights=self.steps) / self.counts
        self.places = [rows[at] for at in firsts.tolist()]  # one for each kind of surroundings
        # One graph per name is enough.
        self.shown = np.array([row[4:6] for row in (self.first, *self.places)]).ravel()


class _Shown(NamedTuple):
    """Some graphs of a source, with their numbers."""

    batch: GraphBatch
    numbers: np.ndarray

    def place(self, row: Match, side: int) -> Place:
        """Return one side of a pair, with vertices numbered as in the batch."""
        begin = int(
            self.batch.offsets[np.searchsorted(self.numbers, (row.first, row.second)[side])]
        )
        ends = (row.first_anchor, row.first_other), (row.second_anchor, row.second_other)
        anchor, other = ends[side]
        return Place(self.batch, row.kind, begin + anchor, begin + other if other >= 0 else -1)


def _change(
    shown: _Shown, group: _Group, radius: int, coverage: float, measured: np.ndarray
) -> Change:
    from scipy.stats import t

    pairs = len(group.steps)
    mean, half = float(group.steps.mean()), np.nan
    if pairs > 1:
        error = group.steps.std(ddof=1) / pairs**0.5
        half = float(t.ppf(0.5 + coverage / 2, pairs - 1) * error)
    listed = [
        Surroundings(surroundings_name(shown.place(row, 0), radius), int(count), float(mean_at))
        for row, count, mean_at in zip(group.places, group.counts, group.means, strict=True)
    ]
    change = Change(
        part_name(shown.place(group.first, 0)),
        part_name(shown.place(group.first, 1)),
        _KINDS[group.first.kind],
        pairs,
        mean,
        mean - half,
        mean + half,
        sorted(listed, key=lambda each: (-each.pairs, each.name, each.mean)),
        [(int(measured[a]), int(measured[b])) for a, b in group.examples],
    )
    return _directed(change)


def _directed(change: Change) -> Change:
    """Return the change in its standard direction: shorter name first, then alphabetical."""

    def rank(name: str) -> tuple[bool, int, str]:
        return name != "nothing", len(name), name

    if rank(change.before) <= rank(change.after):
        return change
    return change._replace(
        before=change.after,
        after=change.before,
        mean=-change.mean,
        low=-change.high,
        high=-change.low,
        surroundings=[each._replace(mean=-each.mean) for each in change.surroundings],
        examples=[(b, a) for a, b in change.examples],
    )


# -------------------------------------------------------------------- names of parts

#: Maximum number of vertices of branches that are written out.
_WRITTEN = 60
_BONDS = {"single": "-", "double": "=", "triple": "#", "aromatic": ":"}


class Place(NamedTuple):
    """A place in a graph, with vertices numbered as in the batch."""

    batch: GraphBatch
    kind: int
    anchor: int  # vertex of the rest at which the place is
    other: int  # the first vertex of a branch, the other end of an edge, or -1


def part_name(place: Place) -> str:
    """Return the name of the part at a place, which does not depend on vertex numbers."""
    batch, kind, anchor, other = place
    if kind == VERTEX:
        return _vertex(batch, anchor)
    if kind == EDGE:
        return _bond(batch, anchor, other).strip("-") or "-"
    if other < 0:
        return "nothing"
    bond = _bond(batch, anchor, other)
    inside = _side(batch, anchor, other)
    if len(inside) > _WRITTEN:
        return f"{bond}{_vertex(batch, other)} and {len(inside) - 1:,} more vertices"
    return bond + _Writer(batch, anchor, other, inside).text(other)


def surroundings_name(place: Place, radius: int = 1) -> str:
    """Return the vertex of a place, or both ends of an edge, with its neighbours in the rest."""
    batch, kind, anchor, other = place
    ends = [(anchor, other), (other, anchor)] if kind == EDGE else [(anchor, other)]
    texts = []
    for v, without in ends:
        names = sorted(
            _plain(_bond(batch, v, w)) + _vertex(batch, w)
            for w in _neighbours(batch, v)
            if w != without and radius > 0
        )
        centre = "*" if kind == VERTEX else _vertex(batch, v)
        texts.append(f"{centre}({', '.join(names)})" if names else centre)
    return "*".join(sorted(texts))


def _bond(batch: GraphBatch, u: int, v: int) -> str:
    if batch.edge_label_codes is None or batch.edge_label_table is None:
        return "-"
    for e in range(batch.indptr[u], batch.indptr[u + 1]):
        if batch.indices[e] == v:
            label = str(batch.edge_label_table[batch.edge_label_codes[e]])
            return _BONDS.get(label, f"-{label}-")
    return "-"


def _neighbours(batch: GraphBatch, v: int) -> list[int]:
    return batch.indices[batch.indptr[v] : batch.indptr[v + 1]].tolist()


def _vertex(batch: GraphBatch, v: int) -> str:
    return str(batch.label_table[batch.label_codes[v]]) if batch.labelled else "*"


def _plain(bond: str) -> str:
    return "" if bond == "-" else bond


def _side(batch: GraphBatch, anchor: int, begin: int) -> list[int]:
    """Return the vertices on the far side of a bridge."""
    found, seen = [begin], {anchor, begin}
    for v in found:
        for w in _neighbours(batch, v):
            if w not in seen:
                seen.add(w)
                found.append(w)
    return found


class _Writer:
    """Write a branch from its first vertex on, with neighbours ordered by their colours."""

    def __init__(self, batch: GraphBatch, anchor: int, begin: int, inside: list[int]) -> None:
        self.batch, self.begin = batch, begin
        self.links = {
            v: {w: _bond(batch, v, w) for w in _neighbours(batch, v) if w != anchor or v != begin}
            for v in inside
        }
        colours = self._colours()
        self.order = {
            v: sorted(near, key=lambda w, near=near: (colours[w], near[w]))  # type: ignore[misc]
            for v, near in self.links.items()
        }
        self.parents: dict[int, int] = {begin: -1}
        self.closures: dict[frozenset[int], int] = {}
        self._traverse(begin)

    def _colours(self) -> dict[int, int]:
        """Rank the vertices by colour refinement, with the first vertex marked."""
        keys: dict[int, Any] = {v: (v != self.begin, _vertex(self.batch, v)) for v in self.links}
        classes = 0
        while True:
            ranks = {key: rank for rank, key in enumerate(sorted(set(keys.values())))}
            colours = {v: ranks[key] for v, key in keys.items()}
            if len(ranks) == classes:
                return colours
            classes = len(ranks)
            keys = {
                v: (colours[v], tuple(sorted((colours[w], bond) for w, bond in near.items())))
                for v, near in self.links.items()
            }

    def _traverse(self, v: int) -> None:
        """Build a depth-first spanning tree and number the edges that close rings."""
        for w in self.order[v]:
            if w == self.parents[v]:
                continue
            if w in self.parents:
                self.closures.setdefault(frozenset((v, w)), len(self.closures) + 1)
            else:
                self.parents[w] = v
                self._traverse(w)

    def text(self, v: int) -> str:
        """Return the text of the branch from one of its vertices on."""
        text = _vertex(self.batch, v)
        branches = []
        for w in self.order[v]:
            bond = self.links[v][w]
            number = self.closures.get(frozenset((v, w)))
            if number is not None:
                text += f"{_plain(bond)}{number if number < 10 else f'%{number}'}"
            elif self.parents[w] == v:
                # Labels longer than atom symbols are separated by a bond.
                words = max(len(_vertex(self.batch, u)) for u in (v, w)) > 2
                branches.append((bond if words else _plain(bond)) + self.text(w))
        branches.sort(key=lambda branch: (len(branch), branch))
        return text + "".join(f"({branch})" for branch in branches[:-1]) + "".join(branches[-1:])
