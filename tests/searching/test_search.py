"""What a search finds is what all comparisons would find."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import (
    GraphgrainWarning,
    InvalidGraphError,
    InvalidParameterError,
)
from graphgrain.kernels.bases.feature_kernel import FeatureKernel
from graphgrain.kernels.registry import KERNELS

from .oracle import best, similarity_matrix

SIMILARITIES = ("cosine", "minmax", "dot", "containment")


def built(tmp_path, graphs, kernel=None, **more):
    return gg.GraphIndex.build(tmp_path / "some.ggi", graphs, kernel, **more)


@pytest.mark.parametrize("counts", ["sqrt", "binary"])
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_the_best_and_their_similarities(tmp_path, drugs, counts, similarity):
    graphs = drugs[0][:120]
    queries = drugs[0][110:125]
    kernel = gg.TreePlusPlus(3, 1, edge_labels=True, counts=counts)
    index = built(tmp_path, graphs, kernel, similarity=similarity)
    expected = similarity_matrix(kernel, queries, graphs, similarity)
    ids, values = index.search(queries, k=7)
    order = best(expected.round(12), 7)
    np.testing.assert_allclose(values, np.take_along_axis(expected, order, 1), rtol=1e-12)
    if counts == "binary" and similarity != "cosine":
        np.testing.assert_array_equal(ids, order)  # integers: ties are ties


@pytest.mark.parametrize(
    "kernel",
    [item.kernel() for item in KERNELS.values() if issubclass(item.kernel, FeatureKernel)],
    ids=lambda kernel: type(kernel).__name__,
)
def test_the_cosine_is_the_gram_matrix(tmp_path, drugs, kernel):
    graphs, queries = drugs[0][::3], drugs[0][1::40]
    index = built(tmp_path, graphs, kernel, similarity="cosine")
    K = type(kernel)(**kernel.get_params()).fit(graphs).transform(queries)
    ids, values = index.search(queries, k=len(graphs))
    np.testing.assert_allclose(values, np.take_along_axis(K, ids, 1), rtol=1e-12, atol=0)
    assert (np.sort(ids, axis=1) == np.arange(len(graphs))).all()


def test_integer_counts_give_the_very_same_numbers(drug_index, drugs):
    graphs = drugs[0]
    K = gg.TreePlusPlus(4, 1, edge_labels=True, counts="binary").fit(graphs).transform(graphs)
    _, values = drug_index.search(graphs, k=15, similarity="cosine")
    assert (values == -np.sort(-K, axis=1)[:, :15]).all()


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_many_segments_and_threads(tmp_path, drugs, monkeypatch, n_jobs):
    monkeypatch.setattr("graphgrain.searching.graph_index.LARGEST", 50)
    monkeypatch.setattr("graphgrain.searching.graph_index.CHUNK", 20)
    graphs = drugs[0]
    index = built(tmp_path, graphs, n_jobs=n_jobs)
    assert len(index._snapshot.segments) > 5
    expected = similarity_matrix(index.kernel, graphs[:40], graphs, "minmax")
    for queries in (graphs[:40], graphs[7:8]):
        ids, values = index.search(queries, k=5)
        rows = expected if len(queries) == 40 else expected[7:8]
        np.testing.assert_array_equal(ids, best(rows, 5))
        np.testing.assert_allclose(values, np.take_along_axis(rows, ids, 1), rtol=1e-12)


def test_all_above_a_threshold(drug_index, drugs):
    graphs, _, names = drugs
    expected = similarity_matrix(drug_index.kernel, graphs[:30], graphs, "minmax")
    ids, values = drug_index.search(graphs[:30], k=None, min_similarity=0.4)
    for row, found, similarities in zip(expected, ids, values, strict=True):
        order = np.argsort(-row, kind="stable")
        order = order[row[order] >= 0.4]
        assert found.tolist() == names[order].tolist()
        np.testing.assert_allclose(similarities, row[order], rtol=1e-12)
    few, _ = drug_index.search(graphs[:30], k=2, min_similarity=0.4)
    assert [row.tolist() for row in few] == [row[:2].tolist() for row in ids]


def test_many_equal_graphs_come_in_order(tmp_path):
    """Bounds cannot tell equal graphs apart: the first k of them are wanted."""
    alike = [([(0, 1)], ["C", "O"])] * 200 + [([(0, 1), (1, 2)], ["C", "O", "C"])] * 3
    index = built(tmp_path, alike)
    ids, values = index.search(alike[:1], k=5)
    assert ids.tolist() == [[0, 1, 2, 3, 4]]
    assert (values == 1.0).all()
    ids, _ = index.search(alike[-1:], k=5)
    assert ids.tolist() == [[200, 201, 202, 0, 1]]


def test_a_coarse_sketch_changes_nothing(tmp_path, drugs, monkeypatch):
    """With buckets that everything shares, bounds say little and the second scan has to do it."""
    monkeypatch.setattr("graphgrain.searching.segment._bucket_bits", lambda graphs: 3)
    monkeypatch.setattr("graphgrain.searching.segment._MOST_COMMON", 0)
    graphs = drugs[0]
    index = built(tmp_path, graphs)
    expected = similarity_matrix(index.kernel, graphs[:10], graphs, "minmax")
    ids, _ = index.search(graphs[:10], k=4)
    np.testing.assert_array_equal(ids, best(expected, 4))


def test_columns_come_with_the_answer(drug_index, drugs):
    _, families, names = drugs
    ids, _, columns = drug_index.search(drugs[0][:3], k=4, return_columns=True)
    family_of = dict(zip(names, families, strict=True))
    for found, known in zip(ids, columns, strict=True):
        assert known["family"].tolist() == [family_of[name] for name in found]


def test_graphs_come_back(drug_index, drugs):
    graphs, _, names = drugs
    assert drug_index.graphs() == graphs
    two = drug_index.graphs([names[5], names[2]])
    assert two == graphs[[5, 2]]
    assert two.columns["family"].tolist() == drugs[1][[5, 2]].tolist()
    assert two.columns["id"].tolist() == names[[5, 2]].tolist()


def test_attributes_come_back(tmp_path):
    rng = np.random.default_rng(0)
    graphs = gg.GraphBatch.from_edges(
        [3, 0, 2, 1],
        [(0, 1), (1, 2), (3, 4)],
        vertex_attributes=rng.random((6, 2)),
        edge_attributes=rng.random((3, 1)),
    )
    index = built(tmp_path, graphs, gg.Propagation(1, attributes=True, bin_width=0.1))
    assert index.graphs() == graphs
    assert index.graphs([2, 0]) == graphs[[2, 0]]


# -------------------------------------------------------------------- odd queries


def test_labels_that_the_index_has_never_seen(drug_index, drugs):
    strange = [([(0, 1), (1, 2)], ["Uuo", "Uuo", "C"], ["single", "single"])]
    _, values = drug_index.search(strange, k=3)
    expected = similarity_matrix(drug_index.kernel, gg.as_graphs(strange), drugs[0], "minmax")
    np.testing.assert_allclose(values, -np.sort(-expected, axis=1)[:, :3])


def test_nothing_in_common_gives_zeros_and_a_warning(drug_index, drugs):
    empty = gg.GraphBatch.from_edges([0], [])
    with pytest.warns(GraphgrainWarning, match="nothing in common"):
        ids, values = drug_index.search(empty, k=3)
    assert ids.tolist() == [drugs[2][:3].tolist()]
    assert (values == 0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ids, values = drug_index.search(empty, k=3, min_similarity=0.1)
    assert [len(row) for row in ids] == [0]


def test_more_than_there_are(drug_index, drugs):
    ids, values = drug_index.search(drugs[0][:1], k=1000)
    assert ids.shape == values.shape == (1, len(drugs[0]))
    assert len(set(ids[0].tolist())) == len(drugs[0])


def test_a_kernel_with_two_levels_and_no_parameter_for_them(tmp_path, drugs):
    class LabelsAndDegrees(gg.FeatureKernel):
        def count_features(self, batch):
            levels = (gg.hash_labels(batch.labels), gg.hash_labels(batch.degrees))
            return [gg.count_hashes(batch.offsets, hashes) for hashes in levels]

    kernel, graphs = LabelsAndDegrees(similarity="minmax"), drugs[0][:40]
    index = built(tmp_path, graphs, kernel, similarity="minmax")
    expected = -np.sort(-kernel.fit_transform(graphs))[:, :5]
    np.testing.assert_allclose(index.search(graphs, k=5)[1], expected, rtol=1e-12)


def test_no_queries(drug_index):
    ids, values = drug_index.search(gg.GraphBatch.from_edges([], []), k=3)
    assert ids.shape == values.shape == (0, 3)


def test_an_empty_index(tmp_path):
    with pytest.raises(InvalidParameterError, match="needs a kernel"):
        built(tmp_path, gg.GraphBatch.from_edges([], []))
    index = built(tmp_path, gg.GraphBatch.from_edges([], []), gg.TreePlusPlus(2, 0))
    ids, values = index.search([([(0, 1)], [1, 2])])
    assert len(index) == 0
    assert ids.shape == values.shape == (1, 0)
    assert [
        len(row) for row in index.search([([(0, 1)], [1, 2])], k=None, min_similarity=0.1)[0]
    ] == [0]
    index.add([([(0, 1)], [1, 2])])
    assert index.search([([(0, 1)], [1, 2])])[0].tolist() == [[0]]


def test_empty_graphs_in_the_index(tmp_path):
    graphs = gg.GraphBatch.from_edges([0, 2, 0], [(0, 1)], ["C", "O"])
    index = built(tmp_path, graphs)
    ids, values = index.search([([(0, 1)], ["C", "O"])], k=3)
    assert ids.tolist() == [[1, 0, 2]]
    assert values.tolist() == [[1.0, 0.0, 0.0]]
    assert index.graphs() == graphs


# ---------------------------------------------------------------- one molecule, one answer

MOLECULES = ["Cc1ccccc1", "C[NH3+]", "CC(=O)[O-]", "c1ccncc1", "CCO", "Nc1ccccc1"]


def test_every_form_of_a_molecule_is_read_as_in_the_index(tmp_path):
    Chem = pytest.importorskip("rdkit.Chem")
    pd = pytest.importorskip("pandas")
    (tmp_path / "some.smi").write_text("\n".join(MOLECULES) + "\n")
    index = gg.GraphIndex.build(
        tmp_path / "labels.ggi", tmp_path / "some.smi", aromatic=True, charge=True
    )
    molecules = [Chem.MolFromSmiles(text) for text in MOLECULES]
    forms = [MOLECULES, molecules, pd.Series(MOLECULES, index=range(7, 13))]
    for queries in (*forms, pd.DataFrame({"CO": MOLECULES})):
        ids, values = index.search(queries, k=1)
        assert ids[:, 0].tolist() == list(range(6))
        np.testing.assert_array_equal(values, 1.0)
    assert index.search(molecules[0], k=1)[1].tolist() == [[1.0]]
    index.add(["c1ccsc1"])
    index.add([Chem.MolFromSmiles("C[S-]")])
    assert index.search(["c1ccsc1", "C[S-]"], k=1)[1].tolist() == [[1.0], [1.0]]


def test_an_index_of_a_list_of_smiles_takes_smiles(tmp_path):
    pytest.importorskip("rdkit")
    pd = pytest.importorskip("pandas")
    for number, source in enumerate((MOLECULES, pd.DataFrame({"CO": MOLECULES}))):
        index = gg.GraphIndex.build(tmp_path / f"{number}.ggi", source)
        assert len(index) == 6
        assert index.search("CCO", k=1)[0].tolist() == [[4]]


def test_the_kernel_of_an_index_is_its_own(tmp_path, drugs):
    graphs = drugs[0][:40]
    kernel = gg.TreePlusPlus(3, 1, n_jobs=2)
    index = built(tmp_path, graphs, kernel)
    assert kernel.n_jobs == 2
    expected = index.search(graphs[:5], k=3)[1]
    kernel.set_params(path_depth=1)
    np.testing.assert_array_equal(index.search(graphs[:5], k=3)[1], expected)


def test_columns_keep_their_type_and_their_length(tmp_path, drugs):
    graphs = drugs[0][:8]
    index = built(tmp_path, graphs[:2], columns={"y": [1.5, 2.5]})
    index.add(graphs[2:8])
    assert index.columns()["y"].tolist() == [1.5, 2.5, *[None] * 6]
    for wrong in ([1.0], [1.0] * 9):
        with pytest.raises(InvalidGraphError, match=f"got {len(wrong)} entries of the column 'y'"):
            gg.GraphIndex.build(tmp_path / "wrong.ggi", graphs, columns={"y": wrong})


def test_ids_of_64_bits_are_not_rounded(tmp_path, drugs):
    """NumPy makes floats of unsigned numbers beside smaller ones."""
    hashes = np.array([2**64 - 1, 1, 2**63, 7], dtype=np.uint64)
    index = built(tmp_path, drugs[0][:4], ids=hashes, columns={"y": hashes.astype(object)})
    assert index.ids.tolist() == index.columns()["y"].tolist() == hashes.tolist()
    assert index.search(drugs[0][:4], k=1)[0][:, 0].tolist() == hashes.tolist()
    assert index.columns(hashes[:1])["y"].tolist() == [2**64 - 1]


def test_columns_of_several_types_are_not_converted(tmp_path, drugs):
    """Graphs that are added one by one are stored together with those before."""
    index = built(tmp_path, drugs[0][:0], gg.VertexHistogram())
    values = ["a", 1.5, True, 7, 2**63, -1]
    for graph, value in zip(drugs[0], values, strict=False):
        index.add(graph, columns={"y": [value]})
    found = index.columns()["y"].tolist()
    assert found == values
    assert [type(value) for value in found] == [type(value) for value in values]


def test_columns_of_several_values_a_graph(tmp_path, drugs):
    graphs = drugs[0][:4]
    y = np.array([[1.5, 2.5], [3.0, np.inf], [5.0, 6.0], [7.0, 8.0]])
    gg.save_tu(tmp_path / "DS", graphs[:3], y[:3])
    index = built(tmp_path, tmp_path / "DS")
    index.add(graphs[3], columns={"target": y[3:]})
    assert index.columns()["target"].tolist() == y.tolist()
    index.verify()


def test_missing_values_of_pandas_are_none(tmp_path, drugs):
    pd = pytest.importorskip("pandas")
    y = pd.array(["a", None], dtype="string")
    index = built(tmp_path, drugs[0][:2], columns={"y": y})
    assert index.columns()["y"].tolist() == ["a", None]


KERNEL = gg.TreePlusPlus(3, 1, edge_labels=True, counts="sqrt", similarity="cosine")


@pytest.mark.parametrize("kernel", [None, KERNEL], ids=["default", "own"])
def test_graphs_and_features_in_memory_give_what_an_index_on_disk_gives(tmp_path, drugs, kernel):
    graphs = drugs[0][:80]
    index = built(tmp_path, graphs, kernel)
    counts = index.kernel.counts
    features = index.kernel.count(graphs).mapped(counts)
    options = {"similarity": index.similarity}
    for collection, more in ((graphs, {"kernel": kernel}), (features, options)):
        memory = gg.GraphIndex.build(None, collection, **more)
        memory = pickle.loads(pickle.dumps(memory))
        for found, expected in (
            (memory.search(collection[:9], k=5), index.search(graphs[:9], k=5)),
            (memory.kneighbors(n_neighbors=3), index.kneighbors(n_neighbors=3)),
            (gg.sphere_exclusion(collection, 0.5, **more), gg.sphere_exclusion(index, 0.5)),
            ([gg.pick_diverse(collection, 9, **more)], [gg.pick_diverse(index, 9)]),
            (
                gg.near_duplicates(collection[::2], collection[1::2], 0.6, **more),
                gg.near_duplicates(graphs[::2], graphs[1::2], 0.6, kernel=kernel),
            ),
            (gg.pairs(collection, 0.6, **more), gg.pairs(index, 0.6)),
        ):
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)
    assert memory.nbytes() > 0


def test_an_index_in_memory_is_not_changed(drugs):
    index = gg.GraphIndex.build(None, drugs[0][:5], ids=list("abcde"))
    assert index.graphs(["c"]) == drugs[0][2:3]
    for change in (index.compact, lambda: index.add(drugs[0][5:6]), lambda: index.remove(["a"])):
        with pytest.raises(InvalidParameterError, match=r"GraphIndex\.build\(path, graphs\)"):
            change()
    features = gg.VertexHistogram().count(drugs[0][:5])
    of_features = gg.GraphIndex.build(None, features)
    with pytest.raises(InvalidParameterError, match="Queries for an index of features"):
        of_features.search(drugs[0][:1])
    with pytest.raises(InvalidParameterError, match="one of features"):
        of_features.graphs()
    for wrong in (index, features):
        with pytest.raises(InvalidParameterError, match="Leave it out"):
            gg.sphere_exclusion(wrong, kernel=gg.VertexHistogram())


def test_streams_of_molecules_are_read_as_in_the_index(tmp_path):
    Chem = pytest.importorskip("rdkit.Chem")
    (tmp_path / "some.smi").write_text("\n".join(MOLECULES) + "\n")
    index = gg.GraphIndex.build(tmp_path / "h.ggi", tmp_path / "some.smi", hydrogens=True)
    index.add(text for text in ["CCCO", "CCCN"])
    index.add(iter([Chem.MolFromSmiles("CCCS")]))
    assert index.search(["CCCO", "CCCN", "CCCS"], k=1)[1].ravel().tolist() == [1.0] * 3
    stream = gg.GraphIndex.build(tmp_path / "s.ggi", (text for text in MOLECULES))
    assert stream.search("CCO", k=1)[0].tolist() == [[4]]
    graphs = gg.GraphIndex.build(tmp_path / "g.ggi", gg.from_smiles(MOLECULES, hydrogens=True))
    for act in (
        lambda: graphs.add(["CCO"]),
        lambda: graphs.add(tmp_path / "some.smi"),
        lambda: graphs.search([Chem.MolFromSmiles("CCO")], k=1),
        lambda: graphs.search(["CCO"], k=1),
    ):
        with pytest.raises(InvalidGraphError, match=r"Give graphs, such as graphgrain\.from_"):
            act()
    assert len(graphs) == 6


@pytest.mark.parametrize("counts", ["sqrt", "log"])
@pytest.mark.parametrize("similarity", ["cosine", "minmax", "containment"])
def test_equal_graphs_have_similarity_one(tmp_path, drugs, counts, similarity):
    """Whatever the vertex numbers, and although sums of roots and logarithms are rounded."""
    graphs = drugs[0][:100]
    turned = [
        (graph.n_vertices - 1 - graph.edges, graph.labels[::-1].tolist(), graph.edge_labels)
        for graph in graphs
    ]
    kernel = gg.TreePlusPlus(3, 2, edge_labels=True, counts=counts)
    index = built(tmp_path, graphs, kernel, similarity=similarity)
    ids, values = index.search(turned, k=None, min_similarity=1.0)
    assert all(number in found for number, found in enumerate(ids))
    assert {value for found in values for value in found.tolist()} == {1.0}
    assert len(gg.near_duplicates(index, turned, min_similarity=1.0).queries) == 100
    distances, _ = index.kneighbors(turned, 100)
    assert distances.min() == 0.0


def test_a_column_called_id(tmp_path):
    """It is a column as any other; graphs are numbered unless it is chosen for their ids."""
    pytest.importorskip("rdkit")
    file = tmp_path / "molecules.csv"
    file.write_text("smiles,id,similarity\nCCO,a,7\nCCN,b,8\nCCC,c,9\n")
    index = gg.GraphIndex.build(tmp_path / "numbered.ggi", file)
    index.verify()
    assert index.ids.tolist() == [0, 1, 2]
    index.remove([0])
    index.compact()
    assert index.ids.tolist() == [1, 2]
    assert index.columns([2])["id"].tolist() == ["c"]
    index = gg.GraphIndex.build(tmp_path / "named.ggi", file, ids="id")
    assert index.ids.tolist() == index.columns()["id"].tolist() == ["a", "b", "c"]
    index.remove(["b"])
    assert index.ids.tolist() == ["a", "c"]
