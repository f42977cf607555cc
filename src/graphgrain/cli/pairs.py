"""The command pairs: pairs of similar graphs of one collection or of two, and activity cliffs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rich.markup import escape

from ..errors import InvalidParameterError
from ..writing import atomic_write, check_form, suffix_of, write_csv
from . import options as opt
from .app import command
from .console import answer, err, note, out, written
from .options import check_share, nearest
from .tables import text_table

if TYPE_CHECKING:
    from ..searching.activity_cliffs import Cliffs
    from ..searching.graph_index import GraphIndex
    from ..searching.similar_pairs import Pairs

_SHOWN = 10
_FORMS = (".csv", ".jsonl", ".parquet")
_PAIR = ("first", "second", "first_name", "second_name", "similarity")
_CLIFF = (*_PAIR, "difference", "steepness")
_BETWEEN = ("second", "first", "first_name", "similarity")
#: Number of rows written to a Parquet file together.
_TOGETHER = 1 << 16


@command(
    [
        "graphgrain pairs drugs --min-similarity 0.9",
        "graphgrain pairs library.ggi --min-similarity 0.8 -o pairs.parquet",
        "graphgrain pairs assays.csv --target pIC50 --min-difference 2 -o cliffs.csv",
        "graphgrain pairs train.csv test.csv --min-similarity 0.9",
    ],
    reads_data=True,
)
def pairs(
    ctx: opt.Context,
    data: opt.IndexOrData,
    second: opt.SecondData = None,
    min_similarity: opt.OptionalMinSimilarity = None,
    similarity: opt.Similarity = None,
    min_difference: opt.MinDifference = 1.0,
    max_per_graph: opt.MaxPerGraph = None,
    output: opt.OptionalOutput = None,
    jobs: opt.Jobs = -1,
    as_json: opt.Json = False,
) -> None:
    """Find all pairs of graphs with at least a given similarity.

    With --target, pairs that differ in that column: activity cliffs, the steepest first. With a
    second collection, its graphs that have a near-duplicate in the first, such as graphs of a test
    set that make a model look better than it is. The result is exact and complete. The minimum
    similarity is 0.8, or 0.9 with a second collection.
    """
    least = min_similarity if min_similarity is not None else 0.8 if second is None else 0.9
    check_share("--min-similarity", least)
    if similarity is not None and second is None:
        opt.check_choice("--similarity", similarity, ("minmax", "cosine"))
    if output is not None and check_form(output, "The table of pairs", _FORMS) == ".parquet":
        from ..scaling.feature_shards import pyarrow

        pyarrow()  # fail early if it is not installed
    from ..graphs.batch import counted
    from ..graphs.processes import progress_bar
    from ..searching.similar_pairs import capped_pairs, iter_pairs, joined_pairs
    from .indexes import opened

    reading: opt.Reading = ctx.obj
    target = reading.target
    if second is not None:
        if target is not None or max_per_graph is not None:
            raise InvalidParameterError(
                "--target and --max-per-graph are for the pairs of one collection. Leave them out, "
                "or give one collection."
            )
        _between(data, second, reading, least, similarity, output, jobs, as_json)
        return
    # The target is a column of the index, and its missing values are found there.
    skip = reading.missing == "skip" and target is not None
    reading = replace(reading, target=None, missing="raise" if skip else reading.missing)
    index = opened(data, reading, jobs, similarity)
    if target is not None:
        _cliffs(index, target, skip, least, min_difference, max_per_graph, output, as_json)
        return
    blocks: Iterable[Pairs]
    with progress_bar(err().is_terminal and output is None, 2 * len(index)) as bar:
        blocks = iter_pairs(index, least, progress=bar.update)
        if max_per_graph is not None:
            blocks = [capped_pairs(joined_pairs(blocks), max_per_graph)]
        elif output is None:
            blocks = [joined_pairs(blocks)]
        about = {"graphs": len(index), "min_similarity": least, "similarity": index.similarity}
        if output is not None:
            count = _write(output, _PAIR, _rows(index, blocks))
            written(counted(count, "pair"), output)
            about |= {"pairs": count, "output": str(output)}
        else:
            [similar] = blocks
            about["pairs"] = len(similar)
            if as_json:
                about["found"] = _named(_PAIR, _rows(index, [similar]))
            else:
                _show_pairs(index, similar, least)
    if as_json:
        answer(about)


# -------------------------------------------------------------------- one collection


def _rows(index: GraphIndex, blocks: Iterable[Pairs | Cliffs]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of pairs or cliffs, with ids and names."""
    import numpy as np

    from .indexes import names_of

    keys = index.ids
    for block in blocks:
        numbers, which = np.unique(np.concatenate(block[:2]), return_inverse=True)
        ids = keys[numbers].tolist()
        names = names_of(index, ids)
        left, right = which[: len(block)].tolist(), which[len(block) :].tolist()
        values = [column.tolist() for column in block[2:5] if isinstance(column, np.ndarray)]
        for a, b, *rest in zip(left, right, *values, strict=True):
            yield ids[a], ids[b], names[a], names[b], *rest


