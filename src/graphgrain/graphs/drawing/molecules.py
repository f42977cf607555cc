"""Molecules drawn by RDKit.

1. Coordinates are those of RDKit's ring templates, or of CoordGen where that has fewer crossing
   bonds and overlapping atoms (bridged rings, macrocycles).
2. A molecule that is compared with another keeps the coordinates of the common part; where that
   would distort rings, it is only turned.
3. RDKit draws the formula as SVG, in one colour and with a fixed length of bonds. Its lines and
   texts are read back as shapes, each with the atoms that it belongs to, so that we can colour
   them and write SVG or PNG.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

#: Length of a bond in RDKit's coordinates, and in pictures with enough space (pixels).
_UNIT = 1.5
BOND = 30.0
#: Atoms closer than this, in bond lengths, overlap.
_TOO_NEAR = 0.5
#: Smaller common parts do not determine an orientation.
SMALLEST_SHARED = 3
#: Line width and space around the formula, as fractions of a bond length and of the picture.
_PADDING = 0.07


class Stroke(NamedTuple):
    """A line, filled polygon or character of a formula, and the atoms that it belongs to."""

    kind: str  # "line", "dashes", "polygon" or "text"
    points: list[tuple[float, float]]
    size: float  # line width or font size
    text: str
    atoms: tuple[int, ...]


class Formula(NamedTuple):
    """A drawn molecule: the place of each atom, and strokes."""

    points: np.ndarray
    strokes: list[Stroke]


# -------------------------------------------------------------------- coordinates


def place_atoms(molecule: Any, reference: Any = None, shared: np.ndarray | None = None) -> Any:
    """Return a copy of a molecule with coordinates, aligned with those of a reference.

    ``shared`` holds pairs of an atom of the reference and the same atom here.
    """
    from rdkit import Chem
    from rdkit.Chem import rdCoordGen, rdDepictor
    from rdkit.Geometry import Point2D

    def computed(fixed: dict[int, Point2D]) -> Any:
        drawn = Chem.Mol(molecule)
        drawn.RemoveAllConformers()
        rdDepictor.Compute2DCoords(drawn, coordMap=fixed, useRingTemplates=True)
        return drawn

    placed = computed({})
    if count_flaws(placed):
        folded = Chem.Mol(molecule)
        folded.RemoveAllConformers()
        rdCoordGen.AddCoords(folded)
        rdDepictor.NormalizeDepiction(folded, canonicalize=0)
        placed = min(placed, folded, key=count_flaws)
    if shared is None or len(shared) < SMALLEST_SHARED:
        rdDepictor.StraightenDepiction(placed, minimizeRotation=True)
        width, height = np.ptp(atom_points(placed), axis=0)
        if height > width:
            _move(placed, atom_points(placed) @ np.array([[0.0, -1.0], [1.0, 0.0]]))
        return placed
    goal = dict(zip(shared[:, 1].tolist(), atom_points(reference)[shared[:, 0]], strict=True))
    locked = _without_cut_rings(molecule, goal)
    if locked:
        aligned = computed({atom: Point2D(*point.tolist()) for atom, point in locked.items()})
        if count_flaws(aligned) <= count_flaws(placed):
            return aligned
    _move(placed, turn(atom_points(placed), list(goal), np.array(list(goal.values()))))
    return placed


def _move(molecule: Any, points: np.ndarray) -> None:
    molecule.GetConformer().SetPositions(np.column_stack((points, np.zeros(len(points)))))


def atom_points(molecule: Any) -> np.ndarray:
    """Return the coordinates of the atoms, in Angstrom."""
    points: np.ndarray = molecule.GetConformer().GetPositions()[:, :2]
    return points


def _without_cut_rings(molecule: Any, points: dict[int, Any]) -> dict[int, Any]:
    """Leave out rings that are only partly among the points, which could be distorted."""
    left = dict(points)
    for ring in molecule.GetRingInfo().AtomRings():
        if not all(atom in points for atom in ring):
            for atom in ring:
                left.pop(atom, None)
    return left if len(left) >= SMALLEST_SHARED else {}


def count_flaws(molecule: Any) -> int:
    """Count crossing bonds, overlapping atoms and bonds of a wrong length."""
    points = atom_points(molecule) / _UNIT
    bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]
    ends = np.array(bonds, dtype=np.int64).reshape(-1, 2)
    lengths = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
    wrong = int(np.sum((lengths < 0.65) | (lengths > 1.4)))
    return wrong + int(np.sum(pdist(points) < _TOO_NEAR)) + count_crossings(points, ends)


def count_crossings(points: np.ndarray, ends: np.ndarray) -> int:
    """Count pairs of lines without a common end that cross."""
    first, second = np.triu_indices(len(ends), 1)
    (a, b), (c, d) = ends[first].T, ends[second].T
    apart = (a != c) & (a != d) & (b != c) & (b != d)

    def side(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
        (x1, y1), (x2, y2) = (points[q] - points[p]).T, (points[r] - points[p]).T
        return np.asarray(x1 * y2 - x2 * y1)

    across = (side(a, b, c) * side(a, b, d) < 0) & (side(c, d, a) * side(c, d, b) < 0)
    return int(np.sum(apart & across))


def turn(points: np.ndarray, vertices: list[int], goal: np.ndarray) -> np.ndarray:
    """Move, turn and possibly mirror all points so that some come close to a goal (Kabsch)."""
    some = points[vertices]
    left, _, right = np.linalg.svd((some - some.mean(axis=0)).T @ (goal - goal.mean(axis=0)))
    return np.asarray((points - some.mean(axis=0)) @ (left @ right) + goal.mean(axis=0))


# -------------------------------------------------------------------- the formula


def draw_formula(placed: Any, width: int, height: int) -> Formula:
    """Draw a molecule with coordinates; bonds are shorter only if there is not enough space."""
    from rdkit.Chem.Draw import rdMolDraw2D

    try:
        prepared = rdMolDraw2D.PrepareMolForDrawing(placed, addChiralHs=False)
    except (ValueError, RuntimeError):  # aromatic rings without alternating double bonds
        prepared = rdMolDraw2D.PrepareMolForDrawing(placed, kekulize=False, addChiralHs=False)
    drawer = rdMolDraw2D.MolDraw2DSVG(width, height, -1, -1, True)
    options: Any = drawer.drawOptions()
    options.useBWAtomPalette()
    options.clearBackground = options.prepareMolsBeforeDrawing = False
    options.fixedBondLength = BOND / _UNIT
    options.padding = _PADDING
    options.bondLineWidth = 1.5
    options.minFontSize, options.maxFontSize = 5, -1
    drawer.DrawMolecule(prepared)
    places = [drawer.GetDrawCoords(atom) for atom in range(prepared.GetNumAtoms())]
    points = np.array([(place.x, place.y) for place in places]).reshape(-1, 2)
    drawer.FinishDrawing()
    return Formula(points, _strokes(drawer.GetDrawingText()))


_ELEMENT = re.compile(r"<(path|text) ([^>]*)>(?:([^<]*)</text>)?")
_POINT = re.compile(r"(-?[\d.]+),(-?[\d.]+)")


def _strokes(svg: str) -> list[Stroke]:
    """Read the shapes of RDKit's SVG."""
    strokes = []
    for kind, attributes, text in _ELEMENT.findall(svg):
        atoms = tuple(int(number) for number in re.findall(r"\batom-(\d+)", attributes))
        if kind == "text":
            x, y, size = (_number(name, attributes) for name in ("x='", "y='", "font-size:"))
            strokes.append(Stroke("text", [(x, y)], size, text.replace("-", "\u2212"), atoms))
            continue
        [outline] = re.findall(r" ?\bd='([^']*)'", attributes)
        corners = [(float(x), float(y)) for x, y in _POINT.findall(outline)]
        if not atoms:  # where two lines meet; their ends are round here
            continue
        if "fill:none" not in attributes:
            kind = "polygon"
        else:
            kind = "dashes" if "dasharray" in attributes else "line"
        width = _number("stroke-width:", attributes)
        strokes.append(Stroke(kind, corners, width, "", atoms))
    return strokes


def _number(name: str, attributes: str) -> float:
    [found] = re.findall(rf"(?:^|[ ;']){re.escape(name)}(-?[\d.]+)", attributes)
    return float(found)


def unseen(molecule: Any, labels: list[str], bonds: list[str]) -> list[str]:
    """Return the properties of a molecule that the labels of its graph do not contain."""
    from rdkit import Chem

    text = " ".join([*labels, *bonds])
    atoms = list(molecule.GetAtoms())
    stereo = Chem.FindPotentialStereo(molecule, cleanIt=False, flagPossible=False)
    present = {
        "charges": any(a.GetFormalCharge() for a in atoms) and not re.search(r"[+-]", text),
        "isotopes": any(a.GetIsotope() for a in atoms) and not re.search(r"(^| )\d", text),
        "stereo": bool(len(stereo)) and "@" not in text,
    }
    return [name for name, missing in present.items() if missing]
