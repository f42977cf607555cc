"""The parts of the command reproduce that are benchmarks of molecules."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from ..errors import InvalidParameterError
from ..evaluation import moleculeace as ace
from ..evaluation import molhiv as hiv
from ..evaluation.molecule_benchmark import run_method
from ..evaluation.molecule_sets import MoleculeSet, molecules_folder
from ..evaluation.molecule_splits import has_classes, measures_of, methods_for, parts_of
from ..evaluation.results_file import ResultsFile
from .app import Interrupted, err, out

#: Columns of errors: key and head.
COLUMNS = {
    "tree++": "Tree++",
    "ecfp4 + svm": "ECFP4 + SVM",
    "published svm": "published ECFP + SVM",
    "published best": "best of 24 published",
}


def moleculeace(
    names: list[str] | None, data: Path | None, results: Path, n_jobs: int, quiet: bool
) -> dict[str, Any]:
    """Run what the results lack, then show errors on all 30 sets beside the published ones."""
    folder = molecules_folder(data) / "moleculeace"
    known = ace.set_names(folder)
    if unknown := sorted(set(names or []) - set(known)):
        raise InvalidParameterError(
            f"MoleculeACE has no set {unknown[0]!r}; its sets are {', '.join(known)}."
        )
    sets, found = [], {}
    with ResultsFile(results) as file:
        try:
            for number, name in enumerate(names or known):
                sets.append(ace.read_set(folder, name, n_jobs))
                for method in ace.METHODS:
                    record = ace.run_set(sets[-1], method, file, n_jobs)
                    found[name, method.name] = record
                    if not quiet:
                        errors = ace.errors_of(record, sets[-1])
                        err().print(
                            f"{number + 1} of {len(names or known)} {name} {method.name}: "
                            f"{errors.all:.3f}, cliffs {errors.cliffs:.3f} ({record.seconds:.0f} s)"
                        )
        except KeyboardInterrupt:
            raise Interrupted(_kept(results)) from None
    rows = ace.table_of(folder, sets, found)
    against = {name: ace.compare(rows, "tree++", name) for name in list(COLUMNS)[1:]}
    if not quiet:
        out().print(_errors_table(rows))
        for name, result in against.items():
            p = "" if result["p"] is None else f", Wilcoxon signed-rank test p = {result['p']:.2g}"
            out().print(
                f"Tree++ better than {COLUMNS[name]} on {result['better']} of "
                f"{result['sets']} sets{p}"
            )
    plain = [
        {key: asdict(v) if isinstance(v, ace.Errors) else v for key, v in row.items()}
        for row in rows
    ]
    return {"sets": plain, "against": against}


def _errors_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(
        title="MoleculeACE: root mean squared error on test molecules (on cliff molecules)",
        box=None,
        title_justify="left",
        pad_edge=False,
    )
    table.add_column("set")
    table.add_column("molecules", justify="right")
    for head in COLUMNS.values():
        table.add_column(head, justify="right")
    table.add_column("seconds", justify="right")
    for row in rows:
        cells = [f"{row[key].all:.3f} ({row[key].cliffs:.3f})" for key in COLUMNS]
        seconds = f"{row['tree++ seconds']:.0f}"
        table.add_row(escape(row["dataset"]), str(row["molecules"]), *cells, seconds)
    means = [
        f"{np.mean([row[key].all for row in rows]):.3f} "
        f"({np.mean([row[key].cliffs for row in rows]):.3f})"
        for key in COLUMNS
    ]
    table.add_row("mean", "", *means, "", style="bold")
    return table


def _kept(results: Path) -> str:
    return (
        f"Every finished result is safe in {str(results)!r}. Run the same command again to go on "
        "from there."
    )


# -------------------------------------------------------------------- molhiv


def molhiv(
    repeats: int, data: Path | None, results: Path, n_jobs: int, quiet: bool
) -> list[dict[str, Any]]:
    """Run what the results lack, then show the ROC AUC of all methods."""
    molecules = hiv.read_hiv(molecules_folder(data), n_jobs)
    parts = hiv.Parts.of(molecules)
    rows: list[dict[str, Any]] = []
    with ResultsFile(results) as file:
        try:
            for method in hiv.METHODS:
                areas = []
                for seed in range(repeats if method.seeded else 1):
                    record = hiv.run_seed(molecules, parts, method, seed, file, n_jobs)
                    areas.append(hiv.areas_of(record, parts))
                    if not quiet:
                        err().print(f"{method.name}, seed {seed}: {record.seconds:.0f} s")
                rows.append({"method": method.name, "areas": [asdict(area) for area in areas]})
        except KeyboardInterrupt:
            raise Interrupted(_kept(results)) from None
    if not quiet:
        sizes = (len(parts.train), len(parts.validation), len(parts.test))
        out().print("molhiv: {:,} training, {:,} validation, {:,} test molecules".format(*sizes))
        table = Table(title="ROC AUC", box=None, title_justify="left", pad_edge=False)
        for head in ("method", "validation", "test", "95 % of draws", "seeds"):
            table.add_column(head, justify="left" if head == "method" else "right")
        for row in rows:
            means = {
                name: float(np.mean([area[name] for area in row["areas"]]))
                for name in ("validation", "test", "low", "high")
            }
            spread = float(np.std([area["test"] for area in row["areas"]]))
            several = f" ± {spread:.3f}" if len(row["areas"]) > 1 else ""
            table.add_row(
                row["method"],
                f"{means['validation']:.3f}",
                f"{means['test']:.3f}{several}",
                f"{means['low']:.3f} to {means['high']:.3f}",
                str(len(row["areas"])),
            )
        for name, area in hiv.PUBLISHED.items():
            table.add_row(f"{name} (published)", "", f"{area:.3f}", "", "")
        out().print(table)
    return rows


# -------------------------------------------------------------------- any file with a split


def evaluate_split(
    sets: list[MoleculeSet], split: str, seed: int, results: Path, n_jobs: int, quiet: bool
) -> list[dict[str, Any]]:
    """Train on one part of each set, test on the other, and show the measures of the field."""
    rows: list[dict[str, Any]] = []
    with ResultsFile(results) as file:
        try:
            for data in sets:
                parts = parts_of(data, split, seed)
                for method in methods_for(data):
                    record = run_method(data, method, split, *parts, seed, file, n_jobs)
                    found = measures_of(record, has_classes(data))
                    rows.append(
                        {
                            "dataset": data.name,
                            "method": method.name,
                            "train": len(parts[0]),
                            "test": len(parts[1]),
                            "measures": {measure.name: measure.value for measure in found},
                            "seconds": record.seconds,
                        }
                    )
        except KeyboardInterrupt:
            raise Interrupted(_kept(results)) from None
    if not quiet:
        table = Table(title=f"Split: {split}", box=None, title_justify="left", pad_edge=False)
        for head in ("data set", "method", "train", "test", "measures", "seconds"):
            table.add_column(head, justify="right" if head in ("train", "test") else "left")
        for row in rows:
            words = ", ".join(f"{name} {value:.3f}" for name, value in row["measures"].items())
            counts = (str(row["train"]), str(row["test"]))
            table.add_row(
                escape(row["dataset"]), row["method"], *counts, words, f"{row['seconds']:.0f}"
            )
        out().print(table)
    return rows
