"""Compute the coordinates of the vertices of a drawing.

Molecules get coordinates from RDKit or, without it, those stored for the bundled drugs. For all
other graphs, and other molecules without RDKit, each connected component is laid out separately so
that distances in the drawing approximate distances in the graph: multidimensional scaling of the
shortest path lengths with scikit-learn's SMACOF, started from the classical solution and therefore
deterministic. For molecules the target distances are those of regular rings and zigzag chains, with
larger weights on short distances. Components are placed next to each other, largest first.

A graph that is compared with another is rotated so that the common part has the same orientation.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.spatial.distance import pdist

from ..batch import GraphBatch
from .molecule import ATOMIC_NUMBER, Molecule, read_molecule

#: Minimum distance of vertices, in edge lengths, and maximum number of rounds to achieve it.
_APART = 0.4
_PUSHES = 200
#: Number of initial configurations for a molecule without coordinates.
_BEGINNINGS = 6
#: Smaller common parts do not determine an orientation.
_SMALLEST_SHARED = 3
#: Number of vertex pairs from which the search for the common part is started.
_SEEDS = 16
#: Maximum radius of the compared neighbourhoods.
_RADIUS = 6
#: Atoms closer than this, in bond lengths, overlap.
_TOO_NEAR = 0.35
#: Larger rings are laid out by CoordGen, which folds them; RDKit's default would be a circle.
_LARGEST_RING = 8
#: Length of a bond in RDKit's coordinates.
_BOND_LENGTH = 1.5


class Placed(NamedTuple):
    """A graph with coordinates; neighbours are about 1 apart, the second coordinate points down."""

    points: np.ndarray
    molecule: Molecule | None
    wedges: dict[int, tuple[int, bool]]  # bond -> (atom at the tip, whether towards the reader)
    stereo_shown: bool  # whether the geometry of double bonds agrees with their labels


def place(graph: GraphBatch, like: GraphBatch | None = None) -> Placed:
    """Compute coordinates, oriented like those of ``like`` if both have a part in common."""
    molecule = read_molecule(graph)
    shared = np.empty((0, 2)) if like is None else shared_part(like, graph)
    fixed: dict[int, np.ndarray] = {}
    if like is not None and len(shared) >= _SMALLEST_SHARED:
        fixed = dict(zip(shared[:, 1].tolist(), place(like).points[shared[:, 0]], strict=True))
    placed = None if molecule is None else _by_rdkit(molecule, fixed)
    if placed is None:
        points = None if molecule is None else _bundled_points().get(skeleton_key(graph))
        points = layout(graph, molecule) if points is None else points
        placed = Placed(points, molecule, {}, False)
    if fixed:
        placed = placed._replace(points=_turned(placed.points, fixed, bool(placed.wedges)))
    return placed


# -------------------------------------------------------------------- any graph


def layout(graph: GraphBatch, molecule: Molecule | None = None) -> np.ndarray:
    """Return one row of coordinates per vertex, with neighbours about 1 apart.

    For a molecule, target distances are those of regular rings and zigzag chains.
    """
    n = graph.n_vertices
    links = csr_array((np.ones(len(graph.indices)), graph.indices, graph.indptr), shape=(n, n))
    count, owner = connected_components(links, directed=False)
    members = [np.flatnonzero(owner == number) for number in range(count)]
    members.sort(key=lambda part: -len(part))
    width = max(1.0, np.sqrt(n) * 1.6)
    points = np.zeros((n, 2))
    x = y = height = 0.0
    for part in members:
        # dense, as SciPy before 1.13 does not support 64-bit indices here
        near = links[part][:, part].toarray()
        distances = shortest_path(near, unweighted=True, directed=False)
        if molecule is None or len(part) < 3:
            own = _component(distances)
        else:
            own = _near_first(_as_formula(distances, molecule, part))
        own -= own.min(axis=0)
        size = own.max(axis=0)
        if x and x + size[0] > width:
            x, y, height = 0.0, y + height + 1.0, 0.0
        points[part] = own + np.array([x, y])
        x += size[0] + 1.0
        height = max(height, size[1])
        width = max(width, size[0])
    return points


def _as_formula(distances: np.ndarray, molecule: Molecule, part: np.ndarray) -> np.ndarray:
    """Convert numbers of bonds to distances in regular rings and zigzag chains."""
    across = np.sqrt(0.75) * distances  # bonds of a chain are tilted by 30 degrees
    result = np.where(distances % 2 == 1, np.sqrt(across**2 + 0.25), across)
    place = {vertex: number for number, vertex in enumerate(part.tolist())}
    for ring in molecule.rings():
        if ring[0] in place:
            own = [place[vertex] for vertex in ring]
            steps = np.abs(np.subtract.outer(np.arange(len(own)), np.arange(len(own))))
            chords = np.sin(np.pi * steps / len(own)) / np.sin(np.pi / len(own))
            result[np.ix_(own, own)] = chords
    return result


def _near_first(distances: np.ndarray) -> np.ndarray:
    """Scale with larger weights on short distances, so that rings keep their shape.

    Stress majorization (SMACOF) with weights 1 / distance^3; the best of several initial
    configurations is returned.
    """
    n = len(distances)
    weights = 1.0 / np.where(distances > 0, distances, np.inf) ** 3
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    rng = np.random.default_rng(0)
    best, least = np.zeros((n, 2)), np.inf
    for number in range(_BEGINNINGS):
        points = _classical(distances) + number * rng.normal(size=(n, 2))
        for _ in range(150):
            gaps = np.linalg.norm(points[:, None] - points, axis=2)
            ratios = weights * distances / np.maximum(gaps, 1e-9)
            points = inverse @ ((np.diag(ratios.sum(axis=1)) - ratios) @ points)
        gaps = np.linalg.norm(points[:, None] - points, axis=2)
        stress = float((weights * (gaps - distances) ** 2).sum())
        if stress < least:
            best, least = points, stress
    return _along(best)


def _component(distances: np.ndarray) -> np.ndarray:
    n = len(distances)
    if n < 3:
        return np.column_stack((np.arange(n, dtype=float), np.zeros(n)))
    from sklearn.manifold import smacof

    options = {"n_components": 2, "n_init": 1, "max_iter": 300, "normalized_stress": False}
    return _along(_spread(smacof(distances, init=_classical(distances), **options)[0]))


def _along(points: np.ndarray) -> np.ndarray:
    """Rotate the points so that their largest extent is horizontal."""
    points = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(points, full_matrices=False)
    return points @ axes.T


def _spread(points: np.ndarray) -> np.ndarray:
    """Push overlapping vertices apart."""
    for _ in range(_PUSHES):
        steps = points[:, None] - points
        gaps = np.linalg.norm(steps, axis=2)
        np.fill_diagonal(gaps, np.inf)
        if gaps.min() >= _APART:
            break
        missing = np.maximum(0.0, _APART - gaps) / np.maximum(gaps, 1e-6)
        points = points + 0.4 * (steps * missing[:, :, None]).sum(axis=1)
    return points


def _classical(distances: np.ndarray) -> np.ndarray:
    """Compute classical scaling; adding a small circle separates equivalent vertices."""
    n = len(distances)
    squares = distances**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    start = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    angles = 2 * np.pi * np.arange(n) / n
    return start + 0.05 * np.column_stack((np.cos(angles), np.sin(angles)))


# -------------------------------------------------------------------- molecules


def _by_rdkit(molecule: Molecule, fixed: dict[int, np.ndarray]) -> Placed | None:
    """Return RDKit's coordinates and wedges; None without RDKit.

    Atoms in ``fixed`` keep the given positions unless bonds would be distorted.
    """
    try:
        from rdkit import Chem, rdBase
        from rdkit.Chem import rdDepictor
        from rdkit.Geometry import Point2D
    except ImportError:
        return None
    with rdBase.BlockLogs():
        drawn = as_rdkit(molecule)
        _compute_coordinates(drawn)
        points = _points(drawn)
        positions = _whole_rings(molecule, fixed)
        if positions:
            place_of = {
                atom: Point2D(*(point * np.array([1, -1]) * _BOND_LENGTH).tolist())
                for atom, point in positions.items()
            }
            again = Chem.Mol(drawn)
            rdDepictor.Compute2DCoords(again, coordMap=place_of, useRingTemplates=True)
            if _is_tidy(_points(again), molecule):
                drawn, points = again, _points(again)
        wedges: dict[int, tuple[int, bool]] = {}
        if any(atom.stereo for atom in molecule.atoms):
            Chem.WedgeMolBonds(drawn, drawn.GetConformer())
            ways = {Chem.BondDir.BEGINWEDGE: True, Chem.BondDir.BEGINDASH: False}
            for number, (first, second) in enumerate(molecule.pairs):
                bond = drawn.GetBondBetweenAtoms(first, second)
                if bond.GetBondDir() in ways:
                    wedges[number] = bond.GetBeginAtomIdx(), ways[bond.GetBondDir()]
    return Placed(points, molecule, wedges, True)


def _compute_coordinates(drawn: Any) -> None:
    from rdkit.Chem import rdCoordGen, rdDepictor

    rdDepictor.Compute2DCoords(drawn, useRingTemplates=True)
    large = max((len(ring) for ring in drawn.GetRingInfo().AtomRings()), default=0) > _LARGEST_RING
    if large or _nearest(_points(drawn)) < _TOO_NEAR:
        rdCoordGen.AddCoords(drawn)
        rdDepictor.NormalizeDepiction(drawn, canonicalize=0)
    rdDepictor.StraightenDepiction(drawn, minimizeRotation=True)


def _nearest(points: np.ndarray) -> float:
    """Return the smallest distance between two atoms."""
    return float(pdist(points).min(initial=9.0))


def _points(drawn: Any) -> np.ndarray:
    return drawn.GetConformer().GetPositions()[:, :2] * np.array([1.0, -1.0]) / _BOND_LENGTH


def _whole_rings(molecule: Molecule, fixed: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Return the fixed atoms, without rings that are only partly fixed and could be distorted."""
    kept = dict(fixed)
    for ring in molecule.rings():
        if not all(atom in fixed for atom in ring):
            for atom in ring:
                kept.pop(atom, None)
    return kept if len(kept) >= _SMALLEST_SHARED else {}


