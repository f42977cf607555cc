"""Data and a folder of its own for every test of the program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphgrain as gg

from .. import real_data


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> Path:
    """Two families of drugs as a TU zip."""
    graphs, y = gg.load_drugs()
    pick = np.flatnonzero(np.isin(y, ["antihistamines", "tricyclics"]))
    path = tmp_path_factory.mktemp("data") / "TOY.zip"
    gg.save_tu(path, graphs[pick], y[pick])
    return path


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def real(monkeypatch):
    monkeypatch.setenv("GRAPHGRAIN_DATA", str(real_data.tu_file("KKI").parent))
