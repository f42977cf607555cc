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

WL = gg.WeisfeilerLehman(1, similarity="minmax")


class Mirror(BaseEstimator):
    """A view that graphgrain does not know."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


@pytest.fixture(scope="module")
def saved(families, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "drugs.ggm"
    model = gg.GraphClassifier(WL).fit(*families)
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
    np.testing.assert_array_equal(again.decision_function(graphs), model.decision_function(graphs))
    assert again.predict_set(graphs) == model.predict_set(graphs)
    for name, found in model.domain(graphs[::3]).items():
        np.testing.assert_array_equal(again.domain(graphs[::3])[name], found)
    assert str(again.terms_) == str(model.terms_)
    assert str(again.get_params()) == str(model.get_params())
    assert again.classes_.dtype.kind == model.classes_.dtype.kind
    # what terms share, they share again
    assert len({id(t.features) for t in again.machine_.terms}) == len(again.machine_.sources)
    refitted = again.fit(graphs, y).decision_function(graphs)
    np.testing.assert_array_equal(refitted, model.decision_function(graphs))


@pytest.mark.parametrize(
    "views",
    [
        [None, gg.EdgeFilter(drop=["-"])],
        [make_pipeline(gg.EdgeLengths(), gg.AttributeBins("edge", 2, "kmeans")), None],
    ],
    ids=["filter", "pipeline"],
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
    targets = np.column_stack([sizes, np.exp(rng.normal(size=40))])
    targets[::5, 1] = np.nan
    model = gg.GraphRegressor([WL, gg.GraphHopper()], views=views).fit(graphs, targets)
    again = round_trip(model, tmp_path)
    for found, expected in zip(
        (*again.predict(graphs, return_std=True), *again.predict_interval(graphs, 0.8)),
        (*model.predict(graphs, return_std=True), *model.predict_interval(graphs, 0.8)),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)
    assert str(again.terms_) == str(model.terms_)
    np.testing.assert_array_equal(again.held_out_, model.held_out_)
    for why, same in zip(
        gg.explain(model, graphs[:3], target=0, held_out=True),
        gg.explain(again, graphs[:3], target=0, held_out=True),
        strict=True,
    ):
        np.testing.assert_array_equal(why.vertices, same.vertices)


def test_views_and_kernels_of_others_stay_out_of_files(families, tmp_path):
    graphs, y = families

    class Mine(gg.VertexHistogram):
        pass

    changes = ({"views": Mirror()}, "Mirror"), ({"kernels": Mine()}, "Mine")
    for change, name in (*changes, ({"kernels": gg.WassersteinWL()}, "FittedKernel")):
        model = gg.GraphClassifier(**{"kernels": WL, **change}).fit(graphs, y)
        with pytest.raises(InvalidParameterError, match=f"got a {name}.*Use pickle"):
            model.save(tmp_path / "model.ggm")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- what is no model


def test_nothing_is_pickled(saved):
    _, path = saved
    content = path.read_bytes()
    for mark in (b"\x80\x04\x95", b"\x80\x05\x95", b"cnumpy", b"csklearn", b"__reduce__"):
        assert mark not in content
    arrays = np.load(path, allow_pickle=False)
    json.loads(arrays["about"].tobytes())
    assert all(arrays[name].dtype.kind in "iuf" for name in arrays.files)


def test_cut_files_are_damaged(saved, tmp_path):
    _, path = saved
    whole = path.read_bytes()
    damaged = tmp_path / "damaged.ggm"
    for cut in (0, 4, 10, len(whole) // 2, len(whole) - 5):
        damaged.write_bytes(whole[:cut])
        with pytest.raises(InvalidFileError, match=r"damaged|is not a model"):
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


def test_what_does_not_fit_together_is_refused(saved, families, tmp_path):
    _, path = saved
    arrays = dict(np.load(path))
    for name in set(arrays) - {"about"}:
        if arrays[name].size < 2:
            continue
        target = tmp_path / "other.ggm"
        with open(target, "wb") as file:
            np.savez(file, **{**arrays, name: arrays[name][..., :-1]})
        try:
            model = gg.load_model(target)
        except InvalidFileError:
            continue
        # only what is for the user to read may differ in length
        assert np.isfinite(model.decision_function(families[0])).all()


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "compression"),
    [
        ("about.npy", bytes(50_000_000), zipfile.ZIP_DEFLATED),
        ("about.npy", b"hello", zipfile.ZIP_STORED),
        ("about.txt", b"hello", zipfile.ZIP_STORED),
        ("about.npy", npy(np.array([{}, []], dtype=object)), zipfile.ZIP_STORED),
        ("about.npy", npy(np.zeros(3))[:-1], zipfile.ZIP_STORED),
        (
            "about.npy",
            npy(np.zeros(3)).replace(b"(3,), }          ", b"(3333333333,), } "),
            zipfile.ZIP_STORED,
        ),
    ],
    ids=["bomb", "text", "another member", "objects", "cut", "huge"],
)
def test_archives_that_lie_are_not_unpacked(tmp_path, name, content, compression):
    with zipfile.ZipFile(tmp_path / "model.ggm", "w", compression) as archive:
        archive.writestr(name, content)
    with pytest.raises(InvalidFileError, match="is not a model of graphgrain"):
        gg.load_model(tmp_path / "model.ggm")


def about_file(path, about):
    with open(path, "wb") as file:
        np.savez(file, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8))
    return path


def test_models_of_other_versions_and_other_files(tmp_path):
    (tmp_path / "old.ggm").write_bytes(b"GGMODEL\0" + bytes(100))
    with pytest.raises(InvalidFileError, match=r"graphgrain 0\.3.*Train it again with Graph"):
        gg.load_model(tmp_path / "old.ggm")
    later = about_file(tmp_path / "later.ggm", {"format": "graphgrain model", "version": 5})
    with pytest.raises(InvalidFileError, match="another version of graphgrain"):
        gg.load_model(later)
    (tmp_path / "pickle").write_bytes(pickle.dumps([1, 2]))
    np.save(tmp_path / "one.npy", np.arange(3))
    (tmp_path / "text").write_text("graphs")
    for name in ("pickle", "one.npy", "text"):
        with pytest.raises(InvalidFileError, match="is not a model of graphgrain"):
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
    known = {"format": "graphgrain model", "version": 4}
    with pytest.raises(InvalidFileError, match="does not describe a model"):
        gg.load_model(about_file(tmp_path / "model.ggm", {**known, **about}))


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

    monkeypatch.setattr("graphgrain.learning.model_file.np.savez", fails)
    with pytest.raises((UnwritableFileError, OSError)):
        model.save(target)
    assert target.read_bytes() == b"before"
    assert [file.name for file in tmp_path.iterdir()] == ["model.ggm"]


def test_models_are_small(drugs, tmp_path):
    """Counts are integers of a byte and features are stored once: far less than a pickle."""
    graphs, y = drugs
    model = gg.GraphClassifier().fit(graphs, y)
    model.save(tmp_path / "model.ggm")
    size = (tmp_path / "model.ggm").stat().st_size
    assert size < 0.6 * len(pickle.dumps(model))
    assert size < 5e6
