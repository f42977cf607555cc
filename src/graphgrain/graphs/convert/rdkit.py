"""Molecules as labelled graphs, through RDKit (``pip install graphgrain[chem]``)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from ...errors import InvalidGraphError
from ..batch import GraphBatch
from ..processes import map_processes
from ..progress import progress_bar
from .parts import check_items, column_items, is_from, shown
from .rdkit_arrays import MoleculeCollector
from .rdkit_labels import LabelOptions
from .rdkit_parsing import first_line, parse_molecules, quiet_log, rdkit
from .unreadable import Unreadable

#: SMILES that a process reads at a time.
_AT_A_TIME = 2_000


def is_rdkit(x: Any) -> bool:
    """Whether this is an RDKit molecule."""
    return is_from(x, "rdkit") and hasattr(x, "GetAtoms")


def from_rdkit(
    molecules: Iterable[Any],
    *,
    charge: bool = False,
    aromatic: bool = False,
    hydrogens: bool = False,
    stereo: bool = False,
    isotopes: bool = False,
    radicals: bool = False,
) -> GraphBatch:
    """Turn RDKit molecules into a :class:`GraphBatch`: atoms with symbols, bonds with types.

    By default a graph does not see charges, hydrogens, stereochemistry, isotopes and radicals:
    enantiomers, or E and Z isomers, become the same graph. Each option adds one of these to the
    labels.

    Parameters
    ----------
    molecules : iterable of RDKit molecules
    charge : bool
        Add the formal charge to the symbol: ``"N+"``, ``"O-"``, ``"Ca+2"``.
    aromatic : bool
        Write aromatic atoms in lower case, as SMILES do: ``"c"``, ``"n"``.
    hydrogens : bool
        Make every hydrogen a vertex. By default they are where RDKit keeps them as atoms,
        which for molecules from SMILES means: nearly never.
    stereo : bool
        Add the CIP descriptors, which do not depend on how a molecule is written: ``"C@R"`` and
        ``"C@S"`` for stereocentres (``r`` and ``s`` for pseudoasymmetric ones), ``"double@E"``
        and ``"double@Z"`` for double bonds. What is not specified stays as it is.
    isotopes : bool
        Put the mass number before the symbol where one is given: ``"13C"``, ``"2H"``.
    radicals : bool
        Add a dot for each unpaired electron: ``"C."``, ``"O.."``.

    Returns
    -------
    graphs : GraphBatch
        Vertex labels are atom symbols; edge labels are ``"single"``, ``"double"``,
        ``"triple"``, ``"aromatic"`` and RDKit's rarer bond types.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from rdkit import Chem
    >>> gg.from_rdkit([Chem.MolFromSmiles("C[NH3+]")], charge=True).labels.tolist()
    ['C', 'N+']
    >>> gg.from_rdkit([Chem.MolFromSmiles("C[C@H](N)O")], stereo=True).labels.tolist()
    ['C', 'C@R', 'N', 'O']
    """
    molecules = list(molecules)
    check_items(molecules, is_rdkit, "an RDKit molecule")
    options = LabelOptions(charge, aromatic, hydrogens, stereo, isotopes, radicals)
    collector = MoleculeCollector(rdkit(), options)
    with quiet_log():
        for number, molecule in enumerate(molecules):
            try:
                collector.add(molecule)
            except (ValueError, RuntimeError) as error:
                raise InvalidGraphError(
                    f"Item {number} does not tell what the labels ask for: {first_line(error)}. "
                    "Was it sanitised? rdkit.Chem.SanitizeMol(molecule) does it."
                ) from None
    return collector.batch()


def from_smiles(
    smiles: Iterable[str],
    *,
    charge: bool = False,
    aromatic: bool = False,
    hydrogens: bool = False,
    stereo: bool = False,
    isotopes: bool = False,
    radicals: bool = False,
    errors: str = "raise",
    return_index: bool = False,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Any:
    """Turn SMILES into a :class:`GraphBatch`: atoms with symbols, bonds with types.

    Parameters
    ----------
    smiles : iterable of str
        A list, an array, a pandas or polars Series, or a table with one column.
    charge, aromatic, hydrogens, stereo, isotopes, radicals : bool
        What the labels tell; see :func:`from_rdkit`.
    errors : {"raise", "skip"}
        What happens with SMILES that do not parse: an error, or a warning that names them and
        graphs for the rest.
    return_index : bool
        Return also the positions of the SMILES that became graphs, so that other columns can
        be brought in line: ``y = y[index]``.
    n_jobs : int, optional
        Number of processes that read; None means this one alone, -1 one per core.
    verbose : bool
        Show a progress bar.

    Returns
    -------
    graphs : GraphBatch
    index : int array, if ``return_index``

    Examples
    --------
    >>> import graphgrain as gg
    >>> gg.from_smiles(["CCO", "c1ccccc1"])
    GraphBatch(2 graphs, 9 vertices, 8 edges, 2 vertex labels, 2 edge labels)
    """
    if isinstance(smiles, str):
        raise InvalidGraphError(
            f"A list of SMILES is expected; got the string {shown(smiles)}. Put it in a list."
        )
    items = column_items(smiles)
    rdkit()
    unreadable = Unreadable(errors)
    options = LabelOptions(charge, aromatic, hydrogens, stereo, isotopes, radicals)
    pieces = [items[begin : begin + _AT_A_TIME] for begin in range(0, len(items), _AT_A_TIME)]
    batches, found = [], []
    begin = 0
    with progress_bar(verbose, len(items)) as bar:
        for graphs, index, problems in map_processes(
            partial(parse_molecules, options=options), pieces, n_jobs
        ):
            unreadable.add(
                [
                    f"number {begin + place}, {items[begin + place]!r}: {reason}"
                    for place, reason in problems
                ]
            )
            batches.append(graphs)
            found.append(index + begin)
            begin += len(index) + len(problems)
            bar.update(len(index) + len(problems))
    unreadable.warn(len(items))
    graphs = GraphBatch.concatenate([batch for batch in batches if len(batch)])
    where = np.concatenate([np.empty(0, dtype=np.int64), *found])
    return (graphs, where) if return_index else graphs
