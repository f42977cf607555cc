"""The commands pairs and overlap: pairs of similar graphs within one collection or between two."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import IO, Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from ..archives import read_npz
from ..errors import InvalidParameterError
from ..graphs.batch import counted
from ..graphs.processes import progress_bar
from ..scaling.feature_shards import pyarrow
from ..searching.graph_index import GraphIndex
from ..searching.groups import near_duplicates
from ..searching.similar_pairs import BLOCK, PART, Pairs, capped_pairs, iter_pairs, joined_pairs
from ..writing import atomic_write, check_output, suffix_of, write_csv
from .app import Interrupted, command
from .console import answer, err, out
from .index import labels, labels_of, opened, reading_of
from .loading import load, row_names
from .options import (
    Errors,
    Id,
    IndexOrData,
    Jobs,
    Json,
    Labels,
    MaxPerGraph,
    MinSimilarity,
    Missing,
    OptionalOutput,
    PairSimilarity,
    Reading,
    Similarity,
    Smiles,
    Target,
    View,
    check_share,
)
from .tables import text_table
from .unfinished import UnfinishedOutput, is_resumable

_SHOWN = 10
_FORMS = (".csv", ".jsonl", ".parquet")
_COLUMNS = ("first", "second", "first_name", "second_name", "similarity")


@command(
    [
        "graphgrain pairs drugs --min-similarity 0.9",
        "graphgrain pairs library.ggi --min-similarity 0.8 -o pairs.parquet",
        "graphgrain pairs molecules.smi --max-per-graph 5 -o pairs.csv",
    ]
)
def pairs(
    data: IndexOrData,
    min_similarity: MinSimilarity = 0.8,
    similarity: PairSimilarity = None,
    max_per_graph: MaxPerGraph = None,
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
    """Find all pairs of graphs with at least a given similarity.

    The result is exact and complete; pairs that cannot reach the similarity are skipped without
    comparing them. With an index and -o the command can be interrupted: run it again to continue.
    """
    reading = Reading(target, id, smiles, labels, errors, missing, view)
    check_share("--min-similarity", min_similarity)
    form = ".csv"
    if output is not None:
        form = suffix_of(output, ".csv")
        if form not in _FORMS:
            raise InvalidParameterError(
                f"Pairs are written as {', '.join(_FORMS)}; got {str(output)!r}."
            )
        check_output(output, "The table of pairs")
        if form == ".parquet":
            pyarrow()
    with opened(data, reading, n_jobs, similarity or "minmax") as index:
        settings = {
            "min_similarity": min_similarity,
            "similarity": similarity or index.similarity,
            "block": BLOCK,
            "part": PART,
            "files": sorted(index._snapshot.manifest.files),
        }
        with ExitStack() as stack:
            saved = None
            if output is not None and is_resumable(output):
                saved = stack.enter_context(UnfinishedOutput(output, settings))
            bar = stack.enter_context(progress_bar(err().is_terminal, 2 * len(index)))
            try:
                blocks: Iterable[Pairs]
                blocks = _blocks(index, min_similarity, similarity, saved, bar.update)
                blocks = list(blocks) if saved is None else blocks
                count = sum(map(len, blocks))
            except KeyboardInterrupt:
                if saved is not None and index.path != Path(data).expanduser().absolute():
                    saved.delete()  # the blocks refer to a temporary index
                raise Interrupted(
                    "Run the same command again to continue." if saved and saved.blocks else ""
                ) from None
            if saved is not None:
                blocks = map(_block, saved.blocks)
            if max_per_graph is not None:
                capped = capped_pairs(joined_pairs(blocks), max_per_graph)
                blocks, count = [capped], len(capped)
            if output is not None:
                with atomic_write(output, "The table of pairs") as file:
                    _write(file, form, index, blocks)
            if saved is not None:
                saved.delete()
        if output is not None:
            err().print(f"{counted(count, 'pair')} written to {escape(str(output))}.")
        if as_json:
            rows = [] if output is not None else [_named(row) for row in _rows(index, blocks)]
            answer(
                {
                    "graphs": len(index),
                    "min_similarity": min_similarity,
                    "similarity": settings["similarity"],
                    "pairs": count,
                    **({"output": str(output)} if output is not None else {"found": rows}),
                }
            )
        elif output is None:
            _show(index, joined_pairs(blocks), min_similarity)


def _blocks(
    index: GraphIndex,
    least: float,
    similarity: str | None,
    saved: UnfinishedOutput | None,
    progress: Any,
) -> Iterator[Pairs]:
    """Yield all blocks of pairs: the saved ones, then new ones, which are saved when found."""
    done = 0
    if saved is not None:
        yield from saved.read(_block)
        done = len(saved.blocks)
    for block in iter_pairs(index, least, similarity=similarity, after=done, progress=progress):
        if saved is not None:
            content = io.BytesIO()
            np.savez(content, **block._asdict())
            saved.add(content.getvalue())
        yield block


def _block(path: Path) -> Pairs:
    arrays = read_npz(path, "a block of pairs", "Run the command again")
    return Pairs(*(arrays[name] for name in Pairs._fields))


# -------------------------------------------------------------------- tables


def _rows(index: GraphIndex, blocks: Iterable[Pairs]) -> Iterator[tuple[Any, ...]]:
    for block in blocks:
        numbers, which = np.unique(np.concatenate(block[:2]), return_inverse=True)
        places = index._snapshot.live[numbers]
        ids = index._snapshot.ids(places)
        names = labels(ids, index._snapshot.columns(places))
        left, right = which[: len(block)].tolist(), which[len(block) :].tolist()
        for a, b, value in zip(left, right, block.similarities.tolist(), strict=True):
            yield ids[a], ids[b], names[a], names[b], value


def _named(row: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(_COLUMNS, row, strict=True))


def _write(file: IO[bytes], form: str, index: GraphIndex, blocks: Iterable[Pairs]) -> None:
    if form == ".parquet":
        pa = pyarrow()
        writer = None
        stream = iter(blocks)
        for block in chain([next(stream, joined_pairs([]))], stream):
            columns = list(zip(*_rows(index, [block]), strict=True)) or [()] * len(_COLUMNS)
            texts = [pa.array(list(map(str, column)), pa.string()) for column in columns[:4]]
            table = pa.table([*texts, pa.array(columns[4], pa.float64())], names=list(_COLUMNS))
            if writer is None:
                writer = pa.parquet.ParquetWriter(file, table.schema)
            writer.write_table(table)
        if writer is not None:
            writer.close()
        return
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    if form == ".jsonl":
        for row in _rows(index, blocks):
            text.write(json.dumps(_named(row)) + "\n")
    else:
        table = csv.writer(text, lineterminator="\n")
        table.writerow(_COLUMNS)
        table.writerows(_rows(index, blocks))
    text.detach()


def _show(index: GraphIndex, found: Pairs, least: float) -> None:
    graphs = len(np.unique(np.concatenate(found[:2])))
    out().print(
        f"{counted(len(found), 'pair')} of similarity {least:g} or more among "
        f"{counted(len(index), 'graph')}; {graphs:,} graphs are part of a pair."
    )
    if not len(found):
        return
    best = np.argsort(-found.similarities, kind="stable")[:_SHOWN]
    shown = [
        (f"{value:.4f}", first, first_name, second, second_name)
        for first, second, first_name, second_name, value in _rows(
            index, [Pairs(*(values[best] for values in found))]
        )
    ]
    out().print(text_table(("similarity", "first", "", "second", ""), shown))


# -------------------------------------------------------------------- two collections


@command(
    [
        "graphgrain overlap train.csv test.csv",
        "graphgrain overlap library.ggi new.smi --min-similarity 0.8 -o pairs.csv",
    ]
)
def overlap(
    first: Annotated[
        str, typer.Argument(help="An index, file or data set, such as the training set.")
    ],
    second: Annotated[str, typer.Argument(help="A file or data set, such as the test set.")],
    min_similarity: MinSimilarity = 0.9,
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
    """Find the graphs of the second collection that have a near-duplicate in the first.

    Near-duplicates of training graphs in a test set make models look better than they are.
    """
    reading = Reading(target, id, smiles, labels, errors, missing, view)
    check_share("--min-similarity", min_similarity)
    with opened(first, reading, n_jobs, similarity or "minmax", alone=False) as index:
        loaded = load(second, reading_of(index, reading))
        found = near_duplicates(index, loaded.graphs, min_similarity, similarity)
        total = len(loaded.graphs)
        firsts = found.ids.tolist()
        first_names = labels_of(index, firsts)
    names = row_names(loaded)
    values = found.similarities.tolist()
    seconds = [names[query] for query in found.queries.tolist()]
    pairs = list(zip(seconds, firsts, first_names, values, strict=True))
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
        f"{min_similarity:g} or more, {equal:,} of them with similarity 1."
    )
    if pairs:
        rows = [(*names, f"{value:.4f}") for *names, value in pairs[:_SHOWN]]
        heads = ("in the second", "in the first", "", "similarity")
        out().print(text_table(heads, rows))