def _is_tidy(points: np.ndarray, molecule: Molecule) -> bool:
    """Return whether all bonds have about the right length and no atoms overlap."""
    ends = np.array(molecule.pairs, dtype=np.int64).reshape(-1, 2)
    lengths = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
    return bool(
        lengths.max(initial=1) < 1.35
        and lengths.min(initial=1) > 0.65
        and _nearest(points) >= _TOO_NEAR
    )


def as_rdkit(molecule: Molecule) -> Any:
    """Convert to an RDKit molecule with the same order of atoms and bonds."""
    from rdkit import Chem

    types = {name.lower(): kind for name, kind in Chem.BondType.names.items()}
    editable = Chem.RWMol()
    for given in molecule.atoms:
        atom = Chem.Atom(ATOMIC_NUMBER[given.symbol])
        atom.SetFormalCharge(given.charge)
        atom.SetIsotope(given.isotope)
        atom.SetIsAromatic(given.aromatic)
        if molecule.typed:
            atom.SetNoImplicit(True)
            atom.SetNumExplicitHs(given.hydrogens)
            atom.SetNumRadicalElectrons(given.radicals)
        editable.AddAtom(atom)
    for (first, second), kind in zip(molecule.pairs, molecule.kinds, strict=True):
        editable.AddBond(first, second, types[kind])
        if kind == "aromatic":
            editable.GetBondBetweenAtoms(first, second).SetIsAromatic(True)
    tried = Chem.RWMol(editable)
    if Chem.SanitizeMol(tried, catchErrors=True) != Chem.SanitizeFlags.SANITIZE_NONE:
        # Bonds violate the valence rules: draw them as they are in the graph.
        editable.UpdatePropertyCache(strict=False)
        Chem.FastFindRings(editable)
        return editable.GetMol()
    result = tried.GetMol()
    _set_stereo(result, molecule)
    return result


