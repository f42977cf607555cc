"""The arguments and options of all commands: each once, with its name, type and help.

A command names them in its signature, as in ``target: Target = None``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..errors import InvalidParameterError
from ..writing import is_standard_output


def _with_folder(output: Path | None) -> Path | None:
    """Check that the folder of an output is there, before any work is done."""
    if output is not None and not is_standard_output(output):
        folder = output.expanduser().parent
        if not folder.is_dir():
            raise typer.BadParameter(
                f"There is no folder {str(folder)!r} to write {output.name} to. Create it, or "
                "choose another place."
            )
    return output


_output = typer.Option(
    "--output", "-o", callback=_with_folder, help="File or folder to write; - is standard output."
)
_plot = typer.Option(
    callback=_with_folder, help="Draw the distributions to this .png, .pdf or .svg file."
)
_html = typer.Option(callback=_with_folder, help="Write a page with drawings of the graphs.")

# ------------------------------------------------------------------ what is read

_data = typer.Argument(
    metavar="DATA", help="A file, a folder, the name of a TU data set, or drugs."
)
Data = Annotated[str, _data]
OptionalData = Annotated[str | None, _data]
IndexOrData = Annotated[
    str, typer.Argument(metavar="DATA", help="An index, a file, a folder, or a data set.")
]
SecondData = Annotated[
    str | None,
    typer.Argument(metavar="SECOND", help="A second file or data set, such as the test set."),
]
First = Annotated[
    str, typer.Argument(metavar="FIRST", help="A SMILES, a file, a folder, or a data set.")
]
Second = Annotated[
    str | None, typer.Argument(metavar="SECOND", help="What FIRST is compared with.")
]
By = Annotated[
    str | None,
    typer.Option("--by", metavar="COLUMN", help="Column whose values divide FIRST into sets."),
]
MoleculeData = Annotated[
    str, typer.Argument(metavar="DATA", help="A file of molecules: .smi, .csv, .tsv, .sdf.")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model written by fit.")]
ModelOption = Annotated[
    Path | None,
    typer.Option("--model", metavar="MODEL", help="Explain this model, written by fit."),
]
Index = Annotated[
    Path, typer.Argument(metavar="INDEX", help="An index built by `graphgrain index`.")
]
Queries = Annotated[
    list[str], typer.Argument(metavar="QUERY", help="SMILES, or files or data sets of graphs.")
]

_MOLECULES = "For files of molecules (.smi, .csv, .tsv, .sdf)"

Target = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column with the target.", rich_help_panel=_MOLECULES),
]
Id = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with the id of each molecule; by default the column name, if there is one.",
        rich_help_panel=_MOLECULES,
    ),
]
Smiles = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with the SMILES; by default the first whose name contains smiles.",
        rich_help_panel=_MOLECULES,
    ),
]
Labels = Annotated[
    str,
    typer.Option(
        metavar="NAME,...",
        help="What atoms are labelled with beside the element: charge, aromatic, stereo (R/S of "
        "stereocentres, E/Z of double bonds), isotopes, radicals; hydrogens adds them as "
        "vertices.",
        rich_help_panel=_MOLECULES,
    ),
]
Errors = Annotated[
    Literal["raise", "skip"],
    typer.Option(
        help="Handling of unreadable molecules: raise an error, or skip them with a note.",
        rich_help_panel=_MOLECULES,
    ),
]
Missing = Annotated[
    Literal["raise", "skip"],
    typer.Option(
        help="Handling of graphs without target (empty, NA, NaN, null or similar): raise an "
        "error, or skip them with a note."
    ),
]
View = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME:PARAMETER=VALUE",
        help="Transform graphs first: edge-filter:drop=1 removes edges by label; edge-lengths "
        "and attribute-bins:n_bins=4 turn coordinates and attributes into labels. Can be "
        "repeated. Views are fitted to all graphs, without their classes.",
    ),
]


@dataclass(frozen=True)
class Reading:
    """How DATA is read: options of all commands that read it, which have it as ``ctx.obj``."""

    target: Target = None
    id: Id = None
    smiles: Smiles = None
    labels: Labels = ""
    errors: Errors = "raise"
    missing: Missing = "raise"
    view: View = None


Context = typer.Context


# ------------------------------------------------------------------ what is written

Output = Annotated[Path, _output]
OptionalOutput = Annotated[Path | None, _output]
Plot = Annotated[Path | None, _plot]
Html = Annotated[Path | None, _html]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing index.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", help="Number of threads or processes; -1 uses all cores.")
]

# ------------------------------------------------------------------ kernels

_kernel = typer.Option("--kernel", "-k", help="Name of the kernel, such as tree++, wl or sp.")
Kernel = Annotated[str, _kernel]
OptionalKernel = Annotated[str | None, _kernel]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Parameters of the kernel, such as --set counts=sqrt,tree_depth=2.",
    ),
]
NumberOfFeatures = Annotated[
    int, typer.Option(min=1, help="Number of columns; features are hashed into them.")
]
ShardSize = Annotated[int, typer.Option(min=1, help="Number of graphs per file.")]

# ------------------------------------------------------------------ similarity

_similarity = typer.Option(
    help="Similarity of graphs; by default that of the index or of the kernel."
)
Similarity = Annotated[Literal["minmax", "cosine", "dot", "containment"] | None, _similarity]
_min_similarity = typer.Option(help="Minimum similarity of two graphs.")
MinSimilarity = Annotated[float, _min_similarity]
OptionalMinSimilarity = Annotated[float | None, _min_similarity]
MinDifference = Annotated[
    float, typer.Option(help="Minimum difference in the target; 1 is tenfold on a log10 scale.")
]
Count = Annotated[
    int, typer.Option("--count", "-n", min=1, help="Number of graphs to find per query.")
]
Pick = Annotated[
    int | None,
    typer.Option(help="Pick this number of diverse graphs instead of clustering."),
]
MaxPerGraph = Annotated[
    int | None,
    typer.Option(min=1, help="Maximum number of pairs per graph, the most similar first."),
]
Drug = Annotated[str, typer.Option(help="Drug whose neighbours are shown.")]

# ------------------------------------------------------------------ models

Columns = Annotated[
    str,
    typer.Option(metavar="NAME,...", help="Columns to use in addition to the molecule."),
]
Descriptors = Annotated[
    Literal["rdkit"] | None, typer.Option(help="Use descriptors of molecules as well.")
]
Interval = Annotated[
    float, typer.Option(help="Coverage of the prediction interval or of the set of classes.")
]
Domain = Annotated[
    bool,
    typer.Option(help="Add whether a molecule is like the training molecules, and the reason."),
]
Skip = Annotated[
    int, typer.Option(min=0, help="Leave out this number of rows, to continue with --append.")
]
Append = Annotated[
    bool, typer.Option("--append", help="Add to the output, as after an interruption.")
]
Row = Annotated[
    str,
    typer.Option(
        metavar="NUMBER,...",
        help="Rows of DATA to explain, counted from 1, such as 17 or 17,20-22. The header is not "
        "counted, unreadable molecules are.",
    ),
]
Most = Annotated[
    int,
    typer.Option(min=4, help="Maximum number of graphs; of larger sets a sample is shown."),
]

# ------------------------------------------------------------------ evaluation

Kernels = Annotated[
    str,
    typer.Option(
        "--kernel",
        "-k",
        metavar="NAME,...",
        help="What is compared: names of kernels (tree++,wl), and model for the model of fit.",
        show_default="tree++",
    ),
]
Split = Annotated[
    str,
    typer.Option(
        metavar="SPLIT",
        help="folds: cross-validation. random, scaffold (rare scaffolds are tested) or "
        "random-scaffold: one test part, with 80 % of the graphs for training and 10 % for "
        "testing. Or a column that says train and test, or has the number of a fold.",
    ),
]
NumberOfFolds = Annotated[int, typer.Option("--folds", min=2, help="Number of test folds.")]
Repeats = Annotated[int, typer.Option(min=1, help="Number of repetitions with other folds.")]
Group = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Graphs with the same value are in the same fold."),
]
Time = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Test the last tenth by this column.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the folds.")]
Measures = Annotated[
    str,
    typer.Option(
        "--scoring",
        metavar="NAME,...",
        help="accuracy, balanced_accuracy, roc_auc, average_precision, rmse, mae, r2, or scorers "
        "of scikit-learn; the first is compared.",
        show_default="accuracy or rmse",
    ),
]
RemoveDuplicates = Annotated[
    bool, typer.Option("--remove-duplicates", help="Remove isomorphic duplicates first.")
]
FoldTable = Annotated[
    Path | None,
    typer.Option("--csv", callback=_with_folder, help="Write each finished fold to this table."),
]

# ------------------------------------------------------------------ values of options


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


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a hint with similar names, or an empty string.

    >>> nearest("treepp", ["tree++", "wl"])
    'Did you mean tree++? '
    """
    by_lower = {item.lower(): item for item in names}
    close = get_close_matches(name.lower(), by_lower, n=3)
    return f"Did you mean {' or '.join(by_lower[item] for item in close)}? " if close else ""


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
