"""Matched pairs: pairs of graphs that differ in one place, summarised by how y changes.

1. For every place where a graph can change, list a hash of the rest of the graph and a hash of the
   part at that place (``core/change_places.py``): :func:`list_places`.
2. Match graphs with the same rest and different parts. If two graphs can be matched in several
   ways, keep the one with the largest common rest: :func:`match`.
3. Group matched pairs with the same two parts, whatever the rest, into one change:
   :func:`_summarised`.

Between the steps rows are stored in buckets on disk (:class:`Buckets`), so that memory use does not
grow with the number of graphs, places or pairs. Parts are named with a notation similar to SMILES
(:func:`part_name`).
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.change_places import BRANCH, EDGE, PLACE, VERTEX, find_places, pair_places
from ..core.hashing import hash_labels, mix_array
from ..core.threads import run
from ..errors import GraphgrainWarning, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..parameters import JOBS, Number, Whole, check_value
from .activity_cliffs import graphs_of, numbers_of, selected, warn_of_missing
from .graph_index import GraphIndex, frozen

_KINDS = {BRANCH: "branch", VERTEX: "vertex", EDGE: "edge"}
#: Number of graphs whose places are listed together, and of graphs per thread.
_TOGETHER, _AT_ONCE = 2048, 256
#: Maximum number of pairs of places, and of changes, in memory.
_PAIRS, _NAMED = 1 << 16, 1024
#: Maximum number of example pairs per change.
_EXAMPLES = 5

#: A pair of graphs that differ in one place, with ``first`` < ``second``.
MATCH = np.dtype(
    [(name, np.int32) for name in ("first", "second", "size", "kind")]
    + [(name, np.uint64) for name in ("first_part", "second_part", "surroundings")]
    + [(f"{side}_{name}", np.int32) for side in ("first", "second") for name in ("anchor", "other")]
)
#: The same, from the part with the smaller hash to the part with the larger one, and the change of
#: y (``step``).
_STEP = np.dtype(
    [(name, np.uint64) for name in ("before", "after", "surroundings")]
    + [("step", np.float64), ("kind", np.int32)]
    + [(name, np.int32, 2) for name in ("graphs", "anchors", "others")]
)


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

    Places and pairs are stored in temporary files (about 5 kB per molecule), so memory use does not
    grow with their number, nor, for an index, with the number of graphs.

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
    batch = graphs_of(collection)
    assert batch is not None
    values = numbers_of(batch, len(collection), y)
    known = np.flatnonzero(~np.isnan(values))
    source = Source(lambda rows: selected(batch, known[rows]), len(known))
    warn_of_missing(len(values) - len(known), len(values))
    values = values[known]
    with Buckets(PLACE) as places, Buckets(_STEP) as steps:
        whole = list_places(source, int(max_size), int(radius), n_jobs, places)
        _warn_of_duplicates(whole, values)
        for matched in match(places, whole):
            steps.add(_steps(matched, values), "before", "after", "kind")
        found = [
            change._replace(examples=[(int(known[a]), int(known[b])) for a, b in change.examples])
            for change in _summarised(source, steps, int(min_pairs), int(radius), coverage)
        ]
    return sorted(found, key=lambda change: (-change.pairs, change.before, change.after))


class Source(NamedTuple):
    """A function that returns graphs by their numbers, and the number of graphs."""

    graphs: Callable[[np.ndarray], GraphBatch]
    number: int


def list_places(
    source: Source, max_size: int, radius: int, n_jobs: int | None, places: Buckets
) -> np.ndarray:
    """Add all places where the graphs can change to ``places``; return a hash of each graph."""
    whole: np.ndarray = np.empty(source.number, dtype=np.uint64)
    for first in range(0, source.number, _TOGETHER):
        hashes = whole[first : first + _TOGETHER]
        batch = source.graphs(np.arange(first, first + len(hashes)))
        for rows in _places_of(batch, first, max_size, radius, n_jobs, hashes):
            places.add(rows, "rest")
    return whole


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


def match(places: Buckets, whole: np.ndarray) -> Iterator[np.ndarray]:
    """Yield pairs of graphs with the same rest and different parts, with the largest rest."""
    with Buckets(MATCH) as candidates:
        for rows in places:
            for pairs in _same_rest(rows[np.lexsort((rows["graph"], rows["part"], rows["rest"]))]):
                # Exclude equal graphs, which can also be matched by an automorphism.
                changed = whole[pairs["first"]] != whole[pairs["second"]]
                candidates.add(pairs[changed], "first", "second")
        for rows in candidates:
            # The largest rest of each pair; ties are broken independently of the graphs' order.
            parts = np.sort([rows["first_part"], rows["second_part"]], axis=0)
            order = np.lexsort(
                (rows["surroundings"], parts[1], parts[0], rows["kind"], -rows["size"],
                 rows["second"], rows["first"])
            )  # fmt: skip
            rows = rows[order]
            new = np.ones(len(rows), dtype=bool)
            new[1:] = (np.diff(rows["first"]) != 0) | (np.diff(rows["second"]) != 0)
            yield rows[new]


def _same_rest(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Yield pairs of sorted places of different graphs with the same rest and different parts."""
    left, right = np.empty(_PAIRS, dtype=np.int64), np.empty(_PAIRS, dtype=np.int64)
    at = other = 0
    while at < len(rows):
        at, other, count = pair_places(rows, at, other, left, right)
        a, b = rows[left[:count]], rows[right[:count]]
        swapped = a["graph"] > b["graph"]
        a[swapped], b[swapped] = b[swapped], a[swapped]
        found = np.empty(count, dtype=MATCH)
        for name in ("size", "kind", "surroundings"):
            found[name] = a[name]
        for side, part in (("first", a), ("second", b)):
            found[side] = part["graph"]
            for name in ("part", "anchor", "other"):
                found[f"{side}_{name}"] = part[name]
        yield found


