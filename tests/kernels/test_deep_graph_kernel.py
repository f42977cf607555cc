"""Deep graph kernels: with M = I the plain kernels, with vectors the formula, always repeatable."""

import sys

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import MissingDependencyError
from graphgrain.kernels.deep_graph_kernel import _Sentences

from .peers import data_set, random_graphs, renumbered


def plain_kernel(substructure, **parameters):
    Kernel = {"wl": gg.WeisfeilerLehman, "sp": gg.ShortestPath}[substructure]
    return Kernel(**({"n_iter": 2} if substructure == "wl" else {}), **parameters)


@pytest.mark.parametrize("substructure", ["wl", "sp"])
def test_with_the_identity_it_is_the_plain_kernel(substructure):
    batch = random_graphs(20)
    kernel = gg.DeepGraphKernel(substructure, word_similarity="identity")
    plain = plain_kernel(substructure)
    np.testing.assert_allclose(kernel.fit_transform(batch), plain.fit_transform(batch), rtol=1e-12)
    graphs = random_graphs(30, seed=1)
    new = plain.set_params(similarity="dot").fit(batch).transform(graphs)
    ours = kernel.set_params(similarity="dot").fit(batch).transform(graphs)
    if substructure == "sp":  # relative frequencies
        features = gg.ShortestPath(output="features").fit(batch)
        left, right = (
            np.maximum(features.transform(part).sum(axis=1), 1) for part in (graphs, batch)
        )
        ours = ours * left[:, None] * right
    np.testing.assert_allclose(ours, new, rtol=1e-12)


@pytest.mark.parametrize("similarity", ["vectors", "norms"])
@pytest.mark.parametrize("substructure", ["wl", "sp"])
def test_the_formula_with_m_written_out(substructure, similarity):
    pytest.importorskip("gensim")
    batch = random_graphs(15)
    kernel = gg.DeepGraphKernel(substructure, word_similarity=similarity, similarity="dot")
    K = kernel.fit_transform(batch)
    P = plain_kernel(substructure, output="features").fit_transform(batch).toarray()
    if substructure == "sp":
        P = P / np.maximum(P.sum(axis=1, keepdims=True), 1)
    V = kernel.vectors_
    M = V @ V.T if similarity == "vectors" else np.diag(np.linalg.norm(V, axis=1))
    assert V.shape == (P.shape[1], 10)
    np.testing.assert_allclose(K, P @ M @ P.T, rtol=1e-9, atol=1e-12)


def test_words_that_meet_often_are_similar():
    pytest.importorskip("gensim")
    batch = data_set("MUTAG")
    kernel = gg.DeepGraphKernel(n_iter=1).fit(batch)
    V = kernel.vectors_ / np.linalg.norm(kernel.vectors_, axis=1, keepdims=True)
    assert np.isfinite(V).all()
    frequent = np.argsort(-kernel.substructures_.transform(batch).sum(axis=0))
    often, seldom = frequent[:5], frequent[-5:]
    assert (V[often] @ V[often].T).mean() > (V[often] @ V[seldom].T).mean()


@pytest.mark.parametrize("substructure", ["wl", "sp"])
def test_sentences_hold_every_occurrence_in_order_of_levels(substructure):
    batch = random_graphs(10)
    kernel = gg.DeepGraphKernel(substructure, word_similarity="identity").fit(batch).substructures_
    counts = kernel.transform(batch)
    corpus = _Sentences(counts, kernel)
    sentences = list(corpus)
    assert sorted(corpus.order.tolist()) == list(range(10))
    rows = [i for i in corpus.order if counts[[i]].nnz]
    assert len(sentences) == len(rows)
    for row, sentence in zip(rows, sentences, strict=True):
        words = np.array(sentence, dtype=int)
        found = np.bincount(words, minlength=counts.shape[1])
        np.testing.assert_array_equal(found, counts[[row]].toarray().ravel())
        levels = np.searchsorted(kernel.level_offsets_, words, side="right")
        assert (np.diff(levels) >= 0).all()


def test_long_sentences_are_split_and_nothing_is_lost():
    n = 150
    path = gg.GraphBatch.from_edges([n], [(v, v + 1) for v in range(n - 1)])
    kernel = gg.ShortestPath(output="features")
    sentences = list(_Sentences(kernel.fit_transform(path), kernel))
    assert [len(s) for s in sentences] == [10_000, 10_000, n * (n - 1) - 20_000]


def test_seed_and_numbering():
    pytest.importorskip("gensim")
    batch = random_graphs(15)
    first = gg.DeepGraphKernel(random_state=1).fit_transform(batch)
    np.testing.assert_array_equal(gg.DeepGraphKernel(random_state=1).fit_transform(batch), first)
    other = gg.DeepGraphKernel(random_state=1).fit_transform(renumbered(batch))
    np.testing.assert_allclose(other, first, rtol=1e-9)
    assert not np.allclose(gg.DeepGraphKernel(random_state=2).fit_transform(batch), first)


@pytest.mark.parametrize("substructure", ["wl", "sp"])
def test_the_order_of_graphs_tells_nothing(substructure):
    """Data sets are often sorted by class; word vectors must not know when a graph came."""
    pytest.importorskip("gensim")
    batch = random_graphs(25)
    first = gg.DeepGraphKernel(substructure).fit_transform(batch)
    order = np.random.default_rng(0).permutation(len(batch))
    other = gg.DeepGraphKernel(substructure).fit_transform(batch[order])
    np.testing.assert_allclose(other, first[np.ix_(order, order)], rtol=1e-9)


def test_without_gensim_the_way_out_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    graphs = [([(0, 1)], ["C", "O"])]
    with pytest.raises(MissingDependencyError, match=r"pip install graphgrain\[deep\]"):
        gg.DeepGraphKernel().fit(graphs)
    assert gg.DeepGraphKernel(word_similarity="identity").fit_transform(graphs).tolist() == [[1.0]]


def test_a_single_word_makes_all_graphs_equal():
    pytest.importorskip("gensim")
    graphs = [([(0, 1)], [7, 7]), ([(0, 1), (1, 2)], [7, 7, 7])]
    K = gg.DeepGraphKernel(n_iter=0).fit_transform(graphs)
    np.testing.assert_allclose(K, np.ones((2, 2)), rtol=1e-12)
