"""Benchmarks on sets of molecules with training and test parts.

1. A :class:`Task` is a data set with a split and a metric.
2. :func:`run` trains each method on each task, once per seed, and stores the predictions as
   records; existing records are not computed again, so interrupted runs can be resumed.
3. :func:`report` computes the tables from the records: means over the seeds, bootstrap intervals
   over test molecules, ranks over the tasks, and the number of tasks on which ours is better.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data import folder
from experiments.markdown import (
    average_ranks,
    better_on,
    comparison_words,
    interval,
    markdown,
    write_between,
)
from experiments.peers import Method
from experiments.records import Records, identity, versions

# ---------------------------------------------------------------- records


@dataclass(frozen=True, kw_only=True)
class PredictionRecord:
    """Predictions of a method for the test part of a task.

    Attributes
    ----------
    dataset, fingerprint : str
        Name of the data set, and a hash of its molecules and targets.
    split : str
        ``"given"``, or a kind of split with its seed.
    method, variant : str
    seed : int
        Random state of the method.
    test : list of int
        Positions of the test molecules.
    truth, predictions : list of float
        For classification: 0 or 1, and the score of class 1.
    std, low, high : list of float
        Standard deviations and 90 % intervals, for methods that provide them.
    chosen : list of str
        Settings selected on the training molecules.
    seconds : float
        Time for training and prediction.
    """

    dataset: str
    fingerprint: str
    split: str
    method: str
    variant: str
    seed: int
    test: list[int]
    truth: list[float]
    predictions: list[float]
    seconds: float
    std: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)


def all_versions() -> dict[str, str]:
    """Return the versions of the software that results, also those of peers, depend on."""
    found = dict(versions())
    for name in ("rdkit", "catboost"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


# ---------------------------------------------------------------- tasks


@dataclass(frozen=True)
class MoleculeSet:
    """Molecules with a target.

    Attributes
    ----------
    name : str
    smiles : list of str
    y : array
        Targets: numbers, or classes 0 and 1.
    columns : dict
        All columns of the file.
    """

    name: str
    smiles: list[str]
    y: np.ndarray
    columns: dict[str, list[str]]

    @property
    def fingerprint(self) -> str:
        """Hash of all molecules and targets, sixteen hexadecimal digits."""
        content = "\n".join(f"{s} {y!r}" for s, y in zip(self.smiles, self.y.tolist(), strict=True))
        return sha256(content.encode()).hexdigest()[:16]

    @property
    def classes(self) -> bool:
        """Whether the targets are the classes 0 and 1."""
        return set(np.unique(self.y).tolist()) == {0.0, 1.0}


def read_set(path: Path, target: str) -> MoleculeSet:
    """Read a table of molecules; rows that RDKit cannot parse are skipped."""
    from rdkit import RDLogger
    from rdkit.Chem import MolFromSmiles

    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]
    opened: Any = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if MolFromSmiles(row["smiles"]) is not None]
    if not rows or target not in rows[0]:
        raise SystemExit(f"{path} must have molecules and the column {target}.")
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    y = np.array(columns[target], dtype=float)
    return MoleculeSet(path.name.split(".")[0], columns["smiles"], y, columns)


def molecules_folder(name: str = "molecules") -> Path:
    """Return a subfolder of the data folder; exit with a message if it does not exist."""
    place = folder() / name
    if not place.is_dir():
        raise SystemExit(
            f"There is no folder {place}. Benchmarks of molecules read their sets from the folder "
            "that GRAPHGRAIN_DATA names (docs/molecules-benchmarks.md says where they come from)."
        )
    return place


@dataclass(frozen=True)
class Task:
    """A data set with a split and a metric.

    Attributes
    ----------
    data : MoleculeSet
    split : str
    train, test : array
        Positions of molecules.
    measure : str
        One of :data:`MEASURES`.
    group : str
        Tasks of one group, such as several draws of one split, share a row of the table.
    """

    data: MoleculeSet
    split: str
    train: np.ndarray
    test: np.ndarray
    measure: str
    group: str = ""

    @property
    def row(self) -> str:
        """Name of the table row."""
        return self.group or self.name

    @property
    def name(self) -> str:
        """Name in tables."""
        return self.data.name if self.split == "given" else f"{self.data.name}, {self.split}"

    def identity(self, method: Method, seed: int) -> dict[str, Any]:
        """Return the identifying fields of a record of a method on this task."""
        return {
            "dataset": self.data.name,
            "fingerprint": self.data.fingerprint,
            "split": self.split,
            "method": method.name,
            "variant": method.variant,
            "seed": seed,
        }

    def is_stored(self, method: Method, seed: int, results: Records) -> bool:
        """Return whether there is a record of a method on this task."""
        return identity({"kind": "prediction", **self.identity(method, seed)}) in results


def given_task(data: MoleculeSet, measure: str) -> Task:
    """Return the task with the split given in the column ``split``."""
    test = np.array(data.columns["split"]) == "test"
    return Task(data, "given", np.flatnonzero(~test), np.flatnonzero(test), measure)


# ---------------------------------------------------------------- measures


def _rmse(truth: np.ndarray, answers: np.ndarray) -> float:
    return float(np.sqrt(np.mean((truth - answers) ** 2)))


def _mae(truth: np.ndarray, answers: np.ndarray) -> float:
    return float(np.mean(np.abs(truth - answers)))


def _spearman(truth: np.ndarray, answers: np.ndarray) -> float:
    from scipy.stats import spearmanr

    if np.ptp(truth) == 0 or np.ptp(answers) == 0:
        return float("nan")
    return float(spearmanr(truth, answers).statistic)


def _roc_auc(truth: np.ndarray, answers: np.ndarray) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, answers)) if 0 < truth.sum() < len(truth) else float("nan")


def _average_precision(truth: np.ndarray, answers: np.ndarray) -> float:
    from sklearn.metrics import average_precision_score

    known = 0 < truth.sum() < len(truth)
    return float(average_precision_score(truth, answers)) if known else float("nan")


@dataclass(frozen=True)
class Measure:
    """A metric with its usual name."""

    title: str
    of: Callable[[np.ndarray, np.ndarray], float]
    larger_is_better: bool


MEASURES = {
    "rmse": Measure("RMSE", _rmse, larger_is_better=False),
    "mae": Measure("MAE", _mae, larger_is_better=False),
    "spearman": Measure("Spearman", _spearman, larger_is_better=True),
    "roc_auc": Measure("ROC AUC", _roc_auc, larger_is_better=True),
    "average_precision": Measure("average precision", _average_precision, larger_is_better=True),
}


#: Number of bootstrap samples for an interval.
DRAWS = 1000


@dataclass(frozen=True)
class Result:
    """Result of a method on a task.

    Attributes
    ----------
    mean, spread : float
        Mean and standard deviation over the seeds, or over the draws if there are several.
    low, high : float
        95 % bootstrap interval of the mean, from 1,000 samples of the test molecules.
    seeds : int
        Number of trained models.
    seconds : float
        Mean time for training and prediction.
    """

    mean: float
    spread: float
    low: float
    high: float
    seeds: int
    seconds: float

    def words(self) -> str:
        """Format the mean with its interval."""
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


def result_of(records: Sequence[PredictionRecord], measure: str, rows: Any = None) -> Result:
    """Summarise the records of all seeds, on all or on selected test molecules."""
    return result_of_group([records], measure, rows)


def result_of_group(
    draws: Sequence[Sequence[PredictionRecord]], measure: str, rows: Any = None
) -> Result:
    """Summarise several draws of a split, each with the records of all its seeds."""
    of = MEASURES[measure].of
    parts = []
    for records in draws:
        chosen = np.arange(len(records[0].truth)) if rows is None else np.asarray(rows)
        truth = np.array(records[0].truth)[chosen]
        parts.append((truth, [np.array(record.predictions)[chosen] for record in records]))
    each = [float(np.mean([of(truth, values) for values in answers])) for truth, answers in parts]
    by_seed = [of(truth, values) for truth, answers in parts for values in answers]
    rng = np.random.default_rng(0)

    def drawn() -> float:
        found = []
        for truth, answers in parts:
            places = rng.integers(0, len(truth), len(truth))
            found.append(np.mean([of(truth[places], values[places]) for values in answers]))
        return float(np.mean(found))

    low, high = interval([drawn() for _ in range(DRAWS)])
    seconds = float(np.mean([record.seconds for records in draws for record in records]))
    spread = float(np.std(by_seed if len(draws) == 1 else each))
    return Result(float(np.mean(each)), spread, low, high, len(by_seed), seconds)


# ---------------------------------------------------------------- running


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def run(
    tasks: Iterable[Task],
    methods: Sequence[Method],
    seeds: int,
    results: Records,
    n_jobs: int | None = 1,
    say: Callable[[str], None] = _say,
    sure: bool = False,
) -> None:
    """Train each method on each task, one at a time, unless its record exists.

    Parameters
    ----------
    sure : bool
        Whether to compute intervals too, with ``predict_with_intervals``.
    """
    tasks = list(tasks)
    for number, task in enumerate(tasks):
        for method in methods:
            for seed in range(seeds if method.seeded else 1):
                if task.is_stored(method, seed, results):
                    continue
                record = _trained(task, method, seed, n_jobs, sure)
                results.append({"kind": "prediction", **asdict(record), "versions": all_versions()})
                measure = MEASURES[task.measure]
                value = measure.of(np.array(record.truth), np.array(record.predictions))
                say(
                    f"{number + 1} of {len(tasks)} {task.name} {method.name}, seed {seed}: "
                    f"{measure.title} {value:.3f} ({record.seconds:.0f} s)"
                )


def _trained(
    task: Task, method: Method, seed: int, n_jobs: int | None, sure: bool
) -> PredictionRecord:
    start = time.perf_counter()
    smiles, y = task.data.smiles, task.data.y
    target = y.astype(int) if task.data.classes else y
    model = method.make(task.data.classes, seed, n_jobs)
    model.fit([smiles[place] for place in task.train], target[task.train])
    tested = [smiles[place] for place in task.test]
    about: dict[str, list[float]] = {}
    if sure:
        predictions, std, low, high = model.predict_with_intervals(tested)
        about = {"std": _plain(std), "low": _plain(low), "high": _plain(high)}
    else:
        predictions = answers(model, tested)
    return PredictionRecord(
        **task.identity(method, seed),
        test=task.test.tolist(),
        truth=y[task.test].tolist(),
        predictions=_plain(predictions),
        **about,
        chosen=_chosen(model),
        seconds=round(time.perf_counter() - start, 2),
    )


def answers(model: Any, smiles: Sequence[str]) -> np.ndarray:
    """Return predicted numbers, or scores of class 1."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(smiles))
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(smiles))[:, 1]
    return np.asarray(model.predict(smiles))


