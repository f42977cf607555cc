"""Graphs of other libraries: random graphs there and back, options, and what is refused."""

import enum
import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given

import graphgrain as gg
from graphgrain.errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError
from graphgrain.graphs.batch import replaced

from .graph_strategies import batches

nx = pytest.importorskip("networkx")


def edge_rows(graph):
    """Labels and attributes of the rows of ``graph.edges``."""
    attributes = graph.edge_attributes
    return graph.edge_labels, None if attributes is None else attributes[graph.edge_entries]


def names(batch):
    """Options that tell a converter where to find what the batch holds."""
    return {
        "vertex": "attributes" if batch.vertex_attributes is not None else None,
        "edge": "attributes" if batch.edge_attributes is not None else None,
    }


# ---------------------------------------------------------------- networkx


@given(batches())
def test_networkx_there_and_back(batch):
    found = gg.from_networkx(
        gg.to_networkx(batch),
        vertex_attributes=names(batch)["vertex"],
        edge_attributes=names(batch)["edge"],
    )
    assert found == batch


def test_networkx_names_directions_and_parallel_edges():
    graph = nx.MultiDiGraph()
    graph.add_node("z", symbol="C", x=1.0, y=2.0)
    graph.add_node("a", symbol="O", x=3.0, y=4.0)
    graph.add_edge("z", "a", bond=2)
    graph.add_edge("a", "z", bond=1)
    graph.add_edge("a", "a", bond=7)
    found = gg.from_networkx(
        [graph], vertex_label="symbol", edge_label="bond", vertex_attributes=["x", "y"]
    )
    assert found == gg.GraphBatch.from_edges(
        [2], [(0, 1)], ["C", "O"], edge_labels=[1], vertex_attributes=[[1, 2], [3, 4]]
    ).with_labels(["C", "O"])
    assert gg.as_graphs([graph]) == gg.from_networkx([graph], vertex_label="symbol")
    assert gg.as_graphs([graph], vertex_label=None).label_kind == "none"


def test_networkx_labels_must_be_there():
    graph = nx.path_graph(3)
    graph.nodes[0]["label"] = "a"
    with pytest.raises(InvalidGraphError, match=r"; vertex 1 of graph 0 has no 'label'.*none"):
        gg.from_networkx([graph])
    with pytest.raises(InvalidGraphError, match=r"edge \(0, 1\) of graph 0 has no 'bond'"):
        gg.from_networkx([graph], vertex_label=None, edge_label="bond")
    with pytest.raises(InvalidGraphError, match="Item 1 is not a networkx graph"):
        gg.from_networkx([graph, 3])


# ---------------------------------------------------------------- igraph


@given(batches())
def test_igraph_there_and_back(batch):
    igraph = pytest.importorskip("igraph")
    graphs = []
    for graph in batch:
        made = igraph.Graph(n=graph.n_vertices, edges=graph.edges.tolist())
        labels, attributes = edge_rows(graph)
        if graph.labelled:
            made.vs["label"] = graph.labels.tolist()
        if graph.vertex_attributes is not None:
            made.vs["attributes"] = graph.vertex_attributes.tolist()
        if labels is not None:
            made.es["label"] = labels.tolist()
        if attributes is not None:
            made.es["attributes"] = attributes.tolist()
        graphs.append(made)
    found = gg.from_igraph(
        graphs, vertex_attributes=names(batch)["vertex"], edge_attributes=names(batch)["edge"]
    )
    assert found == batch
    if batch.n_vertices and batch.vertex_attributes is None and batch.edge_attributes is None:
        assert gg.as_graphs(graphs) == batch


def test_igraph_attributes_by_several_names():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph.Ring(3)
    graph.vs["x"], graph.vs["y"] = [1, 2, 3], [4, 5, 6]
    found = gg.from_igraph([graph], vertex_attributes=["x", "y"])
    assert found.vertex_attributes.tolist() == [[1, 4], [2, 5], [3, 6]]
    with pytest.raises(InvalidGraphError, match=r"has no 'z' .its attributes: 'x', 'y'"):
        gg.from_igraph([graph], vertex_label="z")


# ---------------------------------------------------------------- PyTorch Geometric


