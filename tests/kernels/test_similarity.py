"""Similarities of features: min-max beside the dot product and the cosine."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.core.gram import GramSum
from graphgrain.errors import InvalidParameterError
from graphgrain.kernels.features import Features

from .found_kernels import (
    EXPLICIT,
    GRAPHS,
    KERNELS,
    ODD_GRAPHS,
    every_explicit,
    every_kernel,
    of,
)

ALL = gg.GraphBatch.concatenate([ODD_GRAPHS[:3], GRAPHS[:8]])


def brute_minmax(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Sum of minima over sum of maxima; graphs without features are equal."""
    K = np.empty((len(left), len(right)))
    for i, one in enumerate(left):
        for j, other in enumerate(right):
            most = np.maximum(one, other).sum()
            K[i, j] = np.minimum(one, other).sum() / most if most else 1.0
    return K


@every_explicit
def test_minmax_is_the_sum_of_minima_over_the_sum_of_maxima(Kernel):
    kernel = Kernel(similarity="minmax")
    X = Kernel(output="features").fit_transform(ALL).toarray()
    np.testing.assert_allclose(kernel.fit_transform(ALL), brute_minmax(X, X), rtol=1e-9)
    some = kernel.fit(ALL[4:]).transform(ALL)
    np.testing.assert_allclose(some, brute_minmax(X, X[4:]), rtol=1e-9)


@pytest.mark.parametrize("radius", [0, 1, 2, 3])
def test_minmax_is_rdkits_count_tanimoto(radius):
    """Colours after r steps are Morgan environments of radius r, of atoms without bond orders."""
    Chem = pytest.importorskip("rdkit.Chem")
    from rdkit.Chem import rdFingerprintGenerator
    from rdkit.DataStructs import TanimotoSimilarity

    smiles = [
        "CCO", "c1ccccc1O", "CC(=O)Nc1ccc(O)cc1", "CCN(CC)CC", "CCOC(=O)C",
        "CC(C)Cc1ccc(cc1)C(C)C(=O)O", "C1CCCC2C1CC(N)CC2", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
    ]  # fmt: skip
    generator = rdFingerprintGenerator.GetMorganGenerator(
        radius=radius, includeRedundantEnvironments=True, useBondTypes=False
    )
    prints = []
    for molecule in map(Chem.MolFromSmiles, smiles):
        numbers = [atom.GetAtomicNum() for atom in molecule.GetAtoms()]
        prints.append(generator.GetSparseCountFingerprint(molecule, customAtomInvariants=numbers))
    expected = [[TanimotoSimilarity(one, other) for other in prints] for one in prints]
    ours = gg.WeisfeilerLehman(radius, similarity="minmax").fit_transform(smiles)
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


@of([kernel for kernel in KERNELS if kernel not in EXPLICIT])
def test_kernels_without_features_say_that_minmax_needs_them(Kernel):
    inside = {"kernel": gg.RandomWalk()} if Kernel is gg.HashedAttributes else {}
    with pytest.raises(
        gg.InvalidParameterError,
        match=r"similarity must be one of 'cosine', 'dot' \('minmax' compares explicit features\)",
    ):
        Kernel(**inside, similarity="minmax").fit(GRAPHS[:3])


@every_kernel
def test_similarity_may_change_after_fit(Kernel):
    kernel = Kernel().fit(GRAPHS)
    for similarity in ("cosine", "minmax", "dot") if Kernel in EXPLICIT else ("cosine", "dot"):
        fresh = Kernel(similarity=similarity).fit(GRAPHS)
        kernel.set_params(similarity=similarity)
        np.testing.assert_array_equal(kernel.transform(GRAPHS[:3]), fresh.transform(GRAPHS[:3]))
        np.testing.assert_array_equal(kernel.gram(), fresh.gram())
    with pytest.raises(InvalidParameterError, match="similarity must be one of"):
        kernel.set_params(similarity="tanimoto").gram()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_sums_of_similarities_are_the_sums(dtype, n_jobs):
    """Added up in one matrix: whole and broken counts, graphs without features among them."""
    X = gg.TreePlusPlus(2, 1, output="features").fit_transform(ALL).toarray()
    features = Features(gg.TreePlusPlus(2, 1).count_features(ALL))
    roots = np.sqrt(X)
    lengths = np.linalg.norm(X, axis=1)
    empty = lengths == 0
    assert empty.any()
    cosine = X @ X.T / np.maximum(np.outer(lengths, lengths), 1e-300)
    cosine[np.ix_(empty, empty)] = 1.0
    total = GramSum(len(ALL), dtype)
    for counts, similarity, factor in (
        ("sqrt", "dot", 0.25), ("raw", "minmax", 1.0), ("raw", "cosine", 3.0)
    ):  # fmt: skip
        features.mapped(counts).columns().add_gram(similarity, total, factor, n_jobs)
    expected = 0.25 * roots @ roots.T + brute_minmax(X, X) + 3.0 * cosine
    tolerance = 1e-12 if dtype is np.float64 else 1e-6
    found = total.mirrored(n_jobs)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=tolerance)


def test_parameters_that_changed_after_fit_are_refused_everywhere():
    kernel = gg.TreePlusPlus(2, 1).fit(ALL)
    kernel.set_params(counts="binary")
    for act in (
        kernel.gram,
        kernel.gram_levels,
        kernel.feature_names,
        lambda: kernel.transform(ALL),
    ):
        with pytest.raises(InvalidParameterError, match="counts was 'raw' at fit"):
            act()
