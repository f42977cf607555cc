"""PharmacophoreLabels: pharmacophore types of atoms as vertex labels."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch
from ..graphs.molecule_labels import BOND_ORDERS, are_molecules, parse_atom
from .base import View

_HALOGENS = ("F", "Cl", "Br", "I", "At")
_ROLES = ("acceptor", "acid", "aromatic", "base", "donor", "halogen")


class PharmacophoreLabels(View):
    """Label the atoms of molecules by their role in binding instead of their element.

    An atom can have any of the roles hydrogen bond donor, acceptor, base, acid (its carbon or
    sulphur), aromatic and halogen, or none. Molecules with different elements that bind in the same
    way then share patterns, as in pharmacophore fingerprints. Roles are derived from elements, bond
    types and usual valences, so a molecule and its ions have the same labels. Aromatic nitrogen
    with two neighbours is always an acceptor, with or without a hydrogen.

    See Also
    --------
    StructuralLabels : Degrees and rings as part of the label.

    Examples
    --------
    >>> import graphgrain as gg
    >>> gg.PharmacophoreLabels().fit_transform(["NCC(=O)O"]).labels.tolist()
    ['acceptor base donor', 'none', 'acid', 'acceptor', 'donor']
    """

    def _transform(self, batch: GraphBatch) -> GraphBatch:
        if not batch.n_vertices:
            return batch
        if not are_molecules(batch):
            raise InvalidGraphError(
                "PharmacophoreLabels needs molecules: element symbols as vertex labels and bond "
                f"types as edge labels; got {batch!r}. Read them with from_smiles or from_rdkit."
            )
        roles = _roles(batch)
        codes = np.stack([roles[name] for name in _ROLES], axis=1) @ (1 << np.arange(len(_ROLES)))
        texts = [
            " ".join(name for bit, name in enumerate(_ROLES) if code >> bit & 1) or "none"
            for code in range(1 << len(_ROLES))
        ]
        return batch.with_labels(np.array(texts, dtype=object)[codes])


def _roles(batch: GraphBatch) -> dict[str, np.ndarray]:
    """Return a mask of atoms for each role."""
    atoms = [parse_atom(label) for label in batch.label_table.tolist()]
    symbols = np.array([atom.symbol if atom else "" for atom in atoms])[batch.label_codes]
    assert batch.edge_label_table is not None
    assert batch.edge_label_codes is not None
    kinds = [str(label).partition("@")[0] for label in batch.edge_label_table.tolist()]
    kind = np.array(kinds, dtype=object)[batch.edge_label_codes]
    order = np.array([BOND_ORDERS[name] for name in kinds], dtype=float)[batch.edge_label_codes]
    begin, end = batch.sources, batch.indices  # atoms of each bond

    def some(entries: np.ndarray) -> np.ndarray:
        """Return the atoms with such a bond."""
        return np.bincount(begin[entries], minlength=batch.n_vertices) > 0

    carbon, nitrogen, oxygen, sulphur = (symbols == name for name in ("C", "N", "O", "S"))
    aromatic = some(kind == "aromatic")
    multiple = some(order >= 2)
    free = ~aromatic & ~multiple  # only single bonds
    # Hydrogens that are vertices change no role.
    degrees = np.bincount(begin[(symbols != "H")[end]], minlength=batch.n_vertices)
    double_to_hetero = some((order == 2) & (nitrogen | oxygen | sulphur)[end])
    oxygens = np.bincount(begin[oxygen[end]], minlength=batch.n_vertices)
    nitro = nitrogen & (oxygens >= 2) & multiple
    beside = some(double_to_hetero[end])  # amides, sulphonamides, esters, acids
    terminal = free & (degrees <= 1)
    of_nitro = oxygen & some((nitro | (nitrogen & aromatic))[end])  # or pyridine N-oxide
    acid_oxygen = oxygen & terminal & beside & ~of_nitro
    amine = nitrogen & free & (degrees <= 3) & ~beside
    to_saturated = np.bincount(begin[(carbon & free)[end]], minlength=batch.n_vertices) == degrees
    donor = (
        (nitrogen & free & (degrees <= 2))
        | (nitrogen & multiple & ~aromatic & (degrees == 1) & some(order == 2))
        | ((oxygen | sulphur) & terminal & ~of_nitro)
    )
    acceptor = (
        amine
        | (nitrogen & aromatic & (degrees == 2))
        | (nitrogen & multiple & ~aromatic & ~nitro)
        | (oxygen & ~acid_oxygen)
        | (sulphur & ~aromatic & (degrees <= 2))
    )
    return {
        "donor": donor,
        "acceptor": acceptor,
        "base": amine & to_saturated,
        "acid": (carbon | sulphur) & double_to_hetero & some(acid_oxygen[end]),
        "aromatic": aromatic,
        "halogen": np.isin(symbols, _HALOGENS),
    }
