"""What kernels refuse: the rule, the value and the way out stand in the error."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import graphgrain as gg

from .found_kernels import GRAPHS


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gg.hash_labels([None, "C"]), r"integers or all be strings; got \[None, 'C'\]"),
        (lambda: gg.hash_labels([1.5]), r"got \[1.5\].*Divide numbers with a fraction into bins"),
        (lambda: gg.count_hashes([1, 0], gg.hash_labels(["C"])), r"ascend.*got \[1, 0\]"),
        (lambda: gg.count_hashes([0, 2], gg.hash_labels(["C"])), r"number of hashes \(1\)"),
        (lambda: gg.count_hashes([], gg.hash_labels(["C"])), "offsets of a GraphBatch"),
    ],
)
def test_hashes_and_pointers(call, message):
    with pytest.raises(gg.InvalidParameterError, match=message):
        call()


def test_lists_are_as_good_as_arrays():
    hashes = gg.hash_labels(["C", "O", "C"])
    counts = gg.count_hashes([0, 2, 3], hashes.tolist())
    assert counts.lengths.tolist() == [2, 1]
    assert set(counts.hashes.tolist()) == set(hashes.tolist())


@pytest.mark.parametrize(
    "kernel",
    [
        gg.DeepGraphKernel(dimension=10**12),
        gg.NeighbourhoodPairs(radius=10**15),
    ],
)
def test_parameters_that_memory_cannot_hold(kernel):
    if isinstance(kernel, gg.DeepGraphKernel):
        pytest.importorskip("gensim")
    with pytest.raises(gg.NotEnoughMemoryError, match=r"(Use|or) (a )?smaller"):
        kernel.fit_transform(GRAPHS)


@pytest.mark.parametrize("make", [gg.HashedAttributes, lambda: gg.AttributeBins(strategy="kmeans")])
def test_huge_attributes_have_a_finite_spread(make):
    values = np.arange(float(GRAPHS.n_vertices)).reshape(-1, 1)
    scales = []
    for factor in (1.0, 2.0**1000):
        batch = GRAPHS._replace(vertex_attributes=values * factor)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            scales.append(make().fit(batch).scale_ / factor)
    np.testing.assert_array_equal(*scales)
    np.testing.assert_allclose(scales[0], values.std(axis=0), rtol=1e-14)
