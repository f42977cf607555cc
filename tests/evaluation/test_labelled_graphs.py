"""Data sets made ready: duplicates out, fingerprints that notice everything."""

from __future__ import annotations

import numpy as np
import pytest
from graphgrain.evaluation.labelled_graphs import fingerprint, prepare

import graphgrain as gg
from graphgrain.errors import InvalidParameterError

EDGE, PATH = ([(0, 1)], [1, 2]), ([(0, 1), (1, 2)], [1, 2, 1])
FORK, RING = ([(0, 1), (0, 2)], [2, 1, 1]), ([(0, 1), (1, 2), (0, 2)], [1, 1, 1])


def test_one_of_each_set_of_duplicates_stays_with_the_class_of_most():
    graphs = [EDGE, PATH, FORK, RING, RING, PATH, ([(0, 1)], [2, 1])]  # FORK is PATH renumbered
    y = [0, 0, 1, 1, 1, 1, 0]
    data = prepare("toy", [*graphs, ([], [1])], [*y, 0], remove_duplicates=True)
    assert data.removed == 4
    kept = [(graph.n_vertices, graph.n_edges) for graph in data.graphs]
    assert kept == [(2, 1), (3, 2), (3, 3), (1, 0)]
    assert data.codes.tolist() == [0, 1, 1, 0]  # PATH: two of three have class 1
    assert data.deduplicated


def test_the_fingerprint_notices_any_change():
    graphs = gg.as_graphs([EDGE, PATH, RING])
    y = np.array([0, 1, 1])
    same = fingerprint(gg.as_graphs([EDGE, PATH, RING]), y.astype(np.int32))
    changed = [
        fingerprint(gg.as_graphs([PATH, EDGE, RING]), y),
        fingerprint(graphs, np.array([0, 1, 0])),
        fingerprint(graphs.with_labels([1, 2, 1, 2, 1, 1, 1, 2]), y),
        fingerprint(graphs.with_labels(None), y),
        fingerprint(graphs[:2], y[:2]),
        fingerprint(graphs.with_labels([str(label) for label in graphs.labels]), y),
    ]
    assert fingerprint(graphs, y) == same
    assert len({same, *changed}) == 1 + len(changed)


@pytest.mark.parametrize(
    ("graphs", "y", "message"),
    [
        ([EDGE] * 4, [0, 1, 0, 1], "got 4 graphs for 5 folds"),
        ([EDGE] * 5, [0, 0, 0, 0, 1], "class 1 has 1"),
        ([EDGE] * 5, [0] * 5, "at least two classes"),
        ([EDGE] * 5, [0.5, 0.1, 0.2, 0.3, 0.4], "as for regression"),
    ],
)
def test_bad_input(graphs, y, message):
    with pytest.raises(InvalidParameterError, match=message):
        prepare("toy", graphs, y, folds=5)