def _steps(matched: np.ndarray, y: np.ndarray) -> np.ndarray:
    turned = matched["first_part"] > matched["second_part"]
    rows = np.empty(len(matched), dtype=_STEP)
    for name in ("kind", "surroundings"):
        rows[name] = matched[name]

    def of_both(name: str) -> tuple[np.ndarray, np.ndarray]:
        first, second = (matched[side + name] for side in ("first", "second"))
        return np.where(turned, second, first), np.where(turned, first, second)

    rows["before"], rows["after"] = of_both("_part")
    for name, field in (("", "graphs"), ("_anchor", "anchors"), ("_other", "others")):
        rows[field] = np.column_stack(of_both(name))
    rows["step"] = y[rows["graphs"][:, 1]] - y[rows["graphs"][:, 0]]
    return rows


def _warn_of_duplicates(whole: np.ndarray, y: np.ndarray) -> None:
    _, group = np.unique(whole, return_inverse=True)
    low, high = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    np.minimum.at(low, group, y)
    np.maximum.at(high, group, y)
    count = int((low < high)[group].sum())
    if count:
        warnings.warn(
            f"{count:,} graphs are equal to others with a different "
            "y: measured twice? Each of them is matched separately. gg.duplicates lists equal "
            "graphs.",
            GraphgrainWarning,
            stacklevel=3,
        )


def _summarised(
    source: Source, steps: Iterable[np.ndarray], min_pairs: int, radius: int, coverage: float
) -> Iterator[Change]:
    for rows in steps:
        lower = rows["graphs"].min(axis=1)
        order = np.lexsort(
            (rows["graphs"].max(axis=1), lower, rows["kind"], rows["after"], rows["before"])
        )
        rows = rows[order]
        same = rows[["before", "after", "kind"]]
        cuts = np.flatnonzero(same[1:] != same[:-1])
        bounds = np.concatenate(([0], cuts + 1, [len(rows)]))
        frequent = np.flatnonzero(np.diff(bounds) >= min_pairs)
        for begin in range(0, len(frequent), _NAMED):
            some = frequent[begin : begin + _NAMED].tolist()
            groups = [_Group.of(rows[bounds[at] : bounds[at + 1]]) for at in some]
            # One graph per name is enough.
            needed = [group.rows["graphs"][[0, *group.firsts]].ravel() for group in groups]
            numbers = np.unique(np.concatenate(needed))
            shown = _Shown(source.graphs(numbers), numbers)
            yield from (_change(shown, group, radius, coverage) for group in groups)


