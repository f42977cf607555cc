"""Conversion of molecules to labelled graphs with RDKit (``pip install graphgrain[chem]``).

To avoid slow loops over RDKit's atom and bond objects:

1. Bonds are read as the matrix of bond orders, in one call per molecule. Many small matrices are
   concatenated and converted to neighbour lists with a few NumPy operations.
2. Atom symbols are taken from the SMILES, which RDKit has just validated and whose order it
   keeps. Tokens such as ``[nH+]`` are parsed by RDKit once each.
3. Everything else (metals, labels with more than the symbol, very large molecules) is read from
   RDKit's objects one by one.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, overload

import numpy as np

from ...errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError, needed
from ..batch import GraphBatch, of_arrays, running_sum
from ..labels import encode_labels
from ..processes import map_processes, progress_bar
from .parts import checked_items, column_items, cut, is_from, shown


class LabelFlags(TypedDict, total=False):
    """Keyword arguments that become :class:`LabelOptions`."""

    charge: bool
    aromatic: bool
    hydrogens: bool
    stereo: bool
    isotopes: bool
    radicals: bool


class LabelOptions(NamedTuple):
    """Properties that labels encode besides symbol and bond type (see :func:`from_rdkit`)."""

    charge: bool = False
    aromatic: bool = False
    hydrogens: bool = False
    stereo: bool = False
    isotopes: bool = False
    radicals: bool = False

    @classmethod
    def of(cls, flags: LabelFlags) -> LabelOptions:
        """Create the options from keyword arguments; unknown names raise an error."""
        unknown = next((name for name in flags if name not in cls._fields), None)
        if unknown is not None:
            raise TypeError(
                f"There is no parameter {unknown!r}; the options for labels are "
                f"{', '.join(cls._fields)}."
            )
        return cls(**flags)


#: Number of SMILES parsed by a process at a time.
_AT_A_TIME = 2_000


def is_rdkit(x: Any) -> bool:
    """Return whether ``x`` is an RDKit molecule."""
    return is_from(x, "rdkit") and hasattr(x, "GetAtoms")


def from_rdkit(
    molecules: Iterable[Any], *, standardize: str | None = None, **labels: Unpack[LabelFlags]
) -> GraphBatch:
    """Convert RDKit molecules to a :class:`GraphBatch`.

    Vertices are labelled with atom symbols and edges with bond types. By default, labels do not
    encode charges, hydrogens, stereochemistry, isotopes or radicals, so enantiomers, or E and Z
    isomers, become the same graph. Each of the following options adds one of these properties.

    Parameters
    ----------
    molecules : iterable of RDKit molecules
    standardize : {"largest", "cleanup", "parent"}, optional
        Standardise molecules with RDKit: keep the largest fragment (salts lose their counterions),
        normalise groups (S=O and [S+][O-] become one), or do both and remove charges. The column
        ``"atoms"`` then holds the atom of each vertex in the molecule as it was read.
    charge : bool, default=False
        Append the formal charge to the symbol: ``"N+"``, ``"O-"``, ``"Ca+2"``.
    aromatic : bool, default=False
        Write aromatic atoms in lower case, as in SMILES: ``"c"``, ``"n"``.
    hydrogens : bool, default=False
        Include all hydrogens as vertices. By default only those that are explicit atoms of the
        RDKit molecule are included; molecules parsed from SMILES have hardly any.
    stereo : bool, default=False
        Append CIP descriptors, which do not depend on how a molecule is written: ``"C@R"`` and
        ``"C@S"`` for stereocentres (``r`` and ``s`` for pseudoasymmetric ones), ``"double@E"``
        and ``"double@Z"`` for double bonds. Unspecified centres and bonds get no descriptor.
    isotopes : bool, default=False
        Prepend the mass number where it is specified: ``"13C"``, ``"2H"``.
    radicals : bool, default=False
        Append a dot for each unpaired electron: ``"C."``, ``"O.."``.

    Returns
    -------
    graphs : GraphBatch
        Graphs with atom symbols as vertex labels, and ``"single"``, ``"double"``, ``"triple"``,
        ``"aromatic"`` or one of RDKit's rarer bond types as edge labels. The column ``"molecule"``
        holds the molecules themselves, not copies; of molecules read from files it holds RDKit's
        binary form, which takes less memory. ``rdkit.Chem.Mol`` takes both.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from rdkit import Chem
    >>> gg.from_rdkit([Chem.MolFromSmiles("C[NH3+]")], charge=True).labels.tolist()
    ['C', 'N+']
    >>> gg.from_rdkit([Chem.MolFromSmiles("C[C@H](N)O")], stereo=True).labels.tolist()
    ['C', 'C@R', 'N', 'O']
    """
    molecules = checked_items(molecules, is_rdkit, "an RDKit molecule")
    collector = MoleculeCollector(LabelOptions.of(labels))
    check_standardize(standardize)
    atoms: list[np.ndarray] = []
    with quiet_log():
        for number, molecule in enumerate(molecules):
            try:
                if standardize:
                    molecule, former = standardized(molecule, standardize)
                    atoms.append(former)
                collector.add(molecule)
            except (ValueError, RuntimeError) as error:
                raise InvalidGraphError(
                    f"Item {number} lacks properties that the labels need: {first_line(error)}. It "
                    "may not be sanitised; call rdkit.Chem.SanitizeMol(molecule) first."
                ) from None
    columns: dict[str, Any] = {"molecule": molecules}
    return collector.batch().with_columns(columns | ({"atoms": atoms} if standardize else {}))


def holds_molecules(column: np.ndarray) -> bool:
    """Return whether a column of graphs holds RDKit's molecules, in binary form or as objects."""
    return all(isinstance(item, bytes) or is_rdkit(item) for item in column) and len(column) > 0


