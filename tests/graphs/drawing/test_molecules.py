"""Molecules drawn as molecules: RDKit says what must be on the paper."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.graphs.drawing.layout import place, shared_part, smiles_of
from graphgrain.graphs.drawing.molecule import BOND_ORDERS, read_molecule
from graphgrain.graphs.drawing.picture import outline
from graphgrain.graphs.drawing.skeletal import draw_formula

SVG = "{http://www.w3.org/2000/svg}"
OPTIONS = ("charge", "aromatic", "hydrogens", "stereo", "isotopes", "radicals")
SMILES = (
    "CC(=O)Oc1ccccc1C(=O)O",
    "C[N+](C)(C)CC([O-])=O",
    "O=[N+]([O-])c1cc[nH]c1",
    "[Na+].[Cl-]",
    "CN1CC[C@]23c4c5ccc(O)c4O[C@H]2[C@@H](O)C=C[C@H]3[C@H]1C5",  # morphine
    "F/C=C/C=C\\Cl",
    "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
    "[O-][n+]1ccccc1",
    "[13CH3]C#N",
    "C[CH2]",
    "C=C=C",
    "NS(=O)(=O)c1ccc(N)cc1",
    "OB(O)c1ccsc1",
    "N#Cc1ccccc1[N+]#[C-]",
    "[NH3+][C@@H](Cc1c[nH]cn1)C([O-])=O",
    "c1ccc2c(c1)c1ccccc1c1ccccc21",
    "C1CCCCCCCCCCCCC1",
    "O",
    "C",
    "CC",
)


@pytest.fixture(scope="module")
def chem():
    return pytest.importorskip("rdkit.Chem")


def every_option():
    yield {}
    for name in OPTIONS:
        yield {name: True}
    for one, two in itertools.combinations(OPTIONS, 2):
        yield {one: True, two: True}
    yield dict.fromkeys(OPTIONS, True)


@pytest.mark.parametrize("options", list(every_option()), ids=lambda o: "+".join(o) or "none")
def test_atoms_and_bonds_are_those_of_the_molecule(chem, options):
    """Whatever labels tell; what they leave out follows from valence."""
    for smiles in SMILES:
        original = chem.MolFromSmiles(smiles)
        if options.get("hydrogens"):
            original = chem.AddHs(original)
        found = read_molecule(gg.from_rdkit([chem.MolFromSmiles(smiles)], **options))
        assert found is not None, smiles
        for given, atom in zip(found.atoms, original.GetAtoms(), strict=True):
            assert given.symbol == atom.GetSymbol()
            told = options.get("charge") or smiles not in ("[Na+].[Cl-]", SMILES[1], SMILES[14])
            if told:
                assert given.charge == atom.GetFormalCharge(), smiles
            assert given.aromatic == atom.GetIsAromatic()
            assert given.isotope == (atom.GetIsotope() if options.get("isotopes") else 0)
            may_move = given.aromatic and given.symbol == "N" and smiles == SMILES[14]  # tautomers
            if told and not may_move and (options.get("radicals") or smiles != "C[CH2]"):
                assert given.hydrogens == atom.GetTotalNumHs(), smiles
        if told and (options.get("radicals") or smiles != "C[CH2]"):
            every = sum(atom.GetTotalNumHs() for atom in original.GetAtoms())
            assert sum(atom.hydrogens for atom in found.atoms) == every
        for (first, second), kind in zip(found.pairs, found.kinds, strict=True):
            bond = original.GetBondBetweenAtoms(first, second)
            assert BOND_ORDERS[kind] == bond.GetBondTypeAsDouble()


@pytest.mark.parametrize("smiles", SMILES)
def test_every_drawn_bond_order_equals_that_of_the_molecule(chem, smiles):
    """Lines and circles are counted on the paper, and compared with RDKit's bond orders."""
    molecule = chem.MolFromSmiles(smiles)
    placed = place(gg.from_rdkit([molecule], charge=True, stereo=True, radicals=True))
    formula = draw_formula(placed)
    lines = Counter(formula.line_bonds)
    inside = circle_neighbours(placed, formula)
    for number, (first, second) in enumerate(placed.molecule.pairs):
        order = molecule.GetBondBetweenAtoms(first, second).GetBondTypeAsDouble()
        if number in placed.wedges:
            assert order == 1
        else:
            assert lines[number] + (0.5 if number in inside else 0) == order


