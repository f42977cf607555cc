"""Molecules: labels and bonds against what chemistry says, files with good and bad lines."""

import gzip

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import (
    GraphgrainWarning,
    InvalidFileError,
    InvalidGraphError,
    InvalidParameterError,
    MissingDependencyError,
)
from graphgrain.graphs.files.molecules import stray_text

Chem = pytest.importorskip("rdkit.Chem", reason="RDKit is not installed")


def test_atoms_and_bonds():
    graphs = gg.from_smiles(["CC(=O)O", "C#N", "c1ccncc1", "[Na+].[Cl-]"])
    assert [graph.labels.tolist() for graph in graphs] == [
        ["C", "C", "O", "O"],
        ["C", "N"],
        ["C", "C", "C", "N", "C", "C"],
        ["Na", "Cl"],
    ]
    assert graphs.edge_counts.tolist() == [3, 1, 6, 0]
    assert graphs[0].edge_labels.tolist() == ["single", "double", "single"]
    assert graphs[1].edge_labels.tolist() == ["triple"]
    assert set(graphs[2].edge_labels.tolist()) == {"aromatic"}


@pytest.mark.parametrize(
    ("smiles", "options", "labels"),
    [
        ("C[N+](C)(C)CC(=O)[O-]", "charge", "C N+ C C C C O O-"),
        ("[Ca+2]", "charge", "Ca+2"),
        ("[Ca+2]", "", "Ca"),
        ("c1cc[nH]c1C", "aromatic", "c c c n c C"),
        ("[nH+]1ccccc1", "aromatic charge", "n+ c c c c c"),
        ("CO", "hydrogens", "C O H H H H"),
        ("[H]C([H])([H])O", "", "C O"),
        ("[13CH3][2H]", "isotopes", "13C 2H"),
        ("[13CH3][2H]", "", "C H"),
        ("C[CH2]", "radicals", "C C."),
        ("[O]", "radicals", "O.."),
        ("C[O]", "", "C O"),
        ("[13C@H](F)(Cl)[O-]", "isotopes charge stereo", "13C@S F Cl O-"),
    ],
)
def test_what_labels_can_tell(smiles, options, labels):
    graphs = gg.from_smiles([smiles], **dict.fromkeys(options.split(), True))
    assert graphs.labels.tolist() == labels.split()


def test_the_number_of_atoms_is_that_of_the_formula():
    """Glucose C6H12O6, caffeine C8H10N4O2, aspirin C9H8O4, with hydrogens and without."""
    smiles = ["OCC1OC(O)C(O)C(O)C1O", "Cn1cnc2c1c(=O)n(C)c(=O)n2C", "CC(=O)Oc1ccccc1C(=O)O"]
    formulas = [
        {"C": 6, "H": 12, "O": 6},
        {"C": 8, "H": 10, "N": 4, "O": 2},
        {"C": 9, "H": 8, "O": 4},
    ]
    for graph, formula in zip(gg.from_smiles(smiles, hydrogens=True), formulas, strict=True):
        values, counts = np.unique(graph.labels, return_counts=True)
        assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == formula


def test_rdkit_molecules():
    molecules = [Chem.MolFromSmiles("CCO"), Chem.MolFromSmiles("CN")]
    assert gg.as_graphs(molecules) == gg.from_smiles(["CCO", "CN"])
    assert gg.from_rdkit(molecules, hydrogens=True).vertex_counts.tolist() == [9, 7]
    with pytest.raises(InvalidGraphError, match="Item 1 is not an RDKit molecule"):
        gg.from_rdkit([molecules[0], None])


def test_readers_of_rdkit(tmp_path):
    file = tmp_path / "three.smi"
    file.write_text("CC a\nCCO b\nC c\n")
    for convert in (gg.as_graphs, gg.from_rdkit):
        graphs = convert(Chem.SmilesMolSupplier(str(file), titleLine=False))
        assert graphs.vertex_counts.tolist() == [2, 3, 1]


