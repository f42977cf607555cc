"""The command cluster: clusters of similar graphs or a diverse subset."""

from __future__ import annotations

from typing import Any

from rich.markup import escape
from rich.table import Table

from ..graphs.batch import counted
from ..searching.graph_index import GraphIndex
from ..searching.groups import Clusters, pick_diverse, sphere_exclusion
from ..writing import write_csv
from .app import command
from .console import answer, err, out
from .index import labels_of, opened
from .options import (
    Errors,
    Id,
    IndexOrData,
    Jobs,
    Json,
    Labels,
    MinSimilarity,
    Missing,
    OptionalOutput,
    Pick,
    Reading,
    Similarity,
    Smiles,
    Target,
    View,
    check_share,
)
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
    min_similarity: MinSimilarity = 0.6,
    pick: Pick = None,
    similarity: Similarity = None,
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
    """Cluster similar graphs (sphere exclusion), or pick a diverse subset (MaxMin).

    A cluster consists of a graph with many neighbours and those neighbours that are not in a larger
    cluster.
    """
    reading = Reading(target, id, smiles, labels, errors, missing, view)
    check_share("--min-similarity", min_similarity)
    rows: list[tuple[Any, ...]]
    index = opened(data, reading, n_jobs, similarity)
    ids = index.ids
    if pick is not None:
        with err().status("picking"):
            chosen = ids[pick_diverse(index, pick)].tolist()
        names = labels_of(index, chosen)
        rows = [("rank", "id", "name"), *zip(range(1, pick + 1), chosen, names, strict=True)]
        if as_json:
            answer({"picks": chosen, "names": names})
        else:
            out().print(_table([("id", chosen), ("", names)]))
    else:
        with err().status("clustering"):
            found = sphere_exclusion(index, min_similarity)
        centers = ids[found.centers].tolist()
        names = labels_of(index, ids.tolist())
        rows = [("id", "name", "cluster", "center")]
        rows += [
            (key, label, number + 1, centers[number])
            for key, label, number in zip(ids.tolist(), names, found.labels.tolist(), strict=True)
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
                    "names": names,
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
    names = labels_of(index, first)
    out().print(_table([("cluster", numbers), ("size", sizes), ("center", first), ("", names)]))


def _table(columns: list[tuple[str, Any]]) -> Table:
    """Return a table without empty columns."""
    texts = [(title, [str(value) for value in values]) for title, values in columns]
    texts = [(title, values) for title, values in texts if any(values)]
    rows = zip(*(values for _, values in texts), strict=True)
    return text_table([title for title, _ in texts], rows, ("cluster", "size"))
