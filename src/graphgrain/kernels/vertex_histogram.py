"""The vertex histogram kernel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.counting import count_hashes
from ..core.hashing import hash_labels
from ..graphs.batch import GraphBatch
from .bases.feature_kernel import FeatureKernel
from .features import Counts, Occurrences, single_vertices
from .naming import Notation, label_name


class VertexHistogram(FeatureKernel):
    """Vertex histogram kernel: counts of the vertex labels. Edges do not matter.

    Parameters
    ----------
    similarity : {"cosine", "minmax", "dot"}, default="cosine"
        How the features of two graphs are compared: "dot", their dot product; "cosine", the same
        divided by both norms; "minmax", the sum of minima over the sum of maxima (the Tanimoto
        coefficient of counts). Does not concern ``output="features"``.
    output : {"gram", "features"}, default="gram"
        What ``transform`` returns: similarities to the fitted graphs, or a sparse matrix of
        counts with the columns seen at fit.
    counts : {"raw", "sqrt", "log", "binary", "intersection"}, default="raw"
        Map applied to each count before the product.
    n_features : int, optional
        Number of columns of ``output="features"``: hashes modulo this number, so that nothing is
        learned, any graphs can be transformed anywhere and ``fit`` is not needed. By default a
        column for every feature seen at fit.
    n_jobs : int, optional
        Number of threads; -1 takes all cores. The result does not depend on it.
    verbose : int, default=0
        If 1 or more, show a progress bar on standard error for steps that take longer than two
        seconds.

    See Also
    --------
    EdgeHistogram : Edges instead of vertices.
    WeisfeilerLehman : Labels refined by their neighbours'.

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

    def __init__(
        self,
        *,
        similarity: str = "cosine",
        output: str = "gram",
        counts: str = "raw",
        n_features: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.similarity = similarity
        self.output = output
        self.counts = counts
        self.n_features = n_features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        hashes = hash_labels(batch.label_table)[batch.label_codes]
        return [count_hashes(batch.offsets, hashes)]

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        hashes = hash_labels(batch.label_table)[batch.label_codes]
        for graph in range(len(batch)):
            own = slice(int(batch.offsets[graph]), int(batch.offsets[graph + 1]))
            paths = single_vertices(own.stop - own.start)
            yield [Occurrences(hashes[own], paths, paths)]

    def _describe(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        codes = hash_labels(batch.label_table).tolist()
        names = dict(zip(codes, map(label_name, batch.label_table.tolist()), strict=True))
        return [names[code] for code in hashes.tolist()]

    def _write_names(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        codes = hash_labels(batch.label_table).tolist()
        names = dict(zip(codes, map(Notation(batch).vertex, batch.label_table), strict=True))
        return [names[code] for code in hashes.tolist()]
