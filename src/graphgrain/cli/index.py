"""The commands index and search: build an index of graphs and search it.

For other commands that accept an index or graphs as DATA, `opened` returns an existing index or
one in memory.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import numpy as np
from rich.markup import escape

from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch, counted
from ..graphs.convert.rdkit import LabelOptions
from ..graphs.datasets.fetch import tu_datasets
from ..graphs.files.molecules import is_molecule_file
from ..graphs.tables import names_beside
from ..searching.graph_index import GraphIndex, described_kernel, frozen
from ..searching.index_folder import DATABASE
from .app import command
from .console import answer, err, out
from .kernel_options import chosen_kernel
from .loading import BUNDLED, load, molecule_options, options_set, row_names, with_labels
from .options import (
    Count,
    Data,
    Errors,
    Html,
    Id,
    Index,
    Jobs,
    Json,
    Labels,
    Missing,
    OptionalKernel,
    OptionalMinSimilarity,
    Output,
    Overwrite,
    Parameters,
    Queries,
    Reading,
    Similarity,
    Smiles,
    Target,
    View,
)
from .tables import text_table


@command(
    [
        "graphgrain index drugs -o drugs.ggi",
        "graphgrain index molecules.smi.gz -o library.ggi --errors skip",
        "graphgrain index molecules.csv -o library.ggi --id name --kernel wl --set n_iter=3",
    ]
)
def index(
    data: Data,
    output: Output,
    kernel: OptionalKernel = None,
    parameters: Parameters = None,
    similarity: Similarity = None,
    overwrite: Overwrite = False,
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
    """Build an index of graphs for search, cluster and pairs.

    The index contains the graphs, so the input file is not needed afterwards.
    """
    reading = Reading(target, id, smiles, labels, errors, missing, view)
    chosen = None
    if kernel is not None or parameters:
        chosen = chosen_kernel(kernel or "tree++", parameters)
    begin = time.perf_counter()
    options = {"similarity": similarity, "overwrite": overwrite, "n_jobs": n_jobs}
    made = build(data, reading, output, kernel=chosen, **options)
    seconds = time.perf_counter() - begin
    size = made.nbytes()
    if as_json:
        answer(
            {
                "index": str(output),
                "graphs": len(made),
                "bytes": size,
                "kernel": described_kernel(made),
                "similarity": made.similarity,
                "columns": made.column_names,
                "seconds": round(seconds, 3),
            }
        )
        return
    each = f", {size / len(made):,.0f} bytes each" if len(made) else ""
    out().print(
        f"{counted(len(made), 'graph')} in {escape(str(output))} ({size / 1e6:,.1f} MB{each}) in "
        f"{seconds:,.1f} s.\nCompared by {made.similarity} of {escape(described_kernel(made))}."
    )


# -------------------------------------------------------------------- from DATA to an index


def build(data: str, reading: Reading, path: Path | None, **options: Any) -> GraphIndex:
    """Build the index of a DATA argument, in memory without a path; molecules are streamed."""
    place = Path(data).expanduser()
    source: Any
    if data == BUNDLED and not reading.view:
        source = Path(str(files("graphgrain.graphs.datasets") / "data" / "drugs.csv"))
        reading = replace(reading, id=reading.id or "name")
    elif is_molecule_file(place) and place.exists() and not reading.view:
        source = place
        if reading.target is not None:
            raise InvalidParameterError(
                "All columns and rows of the file are used, with or without a target. Leave out "
                f"--target {reading.target}."
            )
    else:
        loaded = load(data, reading)
        source = loaded.graphs
        known = loaded.table or {"target": loaded.y, "name": loaded.names}
        options["columns"] = {
            name: np.asarray(values) for name, values in known.items() if values is not None
        }
    if isinstance(source, Path):
        options |= molecule_options(reading)
    # The command line counts rows from 1.
    return GraphIndex.build(
        path, source, ids=reading.id, first_id=1, verbose=sys.stderr.isatty(), **options
    )


def opened(
    data: str, reading: Reading, n_jobs: int, similarity: str | None, *, alone: bool = True
) -> GraphIndex:
    """Open an index, or build one in memory from DATA.

    ``alone`` is False if ``reading`` is also for another argument.
    """
    path = Path(data).expanduser()
    if path.suffix == ".ggi" or (path / DATABASE).is_file():
        if alone and (unused := options_set(reading)):
            raise InvalidParameterError(
                f"--{unused[0]} is for files of graphs; the index {data!r} contains its graphs. "
                f"Leave out --{unused[0]}, or build another index with it."
            )
        return frozen(GraphIndex.open(data, n_jobs=n_jobs), similarity)
    return build(data, reading, None, n_jobs=n_jobs, similarity=similarity)


def labels_of(index: GraphIndex, ids: list[Any]) -> list[str]:
    """Return names or SMILES of graphs whose ids are numbers."""
    return labels(ids, index.columns(ids))


def labels(ids: list[Any], columns: dict[str, np.ndarray]) -> list[str]:
    """Return names or SMILES from the columns of these graphs."""
    known = {name.lower(): values.tolist() for name, values in columns.items()}
    texts = [known[name] for name in ("name", "smiles") if name in known]
    return [
        "" if isinstance(key, str) else next((str(each[at]) for each in texts if each[at]), "")
        for at, key in enumerate(ids)
    ]


# -------------------------------------------------------------------- search


#: Suffixes of files of graphs other than molecules.
_FILES = (".zip", ".gz", ".mat", ".txt", ".json", ".ggi")


@command(
    [
        'graphgrain search library.ggi "CC(=O)Oc1ccccc1C(=O)O" -n 10',
        "graphgrain search library.ggi queries.smi --min-similarity 0.7 --json",
        "graphgrain search mutag.ggi MUTAG -n 3",
        'graphgrain search library.ggi "c1ccncc1" --similarity containment --html found.html',
    ]
)
def search(
    index: Index,
    queries: Queries,
    count: Count = 10,
    min_similarity: OptionalMinSimilarity = None,
    similarity: Similarity = None,
    html: Html = None,
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
    """Find the graphs of an index that are most similar to each query.

    Similarities are exact values of the kernel that the index was built with: "cosine" is its
    normalised value, "minmax" the Tanimoto similarity (of bits and of counts), "dot" the value
    without normalisation, and "containment" the share of the query that a graph contains. Graphs
    without ids are numbered from 1.
    """
    reading = Reading(target, id, smiles, labels, errors, missing, view)
    library = GraphIndex.open(index, n_jobs=n_jobs)
    graphs, names = as_query_graphs(library, queries, reading)
    ids, values, columns = library.search(
        graphs, k=count, min_similarity=min_similarity, similarity=similarity, return_columns=True
    )
    found = []
    for name, row, each_value, known in zip(names, ids, values, columns, strict=True):
        keys, beside = row.tolist(), {column: each.tolist() for column, each in known.items()}
        if beside.get("id") == keys:
            del beside["id"]
        shown = names_beside(("id", "similarity"), beside)
        hits = [
            {
                "id": key,
                "similarity": float(value),
                **{shown[column]: each[place] for column, each in beside.items()},
            }
            for place, (key, value) in enumerate(zip(keys, each_value, strict=True))
        ]
        found.append({"query": name, "hits": hits})
    if html is not None:
        from ..pages.graph_pages import write_search_page

        drawn = [library.graphs(row.tolist()) for row in ids]
        used = similarity or library.similarity
        about = f"{used}, {counted(len(library), 'graph')} in {index.name}"
        write_search_page(html, about, graphs, found, drawn, used)
    if as_json:
        answer(found)
    else:
        for each in found:
            _show(each, single=len(found) == 1)
    if html is not None:
        err().print(f"Page written to {escape(str(html))}.")


def _show(found: dict[str, Any], single: bool) -> None:
    if not single:
        out().print(f"\n[bold]{escape(found['query'])}[/bold]")
    if not found["hits"]:
        out().print("No graph is similar enough.")
        return
    hits = found["hits"]
    names = [
        name
        for name in hits[0]
        if name not in ("id", "similarity", "line")
        and any(hit[name] not in ("", None) for hit in hits)
    ]
    rows = [(f"{hit['similarity']:.4f}", *(hit[name] for name in ("id", *names))) for hit in hits]
    table = text_table(("similarity", "id", *names), rows, ("similarity",))
    for column in table.columns[1:]:
        column.overflow = "fold"
    out().print(table)


def as_query_graphs(
    index: GraphIndex, queries: list[str], reading: Reading
) -> tuple[GraphBatch, list[str]]:
    """Return graphs and names of queries: SMILES, files or data sets."""
    batches, names = [], []
    for query in queries:
        if not query.strip():
            raise InvalidParameterError("A query is a SMILES, a file or a data set; got nothing.")
        if _is_data(query):
            loaded = load(query, reading_of(index, reading))
            batches.append(loaded.graphs)
            names += row_names(loaded)
            continue
        try:
            batches.append(cast(GraphBatch, index.as_queries([query])))
        except InvalidGraphError as error:
            error.add_note(
                f"{query!r} was taken as SMILES: there is no file and no data set of that name."
            )
            raise
        names.append(query)
    return GraphBatch.concatenate(batches), names


def reading_of(index: GraphIndex, reading: Reading) -> Reading:
    """Return the options to read molecules in the same way as those of the index."""
    molecules = index._snapshot.settings.molecules
    if molecules is None:
        return reading
    labels = [name for name in LabelOptions._fields if molecules.get(name, False)]
    return with_labels(reading, labels, "The index was built")


def _is_data(query: str) -> bool:
    """Check if a query is the name of a file or a data set and not SMILES."""
    path = Path(query).expanduser()
    if path.exists() or is_molecule_file(path) or path.suffix.lower() in _FILES:
        return True
    return query.lower() in {BUNDLED, *(item.name.lower() for item in tu_datasets())}
