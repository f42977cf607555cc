"""Calls that break a rule raise an error that names it, and leave an index as it was."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import InvalidGraphError, InvalidParameterError

NUMBERS = np.zeros(60)
#: Ids that three graphs cannot have, and the rule.
IDS = [
    (["a", "b", "a"], "'a' comes a second time"),
    (["a", "b"], "one id for each graph"),
    (["a", "b", "c", "d"], "one id for each graph"),
    (["a", "b", 1.5], "integer, a string, or a tuple"),
    (["a", "b", True], "integer, a string, or a tuple"),
    (["a", "b", None], "integer, a string, or a tuple"),
    ("name", "no column 'name'"),
]
#: The call of an index, of its first graphs and of a new folder; and the rule of its error.
REFUSALS = [
    (lambda i, g, new: i.search(g, k=0), "k must be an integer of 1 or more"),
    (lambda i, g, new: i.search(g, k=2.5), "k must be"),
    (lambda i, g, new: i.search(g, k=None), "min_similarity"),
    (lambda i, g, new: i.search(g, min_similarity=-0.1), "min_similarity must be"),
    (lambda i, g, new: i.search(g, similarity="dice"), "similarity must be one of"),
    (lambda i, g, new: i.search([([(0, 1)], [1, 2], ["a"])]), "labels of the kind in the index"),
    (lambda i, g, new: i.search(["CCO"]), "index of molecules"),
    (lambda i, g, new: i.search(None), r"Graphs are expected .* got None"),
    (lambda i, g, new: i.kneighbors(n_neighbors=60), "n_neighbors must be .* from 1 to 59"),
    (lambda i, g, new: i.radius_neighbors(radius=1.0), "radius"),
    (lambda i, g, new: i.kneighbors_graph(mode="weights"), "mode"),
    (lambda i, g, new: gg.sphere_exclusion(i, 0.0), "min_similarity"),
    (lambda i, g, new: gg.near_duplicates(i, g, "0.9"), "min_similarity must be"),
    (lambda i, g, new: gg.pick_diverse(i, 61), "count"),
    (lambda i, g, new: gg.pick_diverse(i, 2, first=60), "first"),
    *[
        (lambda i, g, new, least=least: gg.pairs(g, least), "above 0 and at most 1")
        for least in (0.0, 1.1, float("nan"), "high")
    ],
    (lambda i, g, new: gg.pairs(g, similarity="dot"), "'minmax' or 'cosine'"),
    (lambda i, g, new: gg.pairs(g, similarity="containment"), "'minmax' or 'cosine'"),
    (lambda i, g, new: gg.pairs(g, max_per_graph=0), "max_per_graph must be"),
    (lambda i, g, new: gg.pairs(g, n_jobs=0), "n_jobs must be"),
    (lambda i, g, new: gg.pairs(g, kernel=gg.RandomWalk()), "explicit features"),
    (lambda i, g, new: gg.pairs(i, y=np.zeros(59)), "59 for 60 graphs"),
    (lambda i, g, new: gg.pairs(i, y=["a"] * 60), "Differences of classes have no size"),
    (lambda i, g, new: gg.pairs(i, y=np.full(60, np.inf)), "must be finite"),
    (lambda i, g, new: gg.pairs(i, y=NUMBERS, min_difference=0), "min_difference must be above 0"),
    (lambda i, g, new: gg.pairs(i, y="z"), "no column 'z'; it has .*family"),
    (lambda i, g, new: i.add(g, ids=["a", 4, "b"]), "4 comes a second time"),
    (lambda i, g, new: i.add([([(0, 1)], [1, 2], ["single"])]), "labels of one kind"),
    (lambda i, g, new: i.add([([(0, 1)], ["C", "C"])]), "edge labels"),
    (lambda i, g, new: i.remove([0, "nobody"]), "no graph with the id 'nobody'"),
    *[
        (lambda i, g, new, act=act: getattr(i, act)("alimemazine"), r"a list of ids; .*Write \[")
        for act in ("remove", "graphs", "columns")
    ],
    (lambda i, g, new: i.remove(3), r"a list of ids; got 3\. Write \["),
    *[
        (lambda i, g, new, columns=columns: gg.GraphIndex.build(new, g, columns=columns), rule)
        for columns, rule in [
            ({"x": [1, 2]}, "2 entries of the column 'x' for 3"),
            ({"x": "family"}, "1 entries of the column 'x' for 3"),
            ({"x": [object()] * 3}, "holds something else"),
            ({"x": ["", " ", ""]}, "all of 'x' are blank"),
            (["x"], "no column 'x'"),
            (3, "columns is a dictionary"),
        ]
    ],
    *[
        (lambda i, g, new, kernel=kernel: gg.GraphIndex.build(new, g, kernel), rule)
        for kernel, rule in [
            (gg.ReturnProbability(), "explicit features"),
            ("wl", "kernel"),
            (gg.Propagation(random_state=None), "random_state"),
            (gg.TreePlusPlus(n_features=64), "n_features=64"),
            (gg.TreePlusPlus(-1), "-1"),
        ]
    ],
    *[(lambda i, g, new, ids=ids: i.add(g, ids=ids), rule) for ids, rule in IDS],
    *[(lambda i, g, new, ids=ids: gg.GraphIndex.build(new, g, ids=ids), rule) for ids, rule in IDS],
]


@pytest.fixture(scope="module")
def index(drugs, tmp_path_factory):
    graphs, families, _ = drugs
    path = tmp_path_factory.mktemp("refusals") / "small.ggi"
    return gg.GraphIndex.build(path, graphs[:60], ids=range(60), columns={"family": families[:60]})


@pytest.mark.parametrize(("call", "rule"), REFUSALS)
def test_refusals(index, drugs, tmp_path, call, rule):
    graphs = drugs[0][:3]
    with pytest.raises((InvalidParameterError, InvalidGraphError), match=rule):
        call(index, graphs, tmp_path / "new.ggi")
    assert len(gg.GraphIndex(index.path)) == 60
    assert not (tmp_path / "new.ggi").exists()
