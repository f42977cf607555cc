"""Progress of kernels: silent unless asked, and without influence on what comes out."""

import numpy as np
import pytest

import graphgrain as gg
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
