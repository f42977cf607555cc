"""Statistics of a data set, including those of Table 1 of the Tree++ paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InvalidParameterError
from .batch import GraphBatch
from .convert.dispatch import as_graphs
from .isomorphism import duplicates
from .tables import is_missing


@dataclass(frozen=True)
class Statistics:
    """Statistics of a set of graphs.

    Attributes
    ----------
    graphs : int
        Number of graphs.
    classes : int or None
        Number of distinct classes; None if there are none (no ``y``, or regression values).
    vertices, edges : float
        Average number per graph.
    degree : float
        Average number of neighbours per vertex.
    vertex_labels, edge_labels : int or None
        Number of distinct labels that occur; None for graphs without such labels.
    vertex_attributes, edge_attributes : int
        Number of attributes per vertex and per edge.
    isolated_vertices : int
        Number of vertices without neighbours.
    duplicates : int
        Number of graphs that are isomorphic to an earlier one, with equal labels.
    identical : int
        Number of graphs that are isomorphic to an earlier one, with equal labels and attributes.
    contradictions : int
        Number of graphs that are identical to a graph of another class.
    class_sizes : dict or None
        Number of graphs of each class, in sorted order; None without classes.
    target : dict or None
        ``minimum``, ``lower_quartile``, ``median``, ``upper_quartile``, ``maximum``, ``mean`` and
        ``standard_deviation`` of regression values; None unless there is one value per graph.

    See Also
    --------
    describe : Compute them.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.graphs import Statistics
    >>> graphs, y = gg.load_drugs()
    >>> statistics = gg.describe(graphs, y)
    >>> isinstance(statistics, Statistics), statistics.graphs
    (True, 292)
    """

    graphs: int
    classes: int | None
    vertices: float
    edges: float
    degree: float
    vertex_labels: int | None
    edge_labels: int | None
    vertex_attributes: int
    edge_attributes: int
    isolated_vertices: int
    duplicates: int
    identical: int
    contradictions: int
    class_sizes: dict[str, int] | None = None
    target: dict[str, float] | None = None


def describe(graphs: Any, y: Any = None) -> Statistics:
    """Compute the statistics of a data set, including those of Table 1 of the Tree++ paper.

    Parameters
    ----------
    graphs : GraphBatch or anything that :func:`as_graphs` accepts
    y : array-like, optional
        Classes (integers or strings) or regression values (floats).

    Returns
    -------
    statistics : Statistics

    Examples
    --------
    >>> import graphgrain as gg
    >>> path, same_path = ([(0, 1), (1, 2)], list("CCO")), ([(1, 0), (0, 2)], list("COC"))
    >>> figures = gg.describe([path, same_path], [1, 2])
    >>> figures.vertices, figures.duplicates, figures.contradictions
    (3.0, 1, 2)
    """
    batch = as_graphs(graphs)
    y = None if y is None else _targets(y, len(batch))
    classes = None if y is None or y.dtype.kind == "f" else _listed(y)
    identical = duplicates(batch, attributes=True)
    codes = batch.edge_label_codes
    return Statistics(
        graphs=len(batch),
        classes=None if classes is None else len(set(classes)),
        vertices=_mean(batch.vertex_counts),
        edges=_mean(batch.edge_counts),
        degree=_mean(batch.degrees),
        vertex_labels=len(np.unique(batch.label_codes)) if batch.labelled else None,
        edge_labels=None if codes is None else len(np.unique(codes)),
        vertex_attributes=_width(batch.vertex_attributes),
        edge_attributes=_width(batch.edge_attributes),
        isolated_vertices=int((batch.degrees == 0).sum()),
        duplicates=sum(len(group) - 1 for group in duplicates(batch)),
        identical=sum(len(group) - 1 for group in identical),
        contradictions=0
        if classes is None
        else sum(len(group) for group in identical if len({classes[g] for g in group}) > 1),
        class_sizes=None
        if classes is None
        else {str(name): count for name, count in sorted(Counter(classes).items())},
        target=None if y is None or classes is not None else _spread(y),
    )


def _spread(y: np.ndarray) -> dict[str, float] | None:
    """Summarise the distribution of regression values, ignoring NaN."""
    if y.ndim != 1 or not np.isfinite(y).any():
        return None
    values = y[np.isfinite(y)].astype(np.float64)
    low, lower, middle, upper, high = np.percentile(values, [0, 25, 50, 75, 100]).tolist()
    return {
        "minimum": low,
        "lower_quartile": lower,
        "median": middle,
        "upper_quartile": upper,
        "maximum": high,
        "mean": float(values.mean()),
        "standard_deviation": float(values.std()),
    }


def distributions(graphs: GraphBatch) -> dict[str, np.ndarray]:
    """Return the values whose distributions the paper plots: vertices, edges and degrees."""
    return {
        "vertices": graphs.vertex_counts,
        "edges": graphs.edge_counts,
        "degree": graphs.degrees,
    }


def text_histogram(values: Any, *, bins: int = 10, width: int = 40) -> str:
    """Draw a histogram as text, with one bar per line.

    Bins of floats begin at round numbers and include their lower edge but not their upper edge.

    Examples
    --------
    >>> from graphgrain.graphs.description import text_histogram
    >>> print(text_histogram([1, 1, 2, 3, 3, 3, 9], bins=3, width=6))
    1-3 ██████ 6
    4-6        0
    7-9 █      1
    >>> print(text_histogram([-1.2, 0.3, 0.4, 1.1], bins=4, width=6))
    -2 to -1 ███    1
     -1 to 0        0
      0 to 1 ██████ 2
      1 to 2 ███    1
    """
    values = np.asarray(values)
    values = values[np.isfinite(values)]
    if not values.size:
        return "(nothing to show)"
    if values.dtype.kind == "f":
        counts, names = _float_bins(values, bins)
    else:
        low, high = int(values.min()), int(values.max())
        step = -(-(high - low + 1) // bins)
        counts = np.bincount((values - low) // step)
        begins = low + step * np.arange(len(counts))
        names = [f"{b}" if step == 1 else f"{b}-{b + step - 1}" for b in begins.tolist()]
    pad = max(map(len, names))
    rows = zip(names, _bars(counts.tolist(), width), strict=True)
    return "\n".join(f"{name:>{pad}} {bar}" for name, bar in rows)


def _bars(counts: Sequence[int], width: int) -> list[str]:
    """Format each count as a bar followed by the count; positive counts get at least one block."""
    most = max(counts)
    return [
        f"{'█' * max(round(width * count / most), int(count > 0)):<{width}} {count:,}"
        for count in counts
    ]


def _float_bins(values: np.ndarray, bins: int) -> tuple[np.ndarray, list[str]]:
    """Return the counts and names of about ``bins`` bins of width 1, 2 or 5 times a power of 10."""
    low, high = float(values.min()), float(values.max())
    rough = high / bins - low / bins  # high - low may overflow
    if rough < 1e-300:
        return np.array([len(values)]), [f"{low:g}"]
    power = 10.0 ** np.floor(np.log10(rough))
    step = float(next(power * times for times in (1, 2, 5, 10) if power * times >= rough * 0.999))
    first = int(np.floor(low / step))
    bin_numbers = np.floor(values / step).astype(np.int64) - first
    counts = np.bincount(bin_numbers)
    borders = [f"{(first + number) * step:.6g}" for number in range(len(counts) + 1)]
    return counts, [f"{a} to {b}" for a, b in pairwise(borders)]


def text_bars(counts: dict[str, int], *, total: int, width: int = 40) -> str:
    """Draw counts as horizontal bars in text, with their share of the total.

    Examples
    --------
    >>> from graphgrain.graphs.description import text_bars
    >>> print(text_bars({"active": 6, "inactive": 2}, total=8, width=6))
    active   ██████ 6 (75.0 %)
    inactive ██     2 (25.0 %)
    """
    pad = max(map(len, counts))
    bars = _bars(list(counts.values()), width)
    return "\n".join(
        f"{name:<{pad}} {bar} ({100 * counts[name] / total:.1f} %)"
        for name, bar in zip(counts, bars, strict=True)
    )


def _targets(y: Any, count: int) -> np.ndarray:
    """Return classes, or regression values as floats."""
    values = np.asarray(y)
    if values.shape[:1] != (count,):
        raise InvalidParameterError(
            f"y must hold one entry for each of the {count} graphs; its shape is {values.shape}."
        )
    if values.shape[1:] == (1,):  # a table with one column
        values = values[:, 0]
    if values.dtype.kind != "O":
        return values
    missing = np.array([is_missing(value) for value in values.flat], dtype=bool)
    if all(isinstance(value, float | np.floating) for value in values.flat[~missing]):
        numbers = np.full(values.size, np.nan)
        numbers[~missing] = values.flat[~missing].astype(np.float64)
        return numbers.reshape(values.shape)
    if missing.any():
        raise InvalidParameterError(
            f"Every graph must have a class; entry {np.flatnonzero(missing)[0]} of y is missing. "
            "Drop such graphs, or give them a class of their own, such as 'unknown'."
        )
    return values


def _listed(classes: np.ndarray) -> list[Any]:
    return classes.tolist() if classes.ndim == 1 else [tuple(row) for row in classes.tolist()]


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else 0.0


def _width(table: np.ndarray | None) -> int:
    return 0 if table is None else int(table.shape[1])