def with_binaries(graphs: GraphBatch) -> GraphBatch:
    """Return the graphs with RDKit's molecules, if any, in binary form, for files."""
    binaries = {
        name: [item.ToBinary() if is_rdkit(item) else item for item in column]
        for name, column in graphs.columns.items()
        if holds_molecules(column)
    }
    return graphs.with_columns(binaries)


@overload
def from_smiles(
    smiles: Iterable[str],
    *,
    errors: str = "raise",
    standardize: str | None = None,
    return_index: Literal[False] = False,
    n_jobs: int | None = None,
    verbose: int = 0,
    **labels: Unpack[LabelFlags],
) -> GraphBatch: ...


@overload
def from_smiles(
    smiles: Iterable[str],
    *,
    errors: str = "raise",
    standardize: str | None = None,
    return_index: Literal[True],
    n_jobs: int | None = None,
    verbose: int = 0,
    **labels: Unpack[LabelFlags],
) -> tuple[GraphBatch, np.ndarray]: ...


def from_smiles(
    smiles: Iterable[str],
    *,
    errors: str = "raise",
    standardize: str | None = None,
    return_index: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
    **labels: Unpack[LabelFlags],
) -> GraphBatch | tuple[GraphBatch, np.ndarray]:
    """Convert SMILES to a :class:`GraphBatch`.

    Vertices are labelled with atom symbols and edges with bond types.

    Parameters
    ----------
    smiles : iterable of str
        A list, an array, a pandas or polars Series, or a table with one column.
    errors : {"raise", "skip"}, default="raise"
        Whether SMILES that cannot be parsed raise an error, or are skipped with a warning that
        lists them.
    standardize : {"largest", "cleanup", "parent"}, optional
        Standardise molecules; see :func:`from_rdkit`.
    return_index : bool, default=False
        Also return the positions of the SMILES that were converted, to select the matching
        targets: ``y = y[index]``.
    n_jobs : int, optional
        Number of processes. None uses the current process only, -1 one process per core.
    verbose : int, default=0
        Show a progress bar if positive.
    charge, aromatic, hydrogens, stereo, isotopes, radicals : bool, default=False
        Properties encoded in the labels; see :func:`from_rdkit`.

    Returns
    -------
    graphs : GraphBatch
        With the column ``"smiles"``.
    index : int array
        Only if ``return_index`` is True.

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
    options = LabelOptions.of(labels)
    pieces = [items[begin : begin + _AT_A_TIME] for begin in range(0, len(items), _AT_A_TIME)]
    check_standardize(standardize)
    parse = partial(parse_molecules, options=options, standardize=standardize)
    # one piece is not worth a process
    parsed = map_processes(parse, pieces, n_jobs) if len(pieces) > 1 else map(parse, pieces)
    batches, indices = [], []

    def number(position: int) -> str:
        return f"number {position}, " if len(items) > 1 else ""

    with progress_bar(verbose, len(items)) as bar:
        for piece, (graphs, index, problems) in enumerate(parsed):
            begin = piece * _AT_A_TIME
            unreadable.add(
                [
                    f"{number(begin + position)}{cut(repr(items[begin + position]))}: {reason}"
                    for position, reason in problems
                ]
            )
            batches.append(graphs)
            indices.append(index + begin)
            bar.update(len(pieces[piece]))
    unreadable.warn(len(items))
    graphs = GraphBatch.concatenate([batch for batch in batches if len(batch)])
    readable = np.concatenate([np.empty(0, dtype=np.int64), *indices])
    return (graphs, readable) if return_index else graphs


# -------------------------------------------------------------------- unreadable molecules

#: Maximum number of molecules that a warning lists.
_NAMED = 20


class Unreadable:
    """Collect unreadable molecules, to raise an error for the first or to warn about all."""

    def __init__(self, errors: str) -> None:
        if errors not in ("raise", "skip"):
            raise InvalidParameterError(f"errors must be 'raise' or 'skip'; got {errors!r}.")
        self.errors = errors
        self.count = 0
        self.first: list[str] = []

    def add(self, problems: Sequence[str]) -> None:
        """Add descriptions of where each molecule is and why it cannot be read."""
        if problems and self.errors == "raise":
            several = f" (and at least {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise InvalidGraphError(
                f"Every molecule must be readable; {problems[0]}{several}. Correct it, or go on "
                "without it (errors='skip' in Python, --errors skip on the command line)."
            )
        self.count += len(problems)
        self.first += problems[: _NAMED - len(self.first)]

    def warn(self, total: int) -> None:
        """Warn about skipped molecules, if any."""
        if self.count:
            warnings.warn(
                f"{self.count} of {total} molecules could not be read and are left out: "
                + "; ".join(self.first)
                + ("; ..." if self.count > len(self.first) else ""),
                GraphgrainWarning,
                stacklevel=3,
            )


# -------------------------------------------------------------------- from text to molecules


class Parsed(NamedTuple):
    """The result of parsing several texts."""

    graphs: GraphBatch  # the molecules that could be read
    positions: np.ndarray  # their positions among the texts
    problems: list[tuple[int, str]]  # positions of the other texts, with reasons


#: Size limits. The time of RDKit's ring search grows with the square of the size and is some
#: seconds at these limits.
MAX_ATOMS = 20_000
MAX_RING_ATOMS = 10_000
MAX_RINGS = 1_000
#: Shorter texts cannot contain a molecule that exceeds the limits.
_LONG_SMILES = 2_000
_LONG_BLOCK = 50_000
#: Parts of RDKit's messages before and after the actual reason.
_PREFIX = re.compile(r"^\[[\d:]+\] *(SMILES Parse Error: *)?")
_ECHO = re.compile(r" *(for input: .*|while parsing: .*|on line \d+)$")
#: A bracket atom, whose digits are not ring closures, or (as a group) a ring closure.
_CLOSURES = re.compile(r"\[[^\]]*\]|(%\d\d|%\(\d+\)|\d)")


def rdkit() -> Any:
    """Import and return ``rdkit.Chem``."""
    try:
        from rdkit import Chem
    except ImportError:
        with needed("Molecules are read with RDKit", "'graphgrain[chem]'"):
            raise
    return Chem


def quiet_log() -> Any:
    """Return a context manager that disables RDKit's log."""
    from rdkit import rdBase

    return rdBase.BlockLogs()


