# ruff: noqa: E501 (tables of molecules)
"""Fragments: connected parts that cover a graph once, with the names that chemists give them."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import graphgrain as gg
from graphgrain.explaining.fragments import cut
from tests.strategies import graphs, to_tuple


def parts_of(graph, values=None):
    return [(part.name, set(part.vertices)) for part in cut(graph, values)]


def names_of(smiles, **options):
    [graph] = gg.from_smiles([smiles], **options)
    return sorted(name for name, _ in parts_of(graph))


def whole_graph(graph):
    whole = nx.Graph(graph.edges.tolist())
    whole.add_nodes_from(range(graph.n_vertices))
    return whole


def check_partition(graph, parts):
    covered = Counter(vertex for _, vertices in parts for vertex in vertices)
    assert covered == Counter(range(graph.n_vertices))
    for _, vertices in parts:
        assert nx.is_connected(whole_graph(graph).subgraph(vertices))


# -------------------------------------------------------------------- regions


@settings(max_examples=60)
@given(graphs(max_size=24))
def test_regions_are_connected_cover_every_graph_once_and_are_not_large(graph):
    [batch] = gg.as_graphs([to_tuple(graph)])
    rng = np.random.default_rng(len(graph.labels))
    for values in (None, rng.normal(size=batch.n_vertices)):
        parts = parts_of(batch, values)
        check_partition(batch, parts)
        if batch.n_vertices > 6:
            assert max(len(part) for _, part in parts) <= batch.n_vertices / 3


def test_regions_are_grown_around_the_strongest_vertices():
    [path] = gg.as_graphs([([(v, v + 1) for v in range(8)], list("abcdefghi"))])
    values = np.array([0.1, 0.9, 0.2, 0.1, 0.0, -0.3, -0.8, -0.2, 0.1])
    assert parts_of(path, values)[:2] == [
        ("around b: a, c", {0, 1, 2}),
        ("around g: f, h", {5, 6, 7}),
    ]


def test_regions_are_named_by_their_centre_and_what_surrounds_it():
    labels = ["Call", "Name", "Name", "Num", "Attribute", "Str", "Name"]
    [tree] = gg.as_graphs([([(0, v) for v in range(1, 7)], labels)])
    names = [name for name, _ in parts_of(tree[[0]], np.eye(7)[0])]
    assert names[0] == "around Call: Name"
    [small] = gg.as_graphs([([(0, v) for v in range(1, 6)], labels[:6])])
    assert parts_of(small, np.eye(6)[0]) == [("around Call: 2 Name, Attribute, ...", set(range(6)))]
    [plain] = gg.as_graphs([([(0, 1), (1, 2)], None)])
    assert parts_of(plain, np.eye(3)[1]) == [("around a vertex with 2 neighbours", {0, 1, 2})]


# -------------------------------------------------------------------- the table

pytest.importorskip("rdkit")


def table():
    text = files("graphgrain.explaining").joinpath("fragments.smarts").read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith(("#", "== "))]
    return [tuple(line.split("\t")) for line in lines]


def test_every_line_of_the_table_names_its_example():
    """No line is shadowed by one before it, and each says why it is there."""
    for name, smarts, example, comment in table():
        assert smarts
        assert comment
        # =O adds an ending: pyran, pyranone
        name = re.escape(name)
        pattern = rf"{name}|{name.removesuffix('e')}e?\S*one|{name} \w*oxide"
        assert any(re.fullmatch(pattern, each) for each in names_of(example)), (name, example)


#: Molecule by its name: fragments that it has, and names that it must not have.
NAMED = {
    "cyclophosphamide ClCCN(CCCl)P1(=O)NCCCO1": ("phosphorodiamidate", "phosphate tertiary amine"),
    "HMPA CN(C)P(=O)(N(C)C)N(C)C": ("phosphoramide", "phosphine oxide"),
    "butyldimethylsilanol CCCC[Si](C)(C)O": ("silanol", "silyl ether alcohol"),
    "hexamethyldisilazane C[Si](C)(C)N[Si](C)(C)C": ("disilazane", "silyl ether"),
    "tosyl azide Cc1ccc(S(=O)(=O)N=[N+]=[N-])cc1": ("sulfonyl azide", "sulfonamide azide"),
    "charged sulfoxide C[S+]([O-])c1ccccc1": ("sulfoxide", "sulfonium alkoxide"),
    "diethylnitrosamine CCN(CC)N=O": ("N-nitrosamine", "hydrazine azo nitroso"),
    "nitrosopyrrolidine O=NN1CCCC1": ("N-nitrosamine; pyrrolidine", "nitroso"),
    "ethyl nitrate CCO[N+](=O)[O-]": ("nitrate ester", "nitro ether"),
    "RDX O=[N+]([O-])N1CN([N+](=O)[O-])CN([N+](=O)[O-])C1": ("nitramine; 1,3,5-triazinane", "nitro"),
    "ethyl diazoacetate CCOC(=O)C=[N+]=[N-]": ("diazo; ester", "azide diazonium"),
    "benzenediazonium N#[N+]c1ccccc1": ("diazonium", "nitrile diazo"),
    "methionine sulfoximine CS(=N)(=O)CCC(N)C(=O)O": ("sulfoximine", "sulfoxide sulfinamide"),
    "tert-butanesulfinamide CC(C)(C)S(N)=O": ("sulfinamide", "sulfonamide sulfoxide"),
    "riluzole Nc1nc2ccc(OC(F)(F)F)cc2s1": ("trifluoromethoxy; benzothiazole", "trifluoromethyl aromatic ether"),
    "Weinreb amide CON(C)C(=O)c1ccccc1": ("Weinreb amide", "hydroxamate"),
    "dimethylcyanamide CN(C)C#N": ("cyanamide", "nitrile tertiary amine"),
    "methyl xanthate CCOC(=S)SC": ("xanthate", "dithioester dithiocarbamate"),
    "disulfiram CCN(CC)C(=S)SSC(=S)N(CC)CC": ("dithiocarbamate", "disulfide thioamide"),
    "thiosulfonate CCS(=O)(=O)SCC": ("thiosulfonate", "sulfone disulfide"),
    "fosfomycin CC1OC1P(=O)(O)O": ("epoxide; phosphonate", "ether phosphate"),
    "thiotepa S=P(N1CC1)(N1CC1)N1CC1": ("aziridine; thiophosphoramide", "tertiary amine"),
    "gefitinib COc1cc2ncnc(Nc3ccc(F)c(Cl)c3)c2cc1OCCCN1CCOCC1": ("morpholine; quinazoline; aryl fluoride; aryl chloride; secondary aromatic amine", "ether tertiary amine"),
    "phenytoin O=C1NC(=O)C(c2ccccc2)(c2ccccc2)N1": ("hydantoin", "imide urea lactam"),
    "phenobarbital CCC1(c2ccccc2)C(=O)NC(=O)NC1=O": ("barbiturate", "imide urea"),
    "tolbutamide CCCCNC(=O)NS(=O)(=O)c1ccc(C)cc1": ("sulfonylurea", "urea acylsulfonamide"),
    "acylsulfonamide CC(=O)NS(=O)(=O)c1ccccc1": ("acylsulfonamide", "sulfonylurea sulfonamide"),
    "ferrocene [CH]12[CH]3[CH]4[CH]5[CH]1[Fe]23451678[CH]2[CH]1[CH]6[CH]7[CH]28": ("ferrocene", "cyclopentane"),
    "cisplatin N[Pt](N)(Cl)Cl": ("platinum complex", "primary amine"),
    "carboplatin N[Pt]1(N)OC(=O)C2(CCC2)C(=O)O1": ("platinum complex; cyclobutane", "lactone"),
    "cyclohexanone oxime ON=C1CCCCC1": ("oxime; cyclohexane", "imine hydroxylamine"),
    "isoniazid NNC(=O)c1ccncc1": ("hydrazide; pyridine", "primary amide hydrazine"),
    "nitrofural NC(=O)NN=Cc1ccc([N+](=O)[O-])o1": ("semicarbazone; furan; nitro", "urea hydrazone"),
    "arginine NC(CCCNC(N)=N)C(=O)O": ("guanidine; primary amine; carboxylic acid", "amidine"),
    "metformin CN(C)C(=N)NC(N)=N": ("biguanide", "guanidine"),
    "benzamidine NC(=N)c1ccccc1": ("amidine", "guanidine imine"),
    "phenyl isocyanate O=C=Nc1ccccc1": ("isocyanate", "isothiocyanate"),
    "sulforaphane CS(=O)CCCCN=C=S": ("isothiocyanate; sulfoxide", "isocyanate thioketone"),
    "di-tert-butyl peroxide CC(C)(C)OOC(C)(C)C": ("peroxide; tert-butyl", "ether"),
    "glucose OCC1OC(O)C(O)C(O)C1O": ("hemiacetal; tetrahydropyran; alcohol", "ether"),
    "open hemiacetal CCOC(C)O": ("hemiacetal", "ether alcohol"),
    "ethyl vinyl ether CCOC=C": ("enol ether", "ether alkene"),
    "vinyl chloride C=CCl": ("vinyl chloride", "alkyl chloride alkene"),
    "chlorobenzene Clc1ccccc1": ("aryl chloride; benzene", "alkyl chloride vinyl chloride"),
    "pinacol ester CC1(C)OB(c2ccccc2)OC1(C)C": ("boronic ester", "boronic acid ether"),
    "phenylboronic acid OB(O)c1ccccc1": ("boronic acid", "boronic ester alcohol"),
    "dimethyl methylphosphonate COP(C)(=O)OC": ("phosphonate", "phosphate"),
    "triethyl phosphate CCOP(=O)(OCC)OCC": ("phosphate; ethyl", "phosphonate"),
    "dimethylsulfamide CNS(=O)(=O)NC": ("sulfamide", "sulfonamide sulfamate"),
    "methyl sulfamate COS(N)(=O)=O": ("sulfamate", "sulfamide sulfonate ester"),
    "phenylthiourea NC(=S)Nc1ccccc1": ("thiourea", "thioamide urea"),
    "fenuron CN(C)C(=O)Nc1ccccc1": ("urea", "secondary amide tertiary amine"),
    "methyl carbamate COC(N)=O": ("carbamate", "urea ester carbonate"),
    "dimethyl carbonate COC(=O)OC": ("carbonate", "ester carbamate"),
    "acetic anhydride CC(=O)OC(C)=O": ("anhydride", "ester ketone"),
    "acetyl chloride CC(=O)Cl": ("acyl halide", "ketone alkyl chloride"),
    "diacetamide CC(=O)NC(C)=O": ("imide", "secondary amide"),
    "thalidomide O=C1CCC(N2C(=O)c3ccccc3C2=O)C(=O)N1": ("glutarimide; phthalimide", "imide benzene lactam"),
    "piracetam NC(=O)CN1CCCC1=O": ("lactam; primary amide", "tertiary amide pyrrolidine"),
    "butyrolactone O=C1CCCO1": ("lactone", "ester ether"),
    "large lactone O=C1CCCCCCCCCCCCCO1": ("macrocycle; ester", "lactone"),
    "imidazolidinone O=C1NCCN1": ("cyclic urea", "urea"),
    "benzylpenicillin CC1(C)SC2C(NC(=O)Cc3ccccc3)C(=O)N2C1C(=O)O": ("penam; secondary amide; carboxylic acid; benzene", "thioether beta-lactam"),
    "aztreonam's ring O=C1CCN1S(=O)(=O)O": ("beta-lactam", "lactam penam"),
    "morphine CN1CCC23c4c5ccc(O)c4OC2C(O)C=CC3C1C5": ("morphinan; phenol; alcohol", "benzene tertiary amine aromatic ether"),
    "cholesterol CC(C)CCCC(C)C1CCC2C3CC=C4CC(O)CCC4(C)C3CCC12C": ("steroid; alcohol", "alkene"),
    "paracetamol CC(=O)Nc1ccc(O)cc1": ("secondary amide; phenol; benzene", "alcohol ketone"),
    "serotonin NCCc1c[nH]c2ccc(O)cc12": ("indole; primary amine; ethylene", "benzene pyrrole"),
    "nicotine CN1CCCC1c1cccnc1": ("pyrrolidine; pyridine", "tertiary amine"),
    "caffeine Cn1c(=O)c2c(ncn2C)n(C)c1=O": ("xanthine", "purine ketone"),
    "ciprofloxacin O=C(O)c1cn(C2CC2)c2cc(N3CCNCC3)c(F)cc2c1=O": ("quinolinone; piperazine; cyclopropane", "quinoline ketone"),
    "zwitterion C[N+](C)(C)CC(=O)[O-]": ("quaternary ammonium; carboxylate", "carboxylic acid tertiary amine"),
    "naphthyl ring of another size c1ccc2cccc2cc1": ("azulene", "naphthalene"),
}  # fmt: skip


@pytest.mark.parametrize("molecule", NAMED)
def test_groups_of_named_molecules(molecule):
    smiles = molecule.rpartition(" ")[2]
    right, wrong = NAMED[molecule]
    found = set(names_of(smiles))
    known = {name for name, *_ in table()} | {"macrocycle", "quinolinone"}
    expected = set(right.split("; "))
    assert expected <= known
    assert expected <= found, found
    # names of two words count as such
    assert not {name for name in known if f" {name} " in f" {wrong} "} & (found - expected), found


@pytest.mark.parametrize("options", [{}, {"hydrogens": True}, {"charge": True, "aromatic": True}])
def test_molecules_are_covered_once_and_named_alike_with_and_without_their_smiles(options):
    smiles = [
        "CC(=O)Oc1ccccc1C(=O)O",
        "[Na+].[Cl-]",
        "C",
        "CN1CC[C@]23c4c5ccc(O)c4O[C@H]2[C@@H](O)C=C[C@H]3[C@H]1C5",
        "O=[N+]([O-])c1cc[nH]c1",
        "FC(F)(F)C#CC=C=C",
        "CS(=O)(=O)NC(=O)N",
        "OP(=O)(O)OCC[N+](C)(C)C",
        "OB(O)c1ccsc1",
        "*C[SiH3]",
        "O=c1cc[nH]cc1",
    ]
    for graph in gg.from_smiles(smiles, **options):
        check_partition(graph, parts_of(graph))
        from_labels = parts_of(bare(graph))
        if "." not in graph.columns["smiles"][0]:  # ions of salts have lost their charges
            assert Counter(n for n, _ in from_labels) == Counter(n for n, _ in parts_of(graph))
    [hydrogen] = gg.from_smiles(["[H][H]"])
    assert parts_of(hydrogen) == [("hydrogen", {0, 1})]


def bare(graph):
    """The same graph without what came with it."""
    return gg.GraphBatch.from_edges(
        [graph.n_vertices], graph.edges, graph.labels.tolist(), edge_labels=graph.edge_labels
    )


def test_standardised_molecules_and_views_keep_their_names():
    [salt] = gg.from_smiles(["[Na+].CC(=O)[O-]"], standardize="largest")
    assert parts_of(salt) == [("methyl", {0}), ("carboxylate", {1, 2, 3})]


def test_names_do_not_depend_on_numbers():
    chem = pytest.importorskip("rdkit.Chem")
    batch, _ = gg.load_drugs()
    rng = np.random.default_rng(0)
    for graph in batch[::17]:
        molecule = chem.MolFromSmiles(graph.columns["smiles"][0])
        order = rng.permutation(graph.n_vertices)
        [turned] = gg.from_rdkit([chem.RenumberAtoms(molecule, order.tolist())])
        mine = Counter((name, len(v)) for name, v in parts_of(graph))
        assert mine == Counter((name, len(v)) for name, v in parts_of(turned))


# -------------------------------------------------------------------- coverage

#: Counts of RDKit that define a group as we do.
FR = {
    "fr_nitro": ["nitro", "nitramine", "nitrate ester", "nitroguanidine"],
    "fr_nitrile": ["nitrile", "acyl cyanide", "cyanoguanidine"],
    "fr_azide": ["azide", "sulfonyl azide", "acyl azide"],
    "fr_isocyan": ["isocyanate"],
    "fr_isothiocyan": ["isothiocyanate"],
    "fr_barbitur": ["barbiturate"],
    "fr_morpholine": ["morpholine"],
    "fr_piperzine": ["piperazine"],
    "fr_sulfone": ["sulfone"],
    "fr_SH": ["thiol", "thiophenol"],
    "fr_aldehyde": ["aldehyde"],
    "fr_epoxide": ["epoxide"],
    "fr_phos_acid": ["phosphate"],
    "fr_tetrazole": ["tetrazole"],
}


def test_drugs_are_named_and_counts_agree_with_those_of_rdkit():
    """Names that say no more than which atoms there are; ``benchmarks.fragments`` measures more."""
    from rdkit.Chem import Fragments, MolFromSmiles

    batch, _ = gg.load_drugs()
    parts = [cut(graph) for graph in batch]
    names = [part.name for each in parts for part in each]
    general = r"(fused|spiro|bridged) ring.*|ring of.*"
    assert not [name for name in names if re.fullmatch(r".* atom|around.*|any.*|group.*", name)]
    assert sum(bool(re.fullmatch(general, name)) for name in names) <= 0.01 * len(names)
    molecules = [MolFromSmiles(smiles) for smiles in batch.columns["smiles"]]
    for function, groups in FR.items():
        theirs = [getattr(Fragments, function)(molecule) for molecule in molecules]
        ours = [sum(part.name in groups for part in each) for each in parts]
        # a piperazine in a fused ring system, or with =O on it, has another name
        assert np.mean(np.equal(theirs, ours)) >= 0.99, function


# -------------------------------------------------------------------- decisions


def test_contributions_add_up_to_the_decision():
    batch, y = gg.load_drugs()
    kernel = gg.TreePlusPlus(3, 1, output="features", counts="binary", edge_labels=True)
    model = make_pipeline(kernel, LogisticRegression()).fit(batch, y == "beta-lactams")
    some = batch[::29]
    for why, decision in zip(gg.explain(model, some), model.decision_function(some), strict=True):
        *found, bias = why.fragments()
        assert sum(each.contribution for each in found) + bias.contribution == pytest.approx(
            decision, abs=1e-12 * max(1, np.abs(why.vertices).sum())
        )
        assert (bias.name, bias.contribution) == ("bias", why.bias)
        sizes = [abs(each.contribution) for each in found]
        assert sizes == sorted(sizes, reverse=True)
        for each in found:
            own = why.vertices[list(each.vertices)].sum()
            assert each.contribution == pytest.approx(own, abs=1e-12)
