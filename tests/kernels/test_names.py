"""Names of patterns: RDKit reads those of molecules, and finds each at every place it occurs."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrain as gg

OPTIONS = ("charge", "aromatic", "hydrogens", "stereo", "isotopes", "radicals")
SMILES = (
    "CC(=O)Oc1ccccc1C(=O)O",
    "C[N+](C)(C)CC([O-])=O",
    "O=[N+]([O-])c1cc[nH]c1",
    "[Na+].[Cl-]",
    "CN1CC[C@]23c4c5ccc(O)c4O[C@H]2[C@@H](O)C=C[C@H]3[C@H]1C5",
    "F/C=C/C=C\\Cl",
    "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
    "[13CH3]C#N",
    "C[CH2]",
    "C1CC1C2CCC2",
    "OB(O)c1cc[se]c1",
    "[H][H]",
    "*CC",
    "C",
    "CC[SiH2]Br",
    "[NH3]->[Cu]",
    "O=c1cc[nH]c(=O)[nH]1",
)
KERNELS = [
    gg.VertexHistogram(),
    gg.EdgeHistogram(edge_labels=True),
    gg.EdgeHistogram(),
    gg.ShortestPath(),
    gg.ShortestPath(edge_labels=True),
    gg.WeisfeilerLehman(2, edge_labels=True),
    gg.WeisfeilerLehman(1),
    gg.PathPattern(4, edge_labels=True),
    gg.TreePlusPlus(3, 3, edge_labels=True),
    gg.TreePlusPlus(3, 2),
]


@pytest.fixture(scope="module")
def chem():
    return pytest.importorskip("rdkit.Chem")


def every_option():
    yield {}
    for name in OPTIONS:
        yield {name: True}
    yield {"charge": True, "aromatic": True}
    yield dict.fromkeys(OPTIONS, True)
    yield {"structure": True}
    yield dict.fromkeys((*OPTIONS, "structure"), True)


def molecules(chem, options):
    """RDKit's molecules with the atoms that the graphs have."""
    read = [chem.MolFromSmiles(smiles) for smiles in SMILES]
    return [chem.AddHs(one) for one in read] if options.get("hydrogens") else read


@pytest.mark.parametrize("options", list(every_option()), ids=lambda o: "+".join(o) or "none")
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: str(kernel).replace("\n", ""))
def test_every_occurrence_is_a_match(chem, kernel, options):
    """Names of all graphs together: each is SMARTS, and matches in whichever graph it occurs."""
    originals = molecules(chem, options)
    reading = {name: value for name, value in options.items() if name != "structure"}
    graphs = gg.from_rdkit([chem.MolFromSmiles(smiles) for smiles in SMILES], **reading)
    if "structure" in options:
        graphs = gg.StructuralLabels().fit_transform(graphs)
    located = list(kernel.locate_each(graphs))
    for level in range(len(located[0])):
        hashes = np.unique(np.concatenate([levels[level].hashes for levels in located]))
        names = kernel.names_of(graphs, level, hashes)
        assert len(set(names)) == len(names)
        queries = {code: chem.MolFromSmarts(name) for code, name in zip(hashes, names, strict=True)}
        for name, query in zip(names, queries.values(), strict=True):
            assert query is not None, name
        for molecule, levels in zip(originals, located, strict=True):
            matches = {}
            for code, path in zip(levels[level].hashes, levels[level].paths.tolist(), strict=True):
                if code not in matches:
                    found = molecule.GetSubstructMatches(
                        queries[code], uniquify=False, maxMatches=10**5
                    )
                    matches[code] = set(found)
                    if isinstance(kernel, gg.ShortestPath) and not kernel.edge_labels:
                        matches[code] = {(match[0], match[-1]) for match in found}  # the ends
                vertices = tuple(vertex for vertex in path if vertex >= 0)
                there = vertices in matches[code] or vertices[::-1] in matches[code]
                assert there, (names[list(hashes).index(code)], chem.MolToSmiles(molecule))


@pytest.mark.parametrize("options", [{"charge": True, "aromatic": True}])
def test_path_names_match_nowhere_else(chem, options):
    """With aromatic labels and bonds a path's SMARTS say all: as many matches as occurrences."""
    smiles = [smiles for smiles in SMILES if not set("@/13*>") & set(smiles)]
    originals = [chem.MolFromSmiles(one) for one in smiles]
    graphs = gg.from_rdkit(originals, **options)
    kernel = gg.PathPattern(1, edge_labels=True)
    [found] = zip(*kernel.locate_each(graphs), strict=True)
    for graph, (molecule, own) in enumerate(zip(originals, found, strict=True)):
        for code in np.unique(own.hashes):
            [name] = kernel.names_of(graphs[graph], 0, np.array([code]))
            matches = molecule.GetSubstructMatches(chem.MolFromSmarts(name), uniquify=True)
            distinct = {frozenset(path) for path in own.of(np.array([code]))}
            if "+" not in name and "-]" not in name:  # a symbol alone matches ions too
                charged = [a for a in molecule.GetAtoms() if a.GetFormalCharge()]
                assert charged or {frozenset(match) for match in matches} == distinct


