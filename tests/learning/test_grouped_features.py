"""The matrix that linear models train on: few columns, the same inner products as the kernel."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.kernels.features import COUNT_MAPS, Counts
from graphgrain.learning.folding import Folding, group_patterns
from graphgrain.learning.linear import GroupedFeatures


@pytest.fixture(scope="module")
def drugs() -> gg.GraphBatch:
    return gg.load_drugs()[0]


@pytest.mark.parametrize("counts", COUNT_MAPS)
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("levels", [2, 3])
def test_products_are_those_of_the_kernel(drugs, counts, normalize, levels):
    counter = gg.TreePlusPlus(4, 2)
    folding = Folding(None, counter, drugs.label_kind, iter(counter.count_features(drugs)))
    features = GroupedFeatures.of(folding, counts, normalize, levels)
    matrix = features.matrix
    kernel = gg.TreePlusPlus(
        4, levels - 1, counts=counts, similarity="cosine" if normalize else "dot"
    ).fit(drugs)
    np.testing.assert_allclose(
        (matrix @ matrix.T).toarray() * features.scale**2, kernel.gram(), rtol=1e-9, atol=1e-9
    )
    assert matrix.shape[1] < len(kernel.feature_names())
    assert matrix.has_canonical_format  # columns of a row ascend, none twice
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32


def test_counts_beyond_four_bytes():
    """A large graph can have more than 2^31 occurrences of one pattern."""
    counts = Counts(
        np.array([1, 1]), np.array([7, 7], dtype=np.uint64), np.array([5_000_000_000, 3])
    )
    _, columns = group_patterns(counts)
    assert columns.counts.tolist() == [5_000_000_000, 3]
