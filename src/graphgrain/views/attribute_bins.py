"""AttributeBins: labels from continuous attributes."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch, relabel_entries
from ..parameters import BOOLEAN, SEED, OneOf, Whole, parameter
from .base import View, attribute_columns, standard_deviations


class AttributeBins(View):
    """Convert continuous attributes to labels, with bins learned from the fitted graphs.

    Parameters
    ----------
    on : {"vertex", "edge"}, default="vertex"
        Whether to bin vertex attributes into vertex labels, or edge attributes into edge labels.
    n_bins : int, default=8
        Number of bins: per attribute for "quantile" and "uniform", in total for "kmeans".
    strategy : {"quantile", "uniform", "kmeans"}, default="quantile"
        Bins with equal numbers of values, bins of equal width, or the nearest of ``n_bins``
        cluster centres of all attributes together.
    keep_labels : bool, default=True
        If True, combine the bin with the existing label; if False, replace the label.
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

    on: str = parameter(OneOf(("vertex", "edge")), default="vertex", kw_only=False)
    n_bins: int = parameter(Whole(1), default=8, kw_only=False)
    strategy: str = parameter(
        OneOf(("quantile", "uniform", "kmeans")), default="quantile", kw_only=False
    )
    keep_labels: bool = parameter(BOOLEAN, default=True)
    random_state: int | None = parameter(SEED, default=0)

    def _fit(self, batch: GraphBatch) -> None:
        values = attribute_columns(batch, self.on)
        self.n_attributes_ = values.shape[1] if len(values) else None
        if not len(values):
            return
        if self.strategy == "kmeans":
            from sklearn.cluster import KMeans

            self.scale_ = np.maximum(standard_deviations(values), 1e-12)
            clusters = min(self.n_bins, len(np.unique(values, axis=0)))
            model = KMeans(clusters, n_init=3, random_state=self.random_state)
            # sorted rows, so that the centres do not depend on the numbering of the vertices
            rows = values[np.lexsort(values.T[::-1])]
            self.centres_ = model.fit(rows / self.scale_).cluster_centers_
            return
        parts = np.linspace(0, 1, self.n_bins + 1)[1:-1]
        if self.strategy == "quantile":
            borders = [np.quantile(column, parts) for column in values.T]
        else:
            borders = [column.min() + parts * np.ptp(column) for column in values.T]
        self.borders_ = [np.unique(border) for border in borders]

    def _transform(self, batch: GraphBatch) -> GraphBatch:
        values = attribute_columns(batch, self.on, self.n_attributes_)
        if self.n_attributes_ is None and len(values):
            raise InvalidGraphError(
                f"AttributeBins has seen no {self.on} attributes at fit. Fit it to graphs that "
                "have some."
            )
        if not len(values):
            bins = np.zeros((0, 1), dtype=np.int64)
        elif self.strategy == "kmeans":
            gaps = cdist(values / self.scale_, self.centres_)
            bins = gaps.argmin(axis=1).reshape(-1, 1)
        else:
            bins = np.column_stack(
                [
                    np.searchsorted(border, column, side="right")
                    for border, column in zip(self.borders_, values.T, strict=True)
                ]
            )
        return with_bins(batch, self.on, bins, self.keep_labels)


def with_bins(batch: GraphBatch, on: str, bins: np.ndarray, keep_labels: bool) -> GraphBatch:
    """Return the batch with labels "label|bin|bin" (or "bin|bin") on its vertices or edges."""
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
