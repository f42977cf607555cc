"""Dask on a real cluster of processes: the same bits, also when a worker dies in the middle."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier

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


@pytest.mark.slow
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


def test_bags_and_data_frames():
    dataframe = pytest.importorskip("dask.dataframe", reason="Dask's data frames are missing")
    pandas = pytest.importorskip("pandas")
    frame = dataframe.from_pandas(pandas.DataFrame({"smiles": SMILES}), npartitions=3)
    for source in (frame["smiles"], bag.from_sequence(SMILES, npartitions=3)):
        X = gg.dask_features(source, KERNEL, n_features=1024)
        assert X.numblocks == (3, 1)
        X = X.compute(scheduler="synchronous")
        np.testing.assert_array_equal(X.toarray(), expected())
    tuples = bag.from_sequence([([(0, 1)], ["C", "O"]), ([], ["C"])], npartitions=2)
    assert gg.dask_features(tuples, n_features=64).compute(scheduler="synchronous").shape == (2, 64)


def test_training_over_partitions(files):
    """The same weights, to the last bit, as one model that sees one file after the other."""
    X = gg.dask_features(files, KERNEL, n_features=1024)
    found, model = SGDClassifier(random_state=3), SGDClassifier(random_state=3)
    rows = expected().astype(np.float32)
    for number, block in enumerate(X.to_delayed().ravel()):
        part = slice(30 * number, 30 * number + 30)
        found.partial_fit(block.compute(scheduler="synchronous"), TARGETS[part], classes=[0, 1])
        model.partial_fit(csr_array(rows[part]), TARGETS[part], classes=[0, 1])
    np.testing.assert_array_equal(found.coef_, model.coef_)


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
    monkeypatch.setitem(__import__("sys").modules, "dask", None)
    with pytest.raises(MissingDependencyError, match=r"graphgrain\[dask\]"):
        gg.dask_features(files)


def test_missing_molecules_of_a_data_frame():
    dataframe = pytest.importorskip("dask.dataframe", reason="Dask's data frames are missing")
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(["CCO", None, "CC"], dtype="string")  # holds pandas.NA
    source = dataframe.from_pandas(column, npartitions=1)
    X = gg.dask_features(source, n_features=64, errors="empty").compute(scheduler="synchronous")
    assert np.diff(X.indptr).astype(bool).tolist() == [True, False, True]


@pytest.mark.slow
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
