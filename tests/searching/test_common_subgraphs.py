"""Changes against maximum common connected subgraphs, by brute force and by RDKit's FMCS.

The oracle does not know of places, bridges or refinement. Of two connected graphs it lists every
connected induced subgraph of one and every way to find it in the other, and looks at what is left
of both.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

import graphgrain as gg

from .test_changes_of_graphs import as_networkx, matched, same

nx = pytest.importorskip("networkx")
from networkx.algorithms.isomorphism import GraphMatcher  # noqa: E402

LABELS = {
    "node_match": lambda x, y: x["label"] == y["label"],
    "edge_match": lambda x, y: x["label"] == y["label"],
}


def connected_subsets(graph):
    for size in range(1, len(graph) + 1):
        for chosen in itertools.combinations(graph, size):
            if nx.is_connected(graph.subgraph(chosen)):
                yield chosen


def common_parts(first, second):
    """Every common connected induced subgraph, as vertices of the one to those of the other."""
    for chosen in connected_subsets(first):
        labels = Counter(first.nodes[v]["label"] for v in chosen)
        if labels <= Counter(label for _, label in second.nodes(data="label")):
            matcher = GraphMatcher(second, first.subgraph(chosen), **LABELS)
            for found in matcher.subgraph_isomorphisms_iter():
                yield {u: v for v, u in found.items()}


def hanging(graph, part):
    """Where what is outside of a part hangs on it: a set of (vertex, bond, vertex outside)."""
    return {(u, graph.edges[u, v]["label"], v) for u in part for v in graph[u] if v not in part}


def is_branch(graph, part, most):
    """Whether nothing, or one branch of an allowed size, is outside of the part."""
    outside = set(graph) - set(part)
    if not outside:
        return True
    return (
        len(hanging(graph, part)) == 1
        and nx.is_connected(graph.subgraph(outside))
        and len(outside) <= most
        and 2 * len(outside) <= len(graph)
    )


def differ_at_one_place(first, second, common, most):
    """Whether all that is outside of the common part is one branch or one vertex, at one place."""
    ends = hanging(first, common), hanging(second, common.values())
    if is_branch(first, common, most) and is_branch(second, common.values(), most):
        anchors = [{u for u, _, _ in some} for some in ends]
        return not (all(anchors) and {common[u] for u in anchors[0]} != anchors[1])
    vertices = [{v for _, _, v in some} for some in ends]
    if not len(first) == len(second) == len(common) + 1:
        return False
    bonds = {(common[u], bond) for u, bond, _ in ends[0]}
    assert list(map(len, vertices)) == [1, 1]
    return len(bonds) > 1 and bonds == {(u, bond) for u, bond, _ in ends[1]}


def one_other_label(first, second):
    """Common parts that are not connected: a label in the middle, or that of an edge.

    The sizes of what is the same, of all ways to lay one graph on the other.
    """
    for found in GraphMatcher(first, second).isomorphisms_iter():
        vertices = [u for u, v in found.items() if first.nodes[u] != second.nodes[v]]
        edges = [
            (u, v)
            for u, v in first.edges
            if first.edges[u, v]["label"] != second.edges[found[u], found[v]]["label"]
        ]
        if len(vertices) == 1 and not edges and first.degree(vertices[0]) > 1:
            yield len(first) - 1
        if len(edges) == 1 and not vertices:
            yield len(first)


def molecule_like(rng, largest):
    """A tree with perhaps one more edge."""
    n = rng.randint(2, largest)
    edges = [(rng.randrange(v), v) for v in range(1, n)]
    if n > 3 and rng.random() < 0.6:
        free = [pair for pair in itertools.combinations(range(n), 2) if pair not in edges]
        edges.append(rng.choice(free))
    labels = rng.choices("CCCNO", k=n)
    return edges, labels, rng.choices(["single", "single", "double"], k=len(edges))


@pytest.mark.parametrize("seed", range(3))
def test_all_pairs_of_small_graphs(seed):
    """Found are exactly the pairs whose common parts leave one place, and their largest one."""
    rng = random.Random(seed)
    graphs = [molecule_like(rng, 6) for _ in range(16)]
    for edges, labels, kinds in graphs[:6]:  # and some that differ in little
        where = rng.randrange(len(labels))
        graphs.append((edges, [*labels[:where], "F", *labels[where + 1 :]], kinds))
    batch = gg.as_graphs(graphs)
    plain = [as_networkx(batch[i]) for i in range(len(batch))]
    most = 3
    expected = {}
    largest = {}
    for (i, first), (j, second) in itertools.combinations(enumerate(plain), 2):
        if same(first, second):
            continue
        sizes = list(one_other_label(first, second))
        for common in common_parts(first, second):
            largest[i, j] = max(largest.get((i, j), 0), len(common))
            if differ_at_one_place(first, second, common, most):
                sizes.append(len(common))
        if sizes:
            expected[i, j] = max(sizes)
    found = {
        tuple(sorted((row.first, row.second))): (row.size, row.kind) for row in matched(batch, most)
    }
    assert {pair: size for pair, (size, _) in found.items()} == expected
    assert len(found) > 5
    branches = [pair for pair, (_, kind) in found.items() if kind == 0]
    assert all(found[pair][0] <= largest[pair] for pair in branches)
    # Mostly the place is what the maximum common subgraph leaves; else that leaves several.
    assert sum(found[pair][0] == largest[pair] for pair in branches) > len(branches) / 2


MOLECULES = [
    "CC(=O)Nc1ccccc1", "CC(=O)Nc1ccc(O)cc1", "CC(=O)Nc1ccc(OCC)cc1", "CC(=O)Nc1ccncc1",
    "CC(=S)Nc1ccccc1", "CCC(=O)Nc1ccccc1", "CN(C)C(=O)Nc1ccccc1", "CC(=O)Oc1ccccc1",
    "CC(=O)Oc1ccccc1C(=O)O", "OC(=O)c1ccccc1O", "NC(=O)c1ccccc1O", "CC(=O)NC1CCCCC1",
    "CC(=O)Nc1ccc(F)cc1", "CC(=O)Nc1ccc(C(F)(F)F)cc1", "CC(=O)Nc1cccc(F)c1", "c1ccc2ccccc2c1",
]  # fmt: skip


def test_no_pair_that_fmcs_sees_is_missed():
    """Where RDKit's maximum common substructure leaves one branch on both sides, it is found."""
    pytest.importorskip("rdkit")
    from rdkit import Chem
    from rdkit.Chem import rdFMCS

    batch = gg.as_graphs(MOLECULES)
    plain = [as_networkx(batch[i]) for i in range(len(batch))]
    found = {tuple(sorted((row.first, row.second))): row for row in matched(batch, 10)}
    molecules = [Chem.MolFromSmiles(text) for text in MOLECULES]
    seen = 0
    for i, j in itertools.combinations(range(len(molecules)), 2):
        pair = molecules[i], molecules[j]
        common = rdFMCS.FindMCS(
            pair,
            maximizeBonds=False,
            timeout=20,
            atomCompare=rdFMCS.AtomCompare.CompareElements,
            bondCompare=rdFMCS.BondCompare.CompareOrderExact,
        )
        assert not common.canceled
        if (i, j) in found and found[i, j].kind == 0:
            assert found[i, j].size <= common.numAtoms
        pattern = Chem.MolFromSmarts(common.smartsString)
        matches = [mol.GetSubstructMatches(pattern, uniquify=False) for mol in pair]
        one_place = any(
            differ_at_one_place(plain[i], plain[j], dict(zip(a, b, strict=True)), 10)
            for a, b in itertools.product(*matches)
            if is_branch(plain[i], a, 10) and is_branch(plain[j], b, 10)
        )
        if one_place:
            seen += 1
            assert found[i, j].size == common.numAtoms or found[i, j].kind > 0
    assert seen > 15
