"""Arguments that several commands have, and lists in options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any

import typer

from ..errors import InvalidParameterError
from .app import OptionGroup

Json = Annotated[bool, typer.Option("--json", help="Answer in JSON, for machines.")]
Data = Annotated[
    str,
    typer.Argument(help="A file, a folder, a name of the TU collection, or drugs.", metavar="DATA"),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Parameters of the kernel, as --set counts=sqrt,tree_depth=2.",
        metavar="NAME=VALUE",
    ),
]
MinSimilarity = Annotated[float, typer.Option(help="The least similarity of a pair.")]
Jobs = Annotated[int, typer.Option("--n-jobs", "-j", help="Number of threads; -1 takes all cores.")]


def output_file(words: str) -> Any:
    """The option for the file or folder that a command writes."""
    return typer.Option("--output", "-o", help=words)


#: The part of ``--help`` for what concerns files of molecules alone.
_MOLECULES = "For files of molecules (.smi, .csv, .tsv, .sdf)"


def _molecules(words: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=words, rich_help_panel=_MOLECULES, **more)


@dataclass(frozen=True)
class Reading(OptionGroup):
    """How DATA is read: options of all commands that take graphs."""

    view: Annotated[
        list[str] | None,
        typer.Option(
            "--view",
            help="Change graphs before anything else: edge-filter:drop=1 leaves out edges by "
            "label, edge-lengths and attribute-bins:n_bins=4 make labels of coordinates and "
            "attributes. May be repeated. What a view learns, it learns from all graphs, not from "
            "classes.",
            metavar="NAME:PARAMETER=VALUE",
        ),
    ] = None
    target: Annotated[str | None, _molecules("The column with the classes.", metavar="COLUMN")] = (
        None
    )
    smiles: Annotated[
        str | None,
        _molecules(
            "The column with the SMILES; by default the first whose name has smiles in it.",
            metavar="COLUMN",
        ),
    ] = None
    errors: Annotated[
        str,
        _molecules(
            "What happens with a molecule that cannot be read: raise an error, or skip it with a "
            "note.",
            metavar="raise|skip",
        ),
    ] = "raise"
    missing: Annotated[
        str,
        typer.Option(
            help="What happens with a graph whose target is empty, NA, NaN, null or the like: an "
            "error, or skip it with a note.",
            metavar="error|skip",
        ),
    ] = "error"
    charge: Annotated[bool, _molecules("Atom labels include the formal charge.", "--charge")] = (
        False
    )
    aromatic: Annotated[
        bool, _molecules("Aromatic atoms have labels of their own.", "--aromatic")
    ] = False
    hydrogens: Annotated[bool, _molecules("Hydrogens are vertices.", "--hydrogens")] = False
    stereo: Annotated[
        bool,
        _molecules("Labels include R or S of stereocentres, E or Z of double bonds.", "--stereo"),
    ] = False
    isotopes: Annotated[bool, _molecules("Atom labels include the isotope.", "--isotopes")] = False
    radicals: Annotated[
        bool, _molecules("Atom labels include unpaired electrons.", "--radicals")
    ] = False


def check_choice(option: str, value: str, allowed: Sequence[str]) -> None:
    """One of a few words."""
    if value not in allowed:
        hint = nearest(value, allowed)
        raise InvalidParameterError(
            f"{option} is one of {', '.join(allowed)}; got {value!r}. {hint}".rstrip()
        )


def check_share(option: str, value: float) -> None:
    """A similarity above 0 and at most 1."""
    if not 0.0 < value <= 1.0:
        raise InvalidParameterError(f"{option} is above 0 and at most 1; got {value}.")


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint with the names that look like this one, or nothing.

    >>> nearest("treepp", ["tree++", "wl"])
    'Did you mean tree++? '
    """
    by_lower = {item.lower(): item for item in names}
    close = get_close_matches(name.lower(), by_lower, n=3)
    return f"Did you mean {' or '.join(by_lower[item] for item in close)}? " if close else ""


def listed(values: Iterable[str] | None) -> list[str]:
    """The items of an option that may be repeated or hold several, separated by commas.

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
