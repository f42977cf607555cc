"""The command cluster: clusters of similar graphs or a diverse subset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from ..writing import check_output, write_csv
from . import options as opt
from .app import command
from .console import answer, err, out, written
from .options import check_share
from .tables import text_table

if TYPE_CHECKING:
    from ..searching.graph_index import GraphIndex
    from ..searching.groups import Clusters

_SHOWN = 10


@command(
    [
        "graphgrain cluster drugs --min-similarity 0.5",
        "graphgrain cluster library.ggi -o clusters.csv",
        "graphgrain cluster molecules.smi --pick 100 --json",
    ],
    reads_data=True,
)
def cluster(
    ctx: opt.Context,
    data: opt.IndexOrData,
    min_similarity: opt.MinSimilarity = 0.6,
    pick: opt.Pick = None,
    similarity: opt.Similarity = None,
    output: opt.OptionalOutput = None,
    jobs: opt.Jobs = -1,
    as_json: opt.Json = False,
) -> None:
    """Cluster similar graphs (sphere exclusion), or pick a diverse subset (MaxMin).

    A cluster consists of a graph with many neighbours and those neighbours that are not in a larger
    cluster.
    """
    check_share("--min-similarity", min_similarity)
    if output is not None:
        check_output(output, "The table")
    from ..searching.groups import pick_diverse, sphere_exclusion
    from .indexes import names_of, opened

    reading: opt.Reading = ctx.obj
    rows: list[tuple[Any, ...]]
    index = opened(data, reading, jobs, similarity)
    ids = index.ids
    if pick is not None:
        with err().status("picking"):
            chosen = ids[pick_diverse(index, pick)].tolist()
        names = names_of(index, chosen)
        rows = [("rank", "id", "name"), *zip(range(1, pick + 1), chosen, names, strict=True)]
        if as_json:
            answer({"picks": chosen, "names": names})
        elif output is None:
            out().print(_table([("id", chosen), ("", names)]))
    else:
        with err().status("clustering"):
            clusters = sphere_exclusion(index, min_similarity)
        centers = ids[clusters.centers].tolist()
        names = names_of(index, ids.tolist())
        rows = [("id", "name", "cluster", "center")]
        rows += [
            (key, label, int(number) + 1, centers[number])
            for key, label, number in zip(
                ids.tolist(), names, clusters.labels.tolist(), strict=True
            )
        ]
        if as_json:
            answer(
                {
                    "min_similarity": min_similarity,
                    "clusters": [
                        {"center": center, "size": int(size)}
                        for center, size in zip(centers, clusters.sizes, strict=True)
                    ],
                    "labels": (clusters.labels + 1).tolist(),
                    "ids": ids.tolist(),
                    "names": names,
                }
            )
        elif output is None:
            _show(index, clusters, centers)
    if output is not None:
        write_csv(output, rows)
        written("Picks" if pick is not None else "Clusters", output)


def _show(index: GraphIndex, clusters: Clusters, centers: list[Any]) -> None:
    from ..graphs.batch import counted
    from .indexes import names_of

    alone = int((clusters.sizes == 1).sum())
    out().print(
        f"{counted(len(index), 'graph')} in {counted(len(centers), 'cluster')}, {alone:,} of them "
        "with one graph."
    )
    first = centers[:_SHOWN]
    sizes = [f"{size:,}" for size in clusters.sizes[:_SHOWN].tolist()]
    numbers = range(1, len(first) + 1)
    names = names_of(index, first)
    out().print(_table([("cluster", numbers), ("size", sizes), ("center", first), ("", names)]))


def _table(columns: list[tuple[str, Any]]) -> Table:
    """Return a table without empty columns."""
    texts = [(title, [str(value) for value in values]) for title, values in columns]
    texts = [(title, values) for title, values in texts if any(values)]
    rows = zip(*(values for _, values in texts), strict=True)
    return text_table([title for title, _ in texts], rows, ("cluster", "size"))