def circle_neighbours(placed, formula):
    """Bonds whose middle is about as far from a circle's centre as the ring is wide."""
    found = set()
    for number, (first, second) in enumerate(placed.molecule.pairs):
        middle = (placed.points[first] + placed.points[second]) / 2
        for x, y, radius in formula.circles:
            if np.hypot(*(middle - [x, y])) < radius / 0.66 + 0.05:
                found.add(number)
    return found


def texts(graph):
    return Counter("".join(node.itertext()) for node in svg_of(graph).iter(f"{SVG}text"))


def svg_of(graph):
    return ElementTree.fromstring(gg.draw(graph))


@pytest.mark.parametrize(
    ("smiles", "expected"),
    [
        ("CCO", ["O", "H"]),
        ("CC", ["C", "H", "3", "C", "H", "3"]),
        ("CCC", []),
        ("C", ["C", "H", "4"]),
        ("c1cc[nH]c1", ["N", "H"]),
        ("c1ccncc1", ["N"]),
        ("C[NH3+]", ["C", "H", "3", "N", "H", "3", "+"]),
        ("CC([O-])=O", ["O", "\u2212", "O"]),
        ("[Ca+2]", ["Ca", "2+"]),
        ("C=C=C", ["C"]),
        ("CC[O]", ["O", "\u2022"]),
        ("CC[18OH]", ["18", "O", "H"]),
    ],
)
def test_what_is_written(chem, smiles, expected):
    graph = gg.from_smiles([smiles], charge=True, isotopes=True, radicals=True)
    assert texts(graph) == Counter(expected)


@pytest.mark.parametrize("smiles", [s for s in SMILES if "@" in s or "/" in s] + [
    "C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O", "O[C@H]1C[C@@H](O)C1", "C[C@H]1CC[C@@H](O)CC1",
    "C/C=C/[C@H](O)/C=C\\C",
])  # fmt: skip
def test_wedges_and_double_bonds_tell_the_configuration(chem, smiles):
    """RDKit reads the drawing back, points and wedges alone, and finds the same isomer."""
    from rdkit.Geometry import Point3D

    original = chem.MolFromSmiles(smiles)
    placed = place(gg.from_rdkit([original], charge=True, stereo=True))
    bare = chem.RWMol(original)
    for atom in bare.GetAtoms():
        atom.SetChiralTag(chem.ChiralType.CHI_UNSPECIFIED)
    for bond in bare.GetBonds():
        bond.SetStereo(chem.BondStereo.STEREONONE)
        bond.SetBondDir(chem.BondDir.NONE)
    shape = chem.Conformer(bare.GetNumAtoms())
    for number, (x, y) in enumerate(placed.points.tolist()):
        shape.SetAtomPosition(number, Point3D(1.5 * x, -1.5 * y, 0))
    bare.AddConformer(shape)
    for number, (start, front) in placed.wedges.items():
        first, second = placed.molecule.pairs[number]
        end = second if start == first else first
        kind = bare.GetBondBetweenAtoms(first, second).GetBondType()
        bare.RemoveBond(first, second)
        bare.AddBond(start, end, kind)
        bond = bare.GetBondBetweenAtoms(start, end)
        bond.SetBondDir(chem.BondDir.BEGINWEDGE if front else chem.BondDir.BEGINDASH)
    chem.SanitizeMol(bare)
    chem.AssignChiralTypesFromBondDirs(bare)
    chem.DetectBondStereochemistry(bare)
    chem.AssignStereochemistry(bare, cleanIt=True, force=True)
    assert chem.MolToSmiles(bare) == chem.MolToSmiles(original)