#: Ways to standardise molecules.
STANDARDIZE = ("largest", "cleanup", "parent")


def check_standardize(how: str | None) -> None:
    """Validate the parameter ``standardize`` of the readers."""
    if how is not None and how not in STANDARDIZE:
        raise InvalidParameterError(
            f"standardize must be one of {', '.join(map(repr, STANDARDIZE))} or None; got {how!r}."
        )


def standardized(molecule: Any, how: str) -> tuple[Any, np.ndarray]:
    """Return a molecule in standard form, and the former number of each of its atoms."""
    from rdkit.Chem.MolStandardize import rdMolStandardize

    numbered = rdkit().Mol(molecule)
    for atom in numbered.GetAtoms():
        atom.SetIntProp("_graphgrain", atom.GetIdx())
    standard = {
        "largest": rdMolStandardize.LargestFragmentChooser().choose,
        "cleanup": rdMolStandardize.Cleanup,
        "parent": rdMolStandardize.ChargeParent,
    }[how](numbered)
    return standard, np.array([atom.GetIntProp("_graphgrain") for atom in standard.GetAtoms()])


def parse_molecules(
    texts: Sequence[Any],
    options: LabelOptions,
    blocks: bool = False,
    standardize: str | None = None,
) -> Parsed:
    """Parse SMILES, or mol blocks if ``blocks`` is True."""
    reader = _Reader(options, blocks, standardize)
    good: list[int] = []
    problems: list[tuple[int, str]] = []
    with quiet_log():
        for position, text in enumerate(texts):
            problem = _unreadable(text) or reader.add(text)
            if problem:
                problems.append((position, problem))
            else:
                good.append(position)
        columns: dict[str, Any] = {"molecule": reader.binaries}
        if not blocks:
            columns = {"smiles": [texts[number].strip() for number in good]}
        if standardize:
            columns["atoms"] = reader.atoms
        graphs = reader.collector.batch().with_columns(columns)
        return Parsed(graphs, np.array(good, dtype=np.int64), problems)


