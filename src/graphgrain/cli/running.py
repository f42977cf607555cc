"""Long work on the command line: progress with the time left, clean interruption."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

from ..evaluation.experiment import Progress, run
from ..evaluation.labelled_graphs import LabelledGraphs
from ..evaluation.protocol import Protocol
from ..evaluation.records import versions
from ..evaluation.results_file import ResultsFile
from ..evaluation.self_tuned import TunedRow, run_self_tuned
from ..kernels.grid import KernelGrid
from .app import Interrupted, err


class Runner:
    """Evaluates kernels on data sets, one after the other, with bars."""

    def __init__(self, results: ResultsFile, bars: Bars, total: int, n_jobs: int) -> None:
        self.results, self.bars, self.n_jobs = results, bars, n_jobs
        self.computed = 0
        self.progress = Progress(self._begin, self._advance)
        self.whole = bars.add_task("all folds", total=total)
        self.part = bars.add_task("", total=None)

    def __call__(
        self, data: LabelledGraphs, row: KernelGrid | TunedRow, protocol: Protocol, repeats: int
    ) -> None:
        """Fill in what the results lack of a kernel or of a self-tuned classifier."""
        about: Any = {"n_jobs": self.n_jobs, "progress": self.progress}
        if isinstance(row, TunedRow):
            self.computed += run_self_tuned(
                data, protocol, repeats, self.results, estimator=row, **about
            )
        else:
            self.computed += run(data, row, protocol, repeats, self.results, **about)

    def _begin(self, description: str, total: int) -> None:
        self.bars.reset(self.part, description=description, total=max(total, 1))

    def _advance(self, folds: int) -> None:
        self.bars.advance(self.part, folds)
        self.bars.advance(self.whole, folds)


@contextmanager
def running(results: Path, total: int, n_jobs: int, quiet: bool = False) -> Iterator[Runner]:
    """A runner on a results file; Ctrl-C ends it between two folds and says how to go on."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with ResultsFile(results) as file:
        _tell_versions(file)
        bars = Bars(*columns, console=err(), disable=quiet, transient=True)
        try:
            with bars:
                yield Runner(file, bars, total, n_jobs)
        except KeyboardInterrupt:
            raise Interrupted(
                f"Every finished fold is safe in {str(results)!r}. Run the same command again "
                "to go on from there."
            ) from None


def _tell_versions(file: ResultsFile) -> None:
    """Results of several versions in one table are worth a note."""
    known = {record.versions.get("graphgrain", "unknown") for record in file.records}
    if others := sorted(known - {versions()["graphgrain"]}):
        err().print(
            f"[yellow]Note:[/yellow] {escape(str(file.path))} holds results of graphgrain "
            f"{escape(', '.join(others))}; they are used as they are. Choose another --results to "
            "compute them anew."
        )
