"""Continuous attributes for kernels that only use labels, by repeated random hashing.

1. Draw a random direction a and offset b; the bin of a vertex with attributes x is
   floor((a . x + b) / width). Similar attributes mostly share a bin.
2. Combine the bin with the label, and apply any kernel to the relabelled graphs.
3. Repeat with new draws; the kernel is the mean over all repetitions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..parameters import BOOLEAN, SEED, Described, Number, OneOf, Whole, check_parameters, parameter
from ..views.attribute_bins import with_bins
from ..views.base import attribute_columns, standard_deviations
from .bases.graph_kernel import GraphKernel
from .features import SIMILARITIES
from .propagation import LARGEST_BIN

KERNEL = Described(
    "a graph kernel, such as TreePlusPlus(tree_depth=2), or None",
    lambda v: v is None or isinstance(v, GraphKernel),
)


class HashedAttributes(GraphKernel):
    """Apply any kernel to continuous attributes, averaged over random hashings.

    Parameters
    ----------
    kernel : graph kernel, optional
        Kernel applied to the relabelled graphs; ``TreePlusPlus()`` by default.
    on : {"vertex", "edge"}, default="vertex"
        Whether vertex or edge attributes are hashed.
    n_draws : int, default=10
        Number of random hashings that are averaged.
    width : float, default=1.0
        Bin width, in standard deviations of the fitted attributes.
    keep_labels : bool, default=True
        If True, combine the bin with the existing label; if False, replace the label.
    similarity : {"cosine", "minmax", "dot"}, default="cosine"
        Similarity of ``kernel``; "minmax" requires a kernel with explicit features.
    random_state : int, default=0
        Seed of the hashings, which are drawn in ``fit`` and reused by ``transform``.
    n_jobs : int, optional
        Number of threads, passed to the kernel.
    verbose
        As in :class:`GraphKernel`.

    See Also
    --------
    AttributeBins : Bins as a view, by default with equal numbers of values.
    AttributedGraphHopper : A kernel that compares attributes directly.

    Notes
    -----
    With ``on="edge"`` the kernel must use edge labels (``TreePlusPlus(edge_labels=True)``).
    Coordinates change under rotation; hash distances (:class:`EdgeLengths`) instead.

    References
    ----------
    Morris, Kriege, Kersting, Mutzel: Faster kernels for graphs with continuous attributes via
    hashing. IEEE International Conference on Data Mining, 2016.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = gg.GraphBatch.from_edges(
    ...     [2, 2, 2], [(0, 1), (2, 3), (4, 5)], vertex_attributes=[0.0, 1.0, 0.1, 1.1, 7.0, 9.0])
    >>> K = gg.HashedAttributes(gg.TreePlusPlus(1, 0), n_draws=50).fit_transform(graphs)
    >>> bool(K[0, 1] > 3 * K[0, 2])
    True
    """

    kernel: GraphKernel | None = parameter(KERNEL, default=None, kw_only=False)
    on: str = parameter(OneOf(("vertex", "edge")), default="vertex")
    n_draws: int = parameter(Whole(1), default=10)
    width: float = parameter(Number(0.0), default=1.0)
    keep_labels: bool = parameter(BOOLEAN, default=True)
    similarity: str = parameter(OneOf(tuple(SIMILARITIES)), default="cosine")
    random_state: int | None = parameter(SEED, default=0)
    needs_attributes: ClassVar[bool] = True

    @property
    def _uses_labels(self) -> bool:  # type: ignore[override]
        return self.keep_labels or self.on == "edge"

    def _fit(self, batch: GraphBatch) -> None:
        values = attribute_columns(batch, self.on)
        spread = standard_deviations(values)
        self.scale_ = np.where(spread > 1e-12, spread, 1.0)
        rng = np.random.default_rng(self.random_state)
        self.directions_ = rng.standard_normal((self.n_draws, len(self.scale_)))
        self.offsets_ = rng.random(self.n_draws)
        self.kernels_ = [self._fresh_kernel() for _ in range(self.n_draws)]
        for draw, kernel in enumerate(self.kernels_):
            kernel.fit(self._hashed(batch, draw))

    def _fresh_kernel(self) -> GraphKernel:
        from .tree_plus_plus import TreePlusPlus

        kernel = clone(self.kernel) if self.kernel is not None else TreePlusPlus()
        kernel.set_params(similarity=self.similarity, n_jobs=self.n_jobs, verbose=self.verbose)
        if "output" in kernel.get_params():
            kernel.set_params(output="gram")
        check_parameters(kernel)
        if self.on == "edge" and "edge labels" not in kernel.sees:
            raise InvalidParameterError(
                "on='edge' makes edge labels of edge attributes, so kernel must be one that uses "
                f"them, such as TreePlusPlus(edge_labels=True); got {self.kernel!r}."
            )
        return kernel

    def _fixed_by_fit(self) -> dict[str, Any]:
        own = {} if self.kernel is None else self.kernel._fixed_by_fit()
        return super()._fixed_by_fit() | {f"kernel__{name}": own[name] for name in own}

    def _hashed(self, batch: GraphBatch, draw: int) -> GraphBatch:
        values = attribute_columns(batch, self.on, len(self.scale_))
        projected = (values / self.scale_) @ self.directions_[draw] / self.width
        bins = np.floor(projected + self.offsets_[draw])
        bins = np.clip(bins, -LARGEST_BIN, LARGEST_BIN).astype(np.int64)
        return with_bins(batch, self.on, bins.reshape(-1, 1), self.keep_labels)

    def _gram_of_fitted(self) -> np.ndarray:
        return self._mean(lambda draw: self.kernels_[draw].gram())

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        return self._mean(lambda draw: self.kernels_[draw].transform(self._hashed(batch, draw)))

    def _mean(self, gram: Callable[[int], np.ndarray]) -> np.ndarray:
        """Return the mean of a Gram matrix over all draws."""
        total: Any = 0
        for draw, kernel in enumerate(self.kernels_):
            kernel.set_params(similarity=self.similarity)  # may change after fit
            total = total + gram(draw)
        return total / self.n_draws
