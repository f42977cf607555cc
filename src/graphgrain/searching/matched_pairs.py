"""Changes: what became what in pairs of graphs that differ at one place, and what it did to y.

1. Every place where a graph can change is listed with a hash of what is left without it, and a
   hash of what is there (``core/change_places.py``).
2. Graphs with the same rest and something else in its place are matched. Of several ways to match
   two graphs the one with the largest common rest is kept.
3. Matched pairs with the same two parts are one change, whatever the rest.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..core.change_places import BRANCH, EDGE, VERTEX, Places, find_places
from ..core.threads import run
from ..errors import GraphgrainWarning, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..parameters import Number, Whole
from .activity_cliffs import numbers_of

_KINDS = {BRANCH: "branch", VERTEX: "vertex", EDGE: "edge"}
#: Graphs whose places are listed together.
_TOGETHER = 2048


class Surroundings(NamedTuple):
    """A change in one kind of surroundings.

    Attributes
    ----------
    name : str
        The vertex where it is, with its neighbours in the common part.
    pairs : int
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
    """One part that became another, over all pairs in which nothing else differs.

    Attributes
    ----------
    before, after : str
        The parts. A branch begins with the bond that it hangs on; no branch is "nothing".
    kind : {"branch", "vertex", "edge"}
        What changed: a branch, the label of a vertex with several neighbours, that of an edge.
    pairs : int
        In how many pairs.
    mean, low, high : float
        Mean change of y, and its interval; NaN if a single pair has none.
    surroundings : list of Surroundings
        Where it happened, the most frequent first.
    examples : list of tuples
        Some pairs: the graph with ``before``, and that with ``after``.

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


class MatchedPairs(NamedTuple):
    """Pairs of graphs that differ at one place; ``places`` of both are rows of a table."""

    first: np.ndarray
    second: np.ndarray
    first_places: np.ndarray
    second_places: np.ndarray


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
    """What became what in pairs of graphs that differ at one place, and what it did to y.

    Two graphs are matched if they are the same but for one place: a branch was replaced, came or
    went; a vertex or an edge has another label. Any bridge can carry a branch, so that nothing
    depends on rules about which bonds to cut. Of several ways to see the difference of two graphs
    the one with the largest common part counts.

    Parameters
    ----------
    graphs : anything that :func:`as_graphs` accepts
    y : array-like
        A number for each graph; NaN or None where it is missing.
    min_pairs : int
        Changes in fewer pairs are left out.
    max_size : int
        The most vertices of a branch that changes; it has at most half of the graph.
    radius : int
        How far the surroundings of a change reach, in edges.
    coverage : float
        Of the interval of the mean: Student's, over pairs as if they were independent. Pairs that
        share a graph are not, so it is a guide.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    list of Change
        The most frequent first. Each change is listed in one direction: from nothing, from the
        smaller part, or by the alphabet.

    See Also
    --------
    cliffs : Pairs that are similar and differ in y.

    Notes
    -----
    Common parts are compared by colour refinement that begins at the changed place. It tells the
    graphs of molecules apart; regular graphs made for the purpose can escape it.

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
    batch = as_graphs(graphs)
    values = numbers_of(y, len(batch))
    for name, value, rule in (
        ("min_pairs", min_pairs, Whole(1)),
        ("max_size", max_size, Whole(1)),
        ("radius", radius, Whole(0)),
    ):
        if not rule.allows(value):
            raise InvalidParameterError(f"{name} must be {rule}; got {value!r}.")
    if not Number(0.0).allows(coverage) or coverage >= 1.0:
        raise InvalidParameterError(f"coverage must be between 0 and 1; got {coverage!r}.")
    known = np.flatnonzero(~np.isnan(values))
    if len(known) < len(batch):
        warnings.warn(
            f"y is missing for {len(batch) - len(known):,} of {len(batch):,} graphs, which are "
            "left out.",
            GraphgrainWarning,
            stacklevel=2,
        )
    chosen = batch[known]
    places = list_places(chosen, int(max_size), int(radius), n_jobs)
    found = match(places)
    return [
        change._replace(examples=[(int(known[a]), int(known[b])) for a, b in change.examples])
        for change in _summarised(chosen, places, found, values[known], int(min_pairs), coverage)
    ]