def _plain(values: Any) -> list[float]:
    return [float(f"{value:.8g}") for value in np.asarray(values, dtype=float).tolist()]


def _chosen(model: Any) -> list[str]:
    """Describe the settings that an estimator has selected."""
    members = getattr(model, "members_", None) or [getattr(model, "best_params_", {})]
    return [
        ", ".join(f"{name}={value}" for name, value in one.items())
        for one in members
        if isinstance(one, dict)
    ]


# ---------------------------------------------------------------- showing


def collected(
    tasks: Sequence[Task], methods: Sequence[Method], results: Records
) -> dict[str, dict[str, list[PredictionRecord]]]:
    """Return the existing records of all seeds, by method and task."""
    known: dict[tuple[Any, ...], list[PredictionRecord]] = {}
    names = PredictionRecord.__dataclass_fields__
    for stored in results.records:
        if stored["kind"] == "prediction":
            record = PredictionRecord(**{name: stored[name] for name in names if name in stored})
            key = (record.dataset, record.fingerprint, record.split, record.method, record.variant)
            known.setdefault(key, []).append(record)
    found: dict[str, dict[str, list[PredictionRecord]]] = {}
    for method in methods:
        for task in tasks:
            identity = task.identity(method, 0)
            records = known.get(tuple(v for name, v in identity.items() if name != "seed"))
            if records:
                found.setdefault(method.name, {})[task.name] = records
    return found


