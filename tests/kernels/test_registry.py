"""The table of kernels: complete, valid, and its grids give the matrices they promise."""

import inspect
import json

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import InvalidFileError, InvalidParameterError
from graphgrain.kernels.bases.graph_kernel import GraphKernel
from graphgrain.kernels.registry import KERNELS, Setting, kernel_from_json, kernel_to_json

from .peers import random_graphs

BATCH = random_graphs(8, seed=1, largest=8)


def test_every_public_kernel_has_a_name():
    public = {
        value
        for value in (getattr(gg, name) for name in gg.__all__)
        if inspect.isclass(value) and issubclass(value, GraphKernel)
    } - {gg.GraphKernel, gg.FeatureKernel}
    listed = {grid.kernel for grid in KERNELS.values()}
    assert all(kernel in listed or kernel.needs_attributes for kernel in public)


def test_names_and_titles():
    titles = {grid.title for grid in KERNELS.values()}
    paper = {"Tree++", "MLG", "DGK", "RetGK", "Propa", "PM", "SP", "WL", "FGSD"}
    assert paper <= titles
    assert len(titles) == len(KERNELS)
    assert all(name == grid.name for name, grid in KERNELS.items())
    assert gg.list_kernels() == {name: grid.kernel for name, grid in KERNELS.items()}


@pytest.mark.parametrize("name", KERNELS)
def test_the_matrices_of_a_grid_are_those_of_its_candidates(name):
    grid = KERNELS[name]
    made = [
        (candidate, K)
        for fitted in grid.fit_each(BATCH)
        for candidate, K in zip(fitted.candidates(), fitted.grams(), strict=True)
    ]
    assert [candidate for candidate, _ in made] == grid.candidates()
    chosen = {0, len(made) // 2, len(made) - 1}
    for number in chosen:
        candidate, K = made[number]
        expected = grid.kernel(**candidate).fit_transform(BATCH)
        np.testing.assert_allclose(K, expected, rtol=1e-12, err_msg=str(candidate))


def test_the_grids_of_the_paper():
    assert [c["tree_depth"] for c in KERNELS["tree++"].candidates()] == list(range(8))
    assert {c["path_depth"] for c in KERNELS["tree++"].candidates()} == {6}
    assert [c["n_iter"] for c in KERNELS["wl"].candidates()] == list(range(11))


def test_settings_that_differ_in_the_count_map_share_one_extraction(monkeypatch):
    extractions = []
    count = gg.WeisfeilerLehman.count_features

    def noted(kernel, batch):
        extractions.append((kernel.edge_labels, batch is BATCH))
        return count(kernel, batch)

    monkeypatch.setattr(gg.WeisfeilerLehman, "count_features", noted)
    view = gg.EdgeFilter(drop=[1])
    settings = [
        Setting({"n_iter": 2, "counts": how, "edge_labels": edges}, shown)
        for how in ("raw", "sqrt")
        for shown in (None, view)
        for edges in (False, True)
    ]
    grid = KERNELS["wl"].with_settings(settings, "mixed")
    fits = iter(grid.fit_each(BATCH))
    first = next(fits)
    assert extractions == [(False, True)]  # lazily: nothing else is done yet
    fitted = [first, *fits]
    assert sorted(extractions) == sorted(
        [(False, True), (True, True), (False, False), (True, False)]
    )
    for setting, made in zip(settings, fitted, strict=True):
        seen = BATCH if setting.view is None else view.fit_transform(BATCH)
        kernel = gg.WeisfeilerLehman(**setting.parameters)
        np.testing.assert_array_equal(made.kernel.gram(), kernel.fit_transform(seen))
        one = gg.WeisfeilerLehman(**{**setting.parameters, "n_iter": 1}).fit(seen)
        np.testing.assert_array_equal(made.at_level(1).transform(seen), one.transform(seen))
        assert made.graphs == seen
        assert (made.view is None) == (setting.view is None)
    assert made.view is not view  # a copy: what the user gave stays as it was
    assert grid.label == "WL (mixed)"


def test_grids_with_fixed_parameters_and_views():
    grid = KERNELS["pm"].with_parameters(depth=2)
    assert [c["dimension"] for c in grid.candidates()] == [4, 6, 8, 10]
    assert grid.variant == "depth=2"
    views = [Setting(), Setting(view=gg.EdgeFilter(drop=[1]))]
    seen = KERNELS["sp"].with_settings(views)
    assert seen.candidates() == [{}, {"view": "EdgeFilter(drop=[1])"}]
    with pytest.raises(gg.errors.InvalidParameterError, match="n_iter must be"):
        KERNELS["wl"].with_parameters(n_iter=-1).check()


@pytest.mark.parametrize("name", ["propa", "dm", "wwl"])
def test_grids_for_attributes_give_the_same_in_any_unit(name):
    """Thousands, thousandths, and another zero, as of degrees Celsius and Fahrenheit."""
    rng = np.random.default_rng(0)
    plain = random_graphs(12, seed=1, largest=8)
    table = rng.normal(size=(plain.n_vertices, 3))

    def grams(attributes, fitted=12):
        graphs = gg.GraphBatch.from_edges(
            plain.vertex_counts, plain.edges, plain.labels, vertex_attributes=attributes
        )
        grid = KERNELS[name].with_parameters(attributes=True)
        return np.array(
            [
                own.at_level(level).transform(own.view.transform(graphs))
                for own in grid.fit_each(graphs[:fitted])
                for level in range(len(grid.levels(own.setting)))
            ]
        )

    expected = grams(table)
    ones = np.eye(len(plain))
    assert np.abs(expected - ones).max() > 0.03  # graphs are not all different
    assert expected.min() < 0.9  # nor all alike
    for other in (1e3 * table, 1e-3 * table, 1.8 * table + 32.0, table * [1e6, 1.0, 1e-6]):
        np.testing.assert_allclose(grams(other), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(grams(1e3 * table, 5), grams(table, 5), rtol=1e-9, atol=1e-12)


def test_a_kernel_without_a_fixed_seed_shares_nothing():
    grid = KERNELS["propa"].with_settings(
        [Setting({"random_state": None, "counts": how}) for how in ("raw", "sqrt")]
    )
    first, second = (fitted.kernel.seed_ for fitted in grid.fit_each(BATCH))
    assert first != second


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


def test_parameters_that_cannot_be_written():
    with pytest.raises(InvalidParameterError, match="numbers, words or None"):
        kernel_to_json(gg.Propagation(bin_width=np.inf))
    with pytest.raises(InvalidParameterError, match="numbers, words or None"):
        kernel_to_json(gg.Graphlet(random_state=np.random.RandomState(0)))
