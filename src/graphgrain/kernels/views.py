"""Views: estimators that change graphs before a kernel sees them.

They turn graphs into graphs and stand in front of a kernel in a scikit-learn pipeline::

    make_pipeline(EdgeFilter(drop=[1]), TreePlusPlus(edge_labels=True), SVC(kernel="precomputed"))

What they learn (the borders of bins) they learn at fit, from the fitted graphs alone. Several
views are combined by adding their features: ``FeatureUnion`` of pipelines with
``output="features"``.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert import as_graphs
from ..graphs.edges import keep_entries, relabel_entries, replace_entry_attributes
from .base import GraphTransformer
from .parameters import BOOLEAN, Number, OneOf, Rule, Seed, Whole, check_parameters


class View(GraphTransformer):
    """Base class of the views: graphs in, graphs out."""

    _rules: ClassVar[dict[str, Rule]] = {}

    def fit(self, X: Any, y: Any = None) -> View:
        """Learn from graphs what :meth:`transform` needs."""
        check_parameters(self, self._rules)
        self._fit(as_graphs(X))
        self.is_fitted_ = True
        return self

    def transform(self, X: Any) -> GraphBatch:
        """The graphs as the view shows them."""
        check_is_fitted(self, "is_fitted_")
        return self._transform(as_graphs(X))

    def _fit(self, batch: GraphBatch) -> None:
        """Nothing to learn, unless a view says otherwise."""

    def _transform(self, batch: GraphBatch) -> GraphBatch:
        raise TypeError(f"{type(self).__name__} is no view by itself.")


class EdgeFilter(View):
    """Keep some of the edges: by their label, or by a range of an attribute.

    Parameters
    ----------
    keep : sequence of labels, optional
        Only edges with one of these labels stay.
    drop : sequence of labels, optional
        Edges with one of these labels go.
    attribute : int, default=0
        The edge attribute that ``above`` and ``below`` look at.
    above, below : float, optional
        Only edges whose attribute is at least ``above`` and at most ``below`` stay.

    Examples
    --------
    The graphs of the TU sets BZR_MD, COX2_MD and DHFR_MD are complete; edge label 1 says "no
    chemical bond". The bonds alone are seen through ``EdgeFilter(drop=[1])``.

    >>> import graphgrain as gg
    >>> graphs = gg.as_graphs([([(0, 1), (1, 2), (0, 2)], ["C", "C", "O"], [2, 3, 1])])
    >>> gg.EdgeFilter(drop=[1]).fit_transform(graphs)
    GraphBatch(1 graph, 3 vertices, 2 edges, 2 vertex labels, 3 edge labels)
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "attribute": Whole(0),
        "above": Number(float("-inf"), optional=True),
        "below": Number(float("-inf"), optional=True),
    }

    def __init__(
        self,
        keep: Any = None,
        drop: Any = None,
        *,
        attribute: int = 0,
        above: float | None = None,
        below: float | None = None,
    ) -> None:
        self.keep = keep
        self.drop = drop
        self.attribute = attribute
        self.above = above
        self.below = below

    def _fit(self, batch: GraphBatch) -> None:
        for name in ("keep", "drop"):
            value = getattr(self, name)
            if isinstance(value, str) or (value is not None and not hasattr(value, "__iter__")):
                raise InvalidParameterError(
                    f"{name} must be a list of edge labels, or None; got {value!r}. "
                    f"For a single label write {name}=[{value!r}]."
                )
        self._transform(batch)

    def _transform(self, batch: GraphBatch) -> GraphBatch:
        stays = np.ones(len(batch.indices), dtype=bool)
        if self.keep is not None or self.drop is not None:
            table, codes = batch.edge_label_table, batch.edge_label_codes
            if (table is None or codes is None) and batch.n_edges:
                raise InvalidGraphError(
                    "EdgeFilter(keep=..., drop=...) needs graphs with edge labels; these have none."
                )
            if table is not None and codes is not None:
                values = table.tolist()
                if self.keep is not None:
                    wanted = set(self.keep)
                    stays &= np.array([value in wanted for value in values], dtype=bool)[codes]
                if self.drop is not None:
                    unwanted = set(self.drop)
                    stays &= np.array([value not in unwanted for value in values], dtype=bool)[
                        codes
                    ]
        if self.above is not None or self.below is not None:
            column = attribute_columns(batch, "edge")
            if self.attribute >= column.shape[1]:
                raise InvalidParameterError(
                    f"attribute must be a column of the edge attributes (0 to "
                    f"{column.shape[1] - 1}); got {self.attribute}."
                )
            chosen = column[:, self.attribute]
            if self.above is not None:
                stays &= chosen >= self.above
            if self.below is not None:
                stays &= chosen <= self.below
        return keep_entries(batch, stays)


class EdgeLengths(View):
    """Write the distance between the ends of each edge into the edge attributes.

    Coordinates change when a molecule is turned, distances do not: put this before
    :class:`AttributeBins` or :class:`HashedAttributes` on data sets with 3-D coordinates.

    Parameters
    ----------
    columns : sequence of int, optional
        The vertex attributes that are coordinates; all by default.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = gg.GraphBatch.from_edges([2], [(0, 1)], vertex_attributes=[[0, 0], [3, 4]])
    >>> gg.EdgeLengths().fit_transform(graphs).edge_attributes.tolist()
    [[5.0], [5.0]]
    """

    def __init__(self, columns: Any = None) -> None:
        self.columns = columns

    def _transform(self, batch: GraphBatch) -> GraphBatch:
        points = attribute_columns(batch, "vertex")
        if self.columns is not None:
            try:
                points = points[:, list(self.columns)]
            except (IndexError, TypeError) as error:
                raise InvalidParameterError(
                    f"columns must be numbers of vertex attributes (0 to {points.shape[1] - 1}); "
                    f"got {self.columns!r}."
                ) from error
        source = np.repeat(np.arange(batch.n_vertices), batch.degrees)
        lengths = np.linalg.norm(points[source] - points[batch.indices], axis=1)
        return replace_entry_attributes(batch, lengths.reshape(-1, 1))