def results_of(
    tasks: Sequence[Task], methods: Sequence[Method], file: Records
) -> dict[str, dict[str, Result]]:
    """Return results by method and table row, for rows with records of all their tasks."""
    found: dict[str, dict[str, Result]] = {}
    for method, own in collected(tasks, methods, file).items():
        for row in dict.fromkeys(task.row for task in tasks):
            members = [task for task in tasks if task.row == row]
            if all(task.name in own for task in members):
                draws = [own[task.name] for task in members]
                result = result_of_group(draws, members[0].measure)
                found.setdefault(method, {})[row] = result
    return found


def scores(
    tasks: Sequence[Task], results: dict[str, dict[str, Result]]
) -> dict[str, dict[str, float]]:
    """Return means by method and row, with signs such that larger is better."""
    sign = {t.row: 1.0 if MEASURES[t.measure].larger_is_better else -1.0 for t in tasks}
    return {
        method: {name: sign[name] * result.mean for name, result in own.items()}
        for method, own in results.items()
    }


def report(tasks: Sequence[Task], methods: Sequence[Method], file: Records) -> str:
    """Return Markdown tables: all methods on all tasks, ranks, and pairwise comparisons."""
    results = results_of(tasks, methods, file)
    if not results:
        return "There is no result yet.\n"
    names = list(results)
    rows = []
    for task in {task.row: task for task in tasks}.values():
        cells = [results[name].get(task.row) for name in names]
        if not any(cells):
            continue
        best = _best(task, [cell for cell in cells if cell])
        shown = ["" if c is None else _bold(c.words(), c in best) for c in cells]
        title = MEASURES[task.measure].title
        rows.append([task.row, title, f"{len(task.train):,}", f"{len(task.test):,}", *shown])
    counts = ", ".join(
        f"{name} {max(r.seeds for r in own.values())}" for name, own in results.items()
    )
    parts = [
        markdown(["set", "measure", "train", "test", *names], rows),
        "\nMean over the trained models, with a 95 % bootstrap interval over the test molecules "
        f"(1,000 samples). Models per cell: {counts}. Bold: the best mean, and others whose "
        "intervals reach it.\n\n",
    ]
    own = scores(tasks, results)
    ranks, over = average_ranks(own)
    if ranks:
        ordered = sorted(ranks.items(), key=lambda item: item[1])
        table = [
            [name, f"{r:.2f}", f"{np.mean([x.seconds for x in results[name].values()]):.0f}"]
            for name, r in ordered
        ]
        heads = ["method", f"mean rank over {len(over)} rows", "mean seconds per model"]
        parts += [markdown(heads, table), "\n"]
    first = names[0]
    parts += [
        f"- {comparison_words(first, other, better_on(own[first], own[other]))}\n"
        for other in names[1:]
    ]
    return "".join(parts)


