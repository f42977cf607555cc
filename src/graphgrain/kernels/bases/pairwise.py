"""PairwiseKernel: kernels that compare graphs two by two."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from ...core.memory import require_memory
from ...core.structures import ALL, LOWER, OWN
from ...core.threads import chunks, run, thread_count
from ...errors import InvalidParameterError
from ...graphs.batch import GraphBatch
from ...parameters import Number, OneOf, parameter
from ...views.base import attribute_columns
from .graph_kernel import GraphKernel, normalized

#: Approximate number of vertex pairs per task, so that a task takes well below a second.
PAIRS_PER_TASK = 1 << 22


class PairwiseKernel(GraphKernel):
    """Base class of the kernels without explicit features.

    Subclasses preprocess graphs once (``_prepare``) and compare pairs of them (``_compare``).
    """

    #: Number of 8-byte values kept per vertex pair while two graphs are compared.
    _numbers_per_pair: ClassVar[int] = 0

    @abstractmethod
    def _prepare(self, batch: GraphBatch) -> Any:
        """Return the preprocessed graphs that ``_compare`` needs."""

    def _sizes(self, graphs: Any) -> np.ndarray:
        """Return the sizes of preprocessed graphs; a comparison costs their product."""
        return np.diff(graphs.offsets)

    @abstractmethod
    def _compare(
        self, left: Any, right: Any, which: int, begin: int, end: int, K: np.ndarray
    ) -> None:
        """Fill rows ``begin`` to ``end`` of K; ``which`` is ALL, LOWER or OWN (one column)."""

    def _begin_fit(self, batch: GraphBatch) -> None:
        super()._begin_fit(batch)
        require_pairs(batch.vertex_counts, batch.vertex_counts, self._numbers_per_pair, self.n_jobs)

    def _checked(self, X: Any) -> GraphBatch:
        batch = super()._checked(X)
        others = np.concatenate((batch.vertex_counts, self._sizes(self._fitted)))
        require_pairs(batch.vertex_counts, others, self._numbers_per_pair, self.n_jobs)
        return batch

    def _fit(self, batch: GraphBatch) -> None:
        self._fitted = self._prepare(batch)
        self._own = self._similarities(self._fitted, self._fitted, OWN)[:, 0]

    def _gram_of_fitted(self) -> np.ndarray:
        K = self._similarities(self._fitted, self._fitted, LOWER)
        K = np.tril(K) + np.tril(K, -1).T
        return normalized(K, self._own) if self.similarity == "cosine" else K

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        new = self._prepare(batch)
        K = self._similarities(new, self._fitted, ALL)
        if self.similarity != "cosine":
            return K
        return normalized(K, self._similarities(new, new, OWN)[:, 0], self._own)

    def _similarities(self, left: Any, right: Any, which: int) -> np.ndarray:
        rows, columns = self._sizes(left), self._sizes(right)
        K = np.zeros((len(rows), 1 if which == OWN else len(columns)))
        pairs = rows**2 if which == OWN else rows * max(int(columns.sum()), 1)
        run(
            lambda begin, end: self._compare(left, right, which, begin, end, K),
            chunks(pairs, PAIRS_PER_TASK),
            self.n_jobs,
        )
        if not np.isfinite(K).all():
            smaller = [name for name in ("depth", "n_steps", "decay") if hasattr(self, name)]
            advice = f"a smaller {' or '.join(smaller)}" if smaller else "AttributeScaler first"
            raise InvalidParameterError(
                f"The values of {type(self).__name__} must be below 1.8e308, the largest number; "
                f"those of these graphs are not. Use {advice}."
            )
        return K


def require_pairs(rows: np.ndarray, columns: np.ndarray, numbers: int, n_jobs: int | None) -> None:
    """Raise an error if ``numbers`` values per vertex pair do not fit into memory.

    ``rows`` and ``columns`` are the sizes of the graphs; each thread has its own buffer.
    """
    n, m = int(rows.max(initial=0)), int(columns.max(initial=0))
    threads = min(thread_count(n_jobs), max(len(rows), 1))
    require_memory(
        8.0 * numbers * n * m * threads,
        f"The pairs of vertices of graphs with {n:,} and {m:,} of them",
        "Use a kernel that does not compare vertices pair by pair, such as TreePlusPlus or "
        "WeisfeilerLehman",
    )


class AttributedKernel(PairwiseKernel):
    """Base class of the kernels that compare the attributes of pairs of vertices.

    Attributes
    ----------
    n_attributes_ : int
        Number of vertex attributes seen during fit.
    """

    vertex_kernel: str = parameter(OneOf(("gaussian", "linear")), default="gaussian", kw_only=False)
    gamma: float | None = parameter(Number(0.0, optional=True), default=None)
    needs_attributes: ClassVar[bool] = True

    @property
    def _gamma(self) -> float:
        return 1.0 / max(self.n_attributes_, 1) if self.gamma is None else self.gamma

    def _attributes(self, batch: GraphBatch) -> np.ndarray:
        return attribute_columns(batch, "vertex", self.n_attributes_)

    def _fit(self, batch: GraphBatch) -> None:
        self.n_attributes_ = attribute_columns(batch, "vertex").shape[1]
        super()._fit(batch)
