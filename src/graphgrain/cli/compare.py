"""The command compare: two graphs, or two sets of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from ..errors import InvalidParameterError
from . import options as opt
from .app import command
from .console import answer, err, out
from .tables import text_table

if TYPE_CHECKING:
    from ..kernels.bases.graph_kernel import GraphKernel
    from ..sets.comparison import SetComparison
    from .loading import Loaded

#: Number of patterns or fragments that are printed; --json has more.
_SHOWN, _IN_JSON = 8, 50


@command(
    [
        'graphgrain compare "CC(=O)Oc1ccccc1C(=O)O" "CC(=O)Nc1ccc(O)cc1"',
        "graphgrain compare train.csv test.csv",
        "graphgrain compare molecules.csv --by active",
        "graphgrain compare MUTAG",
    ],
    reads_data=True,
)
def compare(
    ctx: opt.Context,
    first: opt.First,
    second: opt.Second = None,
    by: opt.By = None,
    kernel: opt.OptionalKernel = None,
    parameters: opt.Parameters = None,
    jobs: opt.Jobs = -1,
    as_json: opt.Json = False,
) -> None:
    """Compare two graphs, or two sets of graphs: how similar they are, and in what they differ.

    Two SMILES, or two files with one graph each, are compared as graphs by the patterns that they
    share. Two files or data sets are compared as sets: a permutation test, a classifier that tells
    them apart, and what is more frequent in one of them. With one file and --by, the values of the
    column are the sets, and the classes of a data set that has them.
    """
    from ..graphs.files.molecules import is_molecule_file
    from .kernel_options import chosen_kernel
    from .loading import is_data, load_graphs

    estimator = None
    if kernel is not None or parameters:
        estimator = chosen_kernel(kernel or "tree++", parameters, n_jobs=jobs)
    if second is not None and by is not None:
        raise InvalidParameterError(
            f"--by divides one file into sets; got {first!r} and {second!r}. Leave out one of them."
        )
    if by is not None and is_data(first) and not is_molecule_file(Path(first)):
        raise InvalidParameterError(
            f"--by is for files of molecules; {first} is divided by its classes. Leave out --by."
        )
    by = by or ctx.obj.target
    reading = replace(ctx.obj, target=by)
    sides = [load_graphs(data, reading) for data in (first, second) if data is not None]
    if len(sides) == 2 and all(len(side.graphs) == 1 for side in sides):
        _compare_graphs(sides, estimator, as_json)
        return
    with err().status("Comparing"):
        tests = _compared(sides, by, kernel=estimator, n_jobs=jobs)
    results = [_as_json(test) for test in tests]
    if as_json:
        answer(results[0] if len(results) == 1 else results)
    elif len(tests) == 1:
        _show(tests[0], results[0])
    else:
        _show_all(tests, results)


def _compare_graphs(sides: list[Loaded], kernel: GraphKernel | None, as_json: bool) -> None:
    """Compare two graphs, by Tree++ unless a kernel is chosen."""
    from ..explaining.comparison import compare
    from ..graphs.batch import counted
    from ..kernels.tree_plus_plus import TreePlusPlus
    from .loading import row_names

    labelled = all(side.graphs.edge_labels is not None for side in sides)
    estimator = TreePlusPlus(edge_labels=labelled) if kernel is None else kernel
    pair = compare(estimator, sides[0].graphs, sides[1].graphs)
    first, second = (row_names(side)[0] for side in sides)
    parts = {"shared": pair.shared(), "only_first": pair.only(0), "only_second": pair.only(1)}
    if as_json:
        rows = {
            part: [
                {"name": p.name, "share": p.share, "counts": list(p.counts)}
                for p in patterns[:_IN_JSON]
            ]
            for part, patterns in parts.items()
        }
        names = {"first": first, "second": second}
        answer({**names, "kernel": repr(estimator), "similarity": pair.similarity, **rows})
        return
    out().print(
        f"{escape(first)} and {escape(second)} have the similarity "
        f"[bold]{pair.similarity:.4f}[/bold] ({type(estimator).__name__}). They share "
        f"{counted(len(parts['shared']), 'pattern')}; {len(parts['only_first']):,} are only in the "
        f"first, {len(parts['only_second']):,} only in the second."
    )
    shared = [(p.name, f"{100 * p.share:.1f} %", *p.counts) for p in parts["shared"][:_SHOWN]]
    heads = ("in the first", "in the second")
    _print(("shared pattern", "of the similarity", *heads), shared)
    for part, head in zip(("only_first", "only_second"), heads, strict=True):
        which = 0 if part == "only_first" else 1
        _print((f"only {head}", "count"), [(p.name, p.counts[which]) for p in parts[part][:_SHOWN]])


def _compared(sides: list[Loaded], by: str | None, **options: Any) -> list[SetComparison]:
    """Compare two sets, or the values of the target of one: each with the rest, or the two."""
    import numpy as np

    from ..sets.comparison import compare_sets

    if len(sides) == 2:
        first, second = sides
        equal = first.name == second.name
        names = [f"{side.name} ({n})" if equal else side.name for n, side in enumerate(sides, 1)]
        return [compare_sets(first.graphs, second.graphs, names=names, **options)]
    y = sides[0].with_one_target().y
    if y is None:
        columns = ", ".join(sides[0].columns)
        raise InvalidParameterError(
            "compare takes two SMILES, two files or data sets, or one that is divided by a column, "
            "--by COLUMN." + (f" The columns of {sides[0].name} are {columns}." if columns else "")
        )
    values, graphs = np.unique(y), sides[0].graphs
    if len(values) != 2:
        return list(compare_sets(graphs, by=y, **options).values())
    parts = [graphs[y == value] for value in values]
    column = "class " if by is None else f"{by}="
    return [compare_sets(*parts, names=[f"{column}{value}" for value in values], **options)]


def _as_json(test: SetComparison) -> dict[str, Any]:
    from ..explaining.molecule import read_molecule

    molecules = all(read_molecule(graphs[0]) is not None for graphs in test.graphs)
    reasons = test.fragments(_IN_JSON) if molecules else test.patterns(_IN_JSON)
    told = test.separation
    return {
        "sets": list(test.names),
        "graphs": [len(graphs) for graphs in test.graphs],
        "compared": list(test.sizes),
        "mmd": test.mmd,
        "p_value": test.p_value,
        "auc": None if told is None else told.auc,
        "auc_interval": None if told is None else list(told.interval),
        "divergence": None if told is None else told.divergence,
        "coverage": list(test.neighbours.coverage),
        "copies": list(test.neighbours.copies),
        "sentences": test.sentences(),
        "reasons": "fragments" if molecules else "patterns",
        "more_frequent": [
            {
                "name": reason.name,
                "in": test.names[reason.effect > 0],
                "by": reason.by,
                "shares": list(reason.shares),
                "counts": list(reason.counts),
                "effect": reason.effect,
                "interval": list(map(float, reason.interval)),
                "p_value": reason.p_value,
                "same": list(reason.same),
            }
            for reason in reasons
        ],
    }


def _show(test: SetComparison, result: dict[str, Any]) -> None:
    """Print the sentences, the reasons and the figures of one comparison."""
    for sentence in result["sentences"]:
        out().print(escape(sentence))
    reasons = result["more_frequent"]
    out().print()
    if not reasons:
        out().print(f"None of the {result['reasons']} is more frequent in one of them for certain.")
    for reason in reasons[:_SHOWN]:
        out().print(escape(_in_words(reason)))
    if len(reasons) > _SHOWN:
        out().print("More of them are in --json.")
    rows: list[tuple[object, ...]] = [
        (head, *(f"{value:,}" for value in result[key]))
        for head, key in (("graphs", "graphs"), ("compared", "compared"), ("copies", "copies"))
    ]
    shares = [f"{100 * share:.0f} %" for share in result["coverage"]]
    rows.append(("with a near graph in the other", *shares))
    _print(("", *test.names), rows, test.names)
    figures = [("MMD²", f"{test.mmd:.4g}"), ("p-value", f"{test.p_value:.3g}")]
    if test.separation is not None:
        low, high = test.separation.interval
        figures += [
            ("AUC of a classifier", f"{test.separation.auc:.3f} ({low:.3f} to {high:.3f})"),
            ("divergence, at least", f"{test.separation.divergence:.3f}"),
        ]
    _print(("figure", "value"), figures)


def _show_all(tests: list[SetComparison], results: list[dict[str, Any]]) -> None:
    """Print one row for each set that was compared with the rest."""
    differ = [test.names[0] for test in tests if test.p_value <= 0.05]
    out().print(
        f"{len(differ)} of {len(tests)} sets differ from the rest"
        + (f": {escape(', '.join(differ))}." if 0 < len(differ) < len(tests) else ".")
    )
    rows = []
    for test, result in zip(tests, results, strict=True):
        auc = "" if test.separation is None else f"{test.separation.auc:.2f}"
        reason = _in_words(result["more_frequent"][0]) if result["more_frequent"] else ""
        p = f"{test.p_value:.3g}"
        rows.append((test.names[0], result["graphs"][0], f"{test.mmd:.4g}", p, auc, reason))
    heads = ("set", "graphs", "MMD²", "p-value", "AUC")
    _print((*heads, "strongest reason"), rows, heads[1:])


def _in_words(reason: dict[str, Any]) -> str:
    """Say in which set a pattern is more frequent, and how often it is there."""
    if reason["by"] == "share":
        shares = sorted(reason["shares"], reverse=True)
        high, low = (f"{100 * share:.0f} %" for share in shares)
    else:
        counts = sorted(reason["counts"], reverse=True)
        high, low = (f"{count:.3g} times a graph" for count in counts)
    return f"{reason['name']} is more frequent in {reason['in']}: {high} against {low}"


def _print(heads: Sequence[str], rows: Sequence[Sequence[object]], right: Any = ()) -> None:
    if rows:
        out().print()
        out().print(text_table(heads, rows, right))
