"""Kernel matrices in tiles: the same numbers as in one piece."""

from __future__ import annotations

import os
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import InvalidParameterError, UnwritableFileError

GRAPHS = gg.load_drugs()[0][::4]


@pytest.mark.parametrize(
    "kernel",
    [gg.TreePlusPlus(), gg.WeisfeilerLehman(counts="log", similarity="dot")],
    ids=lambda kernel: type(kernel).__name__,
)
@pytest.mark.parametrize("tile_size", [30, 73])
def test_the_same_numbers(tmp_path, kernel, tile_size):
    path = gg.save_gram(GRAPHS, tmp_path / "K.npy", kernel, tile_size=tile_size)
    K = np.load(path, mmap_mode="r")
    np.testing.assert_allclose(K, kernel.fit_transform(GRAPHS), rtol=1e-12)
    np.testing.assert_array_equal(K, K.T)


def test_zarr_and_single_precision(tmp_path):
    zarr = pytest.importorskip("zarr", reason="Zarr is not installed")
    for _ in range(2):  # the second replaces the first
        path = gg.save_gram(GRAPHS, tmp_path / "K.zarr", tile_size=30, dtype=np.float32)
    found = zarr.open_array(str(path), mode="r")[:]
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, gg.TreePlusPlus().fit_transform(GRAPHS).astype("f4"))
    assert [file.name for file in tmp_path.iterdir()] == ["K.zarr"]


def test_processes_and_no_graphs(tmp_path):
    path = gg.save_gram(GRAPHS, tmp_path / "K.npy", tile_size=40, n_jobs=2)
    np.testing.assert_array_equal(np.load(path), gg.TreePlusPlus().fit_transform(GRAPHS))
    assert np.load(gg.save_gram([], tmp_path / "none.npy")).shape == (0, 0)


def test_what_is_refused(tmp_path, monkeypatch):
    with pytest.raises(InvalidParameterError, match=r"written as .npy or .zarr; got 'K.txt'"):
        gg.save_gram(GRAPHS, "K.txt")
    with pytest.raises(InvalidParameterError, match="explicit features; got ReturnProb"):
        gg.save_gram(GRAPHS, tmp_path / "K.npy", gg.ReturnProbability())
    with pytest.raises(InvalidParameterError, match="tile_size must be"):
        gg.save_gram(GRAPHS, tmp_path / "K.npy", tile_size=0)
    with pytest.raises(InvalidParameterError, match="dtype must be"):
        gg.save_gram(GRAPHS, tmp_path / "K.npy", dtype=np.int64)
    with pytest.raises(UnwritableFileError, match="no folder"):
        gg.save_gram(GRAPHS, tmp_path / "no" / "K.npy")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    with pytest.raises(UnwritableFileError, match=r"needs 0.0 GB on disk.*save_features"):
        gg.save_gram(GRAPHS, tmp_path / "K.npy")
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_of_a_matrix_that_failed(tmp_path, monkeypatch):
    def fail(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("graphgrain.scaling.gram_tiles.write_tile", fail)
    with pytest.raises(KeyboardInterrupt):
        gg.save_gram(GRAPHS, tmp_path / "K.npy")
    assert not list(tmp_path.iterdir())


def test_all_names_of_a_file_get_the_matrix(tmp_path):
    """As all other writers: hard links stay one file, and permissions stay."""
    first, second = tmp_path / "K.npy", tmp_path / "same.npy"
    first.write_bytes(b"old")
    first.chmod(0o640)
    os.link(first, second)
    gg.save_gram(GRAPHS[:4], first)
    assert first.samefile(second)
    np.testing.assert_array_equal(np.load(second), gg.TreePlusPlus().fit_transform(GRAPHS[:4]))
    if os.name == "posix":
        assert first.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["K.npy", "same.npy"]


def test_random_features_need_a_seed(tmp_path):
    graphs = gg.load_drugs()[0][:10]
    with pytest.raises(InvalidParameterError, match="random_state=None draws others for each"):
        gg.save_gram(graphs, tmp_path / "K.npy", gg.DescriptorMatching(random_state=None))
