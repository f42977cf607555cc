"""Propagated: base class of the kernels that propagate labels or attributes."""

from __future__ import annotations

import numpy as np

from ...core.hashing import GOLDEN, hash_labels, mix_array
from ...errors import InvalidGraphError, InvalidParameterError
from ...graphs.batch import GraphBatch
from ...parameters import BOOLEAN, SEED, Whole, parameter
from ...views.base import attribute_columns
from .feature_kernel import FeatureKernel


class Propagated(FeatureKernel):
    """Base class of the kernels that propagate labels or attributes and hash the result.

    Random numbers are derived from the seed and the label (or the number of the attribute), so they
    do not depend on which other labels exist, and new graphs may have new labels.
    """

    n_iter: int = parameter(Whole(0), default=3, kw_only=False)
    attributes: bool = parameter(BOOLEAN, default=False)
    random_state: int | None = parameter(SEED, default=0)

    @property
    def _uses_labels(self) -> bool:  # type: ignore[override]
        return not self.attributes

    def _begin_fit(self, batch: GraphBatch) -> None:
        super()._begin_fit(batch)
        self.seed_ = self._new_seed()
        if self.attributes and batch.vertex_attributes is not None:
            self.n_attributes_ = batch.vertex_attributes.shape[1]

    def _new_seed(self) -> int:
        if self._stateless and self.random_state is None and not hasattr(self, "n_graphs_"):
            raise InvalidParameterError(
                "random_state must be an integer of 0 or more without fit; got None, with which "
                "every call would draw other bins. Set it, or call fit first."
            )
        seed = np.random.SeedSequence(self.random_state)
        return int(seed.generate_state(1, dtype=np.uint64)[0])

    def _uniforms(self, hashes: np.ndarray, stream: int) -> np.ndarray:
        """Return numbers in [0, 1) that depend only on the seed, the hash and the stream."""
        seed = self.seed_ if hasattr(self, "seed_") else self._new_seed()
        with np.errstate(over="ignore"):
            salt = mix_array(np.array([seed], np.uint64) + np.uint64(stream + 1) * GOLDEN)
            return (mix_array(mix_array(hashes + salt) + salt) >> np.uint64(11)) * 2.0**-53

    def _columns(self, batch: GraphBatch) -> tuple[np.ndarray, np.ndarray]:
        """Return the attributes (no columns if labels are propagated) and a hash per column."""
        if not self.attributes:
            return np.empty((batch.n_vertices, 0)), hash_labels(batch.label_table)
        attributes = batch.vertex_attributes
        if batch.n_vertices and (attributes is None or not attributes.shape[1]):
            raise InvalidGraphError(
                "attributes=True needs graphs with vertex attributes; these have none. Give them "
                "(GraphBatch.from_edges(..., vertex_attributes=...)) or use attributes=False."
            )
        expected = getattr(self, "n_attributes_", None)
        table = attribute_columns(batch, "vertex", expected)
        return np.ascontiguousarray(table), hash_labels(np.arange(table.shape[1]), 2)
