"""Models in files: the same after a round trip, and nothing accepted that is not whole."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline

import graphgrain as gg
from graphgrain.archives import Archive, write_archive
from graphgrain.errors import InvalidFileError, InvalidParameterError, UnwritableFileError
from graphgrain.kernels.grid import grid_of
from graphgrain.learning.model_file import FORMAT

QUICK = {"max_level": 1, "views": None, "cv": 2}


class Mirror(BaseEstimator):
    """A view that graphgrain does not know."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


@pytest.fixture(scope="module")
def saved(families, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "drugs.ggm"
    model = gg.GraphClassifier("wl", **QUICK).fit(*families)
    model.save(path)
    return model, path


def round_trip(model, folder):
    model.save(folder / "model.ggm")
    assert [file.name for file in folder.iterdir()] == ["model.ggm"]
    return gg.load_model(folder / "model.ggm")


def test_round_trip_of_a_classifier(families, saved):
    graphs, y = families
    model, path = saved
    again = gg.load_model(path)
    np.testing.assert_allclose(
        again.decision_function(graphs), model.decision_function(graphs), atol=1e-9
    )
    np.testing.assert_allclose(again.predict_proba(graphs), model.predict_proba(graphs), atol=1e-9)
    assert again.predict(graphs).tolist() == model.predict(graphs).tolist()
    assert again.predict_set(graphs) == model.predict_set(graphs)
    for name, found in model.domain(graphs[::3]).items():
        np.testing.assert_allclose(again.domain(graphs[::3])[name], found, atol=1e-9)
    assert again.terms_ == model.terms_
    assert again.best_params_ == model.best_params_
    assert again.get_params() == model.get_params()
    assert again.cv_results_["params"] == model.cv_results_["params"]
    # what terms share, they share again
    assert len({id(t.features) for t in again.machine_.terms}) == len(again.machine_.sources)
    assert again.fit(graphs, y).terms_ == model.terms_


@pytest.mark.parametrize(
    "views",
    [
        [None, gg.EdgeFilter(drop=["-"])],
        [make_pipeline(gg.EdgeLengths(), gg.AttributeBins("edge", 2, "kmeans")), None],
        "auto",
    ],
    ids=["filter", "pipeline", "auto"],
)
@pytest.mark.parametrize("solver", ["kernel", "linear"])
def test_round_trip_of_a_regressor_with_views(views, solver, tmp_path):
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 9, 40)
    ends = np.cumsum(sizes)
    edges = [(i, i + 1) for i in range(ends[-1] - 1) if i + 1 not in ends]
    graphs = gg.GraphBatch.from_edges(
        sizes,
        edges,
        edge_labels=rng.choice(["-", "="], len(edges)).tolist(),
        vertex_attributes=rng.normal(size=(sizes.sum(), 3)),
    )
    targets = np.column_stack([sizes, np.exp(rng.normal(size=40))])
    if solver == "kernel":
        targets[::5, 1] = np.nan
    options = {**QUICK, "views": views, "attributes": False, "scale": "yeo-johnson"}
    model = gg.GraphRegressor("wl", solver=solver, **options).fit(graphs, targets)
    again = round_trip(model, tmp_path)
    for found, expected in zip(
        (*again.predict(graphs, return_std=True), *again.predict_interval(graphs)),
        (*model.predict(graphs, return_std=True), *model.predict_interval(graphs)),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert str(again.terms_) == str(model.terms_)
    np.testing.assert_array_equal(again.held_out_, model.held_out_)


@pytest.mark.parametrize("kind", [gg.GraphClassifier, gg.GraphRegressor])
def test_kernels_as_estimators_and_grids(kind, families, tmp_path):
    graphs, y = families
    grid = grid_of("propa").with_parameters(counts="sqrt", n_iter=1)  # with an attribute_view
    targets = y if kind is gg.GraphClassifier else graphs.edge_counts
    model = kind(["sp", gg.GraphHopper(), grid, gg.WeisfeilerLehman(1)], **QUICK)
    again = round_trip(model.fit(graphs, targets), tmp_path)
    assert type(again) is kind
    assert str(again.terms_) == str(model.terms_)
    assert repr(again.kernels[2]) == repr(grid)
    np.testing.assert_allclose(again._values(graphs), model._values(graphs), atol=1e-9)
    fresh = again.fit(graphs, targets)
    np.testing.assert_allclose(fresh._values(graphs), model._values(graphs), atol=1e-9)


@pytest.mark.parametrize(
    "classes",
    [[3, 7], [True, False], ["a", "b", "c"], [0.0, 1.0], [np.float16(0), np.float16(1)]],
    ids=str,
)
def test_classes_of_any_kind(classes, families, tmp_path):
    graphs, _ = families
    y = np.array(classes)[np.arange(len(graphs)) % len(classes)]
    model = gg.GraphClassifier(gg.VertexHistogram(), alpha=1.0, cv=2).fit(graphs, y)
    again = round_trip(model, tmp_path)
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == sorted(classes)


@pytest.mark.parametrize(
    "cv", [KFold(3, shuffle=True, random_state=1), GroupKFold(3), StratifiedKFold(3), "scaffold"]
)
def test_folds_are_kept(cv, drugs, tmp_path):
    graphs = drugs[0][::6]
    model = gg.GraphRegressor(gg.VertexHistogram(), cv=cv, alpha=1.0)
    groups = np.arange(len(graphs)) % 5 if "Group" in str(cv) else None
    model.fit(graphs, graphs.edge_counts, groups=groups)
    assert repr(round_trip(model, tmp_path).cv) == repr(cv)


def test_splitters_of_others_stay_out_of_files(families, tmp_path):
    class Mine(KFold):
        pass

    graphs, _ = families
    model = gg.GraphRegressor(gg.VertexHistogram(), cv=Mine(3)).fit(graphs, graphs.edge_counts)
    with pytest.raises(InvalidParameterError, match="got a Mine"):
        model.save(tmp_path / "model.ggm")
    assert list(tmp_path.iterdir()) == []
    assert not issubclass(ShuffleSplit, KFold)


def test_views_and_kernels_of_others_stay_out_of_files(families, tmp_path):
    graphs, y = families

    class Mine(gg.VertexHistogram):
        pass

    for change, name in (({"views": Mirror()}, "Mirror"), ({"kernels": Mine()}, "Mine")):
        model = gg.GraphClassifier(**{"kernels": "wl", **QUICK, **change}).fit(graphs, y)
        with pytest.raises(InvalidParameterError, match=f"got a {name}.*Use pickle"):
            model.save(tmp_path / "model.ggm")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- what is no model


def test_nothing_is_pickled(saved):
    _, path = saved
    content = path.read_bytes()
    for mark in (b"\x80\x04\x95", b"\x80\x05\x95", b"cnumpy", b"csklearn", b"__reduce__"):
        assert mark not in content
    archive = Archive(path, FORMAT)
    json.dumps(archive.about)  # plain values alone
    assert all(archive[name].dtype.kind in "iufb" for name in archive.parts)


def test_cut_files_are_damaged(saved, tmp_path):
    _, path = saved
    whole = path.read_bytes()
    damaged = tmp_path / "damaged.ggm"
    for cut in (0, 4, 10, len(whole) // 2, len(whole) - 5):
        damaged.write_bytes(whole[:cut])
        with pytest.raises(InvalidFileError, match=r"damaged|is not a graphgrain model"):
            gg.load_model(damaged)


def test_changed_bytes_are_noticed(saved, families, tmp_path):
    model, path = saved
    graphs, _ = families
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    damaged = tmp_path / "damaged.ggm"
    expected = model.decision_function(graphs[:3])
    refused = 0
    for place in rng.integers(0, len(whole), 40):
        changed = bytearray(whole)
        changed[place] ^= 0x55
        damaged.write_bytes(changed)
        try:
            again = gg.load_model(damaged)
        except InvalidFileError:
            refused += 1
        else:  # what lies between the parts says nothing
            np.testing.assert_allclose(again.decision_function(graphs[:3]), expected, atol=1e-9)
    assert refused > 30


def test_what_does_not_fit_together_is_refused(saved, tmp_path):
    _, path = saved
    archive = Archive(path, FORMAT)
    arrays = {name: np.array(archive[name]) for name in archive.parts}
    for name in arrays:
        if arrays[name].size < 2:
            continue
        other = {**arrays, name: arrays[name][..., :-1]}
        target = tmp_path / "other.ggm"
        with open(target, "wb") as file:
            write_archive(file, FORMAT, archive.about, other)
        try:
            model = gg.load_model(target)
        except InvalidFileError:
            continue
        # only what is for the user to read may differ in length
        assert model.machine_.coefficients.shape[1] == len(model.machine_.terms[0].features)


def test_models_of_earlier_versions(tmp_path):
    """Version 0.2 wrote archives of NumPy."""
    header = np.frombuffer(json.dumps({"graphgrain model": 1}).encode(), dtype=np.uint8)
    np.savez(tmp_path / "old.npz", header=header)
    with pytest.raises(InvalidFileError, match=r"graphgrain 0\.2.*Train it again with Graph"):
        gg.load_model(tmp_path / "old.npz")


def test_later_formats_and_other_files(saved, tmp_path):
    _, path = saved
    archive = Archive(path, FORMAT)
    later = tmp_path / "later.ggm"
    with open(later, "wb") as file:
        write_archive(file, FORMAT._replace(version=FORMAT.version + 1), archive.about, {})
    with pytest.raises(InvalidFileError, match=f"version {FORMAT.version + 1} of the format"):
        gg.load_model(later)
    (tmp_path / "pickle").write_bytes(pickle.dumps([1, 2]))
    np.save(tmp_path / "one.npy", np.arange(3))
    (tmp_path / "text").write_text("graphs")
    for name in ("pickle", "one.npy", "text"):
        with pytest.raises(InvalidFileError, match="is not a graphgrain model"):
            gg.load_model(tmp_path / name)
    with pytest.raises(InvalidFileError, match="There is no file"):
        gg.load_model(tmp_path / "absent")
    with pytest.raises(InvalidFileError, match="cannot be read"):
        gg.load_model(tmp_path)


@pytest.mark.parametrize(
    "about",
    [
        {},
        {"class": "GraphClassifier"},
        {"class": "os.system", "parameters": ["dict"], "fitted": ["dict"], "shared": []},
        {"class": "GraphClassifier", "parameters": ["dict"], "fitted": ["dict"], "shared": [3]},
        {"class": "GraphClassifier", "parameters": ["evil", 1], "fitted": ["dict"], "shared": []},
    ],
    ids=["nothing", "class alone", "another class", "no machine", "unknown tag"],
)
def test_headers_that_describe_no_model(about, tmp_path):
    with open(tmp_path / "model.ggm", "wb") as file:
        write_archive(file, FORMAT, about, {})
    with pytest.raises(InvalidFileError, match="does not describe a model"):
        gg.load_model(tmp_path / "model.ggm")


def test_a_folder_that_is_not_there(saved, tmp_path):
    model, _ = saved
    with pytest.raises(UnwritableFileError, match="The model cannot be written"):
        model.save(tmp_path / "absent" / "model.ggm")


def test_an_interrupted_write_leaves_what_was_there(saved, tmp_path, monkeypatch):
    model, _ = saved
    target = tmp_path / "model.ggm"
    target.write_bytes(b"before")

    def fails(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("graphgrain.learning.model_file.write_archive", fails)
    with pytest.raises((UnwritableFileError, OSError)):
        model.save(target)
    assert target.read_bytes() == b"before"
    assert [file.name for file in tmp_path.iterdir()] == ["model.ggm"]


def test_models_are_small(drugs, tmp_path):
    """Counts are integers of a byte and features are stored once: far less than a pickle."""
    graphs, y = drugs
    model = gg.GraphClassifier(max_level=2, alpha=0.1, cv=2).fit(graphs, y)
    model.save(tmp_path / "model.ggm")
    assert (tmp_path / "model.ggm").stat().st_size < 5e6