def test_bad_smiles_are_fatal_or_reported():
    smiles = ["CCO", "C1CC", "C(C)(C)(C)(C)C", "", 5, "CN"]
    with pytest.raises(InvalidGraphError, match=r"1, 'C1CC': unclosed ring .*least 3 more.*skip"):
        gg.from_smiles(smiles)
    with pytest.warns(GraphgrainWarning) as caught:
        graphs, index = gg.from_smiles(smiles, errors="skip", return_index=True)
    assert index.tolist() == [0, 5]
    assert graphs == gg.from_smiles(["CCO", "CN"])
    message = str(caught[0].message)
    assert message.startswith("4 of 6 molecules")
    for part in ("number 1, 'C1CC'", "number 2", "valence", "number 3, ''", "number 4, 5"):
        assert part in message
    with pytest.raises(InvalidParameterError, match="'ignore'"):
        gg.from_smiles(smiles, errors="ignore")
    with pytest.raises(InvalidGraphError, match="Put it in a list"):
        gg.from_smiles("CCO")


def test_reasons_of_an_rdkit_that_cannot_capture_its_log(monkeypatch, capfd):
    rdBase = pytest.importorskip("rdkit.rdBase")
    monkeypatch.delattr(rdBase, "CaptureErrorLog", raising=False)
    with pytest.raises(InvalidGraphError, match=r"'C1CC': unclosed ring"):
        gg.from_smiles(["C1CC"])
    assert capfd.readouterr().err == ""


def test_without_rdkit_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rdkit", None)
    with pytest.raises(MissingDependencyError, match=r"graphgrain\[chem\]"):
        gg.from_smiles(["CCO"])


# ---------------------------------------------------------------- files


def test_smi_files(tmp_path):
    file = tmp_path / "x.smi"
    file.write_text("CCO ethanol\n\nCN\tmethyl amine\r\nC\n")
    graphs, columns = gg.load_molecules(file)
    assert graphs == gg.from_smiles(["CCO", "CN", "C"])
    assert columns["name"].tolist() == ["ethanol", "methyl amine", ""]
    assert columns["line"].tolist() == [1, 3, 4]


CSV = (
    'id,Canonical_SMILES,active,logp,note\na,CCO,1,-0.3,"x, y"\nb,CN,0,,"two\nlines"\nc,C,1,1.1,\n'
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", CSV),
        ("x.csv", "\ufeff" + CSV.replace("\n", "\r\n")),
        ("x.csv", CSV.replace(",", ";").replace("x; y", "x, y")),
        ("X.TSV", CSV.replace(",", "\t").replace("x\t y", "x, y")),
        ("x.csv", CSV.replace(",", "\t").replace("x\t y", "x, y")),
        ("x.csv.gz", CSV),
    ],
)
def test_csv_files(tmp_path, name, text):
    file = tmp_path / name
    data = text.encode()
    file.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    graphs, columns = gg.load_molecules(file)
    assert graphs == gg.from_smiles(["CCO", "CN", "C"])
    assert columns["active"].tolist() == [1, 0, 1]
    assert columns["active"].dtype == np.int64
    assert columns["logp"][[0, 2]].tolist() == [-0.3, 1.1]
    assert np.isnan(columns["logp"][1])
    assert columns["note"].tolist() == ["x, y", "two\nlines", ""]
    assert columns["line"].tolist() == [2, 3, 5]
    by_name = gg.load_molecules(file, smiles="Canonical_SMILES", charge=True)[0]
    assert by_name == graphs


