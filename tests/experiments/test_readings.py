"""Other readings of two competitors against NetworkX, scikit-learn and the table's figures."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import graphgrain as gg
from experiments import readings
from experiments.data import prepare
from experiments.protocol import Protocol
from experiments.records import Records
from experiments.run import Entrant, run
from experiments.scores import results
from graphgrain.evaluation.candidates import KernelCandidates


@pytest.mark.parametrize("inverse", ["by_singular_values", "by_eigenvalues", "by_grounding"])
def test_pseudo_inverses_give_the_resistance(inverse):
    for G in (nx.path_graph(5), nx.petersen_graph(), nx.lollipop_graph(4, 3)):
        F = getattr(readings, inverse)(nx.laplacian_matrix(G).toarray().astype(float))
        expected = nx.resistance_distance(G)
        for u in G:
            for v in G:
                assert F[u, u] + F[v, v] - 2 * F[u, v] == pytest.approx(expected[u][v], abs=1e-9)


def test_borders_lie_at_multiples_of_the_width():
    # All distances are 2.8 widths in the triangle and 2.2 in the edge: the same bin, from 2 to 3.
    graphs = gg.as_graphs([([(0, 1), (1, 2), (0, 2)], [0] * 3), ([(0, 1)], [0] * 2)])
    K = readings.with_borders(
        graphs, lambda L: (1.4e-4 if len(L) == 3 else 1.1e-4) * np.eye(len(L))
    )
    shared = (3 * 2 + 6 * 2) / np.sqrt((3**2 + 6**2) * (2**2 + 2**2))
    np.testing.assert_allclose(K, [[1, shared], [shared, 1]])


def test_gaussian_equals_scikit_learn():
    graphs = gg.load_drugs()[0][:12]
    X = gg.SpectralDistance(output="features").fit_transform(graphs).toarray().astype(float)
    np.testing.assert_allclose(readings.gaussian(graphs, 1e-3), rbf_kernel(X, gamma=1e-3))
    np.testing.assert_allclose(readings.gaussian(graphs, None), rbf_kernel(X))


def test_accuracy_is_that_of_the_table(tmp_path):
    graphs, y = gg.load_drugs()
    data = prepare("drugs", graphs[::2], y[::2])
    settings = ({"dimension": 4, "depth": 2}, {"dimension": 6, "depth": 3})
    records, protocol = Records(tmp_path / "records.jsonl"), Protocol("paper", seed=3)
    kernel = Entrant("PM", KernelCandidates("PM", gg.PyramidMatch, settings))
    run(data, kernel, protocol, 2, records, n_jobs=1)
    [result] = results(records.records, protocol).values()
    ours = readings.accuracy(
        readings.grams(gg.PyramidMatch, settings, data), data, repeats=2, seed=3
    )
    assert ours == pytest.approx(result.accuracies.mean())