def _unreadable(text: Any) -> str | None:
    if not isinstance(text, str):
        return f"a molecule is a string here, not {type(text).__name__}"
    if not text or text.isspace():
        return "it is empty"
    return "it holds a zero byte" if "\0" in text else None


class _Reader:
    """Parse SMILES or mol blocks; SMILES are sanitised only as far as the labels require."""

    def __init__(self, options: LabelOptions, blocks: bool, standardize: str | None) -> None:
        self.collector = MoleculeCollector(options)
        self.chem = chem = self.collector.chem
        self.blocks = blocks
        self.standardize = standardize
        self.atoms: list[np.ndarray] = []  # the former atoms of standardised molecules
        self.binaries: list[bytes] = []  # of molecules without a SMILES
        # Hydrogen counts, stereochemistry and radicals require full sanitisation.
        deep = options.hydrogens or options.stereo or options.radicals
        self.fully = blocks or deep or standardize is not None
        self.parameters = chem.SmilesParserParams()
        self.parameters.sanitize = self.parameters.removeHs = False
        flags = chem.SanitizeFlags
        # Bond types are final after these steps (aromaticity depends on radicals); the others
        # (conjugation, hybridisation, chirality, ...) do not affect labels.
        self.bonds_only = (
            flags.SANITIZE_CLEANUP
            | flags.SANITIZE_CLEANUP_ORGANOMETALLICS
            | flags.SANITIZE_PROPERTIES
            | flags.SANITIZE_SYMMRINGS
            | flags.SANITIZE_KEKULIZE
            | flags.SANITIZE_FINDRADICALS
            | flags.SANITIZE_SETAROMATICITY
        )

    def add(self, text: str) -> str | None:
        """Add the molecule of a text; return the reason if it cannot be read."""
        chem, text = self.chem, text if self.blocks else text.strip()
        try:
            if len(text) > (_LONG_BLOCK if self.blocks else _LONG_SMILES):
                problem = self._too_large(text)
                if problem:
                    return problem
            codes = None if self.fully else self.collector.codes(text)
            if codes is not None:
                molecule = self._raw(text)
                if molecule is not None:
                    chem.SanitizeMol(molecule, self.bonds_only)
            else:
                molecule = chem.MolFromMolBlock(text) if self.blocks else chem.MolFromSmiles(text)
            if molecule is not None:
                standard = molecule
                if self.standardize:
                    standard, atoms = standardized(molecule, self.standardize)
                self.collector.add(standard, codes)
                if self.standardize:
                    self.atoms.append(atoms)
                if self.blocks:
                    self.binaries.append(molecule.ToBinary())
                return None
            reason = f"it is not a valid {'mol block' if self.blocks else 'SMILES'}"
        except (ValueError, RuntimeError) as error:
            reason = first_line(error)
        return self._problem(text) or reason

    def _raw(self, text: str) -> Any:
        """Parse a text without sanitisation."""
        if self.blocks:
            return self.chem.MolFromMolBlock(text, sanitize=False, removeHs=False)
        return self.chem.MolFromSmiles(text, self.parameters)

    def _too_large(self, text: str) -> str | None:
        """Return the limit that a molecule exceeds, if any: RDKit would take minutes for it."""
        if not self.blocks:  # parsing ring closures alone takes quadratic time
            closures = sum(map(bool, _CLOSURES.findall(text))) // 2
            if closures > MAX_RINGS:
                return (
                    f"it closes {closures:,} rings, and a molecule must not have more than "
                    f"{MAX_RINGS:,}"
                )
        molecule = self._raw(text)
        if molecule is None:
            return None
        atoms, bonds = molecule.GetNumAtoms(), molecule.GetNumBonds()
        rings = bonds - atoms + len(self.chem.GetMolFrags(molecule))
        if atoms > MAX_ATOMS:
            return f"it has {atoms:,} atoms, and a molecule must not have more than {MAX_ATOMS:,}"
        if rings and (atoms > MAX_RING_ATOMS or rings > MAX_RINGS):
            return (
                f"it has {atoms:,} atoms and {rings:,} rings, and a molecule with rings must not "
                f"have more than {MAX_RING_ATOMS:,} atoms and {MAX_RINGS:,} rings"
            )
        return None

    def _problem(self, text: str) -> str | None:
        """Return RDKit's error message; slow, so only called for molecules that failed."""
        try:
            molecule, log = _logged(partial(self._raw, text))
            if molecule is not None:
                problems = self.chem.DetectChemistryProblems(molecule)
                return problems[0].Message() if problems else None
        except (ValueError, RuntimeError) as error:
            return first_line(error)
        lines = [_PREFIX.sub("", line).strip() for line in log.splitlines()]
        if not lines:
            return None
        hint = next((line for line in lines if line.startswith("check for mistakes around")), "")
        return _ECHO.sub("", lines[0]) + f" ({hint.removesuffix(':')})" * bool(hint)