def test_each_atom_has_its_own_colour(chem):
    from graphgrain.graphs.drawing.shapes import Palette

    graph = gg.from_smiles(["OCCN"])
    values = [1.0, 0.5, 0.0, -1.0]
    circles = ElementTree.fromstring(gg.draw(graph, vertices=values, legend=False)).iter(
        f"{SVG}circle"
    )
    found = {int(c.get("data-v")): c.get("fill") for c in circles if c.get("data-v")}
    palette = Palette("light")
    assert found == {v: palette.of(x) if x else "transparent" for v, x in enumerate(values)}


def test_colours_lie_under_the_formula(chem):
    graph = gg.from_smiles(["CC(=O)N"])
    text = gg.draw(graph, vertices=[1, 1, 1, 1], edges=[1, 1, 1], legend=False)
    assert text.rindex("data-v") < text.index('stroke="#18202b"')
    assert text.rindex("data-e") < text.index("data-v")


def test_what_is_no_molecule():
    for graph in (
        ([(0, 1)], ["Qq", "C"]),
        ([(0, 1)], [6, 8]),
        ([(0, 1)], ["C", "O"], ["strong"]),
        ([(0, 1)], ["C", "O"], [1]),
        ([(0, n) for n in range(1, 9)], ["C"] * 9),  # carbon with eight neighbours
        ([(0, 1)], ["c", "n"]),
    ):
        assert read_molecule(gg.as_graphs([graph])) is None
        assert "labels" in outline(gg.as_graphs([graph]))


def test_without_bond_types_no_hydrogens_are_claimed():
    molecule = read_molecule(gg.as_graphs([([(0, 1)], ["C", "O"])]))
    assert [atom.hydrogens for atom in molecule.atoms] == [0, 0]


@pytest.mark.parametrize(
    ("one", "two"),
    [("CN1C(=O)CN=C(c2ccccc2)c2cc(Cl)ccc21", "O=C1CN=C(c2ccccc2Cl)c2cc([N+](=O)[O-])ccc2N1")],
)
def test_pairs_lie_the_same_way(chem, one, two):
    """Atoms of the shared part are where they are in the first picture, up to a shift."""
    first, second = gg.from_smiles([one]), gg.from_smiles([two])
    shared = shared_part(first, second)
    labels = first.labels[shared[:, 0]], second.labels[shared[:, 1]]
    np.testing.assert_array_equal(*labels)
    assert len(shared) >= 15  # the skeleton of benzodiazepines
    there = place(first).points[shared[:, 0]]
    here = place(second, like=first).points[shared[:, 1]]
    assert np.abs((here - there) - (here - there).mean(axis=0)).max() < 0.25


