"""The vertex histogram kernel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.counting import count_hashes
from ..core.gram import FEW_COLUMNS
from ..graphs.batch import GraphBatch
from .bases.feature_kernel import FeatureKernel
from .features import Counts, Occurrences, located_vertices
from .naming import Notation, label_name


class VertexHistogram(FeatureKernel):
    """Vertex histogram kernel: counts of the vertex labels. Edges are ignored.

    Parameters
    ----------
    similarity, output, counts, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

    See Also
    --------
    EdgeHistogram : Edges instead of vertices.
    WeisfeilerLehman : Labels refined by those of the neighbours.

    References
    ----------
    Sugiyama, Borgwardt: Halting in Random Walk Kernels. NeurIPS 2015.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> gg.VertexHistogram(similarity="dot").fit_transform(graphs).tolist()
    [[5.0, 3.0], [3.0, 2.0]]
    """

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        hashes = batch.arrays.label_hashes[batch.label_codes]
        return [count_hashes(batch.offsets, hashes)]

    def _is_quick(self, batch: GraphBatch) -> bool:
        return self.similarity != "minmax" and len(batch.label_table) <= FEW_COLUMNS

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        return located_vertices(batch, [batch.arrays.label_hashes[batch.label_codes]])

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        codes = batch.arrays.label_hashes.tolist()
        names = dict(zip(codes, map(label_name, batch.label_table.tolist()), strict=True))
        return [names[code] for code in hashes.tolist()]

    def names_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        codes = batch.arrays.label_hashes.tolist()
        names = dict(zip(codes, map(Notation(batch).vertex, batch.label_table), strict=True))
        return [names[code] for code in hashes.tolist()]