def test_columns_that_look_like_numbers_or_line_numbers(tmp_path):
    """Python reads 12_3 as 123; the line numbers must not replace a column of that name."""
    file = tmp_path / "x.csv"
    file.write_text("smiles,batch,line\nCCO,12_3,HeLa\nCN,4_56,A549\n")
    columns = gg.load_molecules(file)[1]
    assert columns["batch"].tolist() == ["12_3", "4_56"]
    assert stray_text(np.array([f"{n}.5" for n in range(20)] + ["12_3"])) == 20
    assert columns["input_line"].tolist() == ["HeLa", "A549"]
    assert columns["line"].tolist() == [2, 3]
    file.write_text("smiles,line,input_line\nCCO,HeLa,7\n")
    columns = gg.load_molecules(file)[1]
    assert (columns["input_line"].tolist(), columns["input_input_line"].tolist()) == ([7], ["HeLa"])


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["12345678901234567890", "12345678901234567891"], None),
        (["12345678901234567", ""], None),
        (["-9223372036854775808", "12345678901234567"], [-(2**63), 12345678901234567]),
        (["-4503599627370497", ""], [-4503599627370497.0, np.nan]),
        (["12345678901234567", "0.5"], [12345678901234568.0, 0.5]),
    ],
)
def test_long_integers_are_not_rounded(tmp_path, texts, expected):
    """As floats, identifiers of twenty digits, or of seventeen beside a blank, could be equal."""
    file = tmp_path / "long.csv"
    file.write_text("smiles,number\n" + "".join(f"CCO,{text}\n" for text in texts))
    numbers = gg.load_molecules(file)[1]["number"]
    np.testing.assert_array_equal(numbers, texts if expected is None else expected)


@pytest.mark.parametrize(
    "text",
    [
        "smiles y\nCCO 1.5\nCN 2\n",
        'smiles  y \n CCO  "1.5"\nCN  2 \n\n',
    ],
)
def test_tables_separated_by_spaces(tmp_path, text):
    """RDKit alone would take "CCO 1.5" as a SMILES with a name, and lose the column."""
    (tmp_path / "x.csv").write_text(text)
    graphs, columns = gg.load_molecules(tmp_path / "x.csv")
    assert graphs == gg.from_smiles(["CCO", "CN"])
    assert columns["y"].tolist() == [1.5, 2.0]
    (tmp_path / "x.csv").write_text("canonical smiles\nCCO\n")
    assert gg.load_molecules(tmp_path / "x.csv")[1]["canonical smiles"].tolist() == ["CCO"]


def test_long_fields(tmp_path):
    note = "long " * 40_000
    (tmp_path / "x.csv").write_text(f"smiles,note\nCCO,{note}\n")
    assert gg.load_molecules(tmp_path / "x.csv")[1]["note"].tolist() == [note]


def test_sdf_files(tmp_path):
    records = []
    for smiles, name, active in (("CCO", "ethanol", "1"), ("c1ccccc1N", "aniline", "0")):
        molecule = Chem.AddHs(Chem.MolFromSmiles(smiles))
        molecule.SetProp("_Name", name)
        records.append(f"{Chem.MolToMolBlock(molecule)}>  <active>  (1)\n{active}\n\n$$$$\n")
    file = tmp_path / "x.sdf"
    file.write_text("".join(records))
    graphs, columns = gg.load_molecules(file)
    assert graphs == gg.from_smiles(["CCO", "c1ccccc1N"])
    assert columns["name"].tolist() == ["ethanol", "aniline"]
    assert columns["active"].tolist() == [1, 0]
    assert columns["line"].tolist() == [1, records[0].count("\n") + 1]
    assert gg.load_molecules(file, hydrogens=True)[0].vertex_counts.tolist() == [9, 14]

    file.write_text(records[0].replace("V2000", "V9999") + records[1])
    with pytest.raises(InvalidGraphError, match=r"x.sdf, line 1, 'ethanol'"):
        gg.load_molecules(file)
    with pytest.warns(GraphgrainWarning, match=r"1 of 2 molecules.*x.sdf, line 1"):
        graphs, columns = gg.load_molecules(file, errors="skip")
    assert columns["name"].tolist() == ["aniline"]