class Tensor:
    """What this library uses of a torch tensor."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.shape = self.values.shape

    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        return self.values


class Data:
    """What this library uses of ``torch_geometric.data.Data``."""

    def __init__(self, edge_index, num_nodes, x=None, edge_attr=None, z=None):
        self.edge_index, self.num_nodes = edge_index, num_nodes
        self.x, self.edge_attr, self.z = x, edge_attr, z


def pyg(graph, width=None, edge_width=None):
    """One graph as Data: integer labels as one-hot tables, or else the attributes."""
    source = np.repeat(np.arange(graph.n_vertices), graph.degrees)
    x, edge_attr = graph.vertex_attributes, graph.edge_attributes
    if width is not None:
        x = np.eye(width)[graph.label_codes]
    if edge_width is not None:
        edge_attr = np.eye(edge_width)[graph.edge_label_codes]
    return Data(
        Tensor(np.stack((source, graph.indices))),
        graph.n_vertices,
        None if x is None else Tensor(x),
        None if edge_attr is None else Tensor(edge_attr),
    )


@given(batches(label_kinds=(None, int), attributes=False))
def test_pyg_one_hot_labels(batch):
    width = len(batch.label_table) if batch.labelled else None
    edge_width = None if batch.edge_label_table is None else len(batch.edge_label_table)
    if width == 1 or edge_width == 1:
        return  # a single column of ones is no one-hot table
    found = gg.from_pyg([pyg(graph, width, edge_width) for graph in batch])
    assert found.indices.tolist() == batch.indices.tolist()
    assert found.offsets.tolist() == batch.offsets.tolist()
    if batch.labelled:
        assert found.labels.tolist() == batch.label_codes.tolist()
    if batch.edge_label_codes is not None:
        assert found.edge_label_codes.tolist() == batch.edge_label_codes.tolist()


def test_pyg_attributes_integers_and_named_labels():
    data = Data(
        Tensor([[0, 1], [1, 0]]), 2, Tensor([[0.5, 1], [0, 1]]), Tensor([3, 3]), Tensor([6, 8])
    )
    found = gg.as_graphs([data])
    assert found.vertex_attributes.tolist() == [[0.5, 1], [0, 1]]
    assert found.edge_labels.tolist() == [3]
    assert not found.labelled
    assert gg.from_pyg([data], vertex_label="z").labels.tolist() == [6, 8]
    assert gg.from_pyg([data], vertex_label=None, edge_label=None).edge_labels is None
    with pytest.raises(InvalidGraphError, match="'x' of graph 0 must have 2 rows; it has 1"):
        gg.from_pyg([Data(Tensor([[0], [1]]), 2, Tensor([[1.0]]))])


def test_pyg_data_sets_have_items_but_are_not_iterable():
    class Dataset:
        edge_index = num_nodes = None  # PyG answers to the names of its items' attributes

        def __len__(self):
            return 2

        def __getitem__(self, number):
            if number >= 2:
                raise IndexError
            return Data(Tensor([[0, 1], [1, 0]]), 2)

    assert gg.as_graphs(Dataset()).edge_counts.tolist() == [1, 1]
    with pytest.raises(InvalidGraphError, match="single PyTorch Geometric graph"):
        gg.as_graphs(Data(Tensor([[0, 1], [1, 0]]), 2))


def test_pyg_itself():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    data = pytest.importorskip("torch_geometric.data", reason="PyTorch Geometric is not installed")
    ring = torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])
    item = data.Data(x=torch.tensor([[1.0, 0], [1, 0], [0, 1]]), edge_index=ring)
    found = gg.as_graphs([item, data.Data(edge_index=ring[:, :0], x=torch.zeros((0, 2)))])
    assert found.labels.tolist() == [0, 0, 1]
    assert found.edge_counts.tolist() == [3, 0]


# ---------------------------------------------------------------- GraKeL


@given(batches(attributes=False))
def test_grakel_there_and_back(batch):
    items = []
    for number, graph in enumerate(batch):
        shift = 100 * number + 1  # GraKeL's own data sets number the vertices through
        edges = {(u + shift, v + shift) for u, v in graph.edges.tolist()}
        both = edges | {(v, u) for u, v in edges}
        labels = {v + shift: label for v, label in enumerate(graph.labels.tolist())}
        bonds = None
        if graph.edge_labels is not None:
            rows = zip(graph.edges.tolist(), graph.edge_labels.tolist(), strict=True)
            bonds = {(u + shift, v + shift): label for (u, v), label in rows}
        items.append((both, labels, bonds))
    found = gg.from_grakel(items)
    wanted = batch if batch.labelled or not batch.n_vertices else batch.with_labels(batch.labels)
    assert found.edges.tolist() == batch.edges.tolist()
    assert found.labels.tolist() == wanted.labels.tolist()
    assert (found.edge_labels is None) == (batch.edge_labels is None)
    if batch.edge_labels is not None:
        assert found.edge_labels.tolist() == batch.edge_labels.tolist()


def test_grakel_structures():
    wanted = gg.as_graphs([([(0, 1), (1, 2)], ["a", "b", "c"])])
    labels = dict(enumerate("abc"))
    for structure in (
        {0: [1], 1: [0, 2], 2: []},
        {0: {1: 1.0}, 1: {2: 0.5}, 2: {}},
        {(0, 1): 1.0, (1, 2): 2.0},
        [(0, 1), (1, 2)],
        {(0, 1), (2, 1)},
        np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
    ):
        assert gg.from_grakel([(structure, labels)]) == wanted


def test_grakel_objects():
    grakel = pytest.importorskip("grakel")
    labels, bonds = {0: "a", 1: "b", 2: "c"}, {(0, 1): 1, (1, 0): 1, (1, 2): 2, (2, 1): 2}
    wanted = gg.as_graphs([([(0, 1), (1, 2)], ["a", "b", "c"], [1, 2])])
    neighbours = {0: {1: 1.0}, 1: {0: 1.0, 2: 1.0}, 2: {1: 1.0}}
    matrix = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    for structure, kind in ((neighbours, "dictionary"), (matrix, "adjacency")):
        graph = grakel.Graph(structure, labels, bonds, kind)
        assert gg.from_grakel([graph]) == wanted
        assert gg.as_graphs([graph]) == wanted
    bare = gg.as_graphs([grakel.Graph(matrix, graph_format="adjacency")])
    assert not bare.labelled
    assert bare.edges.tolist() == wanted.edges.tolist()


@pytest.mark.parametrize("name", ["MUTAG", "Cuneiform"])
def test_grakel_data_sets(name, monkeypatch):
    grakel = pytest.importorskip("grakel")
    from grakel.datasets.base import read_data

    folder = f"{grakel.__path__[0]}/tests/data"
    monkeypatch.chdir(folder)  # its reader looks in the current folder
    data = read_data(name, prefer_attr_nodes=name == "Cuneiform")
    graphs, y = gg.load_tu(f"{folder}/{name}")
    found = gg.from_grakel(data.data)
    assert found.offsets.tolist() == graphs.offsets.tolist()
    assert found.edges.tolist() == graphs.edges.tolist()
    assert data.target.tolist() == y.tolist()
    if name == "MUTAG":
        assert found == graphs
    else:
        assert found.vertex_attributes.tolist() == graphs.vertex_attributes.tolist()


def test_grakel_attributes():
    found = gg.from_grakel([({(5, 6), (6, 5)}, {5: [0.5, 1], 6: [2, 3]}, {(5, 6): [7.0]})])
    assert found.vertex_attributes.tolist() == [[0.5, 1], [2, 3]]
    assert found.edge_attributes.tolist() == [[7], [7]]
    assert not found.labelled


# ---------------------------------------------------------------- matrices and tuples


@given(batches(attributes=False))
def test_adjacency_there_and_back(batch):
    matrices = []
    for graph in batch:
        matrix = np.zeros((graph.n_vertices, graph.n_vertices), dtype=int)
        for u, v in graph.edges.tolist():
            matrix[v, u] = 1  # one side is enough
        matrices.append(matrix)
    labels = [graph.labels.tolist() for graph in batch] if batch.labelled else None
    wanted = replaced(batch, edge_label_codes=None, edge_label_table=None)
    assert gg.from_adjacency(matrices, labels) == wanted
    assert gg.from_adjacency([scipy.sparse.csr_array(m) for m in matrices], labels) == wanted


def test_entries_as_labels_and_attributes():
    matrix = np.array([[0, 2, 0], [2, 0, 3], [0, 3, 0]])
    assert gg.from_adjacency([matrix], values="labels").edge_labels.tolist() == [2, 3]
    found = gg.from_adjacency([scipy.sparse.coo_array(matrix / 2)], values="attributes")
    assert found.edge_attributes.tolist() == [[1], [1], [1.5], [1.5]]
    with pytest.raises(InvalidParameterError, match="'weights'"):
        gg.from_adjacency([matrix], values="weights")
    with pytest.raises(InvalidGraphError, match="1 for 2 graphs"):
        gg.from_adjacency([matrix, matrix], [[1, 2, 3]])


@given(batches(attributes=False))
def test_tuples_there_and_back(batch):
    items = [
        (
            graph.edges.tolist(),
            graph.labels.tolist(),
            None if graph.edge_labels is None else graph.edge_labels.tolist(),
        )
        for graph in batch
    ]
    wanted = batch if batch.labelled or not items else batch.with_labels(batch.labels)
    assert gg.as_graphs(items) == wanted


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (3, r"got 3 \(int\)"),
        ("MUTAG", r"load_tu\(path\)"),
        ({"a": 1}, "dict"),
        ([3], r"item 0 is 3 \(int\)"),
        (["CCO", nx.path_graph(2)], r"mixture of SMILES string \(item 0\), networkx graph"),
        ([([(0, 1)], [1, 2]), nx.path_graph(2)], r"networkx graph \(item 1\), tuple \(item 0\)"),
        (nx.path_graph(3), r"single networkx graph.*\[graph\]"),
        ([([(0, 1, 2)], [1])], r"An edge is a pair.*\(0, 1, 2\)"),
        ([([(0, 1)], ["a"])], r"edge \(0, 1\) of graph 0 \(row 0\) is outside the 1 vertices"),
        ([([(0, 1)], "ab")], r"Use list"),
        ([([(0, 1)], 5)], r"Labels are a sequence"),
        ([([(0, 1)], ["a", "b"], [1, 2])], "2 for 1 edges"),
        ([([(0, 5)], None)], "a vertex 5"),
        ([([("a", "b")], None)], "dictionary of labels"),
        ([([("a", "b")], {"a": 1})], r"edge at 'b'"),
        ([({"a": ["b"], "b": [], "c": []}, {"a": 1, "b": 1})], r"vertex 'c' of graph 0 has none"),
        ([({"a": ["b"], "b": [], None: []}, {"a": 1, "b": 1})], "vertex None of graph 0 has none"),
        ([([("a", None)], {"a": 1, "b": 1})], "edge at None, which is not among its vertices"),
        ([([("a", "b")], {"a": 1, "b": 2}, {("a", "c"): 1})], r"edge \('a', 'b'\) .* has none"),
        ([([("a", "b")], {"a": 1, "b": 2}, [1])], "dictionary from"),
        ([(np.zeros((2, 3)), None)], r"square; graph 0 has shape \(2, 3\)"),
        ([(np.full((3, 3), np.nan), None)], "NaN"),
        ([(np.array([["a"] * 3] * 3), None)], "must hold numbers"),
        ([(np.ones((3, 3)), [1, 2])], "3 vertices and 2 labels"),
        ([(np.ones((3, 3)), {0: 1, 2: 1})], "vertex 1 of graph 0 has none"),
        ([(np.ones((3, 3)), [1, 2, 3], [1])], "dictionary from"),
        ([([(0, 1)], [1, 2]), ([(0, 1)], None)], "graph 0 has them, graph 1 does not"),
        ([([(0, 1)], [1, 2]), ([(0, 1)], ["a", "b"])], "all integers or all strings"),
        ([(np.array([[0, 1]]), np.array([1, 2])), (np.array([[0, 1]]), np.array([1.0, 2]))], "1.0"),
        ([([(0, 1)], np.array([1, 2])), ([(0, 1)], np.array(["1", "2"]))], "all integers or all"),
        ([({"a": 3}, None)], "neighbours"),
        ([(5, [1])], "list of pairs"),
        ([(((0, 1), 5), [1, 2])], "pair of vertices"),
        ([(0, 1), (1, 2)], r"Write \[\(edges, labels\)\].*from_edge_list"),
        ([("a", "b"), ("b", "c")], r"Write \[\(edges, labels\)\]"),
        ([[(0, 1), (1, 2)], [(0, 1), (1, 2)]], r"\(edges, None\) for edges in graphs"),
        ([[(0, 1), (1, 2), (2, 3), (3, 4)]], r"written \(edges, labels\)"),
        ([np.array([[0, 1], [1, 2], [2, 3]])], r"square.*shape \(3, 2\).*\(edges, None\)"),
        (np.eye(3), "single adjacency matrix"),
        (scipy.sparse.eye_array(3).tocsr(), "single adjacency matrix"),
        ({"source": [1], "target": [2]}, r"table of edges.*from_edge_list"),
    ],
)
def test_what_is_refused_and_why(x, message):
    with pytest.raises(InvalidGraphError, match=message):
        gg.as_graphs(x)


@pytest.mark.parametrize(
    ("items", "options", "message"),
    [
        (["CCO"], {"direction": "vertices"}, "SMILES string items. See graphgrain.from_smiles"),
        ([np.eye(2)], {"vertex_label": "x"}, "these are adjacency matrix items"),
        ([nx.path_graph(2)], {"direction": "arcs"}, "'ignore' or 'vertices'"),
    ],
)
def test_options_that_are_not_for_these_graphs(items, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        gg.as_graphs(items, **options)
    with pytest.raises(TypeError, match="got 'labels'"):
        gg.as_graphs(items, labels="x")


@pytest.mark.parametrize(
    "convert", [np.array, scipy.sparse.csr_array, scipy.sparse.csr_matrix, scipy.sparse.coo_array]
)
def test_matrices_alone(convert):
    ring = np.roll(np.eye(4, dtype=int), 1, axis=1)
    ring += ring.T
    wanted = gg.as_graphs([([(0, 1), (1, 2), (2, 3), (0, 3)], None)])
    assert gg.as_graphs([convert(ring)]) == wanted
    assert gg.as_graphs([convert(ring)] * 2) == wanted + wanted
    assert gg.TreePlusPlus().fit_transform([convert(ring)] * 2).tolist() == [[1, 1], [1, 1]]


def test_empty_lists_and_graphs_need_no_labels():
    assert len(gg.as_graphs([])) == 0
    assert not gg.as_graphs([([], []), ([(0, 1)], None)]).labelled
    assert gg.as_graphs([([], None), ([(0, 1)], ["a", "b"])]).labels.tolist() == ["a", "b"]


def test_weights_that_differ_between_the_directions_of_an_edge_are_noted():
    with pytest.warns(GraphgrainWarning, match="weights of"):
        gg.from_adjacency([np.array([[0, 0.5], [0.7, 0]])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gg.from_adjacency([np.array([[0, 0.5], [0.5, 0]])])


@pytest.mark.parametrize("form", ["coo", "csr", "csc", "lil", "dok", "bsr", "dia"])
def test_entries_at_the_same_position_are_added(form):
    """As SciPy defines them: (0, 1) is 1 + 2, and (1, 2) is 1 - 1, no edge."""
    rows, columns = [0, 0, 1, 1], [1, 1, 2, 2]
    matrix = scipy.sparse.coo_array(([1, 2, 1, -1], (rows, columns)), shape=(3, 3)).asformat(form)
    graphs = gg.from_adjacency([matrix], values="labels")
    assert graphs == gg.from_adjacency([matrix.toarray()], values="labels")
    assert graphs.edge_labels.tolist() == [3]
    assert matrix.sum() == 3  # unchanged


def test_labels_from_an_enumeration():
    class Element(enum.StrEnum):
        CARBON = "C"
        OXYGEN = "O"

    found = gg.as_graphs([([(0, 1)], [Element.CARBON, Element.OXYGEN])])
    assert found == gg.as_graphs([([(0, 1)], ["C", "O"])])
    with pytest.raises(InvalidGraphError, match="all integers or all strings"):
        gg.as_graphs([([(0, 1)], [Element.CARBON, 8])])


def test_weights_in_dictionaries_are_noted_as_those_of_matrices():
    grakel = pytest.importorskip("grakel")
    matrix = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    nested = {0: {1: 2.0}, 1: {0: 2.0, 2: 1.0}, 2: {1: 1.0}}
    pairs = {(u, v): weight for u, own in nested.items() for v, weight in own.items()}
    labels = {0: "a", 1: "b", 2: "c"}
    both = [grakel.Graph(nested, labels, graph_format=form) for form in ("dictionary", "adjacency")]
    for graph in ([matrix, labels], [nested, labels], [pairs, labels], *both):
        with pytest.warns(GraphgrainWarning, match="Ignored: the weights of 2 edges"):
            assert gg.from_grakel([graph]).edges.tolist() == [[0, 1], [1, 2]]
    with pytest.warns(GraphgrainWarning, match="Ignored: the weights of 2 edges"):
        gg.from_grakel([[{(0, 1): 1.0, (1, 0): 2.0}, {0: "a", 1: "b"}]])
    equal = {u: dict.fromkeys(own, 3.0) for u, own in nested.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gg.from_grakel([[equal, labels]])
        gg.from_grakel([[nested, labels, dict.fromkeys(pairs, "x")]])


@pytest.mark.parametrize("value", [3, None])
@pytest.mark.parametrize(
    "convert",
    [
        gg.from_adjacency,
        gg.from_networkx,
        gg.from_igraph,
        gg.from_rdkit,
        gg.from_smiles,
        gg.from_grakel,
    ],
)
def test_what_is_no_list_is_refused(convert, value):
    with pytest.raises(gg.InvalidGraphError, match="A list of graphs is expected"):
        convert(value)
