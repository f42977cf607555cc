"""Fragments: connected parts that cover a graph once, with the names that chemists give them."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import graphgrain as gg
from graphgrain.explaining.fragments import cut
from tests.strategies import graphs, to_tuple

#: What chemists search for, and what we call it.
SMARTS = {
    "carboxylic acid": "[CX3;!a](=O)[OX2H1]",
    "nitrile": "[CX2]#[NX1]",
    "nitro": "[$([NX3](=O)=O),$([N+](=O)[O-])]",
    "beta-lactam": "C1(=O)N*~*1",
    "thioether": "[SX2;!a]([#6])[#6]",
    "phenol": "[OX2H]-c",
    "ether": "[OX2;!a]([CX4])[CX4]",
    "aromatic ether": "[OX2;!a]([#6;!$(C=[O,N])])c",
    "trifluoromethyl": "FC(F)F",
    "sulfone": "[SX4](=O)(=O)([#6])[#6]",
    "secondary amine": "[NX3;H1;!a]([CX4])[CX4]",
    "tertiary amine": "[NX3;H0;!a]([CX4,$(C=C)])([CX4,$(C=C)])[CX4,$(C=C)]",
    "primary aromatic amine": "[NH2]c",
    "primary amine": "[NH2;!$(N-C=[O,N,S]);!$(N-[!#6])][CX4]",
    "urea": "[NX3][CX3](=O)[NX3]",
    "secondary amide": "[NX3;H1;!R]([#6])[CX3](=O)[#6]",
    "lactone": "O=C1OC~*~*~1",
}


def parts_of(graph, values=None):
    return [(part.name, set(part.vertices)) for part in cut(graph, values)]


def check_partition(graph, parts):
    whole = nx.Graph(graph.edges.tolist())
    whole.add_nodes_from(range(graph.n_vertices))
    covered = Counter(vertex for _, vertices in parts for vertex in vertices)
    assert covered == Counter(range(graph.n_vertices))
    for _, vertices in parts:
        assert nx.is_connected(whole.subgraph(vertices))


@settings(max_examples=60)
@given(graphs(max_size=14))
def test_regions_cover_every_graph_once_and_are_connected(graph):
    batch = gg.as_graphs([to_tuple(graph)])
    rng = np.random.default_rng(len(graph.labels))
    for values in (None, rng.normal(size=batch.n_vertices)):
        check_partition(batch, parts_of(batch, values))


def test_regions_are_grown_around_the_strongest_vertices():
    path = gg.as_graphs([([(v, v + 1) for v in range(8)], list("abcdefghi"))])
    values = np.array([0.1, 0.9, 0.2, 0.1, 0.0, -0.3, -0.8, -0.2, 0.1])
    parts = dict(parts_of(path, values))
    assert 0 in parts["around b"]
    assert {5, 6, 7} <= parts["around g"]


@pytest.mark.parametrize("options", [{}, {"hydrogens": True}, {"charge": True, "aromatic": True}])
def test_molecules_are_covered_once(options):
    pytest.importorskip("rdkit")
    smiles = [
        "CC(=O)Oc1ccccc1C(=O)O",
        "[Na+].[Cl-]",
        "C",
        "[H][H]",
        "CN1CC[C@]23c4c5ccc(O)c4O[C@H]2[C@@H](O)C=C[C@H]3[C@H]1C5",
        "O=[N+]([O-])c1cc[nH]c1",
        "CC(C)(C)NCC(O)c1ccc(O)c(CO)c1",
        "FC(F)(F)C#CC=C=C",
        "C1CC1C2CCC2",
        "CS(=O)(=O)NC(=O)N",
        "OP(=O)(O)OCC[N+](C)(C)C",
        "OB(O)c1ccsc1",
        "*C[SiH3]",
    ]
    for graph in gg.from_smiles(smiles, **options):
        check_partition(graph, parts_of(graph))


def test_names_of_functional_groups_are_those_of_chemists():
    """On all drugs: as many places as RDKit finds for the SMARTS of the group, and the same."""
    chem = pytest.importorskip("rdkit.Chem")
    import csv
    from importlib.resources import files

    table = files("graphgrain.graphs.datasets").joinpath("data/drugs.csv").read_text()
    rows = list(csv.DictReader(table.splitlines()))
    batch, _ = gg.load_drugs()
    drawn = [
        (row, chem.MolFromSmiles(row["smiles"]), parts_of(graph))
        for row, graph in zip(rows, batch, strict=True)
    ]
    # rings of two kinds of atoms hold these groups too, and have names of their own
    for name, text in SMARTS.items():
        query = chem.MolFromSmarts(text)
        for row, molecule, parts in drawn:
            found = molecule.GetSubstructMatches(query)
            ours = [vertices for part, vertices in parts if part == name]
            inside = [set(match) for match in found]
            for vertices in ours:
                assert any(vertices & match for match in inside), (name, row["name"])
            core = {next(iter(v)) for v in ours if len(v) == 1}
            theirs = {
                atom
                for match in found
                for atom in match
                if molecule.GetAtomWithIdx(atom).GetSymbol() not in ("C", "H")
                and not molecule.GetAtomWithIdx(atom).GetIsAromatic()
            }
            if name in ("thioether", "phenol", "ether", "secondary amine", "tertiary amine"):
                assert core <= theirs, (name, row["name"])
            if name in ("nitrile", "nitro", "phenol", "trifluoromethyl", "beta-lactam"):
                assert len(ours) == len(found), (name, row["name"])


@pytest.mark.parametrize(
    ("smiles", "names"),
    [
        ("c1ccncc1", ["pyridine ring"]),
        ("c1cc[nH]c1", ["pyrrole ring"]),
        ("c1cnc[nH]1", ["imidazole ring"]),
        ("c1cn[nH]c1", ["pyrazole ring"]),
        ("c1cncnc1", ["pyrimidine ring"]),
        ("c1cnccn1", ["pyrazine ring"]),
        ("c1ccnnc1", ["pyridazine ring"]),
        ("c1ccc2ccccc2c1", ["naphthalene rings"]),
        ("c1ccc2[nH]ccc2c1", ["indole rings"]),
        ("c1ccc2ncccc2c1", ["quinoline rings"]),
        ("c1ccc2cnccc2c1", ["isoquinoline rings"]),
        ("c1ccc2[nH]cnc2c1", ["benzimidazole rings"]),
        ("c1ncc2nc[nH]c2n1", ["purine rings"]),
        ("c1ccc(-c2ccccc2)cc1", ["benzene ring", "benzene ring"]),
        ("C1CCCCC1", ["cyclohexane ring"]),
        ("C1CCNCC1", ["secondary amine", "carbons of a ring of 6"]),
        ("CC(=O)C", ["ketone", "methyl", "methyl"]),
        ("CC=O", ["aldehyde", "methyl"]),
        ("CC(=O)OC", ["ester", "methyl", "methyl"]),
        ("CC(N)=O", ["primary amide", "methyl"]),
        ("CC(=O)N(C)C", ["tertiary amide", "methyl", "methyl", "methyl"]),
        ("O=C1CCCN1", ["lactam", "carbons of a ring of 5"]),
        ("NC(N)=O", ["urea"]),
        ("NC(N)=N", ["guanidine"]),
        ("CC(N)=N", ["amidine", "methyl"]),
        ("COC(N)=O", ["carbamate", "methyl"]),
        ("O=C1CCC(=O)N1", ["imide", "carbons of a ring of 5"]),
        ("O=C1CC(=O)NC(=O)N1", ["barbiturate", "carbons of a ring of 6"]),
        ("CS(C)(=O)=O", ["sulfone", "methyl", "methyl"]),
        ("CS(C)=O", ["sulfoxide", "methyl", "methyl"]),
        ("CS(N)(=O)=O", ["sulfonamide", "methyl"]),
        ("CS(=O)(=O)O", ["sulfonic acid", "methyl"]),
        ("CP(=O)(O)O", ["phosphonate", "methyl"]),
        ("CC=NO", ["oxime", "methyl"]),
        ("CC=NNC", ["hydrazone", "methyl", "methyl"]),
        ("CN=C(C)C", ["imine", "methyl", "methyl", "methyl"]),
        ("CN=NC", ["azo", "methyl", "methyl"]),
        ("CSSC", ["disulfide", "methyl", "methyl"]),
        ("CC(C)(C)O", ["alcohol", "tert-butyl"]),
        ("CC(C)N", ["primary amine", "isopropyl"]),
        ("C[N+](C)(C)C", ["quaternary ammonium"] + ["methyl"] * 4),
        ("FC(F)(F)C", ["trifluoromethyl", "methyl"]),
        ("C=C", ["alkene"]),
        ("C#C", ["alkyne"]),
        ("CN=C=S", ["isothiocyanate", "methyl"]),
        ("CC(=O)OC(C)=O", ["anhydride", "methyl", "methyl"]),
        ("CC(=O)NN", ["hydrazide", "methyl"]),
        ("O=c1cc[nH]cc1", ["pyridine ring", "carbonyl of an aromatic ring"]),
        ("O", ["water"]),
        ("C[N+]#[C-]", ["isonitrile", "methyl"]),
        ("C[n+]1ccc([O-])cc1", ["pyridine ring", "phenol", "methyl"]),
        ("[O-][n+]1ccccc1", ["pyridine ring", "N-oxide"]),
        ("On1nnc2ccccc21", ["benzotriazole rings", "N-oxide or N-hydroxy"]),
        ("NS(N)(=O)=O", ["sulfamide"]),
        ("COS(N)(=O)=O", ["sulfamate", "methyl"]),
        ("COS(=O)(=O)O", ["sulfate", "methyl"]),
        ("c1ccc2cccc2cc1", ["aromatic ring of 10"]),
    ],
)
def test_names(smiles, names):
    pytest.importorskip("rdkit")
    for options in ({}, {"hydrogens": True}, {"charge": True, "aromatic": True}):
        found = [name for name, _ in parts_of(gg.from_smiles([smiles], **options))]
        assert sorted(found) == sorted(names)


#: Names of fused rings, and the rings as SMARTS: no other isomer has the name.
FUSED = {
    "indole": "c1ccc2nccc2c1",
    "isoindole": "c1ccc2cncc2c1",
    "benzofuran": "c1ccc2occc2c1",
    "isobenzofuran": "c1ccc2cocc2c1",
    "benzothiophene": "c1ccc2sccc2c1",
    "benzimidazole": "c1ccc2ncnc2c1",
    "indazole": "c1ccc2nncc2c1",
    "benzoxazole": "c1ccc2ocnc2c1",
    "benzisoxazole": "[$(c1ccc2oncc2c1),$(c1ccc2conc2c1)]",
    "benzothiazole": "c1ccc2scnc2c1",
    "benzisothiazole": "[$(c1ccc2sncc2c1),$(c1ccc2csnc2c1)]",
    "benzotriazole": "c1ccc2nnnc2c1",
    "purine": "c1ncc2ncnc2n1",
    "quinoline": "c1ccc2ncccc2c1",
    "isoquinoline": "c1ccc2cnccc2c1",
    "carbazole": "c1ccc2c(c1)nc1ccccc12",
    "acridine": "c1ccc2nc3ccccc3cc2c1",
}
ISOMERS = [
    "c1ccc2[nH]ccc2c1", "c1ccc2c[nH]cc2c1", "c1ccn2cccc2c1", "c1ccc2occc2c1", "c1ccc2cocc2c1",
    "c1ccc2sccc2c1", "c1ccc2[nH]cnc2c1", "c1ccc2[nH]ncc2c1", "c1ccc2n[nH]cc2c1", "c1ccn2ccnc2c1",
    "c1ccn2cncc2c1", "c1ccn2nccc2c1", "c1cnc2[nH]ccc2c1", "c1ccc2ocnc2c1", "c1ccc2oncc2c1",
    "c1ccc2conc2c1", "c1cnc2occc2c1", "c1ccc2scnc2c1", "c1ccc2sncc2c1", "c1ccc2csnc2c1",
    "c1ccc2[nH]nnc2c1", "c1cnc2[nH]cnc2c1", "c1ccn2ncnc2c1", "c1ncc2[nH]cnc2n1",
    "c1ncc2cn[nH]c2n1", "c1cnc2[nH]cnc2n1", "c1nncc2[nH]cnc12", "c1cnc2ncnn2c1", "c1ccc2ncccc2c1",
    "c1ccc2cnccc2c1", "c1cc[n+]2ccccc2c1", "c1ccc2c(c1)[nH]c1ccccc12", "c1ccc2c(c1)ccc1cc[nH]c12",
    "c1ccc2cc3[nH]ccc3cc2c1", "c1ccc2nc3ccccc3cc2c1", "c1ccc2c(c1)cnc1ccccc12",
    "c1ccc2c(c1)ccc1cccnc12", "c1ccc2cc3ncccc3cc2c1",
]  # fmt: skip


@pytest.mark.parametrize("smiles", ISOMERS)
def test_names_of_fused_rings_are_those_of_one_isomer(smiles):
    chem = pytest.importorskip("rdkit.Chem")
    molecule = chem.MolFromSmiles(smiles)
    expected = [
        f"{name} rings"
        for name, rings in FUSED.items()
        if molecule.HasSubstructMatch(chem.MolFromSmarts(rings))
        and molecule.GetRingInfo().NumRings() == (3 if name in ("carbazole", "acridine") else 2)
    ]
    [(name, _)] = parts_of(gg.from_smiles([smiles]))
    assert [name] == expected or (not expected and name.startswith("fused aromatic rings ("))


@pytest.mark.parametrize(
    ("atoms", "name"),
    [("CNCCNC", "aromatic chain of 6 with N2"), ("CCCCC", "aromatic chain of 5")],
)
def test_part_of_an_aromatic_ring_is_no_ring(atoms, name):
    bonds = [(i, i + 1) for i in range(len(atoms) - 1)]
    graph = gg.as_graphs([(bonds, list(atoms), ["aromatic"] * len(bonds))])
    assert parts_of(graph) == [(name, set(range(len(atoms))))]


def test_names_do_not_depend_on_numbers():
    batch, _ = gg.load_drugs()
    rng = np.random.default_rng(0)
    for graph in batch[::17]:
        order = rng.permutation(graph.n_vertices)
        labels = np.empty(graph.n_vertices, dtype=object)
        labels[order] = graph.labels
        other = gg.GraphBatch.from_edges(
            [graph.n_vertices], order[graph.edges], labels.tolist(), edge_labels=graph.edge_labels
        )
        mine = Counter((name, len(v)) for name, v in parts_of(graph))
        assert mine == Counter((name, len(v)) for name, v in parts_of(other))


@pytest.fixture(scope="module")
def drugs():
    batch, y, names = gg.load_drugs(names=True)
    kernel = gg.TreePlusPlus(3, 1, output="features", counts="binary", edge_labels=True)
    model = make_pipeline(kernel, LogisticRegression()).fit(batch, y == "beta-lactams")
    return batch, y, names, model


class TestDecisions:
    def test_contributions_add_up_to_the_decision(self, drugs):
        batch, _, _, model = drugs
        some = batch[::29]
        for why, decision in zip(
            gg.explain(model, some), model.decision_function(some), strict=True
        ):
            found = why.fragments()
            assert sum(each.contribution for each in found) == pytest.approx(decision, abs=1e-9)
            assert found[-1].name == "bias"
            assert found[-1].contribution == why.bias
            sizes = [abs(each.contribution) for each in found[:-1]]
            assert sizes == sorted(sizes, reverse=True)
            for each in found[:-1]:
                own = why.vertices[list(each.vertices)].sum()
                assert each.contribution == pytest.approx(own, abs=1e-12)
