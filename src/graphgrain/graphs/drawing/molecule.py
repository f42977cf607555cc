"""Graphs that are molecules: from labels back to atoms and bonds, drawn by RDKit."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..batch import GraphBatch
from .colours import Palette

_ATOM = re.compile(r"([A-Z][a-z]?|[a-z]{1,2})([+-]\d*)?")
#: Below this share of the largest value nothing is coloured.
FAINT = 0.02
_ATOM_CODE, _BOND_CODE = 0x010000, 0x020000


def as_molecule(graph: GraphBatch) -> Any:
    """An RDKit molecule whose atoms are the vertices, in order; None if the graph is none.

    Labels must be symbols of elements, as :func:`graphgrain.from_smiles` writes them, edge labels
    names of bond types (without any, bonds are single). None also without RDKit.
    """
    if graph.label_kind != "string" or not graph.n_vertices:
        return None
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        return None
    elements = {_element(Chem, label) for label in graph.label_table[np.unique(graph.label_codes)]}
    if None in elements:
        return None
    names = {name.lower(): kind for name, kind in Chem.BondType.names.items()}
    kinds = ["single"] * graph.n_edges if graph.edge_labels is None else graph.edge_labels.tolist()
    if any(kind not in names for kind in kinds):
        return None
    with rdBase.BlockLogs():
        molecule = Chem.RWMol()
        for label in graph.labels.tolist():
            symbol, charge, aromatic = _element(Chem, label) or ("*", 0, False)
            atom = Chem.Atom(symbol)
            atom.SetFormalCharge(charge)
            atom.SetIsAromatic(aromatic)
            molecule.AddAtom(atom)
        for (first, second), kind in zip(graph.edges.tolist(), kinds, strict=True):
            molecule.AddBond(first, second, names[kind])
            if kind == "aromatic":
                molecule.GetBondBetweenAtoms(first, second).SetIsAromatic(True)
                for end in (first, second):
                    molecule.GetAtomWithIdx(end).SetIsAromatic(True)
        return _made_readable(Chem, molecule)


def _element(chem: Any, label: Any) -> tuple[str, int, bool] | None:
    """Symbol, charge and whether it is aromatic, of a label such as C, n or N+."""
    found = _ATOM.fullmatch(str(label))
    if found is None:
        return None
    symbol = found[1].capitalize()
    try:
        chem.GetPeriodicTable().GetAtomicNumber(symbol)
    except RuntimeError:
        return None
    sign = found[2] or ""
    charge = int(sign[0] + (sign[1:] or "1")) if sign else 0
    return symbol, charge, found[1].islower()


def _made_readable(chem: Any, molecule: Any) -> Any:
    """With hydrogens and alternating bonds where the labels allow it, else as the graph has it."""
    tried = chem.RWMol(molecule)
    if chem.SanitizeMol(tried, catchErrors=True) == chem.SanitizeFlags.SANITIZE_NONE:
        return tried.GetMol()
    for atom in molecule.GetAtoms():
        atom.SetNoImplicit(True)
    molecule.UpdatePropertyCache(strict=False)
    chem.FastFindRings(molecule)
    return molecule.GetMol()


def place_atoms(molecule: Any) -> None:
    """Give the atoms coordinates; bridged rings are laid out as chemists know them."""
    from rdkit.Chem import rdDepictor

    rdDepictor.Compute2DCoords(molecule, useRingTemplates=True)


def draw_molecule(
    molecule: Any,
    vertices: np.ndarray,
    edges: np.ndarray,
    pairs: np.ndarray,
    palette: Palette,
    width: int,
    height: int,
) -> str:
    """The inside of an SVG. Values are shares of the largest, between -1 and 1."""
    from rdkit import rdBase
    from rdkit.Chem.Draw import rdMolDraw2D

    colours: dict[str, str] = {}
    atoms: dict[int, tuple[float, float, float]] = {}
    bonds: dict[int, tuple[float, float, float]] = {}
    for vertex, value in enumerate(vertices.tolist()):
        if abs(value) >= FAINT:
            atoms[vertex] = _code(_ATOM_CODE + vertex, palette.of(value), colours)
    for (first, second), value in zip(pairs.tolist(), edges.tolist(), strict=True):
        if abs(value) >= FAINT:
            bond = molecule.GetBondBetweenAtoms(first, second).GetIdx()
            bonds[bond] = _code(_BOND_CODE + bond, palette.of(value), colours)
    canvas = rdMolDraw2D.MolDraw2DSVG(width, height)
    options: Any = canvas.drawOptions()
    options.useBWAtomPalette()
    options.clearBackground = False
    options.highlightRadius = 0.38
    options.highlightBondWidthMultiplier = 14
    options.padding = 0.06
    options.addStereoAnnotation = False
    with rdBase.BlockLogs():
        place_atoms(molecule)
        drawable = _prepared(rdMolDraw2D, molecule)
        canvas.DrawMolecule(
            drawable,
            highlightAtoms=list(atoms),
            highlightAtomColors=atoms,
            highlightBonds=list(bonds),
            highlightBondColors=bonds,
        )
    canvas.FinishDrawing()
    text = canvas.GetDrawingText()
    inside = text[text.index("<!-- END OF HEADER -->") + 22 : text.rindex("</svg>")]
    colours["#000000"] = palette.ink
    return re.sub(
        r"#[0-9A-Fa-f]{6}", lambda found: colours.get(found[0].lower(), found[0]), inside
    ).strip()


def _prepared(drawing: Any, molecule: Any) -> Any:
    for kekulize in (True, False):
        try:
            return drawing.PrepareMolForDrawing(
                molecule, kekulize=kekulize, addChiralHs=False, wavyBonds=False
            )
        except (ValueError, RuntimeError):
            continue
    return molecule


def _code(number: int, colour: str, colours: dict[str, str]) -> tuple[float, float, float]:
    """A colour that stands for another while RDKit draws."""
    colours[f"#{number:06x}"] = colour
    return tuple((number >> shift & 255) / 255 for shift in (16, 8, 0))  # type: ignore[return-value]
