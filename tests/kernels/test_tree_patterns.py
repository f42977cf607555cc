"""Tree-pattern kernels against patterns that are listed one by one."""

import fractions
from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import InvalidParameterError

from .peers import random_graphs


def neighbours(graph, edge_labels):
    around = {v: [] for v in range(graph.n_vertices)}
    bonds = graph.edge_labels if edge_labels else np.zeros(graph.n_edges, int)
    for (u, v), bond in zip(graph.edges.tolist(), bonds.tolist(), strict=True):
        around[u].append((bond, v))
        around[v].append((bond, u))
    return around


def patterns(graph, root, depth, until, edge_labels):
    """All tree patterns below a root, as nested sorted tuples, with how often each occurs."""
    label = graph.labels[root].item()
    if depth == 1:
        return Counter({(label, ()): 1})
    found = Counter({(label, ()): 1}) if until else Counter()
    around = neighbours(graph, edge_labels)[root]
    for count in range(1, len(around) + 1):
        for chosen in combinations(around, count):
            partial = Counter({(): 1})
            for bond, child in chosen:
                below = patterns(graph, child, depth - 1, until, edge_labels)
                grown = Counter()
                for branches, times in partial.items():
                    for tree, often in below.items():
                        grown[tuple(sorted((*branches, (bond, tree))))] += times * often
                partial = grown
            for branches, times in partial.items():
                found[label, branches] += times
    return found


def size(tree):
    return 1 + sum(size(branch) for _, branch in tree[1])


def leaves(tree):
    return sum(leaves(branch) for _, branch in tree[1]) or 1


def orders(tree):
    """In how many ways equal branches can be matched: as often as a pair of trees is counted."""
    result = 1
    for branch, times in Counter(tree[1]).items():
        for factor in range(1, times + 1):
            result *= factor
        result *= orders(branch[1]) ** times
    return result


@pytest.mark.parametrize("edge_labels", [False, True])
@pytest.mark.parametrize("until", [False, True])
@pytest.mark.parametrize("weighting", ["size", "branching"])
def test_mahe_and_vert_by_listing_patterns(weighting, until, edge_labels):
    batch = random_graphs(5, seed=3, largest=6, density=0.35)
    depth, decay = 3, 0.4
    found = []
    for graph in batch:
        total = Counter()
        for root in range(graph.n_vertices):
            total += patterns(graph, root, depth, until, edge_labels)
        found.append(total)

    def weight(tree):
        if weighting == "branching":
            return decay ** (leaves(tree) - 1)
        return decay ** (size(tree) - (0 if until else depth))

    expected = [
        [sum(weight(t) * orders(t) * n * b[t] for t, n in a.items()) for b in found] for a in found
    ]
    kernel = gg.TreePatterns(
        depth,
        weighting=weighting,
        decay=decay,
        until=until,
        edge_labels=edge_labels,
        similarity="dot",
    )
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-10)


def by_definition(first, second, u, v, depth, decay):
    """The recursion of Ramon and Gaertner, matchings listed one by one."""
    if first.labels[u] != second.labels[v]:
        return 0.0
    if depth == 1:
        return 1.0
    ours = [x for _, x in neighbours(first, False)[u]]
    theirs = [y for _, y in neighbours(second, False)[v]]
    total = 0.0
    for count in range(min(len(ours), len(theirs)) + 1):
        for chosen in combinations(ours, count):
            for others in permutations(theirs, count):
                total += np.prod(
                    [
                        by_definition(first, second, x, y, depth - 1, decay)
                        for x, y in zip(chosen, others, strict=True)
                    ]
                )
    return decay**2 * total


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_ramon_and_gaertner_by_listing_matchings(depth):
    batch = random_graphs(5, seed=9, largest=6, density=0.4)
    expected = [
        [
            sum(
                by_definition(one, other, u, v, depth, 0.7)
                for u in range(one.n_vertices)
                for v in range(other.n_vertices)
            )
            for other in batch
        ]
        for one in batch
    ]
    kernel = gg.SubtreePatterns(depth, decay=0.7, similarity="dot")
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-10)


def test_trees_that_hardly_branch_are_walks():
    batch = random_graphs(6, seed=2)
    trees = gg.TreePatterns(3, decay=1e-9, similarity="dot").fit_transform(batch)
    kernel = gg.RandomWalk(2, decay=1.0, similarity="dot")
    fewer = gg.RandomWalk(1, decay=1.0, similarity="dot")
    np.testing.assert_allclose(
        trees, kernel.fit_transform(batch) - fewer.fit_transform(batch), rtol=1e-6, atol=1e-6
    )


def test_huge_numbers_of_patterns():
    """Their product exceeds the range of numbers before they do themselves."""
    cubic = [(v, (v + 1) % 16) for v in range(16)] + [(v, v + 8) for v in range(8)]
    graphs = [(cubic, [0] * 16), (cubic, [0] * 15 + [1])]
    depth = 6
    K = gg.SubtreePatterns(depth, decay=1.0, similarity="dot").fit_transform(graphs)
    assert np.log10(K[0, 0]) + np.log10(K[1, 1]) > 308
    roots = [fractions.Fraction(K[i, i]) for i in range(2)]
    expected = float(fractions.Fraction(K[0, 1]) ** 2 / (roots[0] * roots[1])) ** 0.5
    normal = gg.SubtreePatterns(depth, decay=1.0).fit_transform(graphs)
    np.testing.assert_allclose(normal[0, 1], expected, rtol=1e-12)
    assert expected > 0
    with pytest.raises(InvalidParameterError, match="Use a smaller depth or decay"):
        gg.SubtreePatterns(depth + 2, decay=1.0).fit(graphs)
    with pytest.raises(InvalidParameterError, match="Use a smaller n_steps or decay"):
        gg.RandomWalk(1000, decay=1.0).fit(graphs)


def test_high_degrees_are_refused():
    star = gg.GraphBatch.from_edges([18], [(0, leaf) for leaf in range(1, 18)])
    with pytest.raises(gg.errors.InvalidGraphError, match="16 or less; got 17"):
        gg.TreePatterns().fit(star)
    assert gg.SubtreePatterns(1).fit_transform(star).tolist() == [[1.0]]
    with pytest.raises(gg.errors.InvalidGraphError, match="got 17"):
        gg.SubtreePatterns().fit(random_graphs(3).with_labels(None)).transform(star)