class AttributeBins(View):
    """Turn continuous attributes into labels by bins learnt on the fitted graphs.

    Parameters
    ----------
    on : {"vertex", "edge"}, default="vertex"
        Whose attributes, and whose labels.
    n_bins : int, default=8
        Number of bins: per column for quantiles and equal widths, in all for k-means.
    strategy : {"quantile", "uniform", "kmeans"}, default="quantile"
        Bins with equally many values, of equal width, or the nearest of ``n_bins`` centres (which
        looks at all columns together).
    keep_labels : bool, default=True
        Combine the bin with the label that is there, instead of replacing it.
    random_state : int, optional
        Seed of k-means.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = gg.GraphBatch.from_edges([4], [(0, 1)], list("CCON"),
    ...                                   vertex_attributes=[1.0, 2.0, 8.0, 9.0])
    >>> gg.AttributeBins(n_bins=2).fit_transform(graphs).labels.tolist()
    ['C|0', 'C|0', 'O|1', 'N|1']
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "on": OneOf(("vertex", "edge")),
        "n_bins": Whole(1),
        "strategy": OneOf(("quantile", "uniform", "kmeans")),
        "keep_labels": BOOLEAN,
        "random_state": Seed(),
    }

    def __init__(
        self,
        on: str = "vertex",
        n_bins: int = 8,
        strategy: str = "quantile",
        *,
        keep_labels: bool = True,
        random_state: int | None = 0,
    ) -> None:
        self.on = on
        self.n_bins = n_bins
        self.strategy = strategy
        self.keep_labels = keep_labels
        self.random_state = random_state

    def _fit(self, batch: GraphBatch) -> None:
        values = attribute_columns(batch, self.on)
        if self.strategy == "kmeans":
            from sklearn.cluster import KMeans

            self.scale_ = np.maximum(values.std(axis=0), 1e-12) if len(values) else np.ones(1)
            clusters = min(self.n_bins, len(np.unique(values, axis=0)))
            model = KMeans(max(clusters, 1), n_init=3, random_state=self.random_state)
            # rows in sorted order: the centres must not depend on how vertices are numbered
            rows = values[np.lexsort(values.T[::-1])] if len(values) else np.zeros((1, 1))
            self.centres_ = model.fit(rows / self.scale_).cluster_centers_
            return
        parts = np.linspace(0, 1, self.n_bins + 1)[1:-1]
        if self.strategy == "quantile":
            borders = [np.quantile(column, parts) for column in values.T if len(column)]
        else:
            borders = [
                column.min() + parts * (column.max() - column.min())
                for column in values.T
                if len(column)
            ]
        self.borders_ = [np.unique(border) for border in borders]

    def _transform(self, batch: GraphBatch) -> GraphBatch:
        values = attribute_columns(batch, self.on)
        if self.strategy == "kmeans":
            scaled = values / self.scale_
            squares = (
                (scaled**2).sum(axis=1, keepdims=True)
                - 2 * scaled @ self.centres_.T
                + (self.centres_**2).sum(axis=1)
            )
            bins = squares.argmin(axis=1).reshape(-1, 1)
        else:
            bins = np.column_stack(
                [
                    np.searchsorted(border, column, side="right")
                    for border, column in zip(self.borders_, values.T, strict=True)
                ]
                or [np.zeros(len(values), dtype=np.int64)]
            )
        return with_bins(batch, self.on, bins, self.keep_labels)


def attribute_columns(batch: GraphBatch, on: str) -> np.ndarray:
    """Vertex or edge attributes of a batch, or an error that says what is missing."""
    values = batch.vertex_attributes if on == "vertex" else batch.edge_attributes
    if values is None:
        rows = batch.n_vertices if on == "vertex" else len(batch.indices)
        if rows == 0:
            return np.zeros((0, 1))
        raise InvalidGraphError(
            f"This view needs {on} attributes; the graphs have none. "
            f"Load them, or make edge attributes from coordinates with EdgeLengths."
        )
    return values


def with_bins(batch: GraphBatch, on: str, bins: np.ndarray, keep_labels: bool) -> GraphBatch:
    """The batch with labels "label|bin|bin" (or "bin|bin") on its vertices or edges."""
    rows, inverse = np.unique(bins, axis=0, return_inverse=True)
    texts = np.array(["|".join(map(str, row)) for row in rows.tolist()], dtype=object)
    labels = texts[inverse.reshape(-1)]
    if on == "vertex":
        if keep_labels and batch.labelled:
            labels = _joined_texts(batch.label_table, batch.label_codes, labels)
        return batch.with_labels(labels)
    if keep_labels and batch.edge_label_table is not None and batch.edge_label_codes is not None:
        labels = _joined_texts(batch.edge_label_table, batch.edge_label_codes, labels)
    return relabel_entries(batch, labels)


def _joined_texts(table: np.ndarray, codes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    before = np.array([str(value) for value in table.tolist()], dtype=object)
    return before[codes] + "|" + labels if len(labels) else labels
