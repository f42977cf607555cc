"""The command cliffs: pairs of similar graphs with different target values."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from ..errors import InvalidParameterError
from ..graphs.batch import counted
from ..searching.activity_cliffs import Cliffs
from ..searching.activity_cliffs import cliffs as find_cliffs
from ..writing import atomic_write, check_output, suffix_of
from .app import command
from .console import answer, err, out
from .loading import load, row_names
from .options import (
    Data,
    Errors,
    Id,
    Jobs,
    Json,
    Labels,
    MinSimilarity,
    Missing,
    OptionalOutput,
    Reading,
    Smiles,
    Target,
    View,
    check_choice,
    check_share,
)
from .tables import text_table

_SHOWN = 10


@command(
    [
        "graphgrain cliffs assays.csv --target y -o cliffs.html",
        "graphgrain cliffs assays.csv --target pIC50 --min-similarity 0.7 --min-difference 2",
        "graphgrain cliffs assays.csv --target y -o cliffs.csv",
    ]
)
def cliffs(
    data: Data,
    min_similarity: MinSimilarity = 0.8,
    min_difference: Annotated[
        float, typer.Option(help="Minimum difference in the target; 1 is tenfold on a log10 scale.")
    ] = 1.0,
    similarity: Annotated[
        str, typer.Option(help="Similarity of graphs.", metavar="minmax|cosine")
    ] = "minmax",
    most: Annotated[
        int,
        typer.Option(help="Maximum number of pairs drawn on the page, the steepest first.", min=1),
    ] = 200,
    output: OptionalOutput = None,
    target: Target = None,
    id: Id = None,
    smiles: Smiles = None,
    labels: Labels = "",
    errors: Errors = "raise",
    missing: Missing = "raise",
    view: View = None,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Find activity cliffs: pairs of similar graphs with different target values.

    The page draws both graphs of each pair in the same orientation and colours their differences.
    Duplicate graphs with different target values are listed separately.
    """
    reading = Reading(target, id, smiles, labels, errors, missing, view)
    check_share("--min-similarity", min_similarity)
    check_choice("--similarity", similarity, ("minmax", "cosine"))
    if not 0.0 < min_difference < float("inf"):
        raise InvalidParameterError(f"--min-difference is above 0; got {min_difference}.")
    if output is not None:
        if suffix_of(output, ".html") not in (".html", ".csv"):
            raise InvalidParameterError(
                f"Cliffs are written as .html or .csv; got {str(output)!r}."
            )
        check_output(output, "The page")
    loaded = load(data, reading, all_rows=True).with_classes().with_one_target()
    if loaded.y is None or loaded.y.dtype.kind not in "iuf":
        raise InvalidParameterError(
            f"cliffs needs numeric targets, and {data} has "
            + ("none." if loaded.y is None else "classes, whose differences have no size.")
            + " Name a column of numbers with --target."
        )
    names = row_names(loaded)
    with err().status(f"Comparing {escape(loaded.name)}"):
        bounds = (min_similarity, min_difference)
        found = find_cliffs(loaded.graphs, loaded.y, *bounds, similarity=similarity, n_jobs=n_jobs)
    for group in found.duplicates[:_SHOWN]:
        values = ", ".join(f"{found.y[graph]:.4g}" for graph in group)
        err().print(f"Measured {len(group)} times: {escape(names[group[0]])}: {values}")
    if len(found.duplicates) > _SHOWN:
        err().print(f"... and {len(found.duplicates) - _SHOWN:,} more; the page lists all.")
    if output is not None:
        from ..pages.graph_pages import cliffs_csv, cliffs_page

        target = reading.target or "target"
        if suffix_of(output, ".html") == ".csv":
            text = cliffs_csv(found, names)
        else:
            title = loaded.name.split(":")[0]
            text = cliffs_page(found, names, title, target, min_difference, most)
        with atomic_write(output, "The page") as file:
            file.write(text.encode())
        err().print(f"{counted(len(found), 'cliff')} written to {escape(str(output))}.")
    if as_json:
        answer(
            {
                "graphs": len(loaded.graphs),
                "missing": len(found.missing),
                "duplicates": [[names[graph] for graph in group] for group in found.duplicates],
                "cliffs": [
                    {
                        "first": names[cliff.first],
                        "second": names[cliff.second],
                        "rows": [cliff.first + 1, cliff.second + 1],
                        "similarity": cliff.similarity,
                        "difference": cliff.difference,
                        "steepness": cliff.steepness if cliff.steepness < float("inf") else None,
                    }
                    for cliff in found.cliffs
                ],
            }
        )
    elif output is None:
        _show(found, names)


def _show(found: Cliffs, names: list[str]) -> None:
    graphs = int((found.counts > 0).sum())
    out().print(
        f"{counted(len(found), 'cliff')}; {graphs:,} of {len(found.y):,} graphs are part of one."
    )
    if not len(found):
        return
    rows = [
        (
            f"{cliff.steepness:.3g}",
            f"{cliff.similarity:.3f}",
            names[cliff.first],
            f"{found.y[cliff.first]:.4g}",
            names[cliff.second],
            f"{found.y[cliff.second]:.4g}",
        )
        for cliff in found.cliffs[:_SHOWN]
    ]
    out().print(text_table(("steepness", "similarity", "first", "", "second", ""), rows))