def _logged(parse: Callable[[], Any]) -> tuple[Any, str]:
    """Return the result of a parser and what it wrote to RDKit's log."""
    from rdkit import rdBase

    if hasattr(rdBase, "CaptureErrorLog"):
        with rdBase.CaptureErrorLog() as log:
            result = parse()
        return result, log.messages
    written = io.StringIO()
    rdBase.LogToPythonStderr()
    rdBase.EnableLog("rdApp.error")
    try:
        with contextlib.redirect_stderr(written):
            result = parse()
    finally:
        rdBase.DisableLog("rdApp.error")
        rdBase.LogToCppStreams()
    return result, written.getvalue()


def first_line(error: Exception) -> str:
    """Return the message of an RDKit error without the location in RDKit's source."""
    lines = [line.strip() for line in str(error).strip().split("\n")]
    # For violated conditions the second line names the condition.
    return (
        ": ".join(lines[:2]) if lines[0].endswith("Violation") else lines[0] or type(error).__name__
    )


# -------------------------------------------------------------------- from molecules to arrays

#: Maximum number of comparisons when assigning CIP descriptors (about a second); highly
#: symmetrical molecules that need more are rejected.
CIP_LIMIT = 1_250_000

#: Atoms of a SMILES; everything else in it is bonds, branches and ring closures.
ATOMS = re.compile(r"\[[^\]]+\]|Br|Cl|[BCNOPSFIbcnops*]")
#: Bonds of other types than the common four, or text after the SMILES.
_UNUSUAL = re.compile(r"[~$<>\s]")
#: Elements whose atoms always stay in the graph and only have bonds of the common types.
#: Hydrogens are mostly removed, and metals can get dative bonds.
_NONMETALS = frozenset(
    ["*", "B", "C", "N", "O", "F", "Si", "P", "S", "Cl", "As", "Se", "Br", "Te", "I"]
)
#: Number of atoms above which reading the matrix is slower than reading bond objects.
_LARGEST_MATRIX = 250
#: Maximum number of matrix entries kept before conversion (8 bytes each).
_WAITING = 2**18
#: Bond types by twice their order.
_COMMON = {2: "single", 3: "aromatic", 4: "double", 6: "triple"}