def smiles_of(molecule: Molecule) -> str | None:
    """Return the canonical SMILES of a molecule; None without RDKit."""
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        return None
    with rdBase.BlockLogs():
        try:
            drawn = as_rdkit(molecule)
            Chem.SetDoubleBondNeighborDirections(drawn)  # else E and Z are left out
            return str(Chem.MolToSmiles(drawn))
        except (ValueError, RuntimeError):
            return None


def _set_stereo(drawn: Any, molecule: Molecule) -> None:
    """Set the configuration of atoms and double bonds from their CIP descriptors.

    The descriptor of a centre can depend on others (r and s, or branches that differ only in R and
    S), so configurations are changed repeatedly until all descriptors agree.
    """
    from rdkit import Chem
    from rdkit.Chem import rdCIPLabeler

    centres = {v: atom.stereo for v, atom in enumerate(molecule.atoms) if atom.stereo}
    double = {b: name for b, name in enumerate(molecule.stereo) if name}
    if not centres and not double:
        return
    # Each atom or bond with its descriptor, the setter of its configuration, and both values.
    parts: list[tuple[Any, str, Any, list[Any]]] = []
    for vertex, name in centres.items():
        atom, kinds = drawn.GetAtomWithIdx(vertex), Chem.ChiralType
        ways = [kinds.CHI_TETRAHEDRAL_CCW, kinds.CHI_TETRAHEDRAL_CW]
        parts.append((atom, name, atom.SetChiralTag, ways))
    for number, name in double.items():
        first, second = molecule.pairs[number]
        sides = [
            [other for other in molecule.neighbours[end] if other not in (first, second)]
            for end in (first, second)
        ]
        if not all(sides):
            continue
        bond = drawn.GetBondBetweenAtoms(first, second)
        ends = [sides[0][0], sides[1][0]]
        if bond.GetBeginAtomIdx() != first:
            ends.reverse()
        bond.SetStereoAtoms(*ends)
        ways = [Chem.BondStereo.STEREOCIS, Chem.BondStereo.STEREOTRANS]
        parts.append((bond, name, bond.SetStereo, ways))
    wrong = parts
    for _ in range(7):
        for _, _, turn, ways in wrong:
            turn(ways[0])
            ways.reverse()
        for part in [*drawn.GetAtoms(), *drawn.GetBonds()]:
            part.ClearProp("_CIPCode")
        rdCIPLabeler.AssignCIPLabels(drawn)
        wrong = [
            entry
            for entry in parts
            if not entry[0].HasProp("_CIPCode") or entry[0].GetProp("_CIPCode") != entry[1]
        ]
        if not wrong:
            break


