"""The figures of a data set, against the paper's table and plain counting."""

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.graphs.description import text_histogram

# The paper's Table 1: size, classes, average vertices and edges, labels. Its size of DHFR and
# its average edges of DHFR_MD are not those of the files.
TABLE_1 = {
    "BZR": (405, 2, 35.75, 38.36, 10),
    "COX2_MD": (303, 2, 26.28, 335.12, 7),
    "PROTEINS": (1113, 2, 39.06, 72.82, 3),
    "PTC_MM": (336, 2, 13.97, 14.32, 20),
    "KKI": (83, 2, 26.96, 48.42, 190),
}


@pytest.mark.parametrize("name", TABLE_1)
def test_table_1_of_the_paper(name, shared_data):
    found = gg.describe(*gg.load_tu(shared_data / f"{name}.zip"))
    row = (
        found.graphs,
        found.classes,
        round(found.vertices, 2),
        round(found.edges, 2),
        found.vertex_labels,
    )
    assert row == TABLE_1[name]


def test_all_figures():
    graphs = gg.GraphBatch.from_edges(
        [3, 3, 2, 3],
        [(0, 1), (1, 2), (4, 3), (3, 5), (8, 9), (9, 10)],
        list("CCO" + "COC" + "CN" + "CCO"),
        edge_labels=[1, 1, 1, 1, 1, 1],
        vertex_attributes=np.zeros((11, 2)),
    )
    found = gg.describe(graphs, ["a", "b", "a", "a"])
    assert found == gg.graphs.description.Statistics(
        graphs=4,
        classes=2,
        vertices=2.75,
        edges=1.5,
        degree=12 / 11,
        vertex_labels=3,
        edge_labels=1,
        vertex_attributes=2,
        edge_attributes=0,
        isolated_vertices=2,
        duplicates=2,  # the second and the fourth graph
        identical=2,
        contradictions=3,  # one group of three graphs with two classes
        class_sizes={"a": 3, "b": 1},
    )
    both = gg.describe(graphs + graphs[2:3], ["a", "b", "c", "a", "c"])
    assert (both.duplicates, both.contradictions) == (3, 3)  # the second group is of one mind
    assert gg.describe(graphs[:1], [1]).vertex_labels == 2  # only labels that occur
    assert gg.describe(graphs, [0.5, 1, 2, 3]).classes is None
    assert gg.describe(graphs).contradictions == 0
    assert gg.describe([]).vertices == 0.0
    with pytest.raises(InvalidParameterError, match=r"each of the 4 graphs; its shape is \(1,\)"):
        gg.describe(graphs, [1])


def test_text_histograms():
    assert text_histogram([5, 5, 6], width=4).split("\n") == ["5 ████ 2", "6 ██   1"]
    assert text_histogram([]) == "(nothing to show)"
    lines = text_histogram(np.arange(1000), bins=10).split("\n")
    assert len(lines) == 10
    assert all(line.endswith(" 100") for line in lines)
    assert lines[0].startswith("   0-99 ")
    assert "█ 1" in text_histogram([0] * 10_000 + [1], width=1)  # a bar for the rarest, too


@pytest.mark.parametrize("bins", [1, 4, 10])
@pytest.mark.parametrize(
    "values",
    [[0.1, 0.2, 0.25, 7.9], [-1e6, 3e6, 2.5], [1e-9, 2e-9], [5.0], [2.0, 2.0], [-0.5, np.nan, 0.5]],
)
def test_a_histogram_of_floats_counts_as_numpy_does(values, bins):
    lines = text_histogram(np.array(values), bins=bins, width=5).splitlines()
    counts = [int(line.split()[-1].replace(",", "")) for line in lines]
    real = [value for value in values if value == value]
    assert sum(counts) == len(real)
    if len(set(real)) > 1:
        assert len(lines) <= bins + 1
        borders = [float(line.split()[0]) for line in lines] + [float(lines[-1].split()[2])]
        assert borders[0] <= min(real) < max(real) < borders[-1] or max(real) == borders[-2]
        assert counts == np.histogram(real, borders)[0].tolist()


def test_targets_as_objects():
    graphs = [([(0, 1)], ["C", "O"])] * 4
    values = [1.5, None, 4.0, 2.0]
    found = gg.describe(graphs, np.array(values, dtype=object))
    assert found.classes is None
    assert found.target["mean"] == 2.5
    assert found == gg.describe(graphs, np.array(values, dtype=float))
    assert gg.describe(graphs, np.array(["b", "a", "b", "b"], dtype=object)).class_sizes == {
        "a": 1,
        "b": 3,
    }
    for missing in (None, np.nan):
        with pytest.raises(InvalidParameterError, match=r"entry 2 of y is missing"):
            gg.describe(graphs, np.array(["b", "a", missing, "b"], dtype=object))


def test_targets_in_a_table_with_one_column():
    graphs = gg.as_graphs([([(0, 1)], ["C", "O"])] * 3)
    classes, values = np.array([["a"], ["b"], ["a"]]), np.array([[1.0], [2.0], [6.0]])
    assert gg.describe(graphs, classes).class_sizes == {"a": 2, "b": 1}
    assert gg.describe(graphs, values).target["mean"] == 3.0