class MoleculeCollector:
    """Collect molecules into a batch."""

    def __init__(self, options: LabelOptions) -> None:
        self.chem = chem = rdkit()
        self.options = options
        self._rare_bond = chem.MolFromSmarts("*!-!=!#!:*")
        self._codes: dict[str, int] = {}  # codes of labels, in order of first occurrence
        self._symbols = _SymbolCodes(chem, self._codes)
        self._symbols_only = options == LabelOptions()
        self._bond_codes = {name: code for code, name in _COMMON.items()}
        self._sizes: list[int] = []
        self._atoms = array("i")
        self._matrices: list[np.ndarray] = []
        self._waiting = 0  # number of entries of the matrices
        self._flushed = 0  # number of vertices whose bonds are in the blocks
        self._blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def codes(self, smiles: str) -> list[int] | None:
        """Return the symbol code of each atom of a SMILES, or None if RDKit's objects are needed.

        This is the case for hydrogen atoms, which are usually removed, and for metals, which can
        get bonds of rare types.
        """
        if _UNUSUAL.search(smiles):
            return None
        codes = [self._symbols[atom] for atom in ATOMS.findall(smiles)]
        return codes if self._symbols.special.isdisjoint(codes) else None

    def add(self, molecule: Any, codes: list[int] | None = None) -> None:
        """Append a molecule; ``codes`` are the codes of its SMILES if it was just parsed."""
        chem = self.chem
        if self.options.stereo:
            from rdkit.Chem import rdCIPLabeler

            molecule = chem.Mol(molecule)  # RDKit stores CIP labels in the molecule: use a copy
            rdCIPLabeler.AssignCIPLabels(molecule, maxRecursiveIterations=CIP_LIMIT)
        if self.options.hydrogens:
            molecule = chem.AddHs(molecule)
        size = molecule.GetNumAtoms()
        fresh = codes is not None and len(codes) == size
        if not (fresh and self._symbols_only):
            label_codes = self._codes
            labels = atom_labels(molecule, self.options)
            codes = [label_codes.setdefault(label, len(label_codes)) for label in labels]
        self._atoms.extend(codes or ())
        self._sizes.append(size)
        if (
            size > _LARGEST_MATRIX
            or self.options.stereo
            or (not fresh and molecule.HasSubstructMatch(self._rare_bond))
        ):
            self._add_bonds(molecule, size)
            return
        # Unless just parsed, the molecule may have changed since RDKit cached its matrix.
        self._matrices.append(chem.GetAdjacencyMatrix(molecule, True, 0, not fresh))
        self._waiting += size * size
        if self._waiting > _WAITING:
            self._flush()

    def batch(self) -> GraphBatch:
        """Return all molecules as one batch."""
        if not self._sizes:
            return GraphBatch.from_edges([], [])
        self._flush()
        degrees, indices, bonds = (
            np.concatenate(parts) for parts in zip(*self._blocks, strict=True)
        )
        atoms = np.array(self._atoms, dtype=np.int32)
        label_codes, label_table = _encoded(atoms, self._codes, "vertex")
        edge_codes, edge_table = _encoded(bonds, self._bond_codes, "edge")
        return of_arrays(
            offsets=running_sum(np.array(self._sizes)),
            indptr=running_sum(degrees),
            indices=indices,
            label_codes=label_codes,
            label_table=label_table,
            labelled=True,
            edge_label_codes=edge_codes,
            edge_label_table=edge_table,
            vertex_attributes=None,
            edge_attributes=None,
        )

    def _flush(self) -> None:
        """Convert the collected matrices to neighbour lists."""
        if not self._matrices:
            return
        sizes = np.array([len(matrix) for matrix in self._matrices])
        orders = np.concatenate([matrix.reshape(-1) for matrix in self._matrices])
        bonds = (2 * orders).astype(np.int32)
        entries = np.flatnonzero(bonds)
        begins = running_sum(sizes * sizes)
        owner = np.searchsorted(begins, entries, side="right") - 1
        row, column = np.divmod(entries - begins[owner], sizes[owner])
        vertices = running_sum(sizes)
        degrees = np.bincount(row + vertices[owner], minlength=vertices[-1])
        indices = (column + vertices[owner] + self._flushed).astype(np.int32)
        self._blocks.append((degrees, indices, bonds[entries]))
        self._flushed += int(vertices[-1])
        self._matrices, self._waiting = [], 0

    def _add_bonds(self, molecule: Any, size: int) -> None:
        """Add the bonds of one molecule from RDKit's objects."""
        self._flush()
        codes, stereo = self._bond_codes, self.options.stereo
        bonds = [
            (
                bond.GetBeginAtomIdx(),
                bond.GetEndAtomIdx(),
                codes.setdefault(bond_label(bond, stereo), 100 + len(codes)),
            )
            for atom in molecule.GetAtoms()
            # Iterating over the molecule's own bonds takes quadratic time.
            for bond in atom.GetBonds()
            if bond.GetBeginAtomIdx() == atom.GetIdx()
        ]
        first, second, kinds = np.array(bonds, dtype=np.int64).reshape(-1, 3).T
        source, target = np.concatenate((first, second)), np.concatenate((second, first))
        order = np.lexsort((target, source))
        indices = (target[order] + self._flushed).astype(np.int32)
        degrees = np.bincount(source, minlength=size)
        self._blocks.append((degrees, indices, np.tile(kinds, 2)[order].astype(np.int32)))
        self._flushed += size