def skeleton_key(graph: GraphBatch) -> str:
    """Return a hash of the numbered vertices and edges of a graph, ignoring labels."""
    numbers = np.concatenate(([graph.n_vertices], graph.edges.ravel())).astype("<i8")
    return hashlib.blake2b(numbers.tobytes(), digest_size=8).hexdigest()


@cache
def _bundled_points() -> dict[str, np.ndarray]:
    """Return the stored coordinates by skeleton key; see scripts/make_drugs.py."""
    from importlib.resources import as_file, files

    with (
        as_file(files("graphgrain.graphs.datasets") / "data" / "drugs_layout.npz") as path,
        np.load(path) as file,
    ):
        points = file["hundredths"] / 100.0
        pieces = np.split(points, np.cumsum(file["sizes"])[:-1])
        return dict(zip(file["keys"].tolist(), pieces, strict=True))


# -------------------------------------------------------------------- common parts of two graphs


def shared_part(first: GraphBatch, second: GraphBatch) -> np.ndarray:
    """Find a large connected part that two graphs have in common, as pairs of vertices.

    A greedy heuristic for the maximum common subgraph, which is hard to find exactly: start from
    pairs of vertices whose neighbourhoods agree up to the largest radius, grow along edges with
    equal labels, and keep the largest of several attempts.
    """
    links = [_links(graph) for graph in (first, second)]
    agreement = _agreement(first, second, links)
    order = np.argsort(-agreement, axis=None, kind="stable")[:_SEEDS]
    best: dict[int, int] = {}
    for u, v in np.column_stack(np.unravel_index(order, agreement.shape)).tolist():
        if agreement[u, v] and best.get(u) != v:
            grown = _grown(links, agreement, u, v)
            if len(grown) > len(best):
                best = grown
            if len(best) == min(agreement.shape):
                break
    return np.array(sorted(best.items()), dtype=np.int64).reshape(-1, 2)


