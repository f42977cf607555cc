"""The command cluster: groups of similar graphs, or graphs that differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from ..searching.clusters import Clusters, sphere_exclusion
from ..searching.diversity import pick_diverse
from ..searching.graph_index import GraphIndex
from ..searching.ranking import KINDS
from ..writing import write_csv
from .app import answer, command, err, out
from .arguments import Jobs, Json, Reading, check_choice
from .index_sources import opened

_SHOWN = 10


@command(
    [
        "graphgrain cluster drugs --threshold 0.5",
        "graphgrain cluster library.ggi -o clusters.csv",
        "graphgrain cluster molecules.smi --pick 100 --json",
    ]
)
def cluster(
    data: Annotated[
        str, typer.Argument(help="An index, a file, a folder, a data set.", metavar="DATA")
    ],
    reading: Reading,
    threshold: Annotated[
        float, typer.Option(help="The least similarity of a member and the centre.")
    ] = 0.6,
    pick: Annotated[
        int | None,
        typer.Option(help="Instead of clusters: so many graphs that differ the most."),
    ] = None,
    similarity: Annotated[
        str, typer.Option(help="How graphs are compared.", metavar="|".join(KINDS))
    ] = "minmax",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write all of it to this .csv file.")
    ] = None,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Put similar graphs into clusters (sphere exclusion), or pick graphs that differ (MaxMin).

    A cluster is a graph with many neighbours and those neighbours that are in no larger cluster.
    An index is used with its own similarity.
    """
    check_choice("--similarity", similarity, tuple(KINDS))
    rows: list[tuple[Any, ...]]
    with opened(data, reading, n_jobs, similarity) as index:
        ids = index.ids
        if pick is not None:
            with err().status("picking"):
                chosen = ids[pick_diverse(index, pick)].tolist()
            rows = [("rank", "id"), *enumerate(chosen, start=1)]
            if as_json:
                answer({"picks": chosen})
            else:
                out().print("\n".join(escape(str(name)) for name in chosen))
        else:
            with err().status("clustering"):
                found = sphere_exclusion(index, threshold)
            centers = ids[found.centers].tolist()
            named = [(key, int(label), centers[label]) for key, label in
                     zip(ids.tolist(), found.labels.tolist(), strict=True)]  # fmt: skip
            rows = [("id", "cluster", "center"), *named]
            if as_json:
                answer(
                    {
                        "threshold": threshold,
                        "clusters": [
                            {"center": center, "size": int(size)}
                            for center, size in zip(centers, found.sizes, strict=True)
                        ],
                        "labels": found.labels.tolist(),
                        "ids": ids.tolist(),
                    }
                )
            else:
                _show(index, found, centers)
    if output is not None:
        write_csv(output, rows)
        err().print(f"Written to {escape(str(output))}.")


def _show(index: GraphIndex, found: Clusters, centers: list[object]) -> None:
    alone = int((found.sizes == 1).sum())
    out().print(
        f"{len(index):,} graphs in {len(centers):,} clusters, {alone:,} of them with one graph."
    )
    table = Table(box=None)
    table.add_column("size", justify="right")
    table.add_column("center")
    for center, size in list(zip(centers, found.sizes.tolist(), strict=True))[:_SHOWN]:
        table.add_row(f"{size:,}", escape(str(center)))
    out().print(table)