def test_other_graphs_lie_the_same_way_too():
    """A graph whose vertices are numbered anew is drawn as it was before."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5), (5, 6), (2, 7)]
    first = gg.as_graphs([(edges, [f"label {v}" for v in range(8)])])
    order = np.array([5, 2, 7, 0, 3, 6, 1, 4])
    labels = [f"label {v}" for v in np.argsort(order)]
    second = gg.as_graphs([([(order[u], order[v]) for u, v in edges], labels)])
    there, here = place(first).points, place(second, like=first).points
    np.testing.assert_allclose(here[order], there, atol=0.15)


def test_shared_parts_map_edges_to_edges():
    graphs, _ = gg.load_drugs()
    for one, two in ((0, 5), (100, 101), (221, 230)):
        first, second = graphs[one], graphs[two]
        pairs = dict(shared_part(first, second).tolist())
        known = {tuple(edge) for edge in second.edges.tolist()}
        kept = [(pairs[u], pairs[v]) for u, v in first.edges.tolist() if u in pairs and v in pairs]
        assert all(tuple(sorted(edge)) in known for edge in kept)
        assert len(kept) >= len(pairs) - 1  # connected


def test_without_rdkit_the_drugs_are_molecules_all_the_same(chem):
    """In a process without RDKit: the coordinates that come with the drugs are RDKit's."""
    script = (
        "import sys, json; sys.modules['rdkit'] = None\n"
        "import graphgrain as gg\n"
        "from graphgrain.graphs.drawing.layout import place\n"
        "graphs, _ = gg.load_drugs()\n"
        "some = [place(graphs[n]) for n in (0, 100, 221)]\n"
        "assert all(p.molecule is not None for p in some)\n"
        "assert 'data-v' in gg.draw(graphs[0]) and '<svg' in graphs._repr_html_()\n"
        "other = gg.as_graphs([([(0, 1), (1, 2)], ['C', 'C@R', 'O'], ['single', 'double@E'])])\n"
        "assert '(R)' in gg.draw(other) and '(E)' in gg.draw(other)\n"
        "print(json.dumps([(p.points - p.points.mean(axis=0)).tolist() for p in some]))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    import json

    graphs, _ = gg.load_drugs()
    for number, points in zip((0, 100, 221), json.loads(done.stdout), strict=True):
        own = place(graphs[number]).points
        np.testing.assert_allclose(points, own - own.mean(axis=0), atol=0.011)


def test_without_coordinates_rings_are_round_all_the_same():
    """The layout of last resort: no RDKit, no bundled coordinates."""
    from graphgrain.graphs.drawing.layout import layout

    graphs, _, names = gg.load_drugs(names=True)
    for name in ("diazepam", "ibuprofen", "cetirizine"):
        graph = graphs[names == name]
        molecule = read_molecule(graph)
        points = layout(graph, molecule)
        for ring in molecule.aromatic_rings:
            corners = points[list(ring)]
            radii = np.linalg.norm(corners - corners.mean(axis=0), axis=1)
            assert radii.max() < 1.6 * radii.min()


def test_the_bundled_coordinates_are_those_of_the_drugs():
    """Every drug has some; bonds have about the length 1, no two atoms coincide."""
    from graphgrain.graphs.drawing.layout import _bundled_points, skeleton_key

    graphs, _ = gg.load_drugs()
    for graph in graphs:
        points = _bundled_points().get(skeleton_key(graph))
        ends = graph.edges
        lengths = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
        assert np.abs(lengths - 1).max() < 0.6
        gaps = np.linalg.norm(points[:, None] - points, axis=2) + 9 * np.eye(len(points))
        assert gaps.min() > 0.2


def test_symbols_do_not_overlap_lines_of_their_own(open_file, chem, tmp_path):
    """In Chromium: the text of an atom is not crossed by the bonds that end there."""
    pictures = [gg.draw(gg.from_smiles([smiles], charge=True), width=300) for smiles in SMILES]
    path = tmp_path / "molecules.html"
    path.write_text("<!doctype html><body>" + "".join(pictures), encoding="utf-8")
    page = open_file(path, "svg")
    crossed = page.evaluate(
        """() => [...document.querySelectorAll("svg")].flatMap((svg) => {
          const texts = [...svg.querySelectorAll("text")].map((t) => {
            const box = t.getBBox(), size = Number(t.getAttribute("font-size"));
            const base = Number(t.getAttribute("y"));
            return [box.x + 1, base - 0.7 * size + 1, box.x + box.width - 1, base - 1];
          });
          return [...svg.querySelectorAll('line[stroke="#18202b"]')].filter((line) => {
            const at = (name) => Number(line.getAttribute(name));
            return texts.some(([x1, y1, x2, y2]) => [0, 0.25, 0.5, 0.75, 1].some((s) => {
              const x = at("x1") + s * (at("x2") - at("x1"));
              const y = at("y1") + s * (at("y2") - at("y1"));
              return x > x1 && x < x2 && y > y1 && y < y2;
            }));
          }).map((line) => line.outerHTML);
        })"""
    )
    assert crossed == []


@pytest.mark.parametrize("smiles", ["C/C=C/C", "C/C=C\\C", "F/C(Cl)=C(/Br)I", "C/C=N/O",
                                    "C/C=C/[C@H](O)/C=C\\C"])  # fmt: skip
def test_smiles_keep_the_configuration(chem, smiles):
    graph = gg.from_smiles([smiles], stereo=True)
    assert smiles_of(read_molecule(graph)) == chem.CanonSmiles(smiles)
