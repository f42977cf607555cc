"""Hashing, counting and Gram products against NumPy and SciPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

import graphgrain as gg
from graphgrain.core import gram
from graphgrain.core.counting import find_columns, group_hashes, transpose
from graphgrain.core.hashing import hash_labels, position_weights
from graphgrain.core.threads import chunks, run, thread_count

from .. import pattern_hash

SPREAD = 0x9E3779B97F4A7C15


@pytest.mark.parametrize("size", [0, 1, 5, 1000, 50_000])
@pytest.mark.parametrize(
    ("distinct", "spread"),
    [(1, SPREAD), (30, SPREAD), (10**9, SPREAD), (1, 1), (30, 1)],
    ids=["one", "few", "many", "one in one bucket", "few in one bucket"],
)
def test_grouping_is_a_sort_by_hash(size, distinct, spread):
    rng = np.random.default_rng(size)
    values = np.concatenate(
        [
            rng.integers(0, distinct, size, dtype=np.uint64),
            np.array([0, 2**64 - 1], dtype=np.uint64),
        ]
    )
    hashes = values * np.uint64(spread)
    rows = np.sort(rng.integers(0, 50, len(hashes)))
    once = np.sort(
        np.unique(np.array([rows.astype(np.uint64), hashes]), axis=1, return_index=True)[1]
    )
    rows, hashes = rows[once], hashes[once]  # a row has no feature twice
    values = rng.random(len(hashes))
    lengths = np.bincount(rows, minlength=51)
    vocabulary, indptr, out_rows, out_values, squares = group_hashes(lengths, hashes, values)
    expected, counts = np.unique(hashes, return_counts=True)
    order = np.argsort(hashes, kind="stable")
    np.testing.assert_array_equal(vocabulary, expected)
    np.testing.assert_array_equal(np.diff(indptr), counts)
    np.testing.assert_array_equal(out_rows, rows[order])
    np.testing.assert_array_equal(out_values, values[order])
    np.testing.assert_allclose(squares, np.bincount(rows, values**2, minlength=51))
    asked = np.concatenate([hashes, hashes + np.uint64(1)])
    found = find_columns(asked, vocabulary)
    known = np.isin(asked, vocabulary)
    assert (found[~known] == -1).all()
    np.testing.assert_array_equal(vocabulary[found[known]], asked[known])


def test_transpose_is_that_of_scipy():
    rng = np.random.default_rng(0)
    matrix = csr_array(np.where(rng.random((40, 70)) < 0.2, rng.random((40, 70)), 0.0))
    indptr, rows, values = transpose(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, 70
    )
    expected = matrix.tocsc()
    np.testing.assert_array_equal(indptr, expected.indptr)
    np.testing.assert_array_equal(rows, expected.indices)
    np.testing.assert_array_equal(values, expected.data)


def columns_of(matrix: np.ndarray) -> gram.Csc:
    sparse = csc_array(matrix)
    return sparse.indptr.astype(np.int64), sparse.indices.astype(np.int32), sparse.data


@pytest.mark.parametrize("common", [0.0, 0.1, 2.0], ids=["dense", "both", "sparse"])
@pytest.mark.parametrize("largest", [3, 5000])
@pytest.mark.parametrize("integral", [True, False])
def test_products_equal_dense_ones(monkeypatch, common, largest, integral):
    monkeypatch.setattr(gram, "COMMON", common)
    monkeypatch.setattr(gram, "TILE_BYTES", 2000)
    monkeypatch.setattr(gram, "BLOCK_BYTES", 4000)
    rng = np.random.default_rng(1)
    X, Y = (
        rng.integers(1, largest, (n, 300)) * (rng.random((n, 300)) < rng.random(300) ** 3)
        for n in (60, 45)
    )
    X, Y = (m * (1.0 if integral else np.sqrt(2)) for m in (X, Y))
    norms = (X**2).sum(axis=1)
    kind = gram.precision(max(norms.max(), (Y**2).sum(axis=1).max()), integral)
    assert kind is (np.float32 if integral and largest == 3 else np.float64)
    square = np.zeros((60, 60), dtype=kind)
    for begin, end in ((0, 100), (100, 300)):
        gram.add_products(square, columns_of(X), None, begin, end, 2)
    square = gram.finish(square, norms, norms, True, False, 2)
    rectangular = np.zeros((60, 45), dtype=kind)
    gram.add_products(rectangular, columns_of(X), columns_of(Y), 0, 300, 1)
    if integral:
        np.testing.assert_array_equal(square, X @ X.T)
        np.testing.assert_array_equal(rectangular, X @ Y.T)
    else:
        np.testing.assert_allclose(square, X @ X.T, rtol=1e-12)
        np.testing.assert_allclose(rectangular, X @ Y.T, rtol=1e-12)
        np.testing.assert_array_equal(square, square.T)


def test_label_hashes_are_those_of_plain_python():
    numbers = np.array([-(2**63), -1, 0, 1, 2, 37, 2**63 - 1])
    words = np.array(["", "C", "Cl", "ö", "\ud800", "a\0"], dtype=object)
    for purpose in (0, 1):
        for table in (numbers, words):
            expected = [pattern_hash.label(value, purpose) for value in table.tolist()]
            assert hash_labels(table, purpose).tolist() == expected
            assert len(set(expected)) == len(table)
    weights = [pattern_hash.mix(p * pattern_hash.GOLDEN % 2**64) | 1 for p in range(1, 9)]
    assert position_weights(8).tolist() == weights


def test_chunks_cover_everything_in_order(monkeypatch):
    sizes = np.random.default_rng(0).integers(0, 50, 500)
    ranges = chunks(sizes, 100)
    assert ranges[0][0] == 0
    assert ranges[-1][1] == 500
    assert all(a[1] == b[0] for a, b in pairwise(ranges))
    assert chunks(np.array([], dtype=int)) == []
    assert run(lambda a, b: (a, b), ranges, 2) == ranges
    assert thread_count(None) == 1
    assert thread_count(3) == 3
    assert thread_count(-1) >= 1
    assert thread_count(-1000) == 1


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_few_columns_give_the_same_numbers_in_one_pass(similarity, n_jobs, monkeypatch):
    rng = np.random.default_rng(0)
    graphs = gg.as_graphs([([], rng.integers(0, 9, size).tolist()) for size in range(300)])
    kernel = gg.VertexHistogram(similarity=similarity, n_jobs=n_jobs)
    found = kernel.fit_transform(graphs)
    monkeypatch.setattr("graphgrain.kernels.features.FEW_COLUMNS", 0)
    np.testing.assert_array_equal(kernel.fit_transform(graphs), found)
