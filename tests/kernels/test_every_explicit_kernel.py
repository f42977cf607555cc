"""What every kernel with explicit features must do: found, not listed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse, vstack
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier

import graphgrain as gg

from .found_kernels import (
    COUNTED,
    GRAPHS,
    Y,
    every_explicit,
    of,
    plain,
)


@every_explicit
def test_features_multiply_to_the_gram(Kernel):
    kernel = Kernel(output="features")
    X = kernel.fit_transform(GRAPHS)
    assert issparse(X)
    assert X.has_canonical_format
    K = Kernel(similarity="dot").fit_transform(GRAPHS)
    np.testing.assert_allclose((X @ X.T).toarray(), K, rtol=1e-12)
    new = kernel.transform(GRAPHS[4:9])
    np.testing.assert_array_equal(new.toarray(), X[4:9].toarray())


@every_explicit
def test_hashed_columns_are_the_features_in_fewer_columns(Kernel):
    """With room for all features nothing meets; with little room entries add up, none is lost."""
    X = Kernel(output="features").fit_transform(GRAPHS)
    wide = Kernel(output="features", n_features=2**31 - 1).transform(GRAPHS)  # without fit
    assert wide.has_canonical_format
    used, columns = np.unique(wide.indices, return_inverse=True)  # a product over 2^31 is large
    wide = csr_array((wide.data, columns, wide.indptr), shape=(len(GRAPHS), len(used)))
    np.testing.assert_allclose((wide @ wide.T).toarray(), (X @ X.T).toarray(), rtol=1e-12)
    narrow = Kernel(output="features", n_features=7).fit_transform(GRAPHS)
    assert narrow.shape == (len(GRAPHS), 7)
    np.testing.assert_allclose(narrow.sum(axis=1), X.sum(axis=1), rtol=1e-12)
    folded = np.zeros((len(GRAPHS), 7))  # 7 divides 7 * 2^20: the same columns, folded again
    entries = Kernel(output="features", n_features=7 << 20).transform(GRAPHS).tocoo()
    np.add.at(folded, (entries.row, entries.col % 7), entries.data)
    np.testing.assert_allclose(narrow.toarray(), folded, rtol=1e-12)


@every_explicit
def test_hashed_columns_need_no_fit_and_any_chunk_gives_the_same(Kernel):
    kernel = Kernel(output="features", n_features=2**12)
    whole = kernel.transform(GRAPHS)
    parts = [clone(kernel).transform(GRAPHS[a : a + 5]) for a in range(0, len(GRAPHS), 5)]
    np.testing.assert_array_equal(vstack(parts).toarray(), whole.toarray())
    two = clone(kernel).set_params(n_jobs=2).fit(GRAPHS[:1])
    np.testing.assert_array_equal(two.transform(GRAPHS).toarray(), whole.toarray())
    assert not hasattr(two, "graphs_")
    assert len(pickle.dumps(two)) < 2000
    assert kernel.transform([]).shape == (0, 2**12)
    assert len(Kernel(output="features", n_features=5).get_feature_names_out()) == 5
    for use in (two.feature_names, two.gram, two.gram_levels, lambda: two.at_level(0)):
        with pytest.raises(gg.errors.InvalidParameterError, match="Fit with n_features=None"):
            use()
    with pytest.raises(NotFittedError):
        two.set_params(n_features=None).occurrences(GRAPHS[0], 0)
    model = SGDClassifier(random_state=0)
    for part, y in zip(parts, np.split(Y, range(5, len(Y), 5)), strict=True):
        model.partial_fit(part, y, classes=[0, 1])
    assert model.predict(whole).shape == Y.shape


@every_explicit
def test_a_kernel_with_hashed_columns_still_has_an_exact_gram(Kernel):
    kernel = Kernel(n_features=3)
    np.testing.assert_array_equal(kernel.fit_transform(GRAPHS), Kernel().fit_transform(GRAPHS))
    assert kernel.set_params(output="features").transform(GRAPHS).shape == (len(GRAPHS), 3)
    kernel.fit(GRAPHS)  # learns nothing, and forgets
    with pytest.raises(NotFittedError):
        kernel.set_params(output="gram").transform(GRAPHS)


@every_explicit
def test_feature_names_are_distinct_and_readable(Kernel):
    kernel = Kernel(output="features")
    X = kernel.fit_transform(GRAPHS)
    names = kernel.get_feature_names_out()
    assert len(names) == X.shape[1] == len(set(names))
    assert all(isinstance(name, str) and name.strip() for name in names)


@of(COUNTED)
@pytest.mark.parametrize("counts", ["raw", "sqrt", "log", "binary", "intersection"])
def test_count_maps(Kernel, counts):
    X = plain(Kernel(output="features").fit_transform(GRAPHS))
    kernel = Kernel(similarity="dot", counts=counts)
    K = kernel.fit_transform(GRAPHS)
    maps = {"raw": lambda c: c, "sqrt": np.sqrt, "log": np.log1p, "binary": lambda c: c > 0}
    if counts == "intersection":
        expected = np.minimum(X[:, None, :], X[None, :, :]).sum(axis=2)
    else:
        mapped = maps[counts](X).astype(float)
        expected = mapped @ mapped.T
    np.testing.assert_allclose(K, expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.transform(GRAPHS[:3]), expected[:3], rtol=1e-12)
    named = Kernel(output="features", counts=counts).fit(GRAPHS[:4])
    names = named.get_feature_names_out()
    assert len(set(names)) == len(names) == named.transform(GRAPHS[:1]).shape[1]


@every_explicit
def test_gram_levels_are_what_fewer_levels_give(Kernel):
    depth = Kernel.level_parameter
    levels = Kernel().fit(GRAPHS).gram_levels()
    np.testing.assert_allclose(levels[-1], Kernel().fit_transform(GRAPHS), rtol=1e-12)
    new = Kernel().fit(GRAPHS).gram_levels(GRAPHS[:2])
    np.testing.assert_allclose(new, levels[:, :2], rtol=1e-12, atol=1e-12)
    if depth is not None:
        for level, K in enumerate(levels):
            expected = Kernel(**{depth: level}).fit(GRAPHS)
            np.testing.assert_allclose(K, expected.gram(), rtol=1e-12)
            lower = Kernel().fit(GRAPHS).at_level(level)
            assert lower.get_params() == expected.get_params()
            new = lower.transform(GRAPHS[:2])
            np.testing.assert_allclose(new, expected.transform(GRAPHS[:2]), rtol=1e-12)
        with pytest.raises(gg.errors.InvalidParameterError, match=f"{depth} must be"):
            lower.at_level(level + 1)
    elif len(levels) > 1:
        with pytest.raises(gg.errors.InvalidParameterError, match="has no level_parameter"):
            Kernel().fit(GRAPHS).at_level(0)


def test_several_levels_of_a_kernel_of_ones_own_in_hashed_columns():
    class LabelsAndDegrees(gg.FeatureKernel):
        def count_features(self, batch):
            columns = (batch.label_codes, batch.degrees)
            return [gg.count_hashes(batch.offsets, gg.hash_labels(own)) for own in columns]

    X = LabelsAndDegrees(output="features", n_features=2**20).fit_transform(GRAPHS)
    expected = LabelsAndDegrees(similarity="dot").fit_transform(GRAPHS)
    np.testing.assert_allclose((X @ X.T).toarray(), expected)


def test_hashes_of_labels_depend_on_values_not_on_types():
    words = ["C", "O"]
    expected = gg.hash_labels(np.array(words, dtype=object))
    for same in (words, np.array(words), np.array([*words, "Cl"])[:2]):
        np.testing.assert_array_equal(gg.hash_labels(same), expected)
    expected = gg.hash_labels(np.array([3, 5]))
    np.testing.assert_array_equal(gg.hash_labels(np.array([3, 5], dtype=np.uint8)), expected)
    assert not set(expected) & set(gg.hash_labels(["3", "5"]))
    assert gg.hash_labels(np.array([])).tolist() == []
