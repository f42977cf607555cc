"""Arguments shared by several commands, and parsing of lists in options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any

import typer

from ..errors import InvalidParameterError
from .app import OptionGroup

Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Data = Annotated[
    str,
    typer.Argument(help="A file, a folder, the name of a TU data set, or drugs.", metavar="DATA"),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Parameters of the kernel, such as --set counts=sqrt,tree_depth=2.",
        metavar="NAME=VALUE",
    ),
]
MinSimilarity = Annotated[float, typer.Option(help="Minimum similarity of a pair.")]
Jobs = Annotated[int, typer.Option("--n-jobs", "-j", help="Number of threads; -1 uses all cores.")]


def output_file(words: str) -> Any:
    """Return the option for the file or folder to write."""
    return typer.Option("--output", "-o", help=words)


#: Section of ``--help`` for options of files of molecules.
_MOLECULES = "For files of molecules (.smi, .csv, .tsv, .sdf)"


def _molecules(words: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=words, rich_help_panel=_MOLECULES, **more)


@dataclass(frozen=True)
class Reading(OptionGroup):
    """Options of all commands that read graphs."""

    view: Annotated[
        list[str] | None,
        typer.Option(
            "--view",
            help="Transform graphs first: edge-filter:drop=1 removes edges by label; edge-lengths "
            "and attribute-bins:n_bins=4 turn coordinates and attributes into labels. Can be "
            "repeated. Views are fitted to all graphs, without their classes.",
            metavar="NAME:PARAMETER=VALUE",
        ),
    ] = None
    target: Annotated[str | None, _molecules("Column with the target.", metavar="COLUMN")] = None
    smiles: Annotated[
        str | None,
        _molecules(
            "Column with the SMILES; by default the first whose name contains smiles.",
            metavar="COLUMN",
        ),
    ] = None
    errors: Annotated[
        str,
        _molecules(
            "Handling of unreadable molecules: raise an error, or skip them with a note.",
            metavar="raise|skip",
        ),
    ] = "raise"
    missing: Annotated[
        str,
        typer.Option(
            help="Handling of graphs without target (empty, NA, NaN, null or similar): an error, "
            "or skip them with a note.",
            metavar="error|skip",
        ),
    ] = "error"
    charge: Annotated[bool, _molecules("Include the formal charge in atom labels.", "--charge")] = (
        False
    )
    aromatic: Annotated[
        bool, _molecules("Use separate labels for aromatic atoms.", "--aromatic")
    ] = False
    hydrogens: Annotated[bool, _molecules("Add hydrogens as vertices.", "--hydrogens")] = False
    stereo: Annotated[
        bool,
        _molecules("Include R/S of stereocentres and E/Z of double bonds in labels.", "--stereo"),
    ] = False
    isotopes: Annotated[bool, _molecules("Include the isotope in atom labels.", "--isotopes")] = (
        False
    )
    radicals: Annotated[
        bool, _molecules("Include unpaired electrons in atom labels.", "--radicals")
    ] = False


def check_choice(option: str, value: str, allowed: Sequence[str]) -> None:
    """Check that an option has one of the allowed values."""
    if value not in allowed:
        hint = nearest(value, allowed)
        raise InvalidParameterError(
            f"{option} is one of {', '.join(allowed)}; got {value!r}. {hint}".rstrip()
        )


def check_share(option: str, value: float) -> None:
    """Check that a similarity is above 0 and at most 1."""
    if not 0.0 < value <= 1.0:
        raise InvalidParameterError(f"{option} is above 0 and at most 1; got {value}.")


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a hint with similar names, or an empty string.

    >>> nearest("treepp", ["tree++", "wl"])
    'Did you mean tree++? '
    """
    by_lower = {item.lower(): item for item in names}
    close = get_close_matches(name.lower(), by_lower, n=3)
    return f"Did you mean {' or '.join(by_lower[item] for item in close)}? " if close else ""


def listed(values: Iterable[str] | None) -> list[str]:
    """Split an option that can be repeated or contain several values separated by commas.

    Commas inside brackets or quotes do not separate.

    >>> listed(["tree++,wl", "sp"])
    ['tree++', 'wl', 'sp']
    >>> listed(["drop=[1, 2],above=3"])
    ['drop=[1, 2]', 'above=3']
    """
    items: list[str] = []
    for value in values or ():
        depth, quote, item = 0, "", ""
        for letter in value:
            if quote:
                quote = "" if letter == quote else quote
            elif letter in "'\"":
                quote = letter
            elif letter in "([{":
                depth += 1
            elif letter in ")]}":
                depth -= 1
            elif letter == "," and depth <= 0:
                items.append(item.strip())
                item = ""
                continue
            item += letter
        items.append(item.strip())
    return [item for item in items if item]