def test_structural_labels_are_conditions_of_smarts(chem):
    graphs = gg.StructuralLabels().fit_transform(gg.from_smiles(["C1CC1O", "C[NH3+]"], charge=True))
    names = set(gg.VertexHistogram().fit(graphs).feature_names())
    assert names == {"[#6;D2;R]", "[#6;D3;R]", "[#8;D1;!R]", "[#6;D1;!R]", "[#7+;D1;!R]"}


def test_names_that_chemists_know(chem):
    graphs = gg.from_smiles(["CN(C)c1ccccc1", "CC(=O)O"], aromatic=True)
    names = set(gg.PathPattern(4, edge_labels=True).fit(graphs).feature_names())
    assert {"c", "C-N-c", "C-N-c:c:c", "C-C=O"} <= names
    trees = gg.TreePlusPlus(1, 1, edge_labels=True).fit(graphs).feature_names()
    assert "[$(C(-C)(=O)-O)]-[$(C-C)] k=1" in trees or "[$(C-C)]-[$(C(-C)(-O)=O)] k=1" in trees
    plain = gg.from_smiles(["CN(C)c1ccccc1"])
    names = set(gg.PathPattern(2, edge_labels=True).fit(plain).feature_names())
    assert {"c:c:c", "[#7]-c:c", "[#6]-[#7]-[#6]"} <= names  # labels do not tell which is aromatic


def test_what_smarts_cannot_say_stands_behind_them(chem):
    graphs = gg.from_smiles(["C[C@H](N)O", "C[C@@H](N)O", "F/C=C/F", "F/C=C\\F"], stereo=True)
    names = gg.PathPattern(1, edge_labels=True).fit(graphs).feature_names().tolist()
    assert len(set(names)) == len(names)
    assert {"[#6] (1R)", "[#6] (1S)", "[#6]=[#6] (2E)", "[#6]=[#6] (2Z)"} <= set(names)


def test_other_graphs_have_arrows():
    graph = ([(0, 1), (1, 2)], ["server", "data base", "disk"], ["uses", "writes"])
    kernel = gg.TreePlusPlus(2, 1, edge_labels=True).fit([graph])
    names = set(kernel.feature_names())
    assert 'disk -writes-> "data base" -uses-> server' in names
    assert 'disk([writes]"data base") k=1' in names
    without = gg.PathPattern(1).fit([([(0, 1)], [1, 4])]).feature_names()
    assert set(without) == {"1", "4", "1->4"}


def test_names_and_long_forms_both_find_a_feature(chem):
    """Also a name of the fitted graphs that tells more forms than the graph at hand has."""
    graphs = gg.from_smiles(SMILES)
    kernel = gg.TreePlusPlus(2, 2, edge_labels=True).fit(graphs)
    names = kernel.feature_names()
    assert len(set(names)) == len(names)
    rng = np.random.default_rng(0)
    for column in rng.choice(len(names), 60, replace=False).tolist():
        level = int(np.searchsorted(kernel.level_offsets_, column, side="right")) - 1
        code = kernel.vocabulary_[level][column - kernel.level_offsets_[level]]
        [long_form] = kernel.descriptions_of(graphs, level, np.array([code]))
        for graph in (graphs[0], graphs[4]):
            expected = kernel.occurrences(graph, column)
            assert kernel.occurrences(graph, names[column]) == expected
            if expected:
                assert kernel.occurrences(graph, long_form) == expected


@pytest.mark.parametrize("kernel", [*KERNELS, gg.TreePlusPlus(2)], ids=str)
@pytest.mark.parametrize("hydrogens", [False, True])
def test_no_two_features_have_the_same_name(chem, kernel, hydrogens):
    """Also trees of one shape whose labels are in another order, since equal ranks are merged."""
    chlorine = ["ClC1CCCCC1", "ClC1CCCCC1C", "ClC1CCCC(C)C1", "Clc1ccccc1", "Clc1ccccc1C"]
    amides = ["CC(=O)NC(C)=O", "CCNC(C)=O", "CC(=O)NC(=O)CC", "OCC(CO)CO", "OCC(CO)CCO"]
    graphs = gg.from_smiles([*SMILES, *chlorine, *amides], hydrogens=hydrogens)
    names = kernel.fit(graphs).feature_names().tolist()
    assert len(set(names)) == len(names)
    graph = graphs[len(SMILES) + 1]
    own = kernel.columns_.of(kernel.count(graph)).indptr[:-1].nonzero()[0]
    for column in own[:: len(own) // 6].tolist():
        assert kernel.occurrences(graph, names[column]) == kernel.occurrences(graph, column)


def test_patterns_have_both(chem):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    graphs, y = gg.load_drugs()
    kernel = gg.PathPattern(3, output="features", counts="binary", edge_labels=True)
    model = make_pipeline(kernel, LogisticRegression()).fit(graphs[::4], y[::4] == "opioids")
    [why] = gg.explain(model, graphs[0])
    for pattern in why.top(5):
        assert chem.MolFromSmarts(pattern.name) is not None
        assert pattern.description.startswith("k=0: ")


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: str(kernel).replace("\n", ""))
def test_no_hashes_have_no_names(kernel):
    graphs, _ = gg.load_drugs()
    none = np.empty(0, dtype=np.uint64)
    for write in (kernel.names_of, kernel.descriptions_of):
        assert write(graphs[:2], 0, none) == []
