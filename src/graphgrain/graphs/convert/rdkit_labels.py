"""What the labels of atoms and bonds tell, from RDKit's objects."""

from __future__ import annotations

from typing import Any, NamedTuple

#: Comparisons of the CIP rules before a molecule counts as too symmetrical: about a second.
CIP_LIMIT = 1_250_000


class LabelOptions(NamedTuple):
    """What vertices and edges tell besides symbol and bond type (see :func:`from_rdkit`)."""

    charge: bool = False
    aromatic: bool = False
    hydrogens: bool = False
    stereo: bool = False
    isotopes: bool = False
    radicals: bool = False

    @property
    def needs_full_sanitisation(self) -> bool:
        """Hydrogen counts, stereochemistry and radicals come from steps that others can skip."""
        return self.hydrogens or self.stereo or self.radicals


def prepared(chem: Any, molecule: Any, options: LabelOptions) -> Any:
    """The molecule with what the labels need: hydrogens as atoms, CIP labels."""
    if options.stereo:
        from rdkit.Chem import rdCIPLabeler

        molecule = chem.Mol(molecule)  # labels are written into it: not into the caller's own
        rdCIPLabeler.AssignCIPLabels(molecule, maxRecursiveIterations=CIP_LIMIT)
    return chem.AddHs(molecule) if options.hydrogens else molecule


def atom_labels(molecule: Any, options: LabelOptions) -> list[str]:
    """The label of each atom."""
    charge, aromatic, _, stereo, isotopes, radicals = options
    if not (charge or aromatic or stereo or isotopes or radicals):
        return [atom.GetSymbol() for atom in molecule.GetAtoms()]
    labels = []
    for atom in molecule.GetAtoms():
        label = atom.GetSymbol()
        if aromatic and atom.GetIsAromatic():
            label = label.lower()
        if isotopes and (mass := atom.GetIsotope()):
            label = f"{mass}{label}"
        if charge and (amount := atom.GetFormalCharge()):
            size = abs(amount)
            label += ("+" if amount > 0 else "-") + (str(size) if size > 1 else "")
        if radicals:
            label += "." * atom.GetNumRadicalElectrons()
        if stereo and atom.HasProp("_CIPCode"):
            label += "@" + atom.GetProp("_CIPCode")
        labels.append(label)
    return labels


def bond_label(bond: Any, stereo: bool) -> str:
    """The label of a bond: its type and, if asked for, the geometry of a double bond."""
    label: str = bond.GetBondType().name.lower()
    if stereo and bond.HasProp("_CIPCode"):
        label += "@" + bond.GetProp("_CIPCode")
    return label
