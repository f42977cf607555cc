"""Molecules are drawn by RDKit as they were read, whatever the labels of the graph contain."""

from __future__ import annotations

import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.explaining.fragments import cut
from graphgrain.graphs.convert.to_rdkit import source_molecule
from graphgrain.graphs.drawing.common_part import differences, shared_part
from graphgrain.graphs.drawing.molecules import (
    atom_points,
    count_crossings,
    count_flaws,
    draw_formula,
    place_atoms,
)
from graphgrain.graphs.drawing.picture import outline
from graphgrain.graphs.drawing.sketches import aligned_molecule
from graphgrain.graphs.molecule_labels import read_alphabet

Chem = pytest.importorskip("rdkit.Chem")

SVG = "{http://www.w3.org/2000/svg}"
MORPHINE = "CN1CC[C@]23c4c5ccc(O)c4O[C@H]2[C@@H](O)C=C[C@H]3[C@H]1C5"
CODEINE = "CN1CC[C@]23c4c5ccc(OC)c4O[C@H]2[C@@H](O)C=C[C@H]3[C@H]1C5"
PENICILLIN_G = "CC1(C)S[C@@H]2[C@H](NC(=O)Cc3ccccc3)C(=O)N2[C@H]1C(=O)O"
BRIDGED = (MORPHINE, CODEINE, PENICILLIN_G, "C1C2CC3CC1CC(C2)C3", "C1CC2CCC1C2")


def parsed(text):
    return ElementTree.fromstring(text)


def letters(svg):
    """Return all letters of a picture, as one text."""
    return "".join(node.text for node in parsed(svg).iter(f"{SVG}text"))


def wedges(svg):
    return [
        path for path in parsed(svg).iter(f"{SVG}path") if path.get("fill") not in (None, "none")
    ]


@pytest.mark.parametrize(
    ("smiles", "text"),
    [
        ("C[NH3+]", "NH3+"),
        ("CC(=O)[O-]", "OO\N{MINUS SIGN}"),
        ("[NH3+]CC(=O)[O-]", "NH3+OO\N{MINUS SIGN}"),
        ("O=[N+]([O-])c1ccccc1", "ON+O\N{MINUS SIGN}"),
        ("[13CH3]C#N", "13CN"),
        ("[Na+].[Cl-]", "Na+Cl\N{MINUS SIGN}"),
        ("C[2H]", "2H"),
        ("[CH-]1C=CC=C1.[CH-]1C=CC=C1.[Fe+2]", "C\N{MINUS SIGN}C\N{MINUS SIGN}Fe2+"),
        ("c1cc[nH]c1", "NH"),
        ("O", "H2O"),
    ],
)
def test_charges_hydrogens_and_isotopes_are_those_of_the_molecule(smiles, text):
    """The graph itself has none of them; RDKit's own rules say what is written."""
    graphs = gg.as_graphs([smiles])
    assert sorted(letters(gg.draw(graphs))) == sorted(text)
    mol = Chem.MolFromSmiles(smiles)
    from_mol = gg.from_rdkit([mol])
    assert "smiles" not in from_mol.columns
    assert sorted(letters(gg.draw(from_mol))) == sorted(text)


@pytest.mark.parametrize("smiles", [MORPHINE, PENICILLIN_G, "C[C@H](N)O", "C[C@@H](N)O"])
def test_wedges_give_the_isomer_back(smiles):
    """RDKit reads coordinates and wedges, and finds the same isomer."""
    graph = gg.as_graphs([smiles])
    flat = re.sub("@", "", smiles)
    hashes = gg.draw(graph).count("<path") - gg.draw([flat]).count("<path")
    assert wedges(gg.draw(graph)) or hashes
    drawn = aligned_molecule(source_molecule(graph), graph, None)
    back = Chem.MolFromMolBlock(Chem.MolToMolBlock(drawn))
    assert Chem.MolToSmiles(back) == Chem.CanonSmiles(smiles)
    assert not wedges(gg.draw([flat]))


@pytest.mark.parametrize("smiles", ["F/C=C/F", "F/C=C\\F", "c1ccccc1/C=C/c1ccccc1"])
def test_double_bonds_keep_their_geometry(smiles):
    graph = gg.as_graphs([smiles])
    drawn = Chem.Mol(aligned_molecule(source_molecule(graph), graph, None))
    Chem.DetectBondStereochemistry(drawn, -1)
    Chem.AssignStereochemistry(drawn, cleanIt=True, force=True)
    assert Chem.MolToSmiles(drawn) == Chem.CanonSmiles(smiles)


def test_bridged_rings_have_no_crossing_bonds_that_coordgen_avoids():
    from rdkit.Chem import rdCoordGen

    for smiles in BRIDGED:
        mol = Chem.MolFromSmiles(smiles)
        folded = Chem.Mol(mol)
        rdCoordGen.AddCoords(folded)
        assert count_flaws(place_atoms(mol)) <= count_flaws(folded)
    assert count_flaws(place_atoms(Chem.MolFromSmiles(PENICILLIN_G))) == 0


