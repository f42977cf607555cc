"""The command search: find the graphs of an index that are most similar to queries."""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from . import options as opt
from .app import command
from .console import answer, out, written
from .tables import text_table


@command(
    [
        'graphgrain search library.ggi "CC(=O)Oc1ccccc1C(=O)O" -n 10',
        "graphgrain search library.ggi queries.smi --min-similarity 0.7 --json",
        "graphgrain search mutag.ggi MUTAG -n 3",
        'graphgrain search library.ggi "c1ccncc1" --similarity containment --html found.html',
    ],
    reads_data=True,
)
def search(
    ctx: opt.Context,
    index: opt.Index,
    queries: opt.Queries,
    count: opt.Count = 10,
    min_similarity: opt.OptionalMinSimilarity = None,
    similarity: opt.Similarity = None,
    html: opt.Html = None,
    jobs: opt.Jobs = -1,
    as_json: opt.Json = False,
) -> None:
    """Find the graphs of an index that are most similar to each query.

    Similarities are exact values of the kernel that the index was built with: "cosine" is its
    normalised value, "minmax" the Tanimoto similarity (of bits and of counts), "dot" the value
    without normalisation, and "containment" the share of the query that a graph contains. Graphs
    without ids are numbered from 1.
    """
    from ..graphs.batch import counted
    from ..graphs.tables import names_beside
    from ..searching.graph_index import GraphIndex
    from .indexes import as_query_graphs

    reading: opt.Reading = ctx.obj
    library = GraphIndex.open(index, n_jobs=jobs)
    graphs, names = as_query_graphs(library, queries, reading)
    ids, values, columns = library.search(
        graphs, k=count, min_similarity=min_similarity, similarity=similarity, return_columns=True
    )
    results = []
    for name, keys, row, table in zip(names, ids, values, columns, strict=True):
        texts = {column: entries.tolist() for column, entries in table.items()}
        if texts.get("id") == keys.tolist():
            del texts["id"]
        heads = names_beside(("id", "similarity"), texts)
        hits = [
            {
                "id": key,
                "similarity": float(value),
                **{heads[column]: entries[k] for column, entries in texts.items()},
            }
            for k, (key, value) in enumerate(zip(keys.tolist(), row, strict=True))
        ]
        results.append({"query": name, "hits": hits})
    if html is not None:
        from ..pages.graph_pages import write_search_page

        drawn = [library.graphs(row.tolist()) for row in ids]
        used = similarity or library.similarity
        about = f"{used}, {counted(len(library), 'graph')} in {index.name}"
        write_search_page(html, about, graphs, results, drawn, used)
        written("Page", html)
    if as_json:
        answer(results)
        return
    for result in results:
        _show(result, single=len(results) == 1)


def _show(result: dict[str, Any], single: bool) -> None:
    if not single:
        out().print(f"\n[bold]{escape(result['query'])}[/bold]")
    if not result["hits"]:
        out().print("No graph is similar enough.")
        return
    hits = result["hits"]
    names = [
        name
        for name in hits[0]
        if name not in ("id", "similarity", "line")
        and any(hit[name] not in ("", None) for hit in hits)
    ]
    rows = [(f"{hit['similarity']:.4f}", *(hit[name] for name in ("id", *names))) for hit in hits]
    out().print(text_table(("similarity", "id", *names), rows, ("similarity",)))
