"""The kernels of the library, found and not listed, and graphs to try them on."""

from __future__ import annotations

import inspect

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import issparse

import graphgrain as gg
from graphgrain.kernels.bases.feature_kernel import FeatureKernel
from graphgrain.kernels.bases.graph_kernel import GraphKernel

KERNELS = sorted(
    (
        value
        for value in (getattr(gg, name) for name in gg.__all__)
        if inspect.isclass(value)
        and issubclass(value, GraphKernel)
        and value not in (GraphKernel, FeatureKernel)
    ),
    key=lambda kernel: kernel.__name__,
)
EXPLICIT = [kernel for kernel in KERNELS if issubclass(kernel, FeatureKernel)]

#: Those that look at labels, and those with a choice of count maps.
LABELLED = [kernel for kernel in KERNELS if kernel._uses_labels]
COUNTED = [kernel for kernel in EXPLICIT if "counts" in kernel().get_params()]


def of(kernels: list[type[GraphKernel]]) -> pytest.MarkDecorator:
    """A test for each of these kernels."""
    return pytest.mark.parametrize("Kernel", kernels, ids=lambda kernel: kernel.__name__)


every_kernel = of(KERNELS)
every_explicit = of(EXPLICIT)


def make_graphs(count: int = 24, seed: int = 0) -> tuple[gg.GraphBatch, np.ndarray]:
    """Rings and trees with labels and edge labels; the two shapes are the classes."""
    rng = np.random.default_rng(seed)
    made, y = [], []
    for number in range(count):
        size = int(rng.integers(5, 12))
        ring = number % 2 == 0
        graph = nx.cycle_graph(size) if ring else nx.random_labeled_tree(size, seed=number)
        labels = rng.choice(["C", "N", "O"], size, p=[0.6, 0.2, 0.2]).tolist()
        bonds = rng.integers(1, 3, graph.number_of_edges()).tolist()
        made.append((list(graph.edges), labels, bonds))
        y.append(int(ring))
    return with_attributes(gg.as_graphs(made)), np.array(y)


def with_attributes(batch: gg.GraphBatch) -> gg.GraphBatch:
    """The graphs with two numbers at each vertex, which depend on its label and its degree."""
    codes = np.array([len(label) + ord(label[0]) % 7 for label in batch.labels], dtype=float)
    return gg.GraphBatch.from_edges(
        batch.vertex_counts,
        batch.edges,
        batch.labels,
        edge_labels=batch.edge_labels,
        vertex_attributes=np.column_stack((codes, batch.degrees)),
    )


GRAPHS, Y = make_graphs()
ODD_GRAPHS = with_attributes(
    gg.as_graphs(
        [
            ([], []),
            ([], ["C"]),
            ([], ["C", "N"]),
            ([(0, 1)], ["C", "C"]),
            ([(0, 1), (2, 3)], ["C", "C", "N", "N"]),
            ([(0, 1), (1, 2), (0, 2)], ["C", "C", "C"]),
            ([(0, 1)], ["new", "labels"]),
        ]
    )
)


def plain(X: object) -> np.ndarray:
    return X.toarray() if issparse(X) else np.asarray(X)
