"""Progress of kernels: silent unless asked, and without influence on what comes out."""

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.core.threads import run, watched
from graphgrain.kernels.bases import graph_kernel

from .peers import random_graphs

KERNELS = [gg.TreePlusPlus, gg.ShortestPath, gg.RandomWalk, gg.PyramidMatch]


@pytest.fixture
def impatient(monkeypatch):
    """Work in many parts, and bars that appear at once."""
    monkeypatch.setattr(graph_kernel, "_PATIENCE", 0.0)
    monkeypatch.setattr("graphgrain.core.threads.CHUNK_VERTICES", 10)
    monkeypatch.setattr("graphgrain.kernels.bases.pairwise.PAIRS_PER_TASK", 100)


@pytest.mark.parametrize("Kernel", KERNELS)
def test_bars_only_if_asked_and_the_same_matrix(Kernel, impatient, capfd):
    graphs = random_graphs(12, seed=1, largest=8)
    silent = Kernel().fit_transform(graphs)
    capfd.readouterr()  # that it compiles may have been said
    Kernel().fit(graphs).transform(graphs[:5])
    capfd.readouterr()
    Kernel().fit_transform(graphs)
    assert capfd.readouterr() == ("", "")
    spoken = Kernel(verbose=True)
    np.testing.assert_array_equal(spoken.fit_transform(graphs), silent)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert Kernel.__name__ in shown.err
    assert "100%" in shown.err
    spoken.transform(graphs[:5])
    assert Kernel.__name__ in capfd.readouterr().err


def test_short_work_shows_nothing(capfd):
    gg.TreePlusPlus(verbose=True).fit_transform(random_graphs(4, seed=1, largest=5))
    gg.TreePlusPlus(verbose=True).fit_transform(random_graphs(4, seed=1, largest=5))
    assert "%" not in capfd.readouterr().err


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_bar_counts_the_ranges_of_the_outer_run_alone(n_jobs):
    counted = []

    class Bar:
        def __init__(self, total):
            counted.append([total, 0])

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return False

        def update(self, more):
            counted[-1][1] += more

    def outer(begin, end):
        return sum(run(lambda a, b: b - a, [(begin, end), (0, 1)], None))

    with watched(Bar):
        assert run(outer, [(0, 2), (2, 5), (5, 9)], n_jobs) == [3, 4, 5]
    assert counted == [[3, 3]]
    run(outer, [(0, 2), (2, 5)], n_jobs)
    assert len(counted) == 1