def list_places(batch: GraphBatch, max_size: int, radius: int, n_jobs: int | None) -> Places:
    """All places of all graphs where one could change."""
    codes = batch.edge_label_codes
    edges = np.empty(0, dtype=np.int32) if codes is None else codes
    arrays = (batch.offsets, batch.indptr, batch.indices, batch.label_codes, edges)

    def work(begin: int, end: int) -> Places:
        low, high = batch.offsets[begin], batch.offsets[end]
        entries = int(batch.indptr[high] - batch.indptr[low])
        room = 2 * int(high - low) + entries + entries // 2 + 1
        places = Places(
            np.empty(room, np.int64), np.empty(room, np.uint8), np.empty(room, np.int64),
            np.empty(room, np.int64), np.empty(room, np.uint64), np.empty(room, np.int64),
            np.empty(room, np.uint64), np.empty(room, np.uint64),
        )  # fmt: skip
        count = find_places(*arrays, begin, end, max_size, radius, places)
        return Places(*(values[:count].copy() for values in places))

    bounds = [*range(0, len(batch), _TOGETHER), len(batch)]
    parts = run(work, list(pairwise(bounds)), n_jobs) or [work(0, 0)]
    return Places(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def match(places: Places) -> MatchedPairs:
    """Pairs of graphs with the same rest and another part, by their largest common rest."""
    order = np.lexsort((places.graphs, places.parts, places.rests))
    rests = places.rests[order]
    cuts = np.flatnonzero(np.diff(rests)) + 1
    bounds = np.concatenate(([0], cuts, [len(rests)])).tolist()
    rows = [
        pair
        for begin, end in pairwise(bounds)
        if end - begin > 1
        for pair in _within(places, order[begin:end])
    ]
    nothing: np.ndarray = np.empty(0, dtype=np.int64)
    left = np.concatenate([nothing, *(a for a, _ in rows)])
    right = np.concatenate([nothing, *(b for _, b in rows)])
    first, second = places.graphs[left], places.graphs[right]
    swapped = first > second
    left, right = np.where(swapped, right, left), np.where(swapped, left, right)
    first, second = places.graphs[left], places.graphs[right]
    # The largest rest of each pair of graphs; of equal ones always the same.
    best = np.lexsort(
        (places.parts[right], places.parts[left], places.kinds[left], -places.sizes[left], second,
         first)
    )  # fmt: skip
    new = np.ones(len(best), dtype=bool)
    new[1:] = (np.diff(first[best]) != 0) | (np.diff(second[best]) != 0)
    kept = best[new]
    return MatchedPairs(first[kept], second[kept], left[kept], right[kept])


def _within(places: Places, rows: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of places with the same rest that hold different parts, of different graphs."""
    parts = places.parts[rows]
    if parts[0] == parts[-1]:  # they are sorted
        return
    # The same part of the same graph at equivalent places counts once.
    again = np.zeros(len(rows), dtype=bool)
    again[1:] = (np.diff(places.graphs[rows]) == 0) & (parts[1:] == parts[:-1])
    rows, parts = rows[~again], parts[~again]
    begins = np.concatenate(([0], np.flatnonzero(parts[1:] != parts[:-1]) + 1, [len(rows)]))
    for begin, end in pairwise(begins.tolist()):
        if end == len(rows):
            return
        others = rows[end:]
        left, right = np.repeat(rows[begin:end], len(others)), np.tile(others, end - begin)
        apart = places.graphs[left] != places.graphs[right]
        yield left[apart], right[apart]


def _summarised(
    batch: GraphBatch,
    places: Places,
    found: MatchedPairs,
    y: np.ndarray,
    min_pairs: int,
    coverage: float,
) -> list[Change]:
    from scipy.stats import t

    left, right = found.first_places, found.second_places
    turned = places.parts[left] > places.parts[right]
    before, after = np.where(turned, right, left), np.where(turned, left, right)
    difference = y[places.graphs[after]] - y[places.graphs[before]]
    order = np.lexsort((places.parts[after], places.parts[before], places.kinds[before]))
    keys = np.stack(
        [places.kinds[before].astype(np.uint64), places.parts[before], places.parts[after]]
    )[:, order]
    cuts = np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1
    result = []
    for begin, end in pairwise([0, *cuts.tolist(), len(order)]):
        pairs = end - begin
        if pairs < max(min_pairs, 1):
            continue
        rows = order[begin:end]
        steps = difference[rows]
        mean = float(steps.mean())
        half = np.nan
        if pairs > 1:
            half = float(t.ppf(0.5 + coverage / 2, pairs - 1) * steps.std(ddof=1) / pairs**0.5)
        result.append(
            Change(
                part_name(batch, places, int(before[rows[0]])),
                part_name(batch, places, int(after[rows[0]])),
                _KINDS[int(places.kinds[before[rows[0]]])],
                pairs,
                mean,
                mean - half,
                mean + half,
                _surroundings(batch, places, before[rows], steps),
                [
                    (int(places.graphs[before[row]]), int(places.graphs[after[row]]))
                    for row in rows[:5].tolist()
                ],
            )
        )
    return sorted(
        map(_directed, result), key=lambda change: (-change.pairs, change.before, change.after)
    )


def _directed(change: Change) -> Change:
    """The same change from the smaller part to the larger one, or by the alphabet."""

    def rank(name: str) -> tuple[bool, int, str]:
        return name != "nothing", len(name), name

    if rank(change.before) <= rank(change.after):
        return change
    return Change(
        change.after,
        change.before,
        change.kind,
        change.pairs,
        -change.mean,
        -change.high,
        -change.low,
        [each._replace(mean=-each.mean) for each in change.surroundings],
        [(b, a) for a, b in change.examples],
    )


def _surroundings(
    batch: GraphBatch, places: Places, rows: np.ndarray, steps: np.ndarray
) -> list[Surroundings]:
    keys, first, which = np.unique(
        places.surroundings[rows], return_index=True, return_inverse=True
    )
    counts = np.bincount(which)
    means = np.bincount(which, weights=steps) / counts
    listed = [
        Surroundings(
            _around(batch, places, int(rows[first[number]])),
            int(counts[number]),
            float(means[number]),
        )
        for number in range(len(keys))
    ]
    return sorted(listed, key=lambda each: (-each.pairs, each.name))


# -------------------------------------------------------------------- names


_BONDS = {"single": "-", "double": "=", "triple": "#", "aromatic": ":"}


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


def _entry(places: Places, row: int) -> tuple[int, int, int]:
    return int(places.kinds[row]), int(places.anchors[row]), int(places.others[row])


def part_name(batch: GraphBatch, places: Places, row: int) -> str:
    """What is at a place, in words: a branch is written like SMILES."""
    kind, anchor, other = (
        int(values[row]) for values in (places.kinds, places.anchors, places.others)
    )
    if kind == VERTEX:
        return _vertex(batch, anchor)
    if kind == EDGE:
        return str(_bond(batch, anchor, other)).strip("-") or "-"
    if other < 0:
        return "nothing"
    closures: dict[tuple[int, int], int] = {}
    seen: dict[int, int] = {}
    _closing(batch, other, anchor, seen, closures)
    return _bond(batch, anchor, other) + _written(batch, other, anchor, closures, set())


def _closing(
    batch: GraphBatch,
    v: int,
    parent: int,
    seen: dict[int, int],
    closures: dict[tuple[int, int], int],
) -> None:
    """Number the edges that close a ring, in the order of a walk."""
    seen[v] = parent
    for w in _neighbours(batch, v):
        if w == parent:
            continue
        if w in seen:
            closures.setdefault((min(v, w), max(v, w)), len(closures) + 1)
        else:
            _closing(batch, w, v, seen, closures)


def _written(
    batch: GraphBatch, v: int, parent: int, closures: dict[tuple[int, int], int], done: set[int]
) -> str:
    done.add(v)
    text = _vertex(batch, v)
    branches = []
    for w in _neighbours(batch, v):
        edge = (min(v, w), max(v, w))
        if edge in closures:
            text += f"{_plain(_bond(batch, v, w))}{closures[edge]}"
        elif w != parent and w not in done:
            inside = _written(batch, w, v, closures, done)
            words = max(len(_vertex(batch, v)), len(_vertex(batch, w))) > 2  # no symbols of atoms
            bond = _bond(batch, v, w)
            branches.append((bond if words else _plain(bond)) + inside)
    branches.sort(key=lambda branch: (len(branch), branch))
    return text + "".join(f"({branch})" for branch in branches[:-1]) + "".join(branches[-1:])


def _plain(bond: str) -> str:
    return "" if bond == "-" else bond


def _around(batch: GraphBatch, places: Places, row: int) -> str:
    """The vertex of a place with its neighbours in the rest."""
    kind, anchor, other = (
        int(values[row]) for values in (places.kinds, places.anchors, places.others)
    )
    names = sorted(
        _plain(_bond(batch, anchor, w)) + _vertex(batch, w)
        for w in _neighbours(batch, anchor)
        if w != other
    )
    centre = "*" if kind == VERTEX else _vertex(batch, anchor)
    return f"{centre}({', '.join(names)})" if names else centre