def _agreement(
    first: GraphBatch, second: GraphBatch, links: list[list[dict[int, str]]]
) -> np.ndarray:
    """Count the radii up to which neighbourhoods agree, for each pair; 0 if labels differ."""
    colours: list[list[Any]] = [[str(x) for x in g.labels.tolist()] for g in (first, second)]
    agreed = np.zeros((first.n_vertices, second.n_vertices), dtype=np.int64)
    for _ in range(_RADIUS):
        table: dict[Any, int] = {}
        codes = [[table.setdefault(c, len(table)) for c in own] for own in colours]
        agreed += np.equal.outer(np.array(codes[0]), np.array(codes[1]))
        colours = [
            [
                (own[v], tuple(sorted((name, own[w]) for w, name in edges.items())))
                for v, edges in enumerate(linked)
            ]
            for own, linked in zip(codes, links, strict=True)
        ]
    return agreed


def _links(graph: GraphBatch) -> list[dict[int, str]]:
    found: list[dict[int, str]] = [{} for _ in range(graph.n_vertices)]
    names = graph.edge_labels
    labels = [""] * graph.n_edges if names is None else [str(name) for name in names.tolist()]
    for (u, v), name in zip(graph.edges.tolist(), labels, strict=True):
        found[u][v] = found[v][u] = name
    return found


def _grown(
    links: list[list[dict[int, str]]], agreement: np.ndarray, u: int, v: int
) -> dict[int, int]:
    pairs, taken = {u: v}, {v}
    queue = [(u, v)]
    for a, b in queue:
        options = sorted(
            (-int(agreement[x, y]), x, y)
            for x, name in links[0][a].items()
            for y, other in links[1][b].items()
            if name == other and agreement[x, y]
        )
        for _, x, y in options:
            fits = all(
                links[1][y].get(pairs[n]) == name for n, name in links[0][x].items() if n in pairs
            )
            if x not in pairs and y not in taken and fits:
                pairs[x] = y
                taken.add(y)
                queue.append((x, y))
    return pairs


def _turned(points: np.ndarray, fixed: dict[int, np.ndarray], keep_hand: bool) -> np.ndarray:
    """Move, rotate and possibly mirror all points so that the fixed ones match their targets."""
    some, target = list(fixed), np.array(list(fixed.values()))
    centre, goal = points[some].mean(axis=0), target.mean(axis=0)
    left, _, right = np.linalg.svd((points[some] - centre).T @ (target - goal))
    turn = left @ right
    if keep_hand and np.linalg.det(turn) < 0:
        turn = left @ np.diag([1.0, -1.0]) @ right
    return (points - centre) @ turn + goal
