"""An index of the bundled drugs, and graphs that are odd in every way."""

from __future__ import annotations

import pytest

import graphgrain as gg


@pytest.fixture(scope="session")
def drugs():
    return gg.load_drugs(names=True)


@pytest.fixture(scope="session")
def drug_index(drugs, tmp_path_factory):
    graphs, families, names = drugs
    path = tmp_path_factory.mktemp("drugs") / "drugs.ggi"
    return gg.GraphIndex.build(path, graphs, ids=names, columns={"family": families})
