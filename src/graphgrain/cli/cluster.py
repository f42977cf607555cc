"""The command cluster: clusters of similar graphs or a diverse subset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from ..graphs.batch import counted
from ..searching.graph_index import GraphIndex
from ..searching.groups import Clusters, pick_diverse, sphere_exclusion
from ..searching.index_files import KINDS
from ..writing import write_csv
from .app import answer, command, err, out
from .arguments import Jobs, Json, Reading, check_choice, check_share, output_file
from .index import IndexOrData, Similarity, labels_of, opened
from .tables import text_table

_SHOWN = 10


@command(
    [
        "graphgrain cluster drugs --min-similarity 0.5",
        "graphgrain cluster library.ggi -o clusters.csv",
        "graphgrain cluster molecules.smi --pick 100 --json",
    ]
)
def cluster(
    data: IndexOrData,
    reading: Reading,
    min_similarity: Annotated[
        float, typer.Option(help="Minimum similarity of a member to the centre.")
    ] = 0.6,
    count: Annotated[
        int | None,
        typer.Option("--pick", help="Pick this number of diverse graphs instead of clustering."),
    ] = None,
    similarity: Similarity = None,
    output: Annotated[Path | None, output_file("Write the full result to this .csv file.")] = None,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Cluster similar graphs (sphere exclusion), or pick a diverse subset (MaxMin).

    A cluster consists of a graph with many neighbours and those neighbours that are not in a larger
    cluster. For an index, its own similarity is used.
    """
    if similarity is not None:
        check_choice("--similarity", similarity, tuple(KINDS))
    check_share("--min-similarity", min_similarity)
    rows: list[tuple[Any, ...]]
    with opened(data, reading, n_jobs, similarity) as index:
        ids = index.ids
        if count is not None:
            with err().status("picking"):
                chosen = ids[pick_diverse(index, count)].tolist()
            labels = labels_of(index, chosen)
            rows = [("rank", "id", "name"), *zip(range(1, count + 1), chosen, labels, strict=True)]
            if as_json:
                answer({"picks": chosen, "names": labels})
            else:
                out().print(_table([("id", chosen), ("", labels)]))
        else:
            with err().status("clustering"):
                found = sphere_exclusion(index, min_similarity)
            centers = ids[found.centers].tolist()
            labels = labels_of(index, ids.tolist())
            rows = [("id", "name", "cluster", "center")]
            rows += [
                (key, label, number + 1, centers[number])
                for key, label, number in zip(
                    ids.tolist(), labels, found.labels.tolist(), strict=True
                )
            ]
            if as_json:
                answer(
                    {
                        "min_similarity": min_similarity,
                        "clusters": [
                            {"center": center, "size": int(size)}
                            for center, size in zip(centers, found.sizes, strict=True)
                        ],
                        "labels": (found.labels + 1).tolist(),
                        "ids": ids.tolist(),
                        "names": labels,
                    }
                )
            else:
                _show(index, found, centers)
    if output is not None:
        write_csv(output, rows)
        err().print(f"Written to {escape(str(output))}.")


def _show(index: GraphIndex, found: Clusters, centers: list[Any]) -> None:
    alone = int((found.sizes == 1).sum())
    out().print(
        f"{counted(len(index), 'graph')} in {counted(len(centers), 'cluster')}, {alone:,} of them "
        "with one graph."
    )
    first = centers[:_SHOWN]
    sizes = [f"{size:,}" for size in found.sizes[:_SHOWN].tolist()]
    numbers = range(1, len(first) + 1)
    labels = labels_of(index, first)
    out().print(_table([("cluster", numbers), ("size", sizes), ("center", first), ("", labels)]))


def _table(columns: list[tuple[str, Any]]) -> Table:
    """Return a table without empty columns."""
    texts = [(title, [str(value) for value in values]) for title, values in columns]
    texts = [(title, values) for title, values in texts if any(values)]
    rows = zip(*(values for _, values in texts), strict=True)
    return text_table([title for title, _ in texts], rows, ("cluster", "size"))
