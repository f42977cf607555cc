"""Small things that evaluations are tried on."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrain as gg
from experiments.data import prepare


@pytest.fixture(scope="session")
def families():
    """Two families of drugs that are not too easy to tell apart."""
    graphs, y = gg.load_drugs()
    pick = np.flatnonzero(np.isin(y, ["antihistamines", "tricyclics"]))
    return prepare("families", graphs[pick], y[pick])


@pytest.fixture(scope="session")
def three_families():
    graphs, y = gg.load_drugs()
    pick = np.flatnonzero(np.isin(y, ["antihistamines", "tricyclics", "opioids"]))
    return prepare("three", graphs[pick], y[pick])