def test_crossings():
    square = np.array([(0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (1.0, 0.0)])
    assert count_crossings(square, np.array([(0, 1), (2, 3)])) == 1
    assert count_crossings(square, np.array([(0, 2), (1, 3)])) == 0
    assert count_crossings(square, np.array([(0, 1), (1, 2)])) == 0


def test_bonds_have_one_length_on_a_page():
    lengths = []
    for smiles in ("CCO", "c1ccccc1", "CC(C)CC(=O)N", "C1CCCCC1CC"):
        mol = Chem.MolFromSmiles(smiles)
        points = draw_formula(place_atoms(mol), 420, 300).points
        bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in mol.GetBonds()]
        lengths += [float(np.linalg.norm(points[u] - points[v])) for u, v in bonds]
    np.testing.assert_allclose(lengths, 30, rtol=0.02)


def test_atoms_carry_the_colour_and_bonds_blend():
    """Equal values have equal colours, whatever the edges are worth."""
    text = gg.draw(["BrCCBr"], vertices=[1.0, -0.5, -0.5, 1.0])
    svg = parsed(text)
    fills = [circle.get("fill") for circle in svg.findall(f"{SVG}circle")]
    assert fills[0] == fills[3] != fills[1] == fills[2]
    bands = {path.get("data-e"): path.get("stroke") for path in svg.iter(f"{SVG}path")}
    assert bands["1"] == fills[1]  # between equal atoms: their colour
    gradients = {
        f"url(#{node.get('id')})": [stop.get("stop-color") for stop in node]
        for node in svg.iter(f"{SVG}linearGradient")
    }
    ends = [sorted(gradients[bands[row]]) for row in ("0", "2")]
    assert ends == [sorted(fills[:2])] * 2


def test_letters_are_whole_and_bonds_stop_at_faded_ones():
    faded = gg.draw(["CCO"], faded=[0, 1, 2])
    ink = {path.get("stroke") for path in parsed(faded).iter(f"{SVG}path")}
    plain = {path.get("stroke") for path in parsed(gg.draw(["CCO"])).iter(f"{SVG}path")}
    assert len(ink) == len(plain) == 1
    assert ink != plain


class TestColumns:
    def test_salts_that_were_removed_are_drawn_without_colour(self):
        graphs = gg.from_smiles(["[Na+].CC(=O)[O-]"], standardize="largest")
        assert graphs.n_vertices == 4
        text = gg.draw(graphs, vertices=[1.0, 1.0, 1.0, 1.0])
        assert "Na" in letters(text)
        assert len(parsed(text).findall(f"{SVG}circle")) == 4

    def test_hydrogens_as_vertices(self):
        graphs = gg.from_smiles(["CO"], hydrogens=True)
        svg = gg.draw(graphs)
        assert letters(svg).count("H") == 4
        assert len(parsed(svg).findall(f"{SVG}circle")) == 6

    def test_a_column_of_another_molecule_is_not_believed(self):
        graphs = gg.as_graphs(["CCO"]).with_columns({"smiles": ["c1ccccc1"]})
        assert source_molecule(graphs).molecule.GetNumAtoms() == 3
        shapes = gg.as_graphs([([(0, 1)], ["circle", "square"])])
        assert source_molecule(shapes.with_columns({"smiles": ["CCC"]})) is None

    def test_labels_alone_make_a_molecule(self):
        acid = ([(0, 1), (1, 2), (1, 3)], list("CCOO"), ["single", "double", "single"])
        assert sorted(letters(gg.draw([acid]))) == list("HOO")
        source = source_molecule(gg.as_graphs([acid]))
        assert Chem.MolToSmiles(source.molecule) == "CC(=O)O"

    def test_labels_that_break_valences_are_drawn_as_they_are(self):
        five = ([(0, i) for i in range(1, 6)], ["C", *"FFFFF"], ["single"] * 5)
        assert sorted(letters(gg.draw([five]))) == sorted("FFFFF")

    def test_drugs(self):
        """Every bundled drug is drawn with the charges and wedges of its SMILES."""
        graphs, _ = gg.load_drugs()
        for number in range(0, len(graphs), 12):
            source = source_molecule(graphs[number])
            smiles = graphs.columns["smiles"][number]
            assert Chem.MolToSmiles(source.molecule) == Chem.CanonSmiles(smiles)


