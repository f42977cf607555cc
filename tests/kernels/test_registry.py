"""The table of kernels: complete, valid, and its grids give the matrices they promise."""

import inspect
import json

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import InvalidFileError
from graphgrain.evaluation.candidates import candidates
from graphgrain.kernels.bases.graph_kernel import GraphKernel
from graphgrain.kernels.registry import KERNELS, kernel_from_json, kernel_to_json

from .peers import random_graphs

BATCH = random_graphs(8, seed=1, largest=8)


def test_every_public_kernel_has_a_name():
    public = {
        value
        for value in (getattr(gg, name) for name in gg.__all__)
        if inspect.isclass(value) and issubclass(value, GraphKernel)
    } - {gg.GraphKernel, gg.FeatureKernel}
    listed = {row.kernel for row in KERNELS.values()}
    assert all(kernel in listed or kernel.needs_attributes for kernel in public)


def test_names_and_titles():
    titles = {row.title for row in KERNELS.values()}
    paper = {"Tree++", "MLG", "DGK", "RetGK", "Propa", "PM", "SP", "WL", "FGSD"}
    assert paper <= titles
    assert len(titles) == len(KERNELS)
    assert all(name == row.name for name, row in KERNELS.items())
    assert gg.list_kernels() == {name: row.kernel for name, row in KERNELS.items()}


@pytest.mark.parametrize("name", KERNELS)
def test_the_matrices_of_a_row_are_those_of_its_settings(name):
    row = candidates(name)
    assert row.settings
    for setting in row.settings[:: max(1, len(row.settings) - 1)]:  # the first and the last
        levels, grams = row.levels(setting), list(row.grams(setting, BATCH))
        assert len(levels) == len(grams)
        for at in {0, len(levels) // 2, len(levels) - 1}:
            expected = row.kernel(**levels[at]).fit_transform(BATCH)
            np.testing.assert_allclose(grams[at], expected, rtol=1e-12, err_msg=str(levels[at]))


def test_the_grids_of_the_paper():
    assert KERNELS["tree++"].settings == ({"path_depth": 6, "tree_depth": 7},)
    assert KERNELS["wl"].settings == ({"n_iter": 10},)
    assert len(KERNELS["pm"].settings) == 12


@pytest.mark.parametrize("name", ["propa", "dm", "wwl"])
def test_grids_for_attributes_give_the_same_in_any_unit(name):
    """Thousands, thousandths, and another zero, as of degrees Celsius and Fahrenheit."""
    rng = np.random.default_rng(0)
    plain = random_graphs(12, seed=1, largest=8)
    table = rng.normal(size=(plain.n_vertices, 3))

    def grams(attributes):
        graphs = gg.GraphBatch.from_edges(
            plain.vertex_counts, plain.edges, plain.labels, vertex_attributes=attributes
        )
        row = candidates(name).with_parameters(attributes=True)
        return np.array([K for setting in row.settings for K in row.grams(setting, graphs)])

    expected = grams(table)
    ones = np.eye(len(plain))
    assert np.abs(expected - ones).max() > 0.03  # graphs are not all different
    assert expected.min() < 0.9  # nor all alike
    for other in (1e3 * table, 1e-3 * table, 1.8 * table + 32.0, table * [1e6, 1.0, 1e-6]):
        np.testing.assert_allclose(grams(other), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_come_back_from_files(name):
    kernel = KERNELS[name].kernel()
    entry = json.loads(json.dumps(kernel_to_json(kernel, leave_out=("n_jobs",))))
    assert "n_jobs" not in entry["parameters"]
    back = kernel_from_json(entry)
    assert type(back) is type(kernel)
    assert repr(back.get_params()) == repr(kernel.get_params())


@pytest.mark.parametrize(
    "entry",
    [
        None,
        {"class": "TreePlusPlus"},
        {"class": "TreePlusPlus", "parameters": [1]},
        {"class": ["TreePlusPlus"], "parameters": {}},
        {"class": "SVC", "parameters": {}},
        {"class": "TreePlusPlus", "parameters": {"path_depth": -1}},
        {"class": "TreePlusPlus", "parameters": {"path_depth": "a"}},
        {"class": "TreePlusPlus", "parameters": {"nonsense": 1}},
    ],
)
def test_what_is_no_kernel_in_a_file(entry):
    with pytest.raises(InvalidFileError):
        kernel_from_json(entry)
