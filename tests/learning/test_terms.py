"""Terms: alphabets times grains, cheaper forms on large graphs, kernels that are passed in."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import GraphgrainWarning, InvalidParameterError
from graphgrain.learning.terms import terms_of


def table(graphs, **options):
    """Kernel, view and similarity of each term."""
    return [
        (type(term.kernel).__name__, term.parameters().get("view", ""), term.similarity)
        for group in terms_of(gg.as_graphs(graphs), **options)
        for term in group
    ]


GRAINS = ["TreePlusPlus", "TreePlusPlus", "ShortestPath"]
LINEAR = [("TreePlusPlus", "", "dot"), ("TreePlusPlus", "StructuralLabels()", "dot")]
ETHANOL = ([(0, 1), (1, 2)], [1, 1, 2])


def test_molecules_have_nine_terms_and_a_linear_one():
    found = table(["CCO", "CC=N"])
    views = ["", "StructuralLabels()", "PharmacophoreLabels()"]
    assert found[:-2] == [(kernel, view, "minmax") for view in views for kernel in GRAINS]
    assert found[-2:] == LINEAR


def test_other_graphs_have_six_and_attributes_add_three_widths():
    assert len(table([ETHANOL])) == 6 + 2
    rng = np.random.default_rng(0)
    sizes = [20] * 20
    edges = [(20 * g + i, 20 * g + i + 1) for g in range(20) for i in range(19)]
    graphs = gg.GraphBatch.from_edges(
        sizes, edges, rng.choice(list("ab"), 400).tolist(), vertex_attributes=rng.random((400, 2))
    )
    found = table(graphs)
    assert len(found) == 3 * 5 + 2
    assert [view for _, view, _ in found[6:15:3]] == [
        f"AttributeBins(n_bins={bins}, strategy='kmeans')" if bins != 8 else
        "AttributeBins(strategy='kmeans')"
        for bins in (8, 32, 128)
    ]  # fmt: skip


def test_graphlets_join_where_there_are_no_labels():
    unlabelled = [[(0, 1), (1, 2), (2, 0), (2, 3)], [(0, 1), (1, 2)]]
    graphs = [gg.from_adjacency([matrix])[0] for matrix in map(adjacency, unlabelled)]
    found = table(gg.GraphBatch.concatenate(graphs))
    assert [kernel for kernel, _, similarity in found if similarity == "cosine"] == ["Graphlet"] * 2


def adjacency(edges):
    matrix = np.zeros((4, 4))
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = 1
    return matrix


def test_each_view_adds_its_alphabets():
    drop = gg.EdgeFilter(drop=["single"])
    found = table(["CCO", "CC=N", "c1ccccc1"], views=[None, drop])
    plain = table(["CCO", "CC=N", "c1ccccc1"])
    assert found[:9] == plain[:9]
    assert len(found) == 18 + 2
    assert all(view.startswith("EdgeFilter") for _, view, _ in found[9:18])
    same = table(["CCO", "CC=N"], views=[None, gg.EdgeFilter(drop=["triple"])])
    assert same == table(["CCO", "CC=N"])  # a view that shows nothing else adds nothing


def test_kernels_are_the_terms_with_their_own_similarity():
    kernels = [gg.WeisfeilerLehman(3, similarity="cosine"), "sp", gg.MultiscaleLaplacian()]
    found = terms_of(gg.as_graphs([ETHANOL]), kernels)
    assert [term.similarity for (term,) in found] == ["cosine", "cosine", "cosine"]
    assert found[0][0].kernel.n_iter == 3
    with pytest.raises(InvalidParameterError, match="random_state of RandomOne must be an integer"):
        terms_of(gg.as_graphs([ETHANOL]), RandomOne(random_state=None))


class RandomOne(gg.VertexHistogram):
    random_state: int | None = 0


def path(size: int) -> tuple:
    return [(i, i + 1) for i in range(size - 1)], [0] * size


def star(size: int) -> tuple:
    return [(0, i) for i in range(1, size)], [0] * size


@pytest.mark.parametrize(
    ("graphs", "kernels"),
    [
        ([star(1000)] * 3, GRAINS),  # few pairs in all
        ([star(3000)], ["TreePlusPlus", "WeisfeilerLehman"]),  # all within two steps
        ([path(3000)], ["TreePlusPlus", "TreePlusPlus"]),  # all connected, few within reach
    ],
    ids=["few", "star", "path"],
)
def test_terms_out_of_proportion_get_a_cheaper_form(graphs, kernels):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = table(graphs)
    assert [kernel for kernel, view, how in found if not view and how == "minmax"] == kernels
    large = [str(w.message) for w in told if issubclass(w.category, GraphgrainWarning)]
    assert len(large) == (kernels != GRAINS)
    assert all("terms_ lists what is used" in words for words in large)
