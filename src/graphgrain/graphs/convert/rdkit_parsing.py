"""From the text of a molecule to RDKit's molecule, or to the reason why there is none."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import MissingDependencyError
from ..batch import GraphBatch
from .rdkit_arrays import MoleculeCollector
from .rdkit_labels import LabelOptions


class Parsed(NamedTuple):
    """What became of some texts.

    Attributes
    ----------
    graphs : GraphBatch
        Of the texts that are molecules.
    positions : int array
        Their positions among the texts.
    problems : list of (position, reason)
        The others.
    """

    graphs: GraphBatch
    positions: np.ndarray
    problems: list[tuple[int, str]]


def rdkit() -> Any:
    """RDKit's module for molecules."""
    try:
        from rdkit import Chem
    except ImportError:
        raise MissingDependencyError(
            "Molecules are read with RDKit, which is not installed. Install it with: "
            "pip install 'graphgrain[chem]'"
        ) from None
    return Chem


def quiet_log() -> Any:
    """A context in which RDKit does not write to its log."""
    from rdkit import rdBase

    return rdBase.BlockLogs()


def parse_molecules(texts: Sequence[Any], options: LabelOptions, blocks: bool = False) -> Parsed:
    """Graphs of SMILES, or of mol blocks if ``blocks``."""
    chem = rdkit()
    collector = MoleculeCollector(chem, options)
    add = _add_block if blocks else _SmilesReader(chem, options).add
    good: list[int] = []
    problems: list[tuple[int, str]] = []
    with quiet_log():
        for position, text in enumerate(texts):
            problem = _unreadable(text) or add(collector, text)
            if problem:
                problems.append((position, problem))
            else:
                good.append(position)
        return Parsed(collector.batch(), np.array(good, dtype=np.int64), problems)


def _unreadable(text: Any) -> str | None:
    if not isinstance(text, str):
        return f"a molecule is a string here, not {type(text).__name__}"
    if not text or text.isspace():
        return "it is empty"
    return "it holds a zero byte" if "\0" in text else None


class _SmilesReader:
    """Reads SMILES, sanitising each once and no further than its labels need."""

    def __init__(self, chem: Any, options: LabelOptions) -> None:
        self.chem, self.fully = chem, options.needs_full_sanitisation
        self.parameters = chem.SmilesParserParams()
        self.parameters.sanitize = self.parameters.removeHs = False
        flags = chem.SanitizeFlags
        # Types of bonds are final after these; conjugation, hybridisation, chirality and the
        # like change no label.
        self.bonds_only = (
            flags.SANITIZE_CLEANUP
            | flags.SANITIZE_CLEANUP_ORGANOMETALLICS
            | flags.SANITIZE_PROPERTIES
            | flags.SANITIZE_SYMMRINGS
            | flags.SANITIZE_KEKULIZE
            | flags.SANITIZE_SETAROMATICITY
        )

    def add(self, collector: MoleculeCollector, text: str) -> str | None:
        """Add the molecule of a SMILES; what is wrong with it, if it is none."""
        chem, text = self.chem, text.strip()
        try:
            codes = None if self.fully else collector.codes(text)
            if codes is None:
                molecule = chem.MolFromSmiles(text)
            else:
                molecule = chem.MolFromSmiles(text, self.parameters)
                if molecule is not None:
                    chem.SanitizeMol(molecule, self.bonds_only)
            if molecule is not None:
                collector.add(molecule, codes)
                return None
            reason = "it is no valid SMILES"
        except (ValueError, RuntimeError) as error:
            reason = first_line(error)
        return _problem(chem, lambda: chem.MolFromSmiles(text, self.parameters)) or reason


def _add_block(collector: MoleculeCollector, block: str) -> str | None:
    """Add the molecule of a mol block; what is wrong with it, if it is none."""
    chem = collector.chem
    try:
        molecule = chem.MolFromMolBlock(block)
        if molecule is not None:
            collector.add(molecule)
            return None
        reason = ""
    except (ValueError, RuntimeError) as error:
        reason = first_line(error)
    problem = _problem(chem, lambda: chem.MolFromMolBlock(block, sanitize=False, removeHs=False))
    return problem or reason or "it is no valid mol block"


# -------------------------------------------------------------------- reasons

_PREFIX = re.compile(r"^\[[\d:]+\] *(SMILES Parse Error: *)?")
_ECHO = re.compile(r" *(for input: .*|while parsing: .*|on line \d+)$")


def _problem(chem: Any, parse: Callable[[], Any]) -> str | None:
    """RDKit's own words for what is wrong: slow, and only for molecules that have failed."""
    try:
        molecule, log = _logged(parse)
        if molecule is not None:
            problems = chem.DetectChemistryProblems(molecule)
            return problems[0].Message() if problems else None
    except (ValueError, RuntimeError) as error:
        return first_line(error)
    lines = [_PREFIX.sub("", line).strip() for line in log.splitlines()]
    if not lines:
        return None
    place = next((line for line in lines if line.startswith("check for mistakes around")), "")
    return _ECHO.sub("", lines[0]) + f" ({place.removesuffix(':')})" * bool(place)


def _logged(parse: Callable[[], Any]) -> tuple[Any, str]:
    """What a parser returns, and what it writes to RDKit's log meanwhile."""
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
    """What an error of RDKit says, without where in RDKit it was."""
    lines = [line.strip() for line in str(error).strip().split("\n")]
    # A violated condition is named on the second line.
    return (
        ": ".join(lines[:2]) if lines[0].endswith("Violation") else lines[0] or type(error).__name__
    )
