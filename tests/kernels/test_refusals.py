"""What kernels refuse: the rule, the value and the way out stand in the error."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.graphs.batch import replaced
from graphgrain.kernels.registry import kernel_to_json

from .found_kernels import GRAPHS, KERNELS, of

EDGE = [([(0, 1)], [1, 2])]


def with_values(values: object) -> gg.GraphBatch:
    """One vertex with attributes."""
    return gg.GraphBatch.from_edges([1], [], vertex_attributes=values)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gg.hash_labels([None, "C"]), r"integers or all be strings; got \[None, 'C'\]"),
        (lambda: gg.hash_labels([1.5]), r"got \[1.5\].*Divide numbers with a fraction into bins"),
        (lambda: gg.count_hashes([1, 0], gg.hash_labels(["C"])), r"ascend.*got \[1, 0\]"),
        (lambda: gg.count_hashes([0, 2], gg.hash_labels(["C"])), r"number of hashes \(1\)"),
        (lambda: gg.count_hashes([], gg.hash_labels(["C"])), "offsets of a GraphBatch"),
        (
            lambda: gg.VertexHistogram().count(EDGE).similarities("tanimoto"),
            "similarity must be one of .* got 'tanimoto'",
        ),
        (
            lambda: gg.VertexHistogram().count(EDGE).mapped("squares"),
            "counts must be one of .* got 'squares'",
        ),
        (
            lambda: gg.Propagation(attributes=True, metric="hellinger").fit(EDGE),
            "'tv' or 'l2' with attributes=True",
        ),
        (
            lambda: gg.Graphlet(5, connected=False, counts="intersection").fit(
                gg.GraphBatch.from_edges([3000], [])
            ),
            "Use counts='sqrt'",
        ),
        (lambda: gg.NetLSD(signature="wave", scale="complete").fit(EDGE), "passes 0"),
        (lambda: kernel_to_json(gg.Propagation(bin_width=np.inf)), "numbers, words or None"),
        (
            lambda: kernel_to_json(gg.Graphlet(random_state=np.random.RandomState(0))),
            "numbers, words or None",
        ),
    ],
)
def test_parameters_and_arguments(call, message):
    with pytest.raises(gg.InvalidParameterError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gg.SpectralDistance().distances(EDGE * 2), "one graph; got 2"),
        (  # a mark of missing values, such as the largest number there is
            lambda: gg.WassersteinWL(attributes=True).fit(with_values([np.finfo(float).max])),
            r"between -1e\+150 and 1e\+150",
        ),
    ],
)
def test_graphs(call, message):
    with pytest.raises(gg.InvalidGraphError, match=message):
        call()


@of([kernel for kernel in KERNELS if "edge_labels" in kernel().get_params()])
def test_edge_labels_that_are_missing(Kernel):
    if Kernel.needs_attributes:
        graphs = gg.GraphBatch.from_edges([2], [(0, 1)], vertex_attributes=[1.0, 2.0])
    else:
        graphs = gg.as_graphs(EDGE)
    with pytest.raises(gg.InvalidGraphError, match="edge_labels=True needs graphs with edge label"):
        Kernel(edge_labels=True).fit(graphs)


@of(
    [
        kernel
        for kernel in KERNELS
        if {"attributes", "vertex_kernel", "on"} & {*kernel().get_params()}
    ]
)
def test_attributes_that_are_missing_or_changed(Kernel):
    uses = {"attributes": True} if "attributes" in Kernel().get_params() else {}
    with pytest.raises(gg.InvalidGraphError, match=r"needs .*vertex attributes"):
        Kernel(**uses).fit(EDGE)
    with pytest.raises(gg.InvalidGraphError, match=r"as at fit \(2\); got 3"):
        Kernel(**uses).fit(with_values([[1, 2]])).transform(with_values([[1, 2, 3]]))
    if Kernel in (gg.Propagation, gg.DescriptorMatching):
        with pytest.raises(gg.InvalidGraphError, match="needs graphs with vertex attributes"):
            Kernel(**uses).fit(with_values(np.empty((1, 0))))


@pytest.mark.parametrize(
    "kernel", [gg.DeepGraphKernel(dimension=10**12), gg.NeighbourhoodPairs(radius=10**15)]
)
def test_parameters_that_memory_cannot_hold(kernel):
    if isinstance(kernel, gg.DeepGraphKernel):
        pytest.importorskip("gensim")
    with pytest.raises(gg.NotEnoughMemoryError, match=r"(Use|or) (a )?smaller"):
        kernel.fit_transform(GRAPHS)


def test_lists_are_as_good_as_arrays():
    hashes = gg.hash_labels(["C", "O", "C"])
    counts = gg.count_hashes([0, 2, 3], hashes.tolist())
    assert counts.lengths.tolist() == [2, 1]
    assert set(counts.hashes.tolist()) == set(hashes.tolist())


@pytest.mark.parametrize("make", [gg.HashedAttributes, lambda: gg.AttributeBins(strategy="kmeans")])
def test_huge_attributes_have_a_finite_spread(make):
    values = np.arange(float(GRAPHS.n_vertices)).reshape(-1, 1)
    scales = []
    for factor in (1.0, 2.0**1000):
        batch = replaced(GRAPHS, vertex_attributes=values * factor)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            scales.append(make().fit(batch).scale_ / factor)
    np.testing.assert_array_equal(*scales)
    np.testing.assert_allclose(scales[0], values.std(axis=0), rtol=1e-14)
