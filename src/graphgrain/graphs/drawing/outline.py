"""What there is to draw of a graph, as plain numbers and texts, for pages that draw themselves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..batch import GraphBatch
from .layout import layout
from .molecule import as_molecule, place_atoms


class Outline(NamedTuple):
    """A graph on paper.

    Attributes
    ----------
    points : array of shape (vertices, 2)
        Neighbours are about 1 apart; the second coordinate points down.
    texts : list of str
        What is written at each vertex; nothing for the carbon atoms of a molecule.
    orders : list of int
        How many lines each row of ``edges`` is drawn with.
    molecule : bool
    """

    points: np.ndarray
    texts: list[str]
    orders: list[int]
    molecule: bool


def outline(graph: GraphBatch) -> Outline:
    """The outline of one graph.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.graphs.drawing.outline import outline
    >>> outline(gg.as_graphs([([(0, 1)], ["a", "b"])])).texts
    ['a', 'b']
    """
    molecule = as_molecule(graph)
    if molecule is None:
        texts = [str(label) for label in graph.labels.tolist()] if graph.labelled else []
        texts = texts or [""] * graph.n_vertices
        return Outline(layout(graph), texts, [1] * graph.n_edges, False)
    points, orders = _drawn(molecule, graph.edges)
    return Outline(points, [_text(atom) for atom in molecule.GetAtoms()], orders, True)


def _drawn(molecule: Any, edges: np.ndarray) -> tuple[np.ndarray, list[int]]:
    from rdkit import Chem, rdBase

    alternating = Chem.Mol(molecule)
    with rdBase.BlockLogs():
        try:
            Chem.Kekulize(alternating, clearAromaticFlags=True)
        except (ValueError, RuntimeError):
            alternating = molecule
        place_atoms(alternating)
    points = alternating.GetConformer().GetPositions()[:, :2] * np.array([1.0, -1.0]) / 1.5
    orders = []
    for first, second in edges.tolist():
        order = alternating.GetBondBetweenAtoms(first, second).GetBondTypeAsDouble()
        orders.append(int(order) if order in (1.0, 2.0, 3.0) else 1)
    return points, orders


def _text(atom: Any) -> str:
    """The symbol with hydrogens and charge; carbon in a chain or ring has none."""
    charge = atom.GetFormalCharge()
    if atom.GetSymbol() == "C" and not charge and atom.GetDegree():
        return ""
    hydrogens = 0 if atom.GetNoImplicit() else atom.GetTotalNumHs()
    text = atom.GetSymbol() + ("H" if hydrogens else "") + (str(hydrogens) if hydrogens > 1 else "")
    if charge:
        text += (str(abs(charge)) if abs(charge) > 1 else "") + ("+" if charge > 0 else "\u2212")
    return text
