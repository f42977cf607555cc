"""Models in files: the same after a round trip, and nothing accepted that is not whole."""

from __future__ import annotations

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

import graphgrain as gg
from graphgrain.errors import InvalidFileError, InvalidParameterError, UnwritableFileError
from graphgrain.learning.model_file import FORMAT


class Mirror(BaseEstimator):
    """A view that graphgrain does not know."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


@pytest.fixture(scope="module")
def drugs():
    graphs, y = gg.load_drugs()
    return graphs[::4], y[::4]


@pytest.fixture(scope="module")
def saved(drugs, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "drugs.ggm"
    model = gg.TreePlusPlusClassifier(2, 1, cv=2).fit(*drugs)
    model.save(path)
    return model, path


def test_round_trip_of_a_classifier(drugs, saved):
    graphs, y = drugs
    model, path = saved
    again = gg.load_model(path)
    np.testing.assert_array_equal(again.decision_function(graphs), model.decision_function(graphs))
    np.testing.assert_array_equal(again.predict_proba(graphs), model.predict_proba(graphs))
    assert again.predict(graphs).tolist() == model.predict(graphs).tolist()
    assert again.members_ == model.members_
    assert again.get_params() == model.get_params()
    assert again.cv_results_["params"] == model.cv_results_["params"]
    # what members share, they share again
    assert len({id(w.patterns) for w in again.pattern_weights_}) <= 2
    again.fit(graphs, y)


@pytest.mark.parametrize(
    "views",
    [
        [None, gg.EdgeFilter(drop=["-"])],
        [make_pipeline(gg.EdgeLengths(), gg.AttributeBins("edge", 2, "kmeans")), None],
    ],
)
def test_round_trip_of_a_regressor_with_views(views, tmp_path):
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
    targets = np.column_stack([sizes, rng.normal(size=40)])
    model = gg.TreePlusPlusRegressor(2, 1, views=views, cv=2, committee=3).fit(graphs, targets)
    model.save(tmp_path / "model.ggm")
    again = gg.load_model(tmp_path / "model.ggm")
    np.testing.assert_array_equal(again.predict(graphs), model.predict(graphs))
    assert str(again.view_) == str(model.view_)
    assert [f.name for f in tmp_path.iterdir()] == ["model.ggm"]


def test_nothing_is_pickled(saved):
    _, path = saved
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            array = np.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)
            assert array.dtype != object


def test_other_views_are_refused(drugs, tmp_path):
    graphs, y = drugs
    model = gg.TreePlusPlusClassifier(1, 0, views=Mirror(), cv=2).fit(graphs, y)
    with pytest.raises(InvalidParameterError, match="got a Mirror"):
        model.save(tmp_path / "model.ggm")
    assert list(tmp_path.iterdir()) == []


def test_damage_is_noticed(saved, tmp_path):
    _, path = saved
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    damaged = tmp_path / "damaged.ggm"
    for cut in (0, 10, len(whole) // 2, len(whole) - 5):
        damaged.write_bytes(whole[:cut])
        with pytest.raises(InvalidFileError, match="damaged"):
            gg.load_model(damaged)
    refused = 0
    for place in rng.integers(0, len(whole), 60):
        changed = bytearray(whole)
        changed[place] ^= 0x55
        damaged.write_bytes(changed)
        try:
            gg.load_model(damaged)
        except InvalidFileError:
            refused += 1
    assert refused > 50  # a flipped bit in a date of the archive says nothing about the model


def test_a_changed_number_is_noticed_even_in_a_whole_archive(saved, tmp_path):
    _, path = saved
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["array1"] = arrays["array1"] + 1
    np.savez(tmp_path / "changed.npz", **arrays)
    with pytest.raises(InvalidFileError, match="does not match its digest"):
        gg.load_model(tmp_path / "changed.npz")


def test_later_formats_and_other_files(saved, tmp_path):
    _, path = saved
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays["header"].tobytes())
    header["graphgrain model"] = FORMAT + 1
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(tmp_path / "later.npz", **arrays)
    with pytest.raises(InvalidFileError, match="has format 2 of model files"):
        gg.load_model(tmp_path / "later.npz")
    (tmp_path / "pickle").write_bytes(pickle.dumps([1, 2]))
    np.save(tmp_path / "one.npy", np.arange(3))
    for name in ("pickle", "one.npy"):
        with pytest.raises(InvalidFileError, match="is no model of graphgrain"):
            gg.load_model(tmp_path / name)
    with pytest.raises(InvalidFileError, match="There is no file"):
        gg.load_model(tmp_path / "absent")


def test_a_folder_that_is_not_there(saved, tmp_path):
    model, _ = saved
    with pytest.raises(UnwritableFileError, match="The model cannot be written"):
        model.save(tmp_path / "absent" / "model.ggm")
