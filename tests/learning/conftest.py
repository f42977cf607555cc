"""Graphs that several files learn from."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrain as gg

MASSES = {"C": 12.011, "N": 14.007, "O": 15.999, "F": 18.998, "P": 30.974, "S": 32.06}
MASSES |= {"Cl": 35.45, "Br": 79.904, "I": 126.904}


@pytest.fixture(scope="session")
def drugs():
    """292 molecules of eleven families."""
    return gg.load_drugs()


@pytest.fixture(scope="session")
def families(drugs):
    """Two families of molecules; their bonds have labels."""
    graphs, y = drugs
    pick = np.flatnonzero(np.isin(y, ["opioids", "barbiturates"]))
    return graphs[pick], y[pick]


@pytest.fixture(scope="session")
def masses(drugs):
    """The masses of the heavy atoms of each molecule."""
    graphs, _ = drugs
    atoms = np.array([MASSES[label] for label in graphs.labels])
    return np.add.reduceat(atoms, graphs.offsets[:-1])


@pytest.fixture(scope="session")
def chains():
    """A function that makes random chains of two kinds of atoms, and counts one kind."""

    def make(number: int, seed: int = 0) -> tuple[gg.GraphBatch, np.ndarray]:
        rng = np.random.default_rng(seed)
        graphs, found = [], []
        for _ in range(number):
            size = int(rng.integers(4, 12))
            atoms = rng.choice(["C", "N"], size).tolist()
            graphs.append(([(i, i + 1) for i in range(size - 1)], atoms))
            found.append(atoms.count("N"))
        return gg.as_graphs(graphs), np.array(found, dtype=float)

    return make