def test_bad_lines_are_named(tmp_path):
    file = tmp_path / "x.smi"
    file.write_text("CCO\nnonsense here\nCN\nC1C\n")
    with pytest.raises(InvalidGraphError, match=r"line 2, 'nonsense': syntax error"):
        gg.load_molecules(file)
    with pytest.warns(GraphgrainWarning, match=r"x.smi, line 2.*x.smi, line 4"):
        graphs, columns = gg.load_molecules(file, errors="skip")
    assert columns["line"].tolist() == [1, 3]
    assert len(graphs) == 2


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "x.csv",
            b"a,b\n1,2\n",
            r"x.csv, line 1: no column is called SMILES; there are a, b",
        ),
        (
            "x.csv",
            b"graph,source,target\n1,a,b\n",
            r"x.csv is a table of edges: .* graph, source, target.*graphgrain.from_edge_list",
        ),
        ("x.csv", b"", r"x.csv is empty"),
        ("x.csv", b"smiles,a\nCCO\n", r"x.csv, line 2: 2 fields .* found 1"),
        ("x.csv", b"smiles,a,a\nCCO,1,2\n", r"column 'a' occurs twice"),
        (
            "x.csv",
            b'smiles,a\n"CCO,1\n',
            r"line 2: unexpected end .* quotation mark",
        ),
        ("x.smi", b"CCO\n\xff\xfe\n", r"x.smi, line 2: UTF-8 text is expected; found the byte"),
        ("x.smi.gz", b"no gzip", r"x.smi.gz cannot be read"),
    ],
)
def test_files_with_mistakes(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidFileError, match=message):
        gg.load_molecules(tmp_path / name)


def test_parameters_with_mistakes(tmp_path):
    (tmp_path / "x.csv").write_text("smiles\nCCO\n")
    (tmp_path / "x.doc").write_text("CCO\n")
    with pytest.raises(InvalidParameterError, match="no column 'mol'"):
        gg.load_molecules(tmp_path / "x.csv", smiles="mol")
    with pytest.raises(InvalidParameterError, match=r"\.smi, .*'x.doc'"):
        gg.load_molecules(tmp_path / "x.doc")
    with pytest.raises(InvalidFileError, match="is a folder"):
        gg.load_molecules(tmp_path)


def test_a_packed_bomb(tmp_path):
    (tmp_path / "x.smi.gz").write_bytes(gzip.compress(b"C\n" * (40 * 2**20)))
    with pytest.raises(InvalidFileError, match="max_bytes"):
        gg.load_molecules(tmp_path / "x.smi.gz")


# ---------------------------------------------------------------- large molecules


def test_a_large_molecule_is_read_as_rdkit_reads_it():
    smiles = "N" + "C(=O)NC" * 900 + "c1ccc(O)cc1"
    molecule = Chem.MolFromSmiles(smiles)
    graphs = gg.from_smiles([smiles, "CO"])
    bonds = sorted(
        (*sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())), bond.GetBondType().name.lower())
        for bond in molecule.GetBonds()
    )
    found = zip(graphs[0].edges.tolist(), graphs[0].edge_labels.tolist(), strict=True)
    assert [(u, v, label) for (u, v), label in found] == bonds
    assert graphs[0].labels.tolist() == [atom.GetSymbol() for atom in molecule.GetAtoms()]
    assert graphs[1].edge_labels.tolist() == ["single"]


@pytest.mark.parametrize(
    ("smiles", "message"),
    [
        ("C" * 20_001, "it has 20,001 atoms, and a molecule must not have more than 20,000"),
        ("C1" + "C" * 12_000 + "C1", "12,002 atoms and 1 rings"),
        ("C1CC1" * 1_001, "it closes 1,001 rings"),
        ("C%10CC%10" * 1_001, "it closes 1,001 rings"),
    ],
)
def test_molecules_that_would_take_minutes_are_refused(smiles, message, tmp_path):
    with pytest.raises(InvalidGraphError, match=message) as caught:
        gg.from_smiles([smiles])
    assert len(str(caught.value)) < 500  # the molecule itself is not repeated
    (tmp_path / "x.smi").write_text(f"CCO\n{smiles}\n")
    with pytest.raises(InvalidGraphError, match=rf"x\.smi, line 2.*{message}"):
        gg.load_molecules(tmp_path / "x.smi")