def _show_pairs(index: GraphIndex, similar: Pairs, least: float) -> None:
    import numpy as np

    from ..graphs.batch import counted
    from ..searching.similar_pairs import Pairs

    graphs = len(np.unique(np.concatenate(similar[:2])))
    out().print(
        f"{counted(len(similar), 'pair')} of similarity {least:g} or more among "
        f"{counted(len(index), 'graph')}; {graphs:,} graphs are part of a pair."
    )
    best = np.argsort(-similar.similarities, kind="stable")[:_SHOWN]
    rows = _rows(index, [Pairs(*(values[best] for values in similar))])
    shown = [(f"{value:.4f}", a, a_name, b, b_name) for a, b, a_name, b_name, value in rows]
    if shown:
        out().print(text_table(("similarity", "first", "", "second", ""), shown))


def _cliffs(
    index: GraphIndex,
    target: str,
    skip: bool,
    least: float,
    min_difference: float,
    most: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Find, write and show the pairs that differ in the target."""
    import numpy as np

    from ..graphs.batch import counted
    from ..graphs.files.molecules import missing_values
    from ..searching.similar_pairs import pairs as find_pairs
    from .indexes import names_of

    columns = index.columns()
    if target not in columns:
        raise InvalidParameterError(
            f"There is no column {target!r}. {nearest(target, columns)}The columns are "
            f"{', '.join(columns) or 'none'}."
        )
    missing = int(missing_values(columns[target]).sum())
    if missing and not skip:
        raise InvalidParameterError(
            f"Every graph must have a target; {missing:,} of {len(index):,} graphs have none. Fill "
            "them in, or skip these graphs with --missing skip."
        )
    with err().status("Comparing"):
        cliffs = find_pairs(
            index, least, y=target, min_difference=min_difference, max_per_graph=most
        )
    ids = index.ids.tolist()
    names = [name or str(key) for name, key in zip(names_of(index, ids), ids, strict=True)]
    if cliffs.duplicates:
        note(f"Measured several times: {counted(len(cliffs.duplicates), 'graph')}.")
    rows = list(_rows(index, [cliffs]))
    if output is not None:
        written(counted(_write(output, _CLIFF, rows), "cliff"), output)
    if as_json:
        answer(
            {
                "graphs": len(index),
                "missing": missing,
                "duplicates": [[names[graph] for graph in group] for group in cliffs.duplicates],
                "same_patterns": _named(_PAIR, _rows(index, [cliffs.same_patterns])),
                "cliffs": _named(_CLIFF, rows),
            }
        )
    elif output is None:
        graphs = len(np.unique(np.concatenate(cliffs[:2])))
        out().print(
            f"{counted(len(cliffs), 'cliff')}; {graphs:,} of {len(index):,} graphs are part of one."
        )
        shown = [
            (f"{steep:.3g}", f"{value:.3f}", a, a_name, b, b_name, f"{step:.4g}")
            for a, b, a_name, b_name, value, step, steep in rows[:_SHOWN]
        ]
        if shown:
            heads = ("steepness", "similarity", "first", "", "second", "", "difference")
            out().print(text_table(heads, shown))
        alike = list(_rows(index, [cliffs.same_patterns]))
        if alike:
            out().print(
                f"The kernel cannot tell these apart, which differ in {escape(target)} as well "
                f"({counted(len(alike), 'pair')}):"
            )
            out().print(
                text_table(("first", "second", "", ""), [row[:4] for row in alike[:_SHOWN]])
            )


# -------------------------------------------------------------------- two collections


def _between(
    first: str,
    second: str,
    reading: opt.Reading,
    least: float,
    similarity: str | None,
    output: Path | None,
    n_jobs: int,
    as_json: bool,
) -> None:
    """Find, write and show the graphs of the second collection that are nearly in the first."""
    from ..graphs.batch import counted
    from ..searching.groups import near_duplicates
    from .indexes import names_of, opened, reading_of
    from .loading import load, row_names

    index = opened(first, reading, n_jobs, similarity, alone=False)
    loaded = load(second, reading_of(index, reading))
    similar = near_duplicates(index, loaded.graphs, least)
    total = len(loaded.graphs)
    firsts = similar.ids.tolist()
    names = row_names(loaded)
    seconds = [names[query] for query in similar.queries.tolist()]
    values = similar.similarities.tolist()
    rows = list(zip(seconds, firsts, names_of(index, firsts), values, strict=True))
    equal = sum(value == 1.0 for value in values)
    if output is not None:
        written(counted(_write(output, _BETWEEN, rows), "pair"), output)
    if as_json:
        answer(
            {
                "graphs": total,
                "min_similarity": least,
                "near_duplicates": len(rows),
                "similarity_1": equal,
                "pairs": _named(_BETWEEN, rows),
            }
        )
        return
    share = f" ({100 * len(rows) / total:.1f} %)" if total else ""
    out().print(
        f"{len(rows):,} of {total:,} graphs{share} have a near-duplicate of similarity "
        f"{least:g} or more, {equal:,} of them with similarity 1."
    )
    if rows and output is None:
        shown = [(*texts, f"{value:.4f}") for *texts, value in rows[:_SHOWN]]
        heads = ("in the second", "in the first", "", "similarity")
        out().print(text_table(heads, shown))


# -------------------------------------------------------------------- files


def _named(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(heads, row, strict=True)) for row in rows]


def _write(output: Path, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Write a table in the form of its suffix as rows are made; return their number."""
    form = suffix_of(output, ".csv")
    if form == ".csv":
        return write_csv(output, chain([heads], rows))
    count = 0
    with atomic_write(output, "The table of pairs") as file:
        if form == ".parquet":
            return _write_parquet(file, heads, iter(rows))
        for count, row in enumerate(rows, 1):  # noqa: B007
            file.write(f"{json.dumps(dict(zip(heads, row, strict=True)))}\n".encode())
    return count


def _write_parquet(file: IO[bytes], heads: Sequence[str], rows: Iterator[Sequence[Any]]) -> int:
    from ..scaling.feature_shards import pyarrow

    pa = pyarrow()
    numbers = ("similarity", "difference", "steepness")
    types = {head: pa.float64() if head in numbers else pa.string() for head in heads}
    count = 0
    with pa.parquet.ParquetWriter(file, pa.schema(list(types.items()))) as writer:
        for some in iter(lambda: list(islice(rows, _TOGETHER)), []):
            columns = zip(heads, zip(*some, strict=True), strict=True)
            writer.write_table(
                pa.table(
                    {
                        head: pa.array(values if head in numbers else map(str, values), types[head])
                        for head, values in columns
                    }
                )
            )
            count += len(some)
    return count
