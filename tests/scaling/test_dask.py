"""Dask on a real cluster of processes: the same bits, also when a worker dies in the middle."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import SGDClassifier, SGDRegressor

import graphgrain as gg
from graphgrain.errors import InvalidGraphError, InvalidParameterError, MissingDependencyError

from ..systems import KILL

pytest.importorskip("rdkit", reason="RDKit is not installed")
distributed = pytest.importorskip("distributed", reason="Dask is not installed")
bag = pytest.importorskip("dask.bag", reason="Dask is not installed")

KERNEL = gg.TreePlusPlus(path_depth=3, tree_depth=1)
SMILES = [f"{'C' * (n % 23)}OC{'N' * (n % 7)}C(=O)c1ccccc1{'C' * (n % 5)}" for n in range(360)]
TARGETS = [n % 2 for n in range(360)]


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def pids(client) -> list[int]:
    return list(client.run(os.getpid).values())


def expected() -> np.ndarray:
    return (
        gg.TreePlusPlus(path_depth=3, tree_depth=1, output="features", n_features=1024)
        .transform(gg.from_smiles(SMILES))
        .toarray()
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("parts")
    paths = [folder / f"{number:02d}.smi" for number in range(12)]
    for number, path in enumerate(paths):
        path.write_text("\n".join(SMILES[30 * number : 30 * number + 30]) + "\n")
    return paths


def test_features_when_a_worker_is_killed(client, files):
    X = gg.dask_features(files, KERNEL, n_features=1024)
    assert X.numblocks == (12, 1)
    blocks = client.compute(X.to_delayed().ravel().tolist())
    while not any(block.done() for block in blocks):
        time.sleep(0.005)
    assert not all(block.done() for block in blocks)
    os.kill(pids(client)[0], KILL)
    found = client.gather(blocks)
    assert len(pids(client)) >= 1
    np.testing.assert_array_equal(np.vstack([block.toarray() for block in found]), expected())


def test_a_kernel_matrix_when_a_worker_is_killed(client, tmp_path):
    graphs = gg.from_smiles(SMILES)
    killed = []

    def kill() -> None:
        while not list(tmp_path.glob(".K-*")):
            time.sleep(0.005)
        time.sleep(0.3)
        killed.append(pids(client)[0])
        os.kill(killed[0], KILL)

    thread = threading.Thread(target=kill)
    thread.start()
    path = gg.save_gram(graphs, tmp_path / "K.npy", KERNEL, tile_size=60, dask=True)
    thread.join()
    assert killed
    np.testing.assert_array_equal(np.load(path), KERNEL.fit_transform(graphs))
    assert [file.name for file in tmp_path.iterdir()] == ["K.npy"]


def test_bags_and_data_frames(client):
    dataframe = pytest.importorskip("dask.dataframe", reason="Dask's data frames are missing")
    pandas = pytest.importorskip("pandas")
    frame = dataframe.from_pandas(pandas.DataFrame({"smiles": SMILES}), npartitions=3)
    for source in (frame["smiles"], bag.from_sequence(SMILES, npartitions=3)):
        X = gg.dask_features(source, KERNEL, n_features=1024)
        assert X.numblocks == (3, 1)
        np.testing.assert_array_equal(X.compute().toarray(), expected())
    tuples = bag.from_sequence([([(0, 1)], ["C", "O"]), ([], ["C"])], npartitions=2)
    assert gg.dask_features(tuples, n_features=64).compute().shape == (2, 64)


def test_training_over_partitions(client, files):
    """The same weights, to the last bit, as one model that sees one file after the other."""
    X = gg.dask_features(files, KERNEL, n_features=1024)
    y = bag.from_sequence(TARGETS, npartitions=12)
    found = gg.dask_partial_fit(SGDClassifier(random_state=3), X, y, classes=[0, 1])
    model = SGDClassifier(random_state=3)
    rows = expected()
    for begin in range(0, 360, 30):
        part = slice(begin, begin + 30)
        model.partial_fit(_sparse(rows[part]), TARGETS[part], classes=[0, 1])
    np.testing.assert_array_equal(found.coef_, model.coef_)


def _sparse(rows: np.ndarray):
    from scipy.sparse import csr_array

    return csr_array(rows.astype(np.float32))


def test_molecules_that_cannot_be_read():
    source = bag.from_sequence(["CCO", "C1CC", None, "CC"], npartitions=1)
    with pytest.raises(InvalidGraphError, match=r"number 1 of a partition, 'C1CC': unclosed ring"):
        gg.dask_features(source, n_features=64).compute(scheduler="synchronous")
    X = gg.dask_features(source, n_features=64, errors="empty").compute(scheduler="synchronous")
    assert np.diff(X.indptr).astype(bool).tolist() == [True, False, False, True]


def test_what_is_refused(files, monkeypatch):
    with pytest.raises(InvalidParameterError, match="got str"):
        gg.dask_features("x.smi")
    with pytest.raises(InvalidParameterError, match="at least one"):
        gg.dask_features([])
    with pytest.raises(InvalidParameterError, match="'skip'"):
        gg.dask_features(files, errors="skip")
    X = gg.dask_features(files, n_features=64)
    y = bag.from_sequence(TARGETS, npartitions=3)
    with pytest.raises(InvalidParameterError, match="12 blocks of X and 3 of y"):
        gg.dask_partial_fit(SGDRegressor(), X, y)
    with pytest.raises(InvalidParameterError, match="GraphBatch has none"):
        gg.dask_partial_fit(gg.as_graphs([]), X, y)
    monkeypatch.setitem(__import__("sys").modules, "dask", None)
    with pytest.raises(MissingDependencyError, match=r"graphgrain\[dask\]"):
        gg.dask_features(files)


def test_targets_that_are_no_dask_array():
    array = pytest.importorskip("dask.array")
    X = array.from_array(np.eye(4), chunks=2)
    with pytest.raises(InvalidParameterError, match="y must be a Dask array; got a ndarray"):
        gg.dask_partial_fit(SGDClassifier(), X, np.array([0, 1, 0, 1]))


def test_blocks_with_some_of_the_columns_are_refused():
    array = pytest.importorskip("dask.array")
    X = array.from_array(np.eye(4), chunks=2)
    with pytest.raises(InvalidParameterError, match=r"split into 2 blocks.*rechunk"):
        gg.dask_partial_fit(MiniBatchKMeans(2), X)
    model = gg.dask_partial_fit(MiniBatchKMeans(2), X.rechunk({1: -1}))
    assert model.cluster_centers_.shape == (2, 4)


def test_missing_molecules_of_a_data_frame():
    dataframe = pytest.importorskip("dask.dataframe", reason="Dask's data frames are missing")
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(["CCO", None, "CC"], dtype="string")  # holds pandas.NA
    source = dataframe.from_pandas(column, npartitions=1)
    X = gg.dask_features(source, n_features=64, errors="empty").compute(scheduler="synchronous")
    assert np.diff(X.indptr).astype(bool).tolist() == [True, False, True]


def test_files_that_have_changed_are_read_again(client, tmp_path):
    file = tmp_path / "molecules.smi"
    file.write_text("CCO\nCCN\n")
    kept = gg.dask_features([file], KERNEL, n_features=64).persist()
    distributed.wait(kept)
    file.write_text("CCO\nc1ccccc1\nCC\n")
    found = gg.dask_features([file], KERNEL, n_features=64).persist().compute()
    assert kept.compute().shape == (2, 64)
    kernel = gg.TreePlusPlus(path_depth=3, tree_depth=1, n_features=64, output="features")
    rows = kernel.transform(["CCO", "c1ccccc1", "CC"])
    np.testing.assert_array_equal(found.toarray(), rows.toarray())