class TestAligned:
    def test_common_parts_have_equal_coordinates(self):
        pair = gg.as_graphs(["CCc1ccc(O)cc1", "CCc1ccc(OC)cc1"])
        shared = shared_part(pair[0], pair[1])
        assert len(shared) == 9
        first, second = (
            aligned_molecule(source_molecule(graph), graph, like)
            for graph, like in ((pair[0], None), (pair[1], pair[0]))
        )
        np.testing.assert_allclose(
            atom_points(first)[shared[:, 0]], atom_points(second)[shared[:, 1]], atol=1e-6
        )

    def test_drugs_are_aligned_exactly_or_about(self):
        graphs, y = gg.load_drugs()
        opioids = graphs[y == "opioids"]
        exact = 0
        for number in range(1, 9):
            shared = shared_part(opioids[0], opioids[number])
            points = [
                atom_points(aligned_molecule(source_molecule(graph), graph, like))
                for graph, like in ((opioids[0], None), (opioids[number], opioids[0]))
            ]
            gaps = np.linalg.norm(points[0][shared[:, 0]] - points[1][shared[:, 1]], axis=1)
            exact += bool(gaps.max() < 1e-6)
        assert exact >= 3

    def test_closed_rings_and_changed_bonds_differ(self):
        hexane, ring, alkene = gg.as_graphs(["CCCCCC", "C1CCCCC1", "CCC=CCC"])
        vertices, edges = differences(hexane, ring)
        assert not vertices.any()
        assert edges.sum() == 1
        vertices, edges = differences(hexane, hexane)
        assert not vertices.any()
        assert not edges.any()
        vertices, edges = differences(hexane, alkene)
        assert edges[alkene.edge_labels == "double"].all()


def test_the_footnote_says_what_labels_do_not_contain():
    def foot(*options, **flags):
        return parsed(gg.draw(gg.from_smiles(*options, **flags), footnote=True))

    def said(svg):
        return [node.text for node in svg.iter(f"{SVG}text") if "model" in node.text]

    assert said(foot(["C[C@H](N)C(=O)[O-]"])) == ["The model does not see charges or stereo."]
    assert said(foot(["C[C@H](N)C(=O)[O-]"], charge=True)) == ["The model does not see stereo."]
    assert said(foot(["C[C@H](N)O"], stereo=True)) == []
    assert said(foot(["[13CH4]"])) == ["The model does not see isotopes."]
    assert said(foot(["CCO"])) == []


def test_outlines_of_pages_have_whole_formulas():
    shown = outline(gg.as_graphs(["C[NH3+]"]))
    assert sorted(text[2] for text in shown["texts"]) == sorted("NH3+")
    (x1, y1), (x2, y2) = shown["points"]
    assert np.hypot(x2 - x1, y2 - y1) == pytest.approx(100, abs=2)
    assert shown["lines"].startswith("M")


def test_without_rdkit_molecules_are_vertices_with_labels():
    code = (
        "import sys; sys.modules['rdkit'] = None\n"
        "import graphgrain as gg\n"
        "graphs, y = gg.load_drugs()\n"
        "svg = gg.draw(graphs[0])\n"
        "assert svg.count('<circle') >= graphs[0].n_vertices\n"
        "assert '>N<' in svg or '>O<' in svg\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


MUTAG = """The dataset consists of 188 chemical compounds.

Node labels:

  0  C
  1  N
  2  O

Edge labels:

  0  aromatic
  1  single
  2  double

=== Previous Use ===

34 single
"""
CONVERTED = (
    "Node labels:\t\t[chem]\n\nEdge labels:\t\t[valence]\n\nNode labels were converted to "
    "integer values using this map:\n\nComponent 0:\n\t0\tC\n\t1\tO\n\nEdge labels were "
    "converted to integer values using this map:\n\nComponent 0:\n\t0\t1\n\t1\t2\n"
)


class TestAlphabets:
    @pytest.mark.parametrize(
        ("readme", "alphabet"),
        [
            (MUTAG, "0=C 1=N 2=O;0=aromatic 1=single 2=double"),
            (CONVERTED, "0=C 1=O;0=single 1=double"),
            (MUTAG.replace("1  single", "1  no chemical bond"), None),
            (MUTAG.replace("1  N", "1  sheet"), None),
            ("A data set of proteins.", None),
            ("", None),
        ],
    )
    def test_descriptions_of_data_sets(self, readme, alphabet):
        assert read_alphabet(readme) == alphabet

    def test_codes_are_drawn_and_named_as_atoms(self, tmp_path):
        acid = ([(0, 1), (1, 2), (1, 3)], [0, 0, 1, 1], [0, 1, 0])
        gg.save_tu(tmp_path / "ACIDS", gg.as_graphs([acid, acid]), [0, 1])
        assert "alphabet" not in gg.load_tu(tmp_path / "ACIDS")[0].columns
        (tmp_path / "ACIDS" / "README.txt").write_text(CONVERTED)
        graphs, _ = gg.load_tu(tmp_path / "ACIDS")
        assert graphs == gg.as_graphs([acid, acid])  # labels are as in the files
        assert sorted(letters(gg.draw(graphs[1]))) == list("HOO")
        assert {part.name for part in cut(graphs[1])} == {"carboxylic acid", "methyl"}
