"""The command overlap: what two collections of graphs have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ..searching.groups import near_duplicates
from ..searching.index_files import KINDS
from ..writing import write_csv
from .app import answer, command, err, out
from .arguments import Jobs, Json, Reading, check_choice, check_share
from .index import labels_of, opened
from .loading import load, row_names

_SHOWN = 10


@command(
    [
        "graphgrain overlap train.csv test.csv",
        "graphgrain overlap library.ggi new.smi --min-similarity 0.8 -o pairs.csv",
    ]
)
def overlap(
    first: Annotated[
        str, typer.Argument(help="An index, file or data set, such as what a model was fitted to.")
    ],
    second: Annotated[str, typer.Argument(help="A file or data set, such as the test set.")],
    reading: Reading,
    min_similarity: Annotated[
        float, typer.Option(help="From which similarity on two graphs are near-duplicates.")
    ] = 0.9,
    similarity: Annotated[
        str, typer.Option(help="How graphs are compared.", metavar="|".join(KINDS))
    ] = "minmax",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write all pairs to this .csv file.")
    ] = None,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Find the graphs of the second collection that have a near-duplicate in the first.

    What leaks from a training set into a test set makes models look better than they are.
    """
    check_choice("--similarity", similarity, tuple(KINDS))
    check_share("--min-similarity", min_similarity)
    with opened(first, reading, n_jobs, similarity) as index:
        loaded = load(second, reading)
        found = near_duplicates(index, loaded.graphs, min_similarity)
        total = len(loaded.graphs)
        firsts = found.ids.tolist()
        labels = labels_of(index, firsts)
    names = row_names(loaded)
    values = found.similarities.tolist()
    seconds = [names[query] for query in found.queries.tolist()]
    pairs = list(zip(seconds, firsts, labels, values, strict=True))
    equal = sum(value == 1.0 for value in values)
    if output is not None:
        write_csv(output, [("second", "first", "first_name", "similarity"), *pairs])
        err().print(f"Written to {escape(str(output))}.")
    if as_json:
        answer(
            {
                "graphs": total,
                "min_similarity": min_similarity,
                "near_duplicates": len(pairs),
                "similarity_1": equal,
                "pairs": [
                    {"second": a, "first": b, "first_name": name, "similarity": value}
                    for a, b, name, value in pairs
                ],
            }
        )
        return
    share = f" ({100 * len(pairs) / total:.1f} %)" if total else ""
    out().print(
        f"{len(pairs):,} of {total:,} graphs{share} have a near-duplicate of similarity "
        f"{min_similarity:g} or more; {equal:,} of them one of similarity 1."
    )
    if pairs:
        table = Table("in the second", "in the first", "", "similarity", box=None)
        for a, b, name, value in pairs[:_SHOWN]:
            table.add_row(escape(a), escape(str(b)), escape(name), f"{value:.4f}")
        out().print(table)