class _Group(NamedTuple):
    """The pairs of one change, grouped by surroundings."""

    rows: np.ndarray
    firsts: np.ndarray  # one pair for each kind of surroundings
    counts: np.ndarray
    means: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray) -> _Group:
        _, firsts, which = np.unique(rows["surroundings"], return_index=True, return_inverse=True)
        counts = np.bincount(which)
        return cls(rows, firsts, counts, np.bincount(which, weights=rows["step"]) / counts)


class _Shown(NamedTuple):
    """Some graphs of a source, with their numbers."""

    batch: GraphBatch
    numbers: np.ndarray

    def place(self, row: np.void, side: int) -> Place:
        """Return one side of a pair, with vertices numbered as in the batch."""
        begin = int(self.batch.offsets[np.searchsorted(self.numbers, row["graphs"][side])])
        anchor, other = int(row["anchors"][side]), int(row["others"][side])
        other = begin + other if other >= 0 else -1
        return Place(self.batch, int(row["kind"]), begin + anchor, other)


def _change(shown: _Shown, group: _Group, radius: int, coverage: float) -> Change:
    from scipy.stats import t

    rows = group.rows
    pairs = len(rows)
    mean, half = float(rows["step"].mean()), np.nan
    if pairs > 1:
        error = rows["step"].std(ddof=1) / pairs**0.5
        half = float(t.ppf(0.5 + coverage / 2, pairs - 1) * error)
    listed = [
        Surroundings(
            surroundings_name(shown.place(rows[at], 0), radius), int(count), float(mean_at)
        )
        for at, count, mean_at in zip(group.firsts, group.counts, group.means, strict=True)
    ]
    change = Change(
        part_name(shown.place(rows[0], 0)),
        part_name(shown.place(rows[0], 1)),
        _KINDS[int(rows[0]["kind"])],
        pairs,
        mean,
        mean - half,
        mean + half,
        sorted(listed, key=lambda each: (-each.pairs, each.name, each.mean)),
        [(int(a), int(b)) for a, b in rows["graphs"][:_EXAMPLES].tolist()],
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


# -------------------------------------------------------------------- buckets
#
# Rows are grouped by key without sorting all of them in memory: they are distributed to buckets by
# a hash of the key, one file per bucket, and one bucket is in memory at a time.

#: Number of buckets on disk, and maximum number of bytes of rows in memory.
_BUCKETS = 256
_MEMORY = 1 << 24


class Buckets:
    """Rows of a structured array, of which up to ``memory`` bytes are not written to disk.

    Add all rows, then iterate over the buckets once.
    """

    def __init__(self, dtype: np.dtype, memory: int = _MEMORY) -> None:
        self.dtype, self.memory = dtype, memory
        self._rows: list[np.ndarray] = []
        self._numbers: list[np.ndarray] = []
        self._bytes = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Buckets:
        return self

    def __exit__(self, *error: object) -> None:
        self._rows, self._numbers = [], []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def add(self, rows: np.ndarray, *keys: str) -> None:
        """Add rows; those with the same values in the named fields go to the same bucket."""
        if not len(rows):
            return
        code = np.zeros(len(rows), dtype=np.uint64)
        for name in keys:
            code = mix_array(code + rows[name].astype(np.uint64))
        self._rows.append(rows)
        self._numbers.append((code >> np.uint64(56)).astype(np.uint8))
        self._bytes += rows.nbytes
        if self._bytes > self.memory:
            self._flush()

    def _path(self, number: int) -> Path:
        assert self._folder is not None
        return Path(self._folder.name) / f"{number}.rows"

    def _flush(self) -> None:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="graphgrain-")
        rows, numbers = np.concatenate(self._rows), np.concatenate(self._numbers)
        self._rows, self._numbers, self._bytes = [], [], 0
        rows = rows[np.argsort(numbers, kind="stable")]
        ends = np.cumsum(np.bincount(numbers, minlength=_BUCKETS)).tolist()
        for number, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
            if begin < end:
                with self._path(number).open("ab") as file:
                    rows[begin:end].tofile(file)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield the buckets; if nothing was written to disk, all rows are one bucket."""
        if self._folder is None and self._rows:
            rows, self._rows, self._numbers = self._rows, [], []
            yield np.concatenate(rows)
        if self._folder is None:
            return
        if self._rows:
            self._flush()
        for number in range(_BUCKETS):
            path = self._path(number)
            if path.exists():
                rows_of_one = np.fromfile(path, dtype=self.dtype)
                path.unlink()
                yield rows_of_one


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
