"""Why two graphs are alike: sums that give the kernel's own similarity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphgrain as gg
from graphgrain.errors import InvalidGraphError, InvalidParameterError
from tests.kernels.found_kernels import EXPLICIT, GRAPHS
from tests.strategies import graphs, to_tuple


@pytest.mark.parametrize("Kernel", EXPLICIT, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("similarity", ["cosine", "dot", "minmax"])
def test_shares_add_up_to_the_similarity_of_every_kernel(Kernel, similarity):
    kernel = Kernel(similarity=similarity).fit(GRAPHS)
    for first, second in ((0, 2), (1, 1), (4, 7)):
        K = kernel.transform(GRAPHS[first])
        pair = gg.compare(kernel, GRAPHS[first], GRAPHS[second])
        np.testing.assert_allclose(pair.similarity, K[0, second], rtol=1e-9)
        for values in pair.vertices:
            np.testing.assert_allclose(values.sum(), pair.similarity, rtol=1e-9)
        if pair.similarity:
            np.testing.assert_allclose(sum(p.share for p in pair.shared()), 1.0, rtol=1e-9)
    fresh = gg.compare(Kernel(similarity=similarity), GRAPHS[0], GRAPHS[2])
    np.testing.assert_allclose(
        fresh.similarity, gg.compare(kernel, GRAPHS[0], GRAPHS[2]).similarity, rtol=1e-9
    )


@settings(max_examples=40)
@given(
    graphs(max_size=8, strings=True),
    graphs(max_size=8, strings=True),
    st.sampled_from(["raw", "sqrt", "log", "binary", "intersection"]),
    st.sampled_from(["path", "tree"]),
)
def test_any_pair(first, second, counts, share):
    a, b = [to_tuple(first)[:2]], [to_tuple(second)[:2]]
    kernel = gg.TreePlusPlus(3, 1, counts=counts)
    pair = gg.compare(kernel, a, b, share=share)
    np.testing.assert_allclose(pair.similarity, kernel.fit_transform(a + b)[0, 1], rtol=1e-9)
    if first.labels and second.labels:
        for values in pair.vertices:
            np.testing.assert_allclose(values.sum(), pair.similarity, rtol=1e-9, atol=1e-12)
    found = [kernel.locate(item) for item in (a, b)]
    for pattern in pair.shared() + pair.only(0) + pair.only(1):
        for n in (0, 1):
            assert len(pattern.occurrences[n]) == pattern.counts[n]
    totals = [sum(len(level.hashes) for level in levels) for levels in found]
    for n in (0, 1):
        own = sum(p.counts[n] for p in pair.shared() + pair.only(n))
        assert own == totals[n]
        assert all(p.counts[1 - n] == 0 < p.counts[n] for p in pair.only(n))


def test_pictures_and_words():
    drugs, _, names = gg.load_drugs(names=True)
    place = {name: number for number, name in enumerate(names.tolist())}
    pair = gg.compare(
        gg.TreePlusPlus(edge_labels=True), drugs[place["morphine"]], drugs[place["codeine"]]
    )
    assert pair.to_svg(which=0).startswith("<svg")
    text = pair._repr_html_()
    assert text.count("<svg") == 2
    assert f"Similarity {pair.similarity:.3f}" in text
    assert "Only the second has" in text
    # codeine is morphine with one more carbon, on an oxygen of the ring
    new = {v for pattern in pair.only(1, 5) for path in pattern.occurrences[1] for v in path}
    assert "O" in set(drugs[place["codeine"]].labels[list(new)])


def test_bad_input():
    graph = GRAPHS[0]
    with pytest.raises(InvalidParameterError, match="explicit features; got ReturnProbability"):
        gg.compare(gg.ReturnProbability(), graph, graph)
    with pytest.raises(InvalidGraphError, match="two graphs; got 3 on one side"):
        gg.compare(gg.TreePlusPlus(), graph, GRAPHS[:3])
    with pytest.raises(InvalidParameterError, match="share must be path or tree"):
        gg.compare(gg.TreePlusPlus(), graph, graph, share="fair")
    with pytest.raises(InvalidParameterError, match="which must be 0 or 1"):
        gg.compare(gg.TreePlusPlus(), graph, graph).only(2)
    empty = gg.compare(gg.TreePlusPlus(), [([], [])], [([], [])])
    assert empty.similarity == 1.0
    assert empty.shared() == []
    assert "no vertices" in empty._repr_html_()


@pytest.mark.parametrize("counts", ["raw", "sqrt", "log", "binary", "intersection"])
def test_minmax_of_every_count_map(counts):
    kernel = gg.TreePlusPlus(similarity="minmax", counts=counts)
    K = kernel.fit_transform(GRAPHS)
    pair = gg.compare(kernel, GRAPHS[0], GRAPHS[2])
    np.testing.assert_allclose(pair.similarity, K[0, 2], rtol=1e-12)
    np.testing.assert_allclose(pair.vertices[1].sum(), K[0, 2], rtol=1e-9)
    empty = gg.as_graphs([([], [])])
    assert gg.compare(gg.TreePlusPlus(similarity="minmax"), empty, empty).similarity == 1.0