class _SymbolCodes(dict[str, int]):
    """Codes of atoms as written in SMILES, such as ``"[nH+]"``; RDKit parses each only once."""

    def __init__(self, chem: Any, codes: dict[str, int]) -> None:
        self.chem, self.codes = chem, codes
        self.special: set[int] = set()  # codes of atoms that must be read from RDKit's objects

    def __missing__(self, text: str) -> int:
        molecule = self.chem.MolFromSmiles(text, sanitize=False)
        code = -1
        if molecule is not None and molecule.GetNumAtoms() == 1:
            symbol = molecule.GetAtomWithIdx(0).GetSymbol()
            code = self.codes.setdefault(symbol, len(self.codes))
        if code == -1 or symbol not in _NONMETALS:
            self.special.add(code)
        self[text] = code
        return code


def _encoded(codes: np.ndarray, names: dict[str, int], what: str) -> tuple[np.ndarray, np.ndarray]:
    """Return codes in the sorted order of the names that occur, and the table of these names."""
    used = set(np.unique(codes).tolist())
    names = {name: code for name, code in names.items() if code in used}
    order, table = encode_labels(list(names), what)
    new = np.zeros(max(names.values(), default=0) + 1, dtype=np.int32)
    new[list(names.values())] = order
    return new[codes], table


def atom_labels(molecule: Any, options: LabelOptions) -> list[str]:
    """Return the label of each atom."""
    charge, aromatic, _, stereo, isotopes, radicals = options
    # Iterating over GetAtoms() takes twice as long.
    atoms = map(molecule.GetAtomWithIdx, range(molecule.GetNumAtoms()))
    if not (charge or aromatic or stereo or isotopes or radicals):
        return [atom.GetSymbol() for atom in atoms]
    labels = []
    for atom in atoms:
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
    """Return the type of a bond and, if ``stereo`` is True, the geometry of a double bond."""
    label: str = bond.GetBondType().name.lower()
    if stereo and bond.HasProp("_CIPCode"):
        label += "@" + bond.GetProp("_CIPCode")
    return label
