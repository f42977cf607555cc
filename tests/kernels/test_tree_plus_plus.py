"""Tree++ against the definition: golden values, the slow oracle, decoded features."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphgrain as gg

from .. import oracle, pattern_hash
from ..strategies import graphs, to_tuple

G1 = ([(3, 4), (4, 0), (1, 4), (2, 3), (4, 2), (5, 2)], [1, 1, 3, 3, 4, 2])
G2 = ([(5, 3), (4, 0), (1, 0), (4, 5), (4, 2), (5, 2)], [1, 1, 3, 2, 4, 3])

often = settings(max_examples=150, derandomize=True)


def named_counts(kernel: gg.TreePlusPlus, graph: tuple) -> dict[str, int]:
    row = kernel.transform([graph]).toarray()[0]
    names = kernel.feature_names()
    return {name: int(count) for name, count in zip(names, row, strict=True) if count}


def hashed_counts(kernel: gg.TreePlusPlus, level: int, row: np.ndarray) -> dict[int, float]:
    begin, end = kernel.level_offsets_[level], kernel.level_offsets_[level + 1]
    pairs = zip(kernel.vocabulary_[level].tolist(), row[begin:end].tolist(), strict=True)
    return {code: count for code, count in pairs if count}


class TestGoldenValues:
    """Figure 2 of the paper."""

    def test_path_patterns_of_both_graphs(self):
        kernel = gg.PathPattern(path_depth=1, output="features").fit([G1, G2])
        assert named_counts(kernel, G1) == {
            "1": 2,
            "1->4": 4,
            "2": 1,
            "2->3": 2,
            "3": 2,
            "3->3": 2,
            "3->4": 4,
            "4": 1,
        }
        assert named_counts(kernel, G2) == {
            "1": 2,
            "1->1": 2,
            "1->4": 2,
            "2": 1,
            "2->3": 2,
            "3": 2,
            "3->3": 2,
            "3->4": 4,
            "4": 1,
        }

    def test_kernel_value(self):
        K = gg.PathPattern(path_depth=1, similarity="dot").fit_transform([G1, G2])
        assert K[0, 1] == 42

    def test_tree_labels_of_depth_two(self):
        kernel = gg.TreePlusPlus(path_depth=0, tree_depth=2, output="features").fit([G1, G2])
        trees = {
            name.removesuffix(" k=2"): count
            for name, count in named_counts(kernel, G1).items()
            if name.endswith("k=2")
        }
        assert trees == {
            "1(4,1,3,3)": 2,
            "2(3,3,4)": 1,
            "3(2,3,4,1,1)": 1,
            "3(3,4,2,1,1)": 1,
            "4(1,1,3,3,2)": 1,
        }
        trees = {
            name.removesuffix(" k=2"): count
            for name, count in named_counts(kernel, G2).items()
            if name.endswith("k=2")
        }
        assert trees == {
            "1(1,4)": 1,
            "1(1,4,3,3)": 1,
            "2(3,3,4)": 1,
            "3(2,3,4,1)": 1,
            "3(3,4,2,1)": 1,
            "4(1,3,3,1,2)": 1,
        }

    def test_depth_zero_paths_and_depth_one_trees_group_vertices_as_weisfeiler_lehman(self):
        kernel = gg.TreePlusPlus(path_depth=0, tree_depth=1, output="features").fit([G1, G2])
        for edges, labels in (G1, G2):
            around = Counter(
                (labels[v], tuple(sorted(labels[w] for e in edges if v in e for w in e if w != v)))
                for v in range(6)
            )
            counts = named_counts(kernel, (edges, labels))
            steps = [count for name, count in counts.items() if name.endswith("k=1")]
            assert sorted(steps) == sorted(around.values())


OPTIONS = st.fixed_dictionaries(
    {
        "path_depth": st.integers(0, 4),
        "tree_depth": st.integers(0, 4),
        "centrality": st.sampled_from(["eigenvector", "closeness", "betweenness", "degree", None]),
        "edge_labels": st.booleans(),
    }
)


class TestAgainstOracle:
    @often
    @given(st.booleans().flatmap(lambda s: graphs(strings=s)), OPTIONS)
    def test_every_feature_count(self, graph, options):
        self.compare(graph, options)

    @often
    @given(graphs(), OPTIONS)
    def test_every_feature_count_with_the_roots_divided(self, graph, options):
        """The way of large graphs, taken by small ones."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("graphgrain.core.counting.STORED_PAIRS", 3)
            self.compare(graph, options)

    @staticmethod
    def compare(graph, options):
        edge_labels = options["edge_labels"]
        expected = oracle.patterns(graph, **options)
        kernel = gg.TreePlusPlus(output="features", **options)
        row = kernel.fit_transform([to_tuple(graph)]).toarray()[0]
        for level, counter in enumerate(expected):
            assert hashed_counts(kernel, level, row) == {
                pattern_hash.feature(pattern, level, edge_labels): count
                for pattern, count in counter.items()
            }

    def test_candidate_parents_with_different_trees(self):
        """Equal ranks, different neighbourhoods: the smallest pattern must be chosen."""
        telling = 0
        for seed in range(60):
            rng = np.random.default_rng(seed)
            made = nx.gnp_random_graph(9, 0.3, seed=seed)
            labels = rng.choice(["C", "N"], 9, p=[0.8, 0.2]).tolist()
            graph = oracle.Graph(labels, {frozenset(edge): 1 for edge in made.edges})
            smallest, largest = (
                oracle.patterns(graph, 3, 2, None, choose=choose) for choose in (min, max)
            )
            telling += smallest != largest
            kernel = gg.TreePlusPlus(3, 2, centrality=None, output="features")
            row = kernel.fit_transform([to_tuple(graph)]).toarray()[0]
            for level, counter in enumerate(smallest):
                assert hashed_counts(kernel, level, row) == {
                    pattern_hash.feature(pattern, level, False): count
                    for pattern, count in counter.items()
                }
        assert telling > 20

    @often
    @given(
        st.lists(graphs(max_size=7), min_size=2, max_size=4),
        st.sampled_from(["raw", "sqrt", "log", "binary", "intersection"]),
        st.sampled_from(["cosine", "minmax", "dot"]),
        st.booleans(),
    )
    def test_gram_with_every_count_map(self, made, counts, similarity, edge_labels):
        features = [oracle.patterns(graph, 3, 2, edge_labels=edge_labels) for graph in made]
        kernel = gg.TreePlusPlus(
            3, 2, counts=counts, similarity=similarity, edge_labels=edge_labels
        ).fit([to_tuple(graph) for graph in made])
        levels = kernel.gram_levels()
        for level in range(3):
            upto = [one[: level + 1] for one in features]
            expected = oracle.gram(upto, counts, similarity)
            np.testing.assert_allclose(levels[level], expected, rtol=1e-12, atol=1e-12)

    @often
    @given(graphs(max_size=8), st.booleans())
    def test_names_and_occurrences_tell_the_patterns(self, graph, edge_labels):
        item = to_tuple(graph)
        kernel = gg.TreePlusPlus(3, 1, output="features", edge_labels=edge_labels)
        row = kernel.fit_transform([item]).toarray()[0]
        names = kernel.feature_names()
        assert len(set(names)) == len(names)
        for column in range(len(names)):
            paths = kernel.occurrences([item], column)
            assert len(paths) == row[column]
            for path in paths:
                assert len(set(path)) == len(path)
                assert all(frozenset(pair) in graph.edges for pair in pairwise(path))
                if " k=" not in names[column] and not edge_labels:
                    text = [str(graph.labels[v]) for v in path]
                    assert names[column] in {"->".join(text), "->".join(text[::-1])}
