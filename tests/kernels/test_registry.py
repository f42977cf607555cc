"""The table of kernels: complete, valid, and its grids give the matrices they promise."""

import inspect

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.kernels.base import GraphKernel
from graphgrain.kernels.registry import KERNELS

from .peers import random_graphs

BATCH = random_graphs(8, seed=1, largest=8)


def test_every_public_kernel_has_a_name():
    public = {
        value
        for value in (getattr(gg, name) for name in gg.__all__)
        if inspect.isclass(value) and issubclass(value, GraphKernel)
    }
    assert public - {entry.kernel for entry in KERNELS.values()} <= {gg.HashedAttributes}


def test_the_papers_columns_are_there():
    columns = {entry.column for entry in KERNELS.values()}
    paper = {"Tree++", "MLG", "DGK", "RetGK", "Propa", "PM", "SP", "WL", "FGSD"}
    assert paper <= columns
    assert len(columns) == len(KERNELS)


@pytest.mark.parametrize("name", KERNELS)
def test_the_matrices_of_a_grid_are_those_of_its_settings(name):
    entry = KERNELS[name]
    made = list(entry.grams(BATCH))
    assert [setting for setting, _ in made] == entry.settings()
    chosen = {0, len(made) // 2, len(made) - 1}
    for number in chosen:
        setting, K = made[number]
        expected = entry.kernel(**setting).fit_transform(BATCH)
        np.testing.assert_allclose(K, expected, rtol=1e-12, err_msg=str(setting))


def test_the_grids_of_the_paper():
    assert [s["tree_depth"] for s in KERNELS["tree++"].settings()] == list(range(8))
    assert {s["path_depth"] for s in KERNELS["tree++"].settings()} == {6}
    assert [s["n_iter"] for s in KERNELS["wl"].settings()] == list(range(11))