def _bold(words: str, best: bool) -> str:
    return f"**{words}**" if best else words


def _best(task: Task, cells: Sequence[Result]) -> list[Result]:
    """Return the best result and those whose intervals reach it."""
    larger = MEASURES[task.measure].larger_is_better
    top = max(cells, key=lambda cell: cell.mean if larger else -cell.mean)
    return [c for c in cells if (c.high >= top.mean if larger else c.low <= top.mean)]


# ---------------------------------------------------------------- the command line


def parser(name: str, about: str | None, records: Path, seeds: int = 5) -> argparse.ArgumentParser:
    """Return a parser with the options of all benchmarks on molecules."""
    made = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("-d", "--datasets", default="", help="comma-separated (default: all)")
    made.add_argument("-m", "--methods", default="", help="comma-separated (default: all)")
    made.add_argument("--seeds", type=int, default=seeds, help="for randomised methods")
    made.add_argument("-r", "--results", type=Path, default=records, help="file of records")
    made.add_argument("-j", "--n-jobs", type=int, default=1, help="threads of a method")
    made.add_argument("--show", action="store_true", help="only show existing records")
    made.add_argument("--page", type=Path, help="Markdown page in which to replace the tables")
    made.add_argument("--json", action="store_true", help="print JSON instead of tables")
    return made


def chosen(names: str, known: Sequence[str]) -> list[str]:
    """Return the names listed by an option, or all."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if unknown := [name for name in wanted if name not in known]:
        raise SystemExit(f"There is no {unknown[0]!r}; there are {', '.join(known)}.")
    return wanted or list(known)


def wanted_methods(option: str, methods: Sequence[Method]) -> list[Method]:
    """Return the methods listed by an option, or all."""
    names = chosen(option, [method.name for method in methods])
    return [method for method in methods if method.name in names]


def execute(
    options: argparse.Namespace,
    tasks: Sequence[Task],
    methods: Sequence[Method],
    page_mark: str,
    more: Callable[[Records], str] = lambda file: "",
) -> str:
    """Run missing experiments, then print the tables, or write them into a page."""
    methods = wanted_methods(options.methods, methods)
    file = Records(options.results)
    if not options.show:
        run(tasks, methods, options.seeds, file, options.n_jobs)
    text = (
        as_json(tasks, methods, file)
        if options.json
        else (report(tasks, methods, file) + more(file))
    )
    if options.page is not None:
        write_between(options.page, page_mark, text)
    print(text)
    return text


def as_json(tasks: Sequence[Task], methods: Sequence[Method], file: Records) -> str:
    """Return all results as JSON."""
    found = results_of(tasks, methods, file)
    plain = {m: {row: vars(result) for row, result in own.items()} for m, own in found.items()}
    return json.dumps(plain, indent=2)
