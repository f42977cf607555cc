"""The command search: which graphs of an index are like these?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.datasets.fetch import tu_datasets
from ..graphs.files.molecules import is_molecule_file
from ..searching.graph_index import GraphIndex
from ..searching.index_files import KINDS
from .app import answer, command, err, out
from .arguments import Jobs, Json, Reading, check_choice
from .loading import BUNDLED, load, row_names

#: Columns that say nothing to a person.
_HIDDEN = ("line",)
#: Endings of files of graphs other than molecules.
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
    index: Annotated[Path, typer.Argument(help="An index, made by `graphgrain index`.")],
    queries: Annotated[
        list[str], typer.Argument(help="SMILES, or files or data sets of graphs.", metavar="QUERY")
    ],
    reading: Reading,
    count: Annotated[
        int, typer.Option("--count", "-n", help="How many graphs to find for each query.", min=1)
    ] = 10,
    min_similarity: Annotated[
        float | None, typer.Option(help="Only graphs of at least this similarity.")
    ] = None,
    similarity: Annotated[
        str | None,
        typer.Option(help="By default that of the index.", metavar="|".join(KINDS)),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page with the graphs drawn.", metavar="FILE")
    ] = None,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Find the graphs of an index that are most similar to each query.

    The values are exact: those of the kernel that the index was built with. "cosine" is its
    normalised value, "minmax" is Tanimoto (of bits and of counts), "dot" is the kernel's value as
    it is, "containment" tells how much of the query a graph contains. Graphs that came without ids
    are numbered from 1, as rows are.
    """
    if similarity is not None:
        check_choice("--similarity", similarity, tuple(KINDS))
    library = GraphIndex.open(index, n_jobs=n_jobs)
    graphs, names = as_query_graphs(library, queries, reading)
    ids, values, columns = library.search(
        graphs,
        k=count,
        threshold=min_similarity,
        similarity=similarity,
        return_columns=True,
    )
    found = [
        {
            "query": name,
            "hits": [
                {
                    "id": key,
                    "similarity": float(value),
                    **{column: each.tolist()[place] for column, each in known.items()},
                }
                for place, (key, value) in enumerate(zip(row.tolist(), each_value, strict=True))
            ],
        }
        for name, row, each_value, known in zip(names, ids, values, columns, strict=True)
    ]
    if html is not None:
        from ..report.graph_pages import write_search_page

        hits = [library.graphs(row.tolist()) for row in ids]
        about = f"{similarity or library.similarity}, {len(library):,} graphs in {index.name}"
        write_search_page(html, about, graphs, found, hits)
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
        out().print("Nothing is that similar.")
        return
    names = [
        name
        for name in found["hits"][0]
        if name not in ("id", "similarity", *_HIDDEN)
        and any(hit[name] not in ("", None) for hit in found["hits"])
    ]
    table = Table(box=None)
    table.add_column("similarity", justify="right")
    for name in ("id", *names):
        table.add_column(escape(name), overflow="fold")
    for hit in found["hits"]:
        shown = [escape(str(hit[name])) for name in ("id", *names)]
        table.add_row(f"{hit['similarity']:.4f}", *shown)
    out().print(table)


def as_query_graphs(
    index: GraphIndex, queries: list[str], reading: Reading
) -> tuple[GraphBatch, list[str]]:
    """Graphs and names of queries: SMILES, or files and data sets of graphs."""
    batches, names = [], []
    for query in queries:
        if not query.strip():
            raise InvalidParameterError("A query is a SMILES, a file or a data set; got nothing.")
        if _is_data(query):
            loaded = load(query, reading)
            batches.append(loaded.graphs)
            names += row_names(loaded)
            continue
        try:
            batches.append(index.as_queries([query]))
        except InvalidGraphError as error:
            error.add_note(
                f"{query!r} was taken as SMILES: there is no file and no data set of that name."
            )
            raise
        names.append(query)
    return GraphBatch.concatenate(batches), names


def _is_data(query: str) -> bool:
    """Whether a query is the name of a file or a data set, and no SMILES."""
    path = Path(query).expanduser()
    if path.exists() or is_molecule_file(path) or path.suffix.lower() in _FILES:
        return True
    known = {item.name.lower() for item in tu_datasets()} | {BUNDLED}
    return query.lower() in known