def test_digits_in_brackets_close_no_rings():
    smiles = "[13CH2]" * 1_500
    assert gg.from_smiles([smiles]).n_edges == 1_499


def test_large_mol_blocks_are_refused(tmp_path):
    size = 20_001
    lines = [
        "chain", "", "", "  0  0  0     0  0            999 V3000", "M  V30 BEGIN CTAB",
        f"M  V30 COUNTS {size} {size - 1} 0 0 0", "M  V30 BEGIN ATOM",
        *(f"M  V30 {atom} C {atom} 0 0 0" for atom in range(1, size + 1)),
        "M  V30 END ATOM", "M  V30 BEGIN BOND",
        *(f"M  V30 {bond} 1 {bond} {bond + 1}" for bond in range(1, size)),
        "M  V30 END BOND", "M  V30 END CTAB", "M  END", "$$$$", "",
    ]  # fmt: skip
    (tmp_path / "x.sdf").write_text("\n".join(lines))
    with pytest.raises(InvalidGraphError, match="20,001 atoms"):
        gg.load_molecules(tmp_path / "x.sdf")


def test_a_bad_line_far_down(tmp_path):
    file = tmp_path / "x.smi"
    file.write_text("CCO\n" + "\n" * 299_998 + "C1CC\n")
    with pytest.raises(InvalidGraphError, match=r"x.smi, line 300000 .*'C1CC'"):
        list(gg.iter_molecules(file))


@pytest.mark.parametrize(
    ("smiles", "standardize", "like", "atoms"),
    [
        ("[Na+].CC(=O)[O-]", "largest", "CC(=O)O", [1, 2, 3, 4]),
        ("CS(C)=O", "cleanup", "C[S+](C)[O-]", [0, 1, 2, 3]),
        ("[Na+].CC(=O)[O-]", "cleanup", "[Na+].CC(=O)[O-]", [0, 1, 2, 3, 4]),
        ("Cl.C[NH3+]", "parent", "CN", [1, 2]),
        ("[H]OC", "parent", "OC", [0, 1]),
    ],
)
def test_standardized_molecules(smiles, standardize, like, atoms, tmp_path):
    """Fragments, charges and groups are as RDKit has them, and vertices know their atoms."""
    Chem = pytest.importorskip("rdkit.Chem")
    molecule = Chem.MolFromSmiles(smiles)
    (tmp_path / "x.smi").write_text(smiles + "\n")
    (tmp_path / "x.sdf").write_text(Chem.MolToMolBlock(molecule) + "$$$$\n")
    wanted = gg.from_smiles([like], charge=standardize == "parent")
    for graphs in (
        gg.as_graphs([smiles], standardize=standardize),
        gg.as_graphs([molecule], standardize=standardize),
        gg.load_molecules(tmp_path / "x.smi", standardize=standardize)[0],
        next(gg.iter_molecules(tmp_path / "x.sdf", standardize=standardize)),
    ):
        assert gg.duplicates(graphs + wanted) == [[0, 1]]
        assert graphs.columns["atoms"][0].tolist() == atoms
        symbols = [molecule.GetAtomWithIdx(atom).GetSymbol() for atom in atoms]
        assert graphs.labels.tolist() == symbols
    assert gg.as_graphs([smiles]).columns["smiles"].tolist() == [smiles]
    with pytest.raises(InvalidParameterError, match="'largest', 'cleanup', 'parent' or None; got"):
        gg.from_smiles([smiles], standardize="tautomer")
