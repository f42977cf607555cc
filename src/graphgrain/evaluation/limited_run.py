"""Evaluate kernels one by one, each on each data set in a process of its own, under limits.

1. What the results hold is not computed again.
2. A kernel that was stopped before on a data set is not tried again, unless its limit is raised.
3. The child computes what is missing and passes each finished fold on; here it is written to the
   results at once. If the child is stopped, a :class:`LimitRecord` says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..core.threads import thread_count
from ..kernels.grid import KernelGrid
from .display_names import kernel_label
from .experiment import Progress, identity_of, rules_of, run, setting_grams
from .labelled_graphs import LabelledGraphs
from .limits import Limits, Outcome, run_in_process
from .protocol import Protocol
from .records import (
    FoldRecord,
    KernelRecord,
    LimitRecord,
    Record,
    fold_records,
    key_of,
    limit_records,
)
from .results_file import ResultsFile
from .self_tuned import TunedRow, run_self_tuned

#: A data set and a kernel: name and fingerprint of the one, name and variant of the other.
Place = tuple[str, str, str, str]


@dataclass(frozen=True)
class Entrant:
    """Who takes part: a kernel with its grid, or a classifier that tunes itself.

    Examples
    --------
    >>> from graphgrain.evaluation.limited_run import Entrant
    >>> from graphgrain.evaluation.self_tuned import TREE_ROW
    >>> from graphgrain.kernels.registry import KERNELS
    >>> Entrant(KERNELS["wl"]).label, Entrant(TREE_ROW).label
    ('WL', 'Tree++ (self-tuned)')
    """

    row: KernelGrid | TunedRow

    @property
    def grid(self) -> KernelGrid | None:
        """The kernel with its grid, if it is one."""
        return self.row if isinstance(self.row, KernelGrid) else None

    @property
    def kernel(self) -> str:
        """The name in records."""
        return self.row.name

    @property
    def variant(self) -> str:
        """What tells it from the usual grid of the kernel."""
        return self.row.variant

    @property
    def label(self) -> str:
        """How tables call it."""
        return kernel_label(self.kernel, self.variant)

    @property
    def settings(self) -> int:
        """Among how many settings validation chooses."""
        return 1 if self.grid is None else len(self.grid.settings)

    def holds(self, record: FoldRecord) -> bool:
        """Whether a fold of this kernel is one of its present settings."""
        if self.grid is None:
            return True
        return any(
            (record.settings, record.level_names) == (setting.as_dict(), self.grid.levels(setting))
            for setting in self.grid.settings
        )


class LimitedRuns:
    """Evaluates kernels on data sets, each in a process of its own.

    Parameters
    ----------
    results : ResultsFile
    limits : Limits
        ``seconds`` are for each repetition, the kernel matrices of all settings included.
    n_jobs : int, optional
        Number of threads; their processor time adds up.
    """

    def __init__(self, results: ResultsFile, limits: Limits, n_jobs: int | None = None) -> None:
        self.results, self.limits, self.n_jobs = results, limits, n_jobs
        self._known: dict[Place, list[Record]] = defaultdict(list)
        for record in results.records:
            if isinstance(record, FoldRecord | KernelRecord | LimitRecord):
                self._known[_place(record)].append(record)

    def __call__(
        self,
        data: LabelledGraphs,
        entrant: Entrant,
        protocol: Protocol,
        repeats: int,
        progress: Progress | None = None,
    ) -> Outcome:
        """Fill in what the results lack of a kernel on a data set."""
        progress = progress or Progress()
        known = self._known[(data.name, data.fingerprint, entrant.kernel, entrant.variant)]
        missing = self._unfinished(known, entrant, protocol, repeats)
        if not missing:
            progress.advance(repeats * protocol.folds * entrant.settings)
            return Outcome()
        if reason := self._stopped_before(known, protocol):
            return Outcome(stopped=reason)
        work = _Evaluation(
            data, entrant, protocol, repeats, frozenset(map(key_of, known)), self.n_jobs
        )

        def receive(message: Any) -> None:
            if isinstance(message, FoldRecord | KernelRecord):
                self._keep(message)
            else:
                name, *values = message
                getattr(progress, name)(*values)

        seconds = self.limits.seconds
        outcome = run_in_process(
            work,
            Limits(None if seconds is None else seconds * len(missing), self.limits.memory),
            receive,
            before=work.warm_up,
        )
        if outcome.stopped:
            time = outcome.stopped == "time"
            limit = self.limits.seconds if time else self.limits.memory
            assert limit is not None
            self._keep(
                LimitRecord(
                    **identity_of(data),
                    **rules_of(protocol),
                    kernel=entrant.kernel,
                    variant=entrant.variant,
                    reason=outcome.stopped,
                    limit=float(limit),
                    repetitions=len(self._unfinished(known, entrant, protocol, repeats)),
                )
            )
        return outcome

    def _keep(self, record: FoldRecord | KernelRecord | LimitRecord) -> None:
        if self.results.append(record):
            self._known[_place(record)].append(record)

    @staticmethod
    def _unfinished(
        known: list[Record], entrant: Entrant, protocol: Protocol, repeats: int
    ) -> list[int]:
        """The repetitions that lack a fold."""
        done: dict[int, int] = defaultdict(int)
        for record in fold_records(known):
            if record.protocol == protocol.key and entrant.holds(record):
                done[record.repetition] += 1
        return [r for r in range(repeats) if done[r] < protocol.folds * entrant.settings]

    def _stopped_before(self, known: list[Record], protocol: Protocol) -> str:
        """By which limit the kernel was stopped before, if that was not lower than now."""
        now = {"time": self.limits.seconds, "memory": self.limits.memory}
        for record in limit_records(known):
            limit = now[record.reason]
            if record.protocol == protocol.key and limit is not None and limit <= record.limit:
                return record.reason
        return ""


def _place(record: Record) -> Place:
    return (record.dataset, record.fingerprint, record.kernel, record.variant)


@dataclass(frozen=True)
class _Evaluation:
    """What the child does."""

    data: LabelledGraphs
    entrant: Entrant
    protocol: Protocol
    repeats: int
    known: frozenset[str]
    n_jobs: int | None

    def warm_up(self) -> None:
        """What has to be compiled or loaded is not the kernel's own cost."""
        from threadpoolctl import threadpool_limits  # comes with scikit-learn

        threadpool_limits(thread_count(self.n_jobs))
        grid = self.entrant.grid
        if grid is not None:
            few = self.data.graphs[: min(len(self.data), 4)]
            setting_grams(grid, grid.settings[0], few, self.n_jobs)

    def __call__(self, send: Callable[[Any], None]) -> None:
        progress = Progress(
            lambda description, total: send(("begin", description, total)),
            lambda folds: send(("advance", folds)),
        )
        options: dict[str, Any] = {"n_jobs": self.n_jobs, "progress": progress}
        rest = (self.protocol, self.repeats, _Sent(send, set(self.known)))
        row = self.entrant.row
        if isinstance(row, TunedRow):
            run_self_tuned(self.data, *rest, estimator=row, **options)
        else:
            run(self.data, row, *rest, **options)


@dataclass(frozen=True)
class _Sent:
    """Results that are passed on to the process that writes them."""

    send: Callable[[Any], None]
    known: set[str] = field(default_factory=set)

    def __contains__(self, key: str) -> bool:
        return key in self.known

    def append(self, record: FoldRecord | KernelRecord) -> bool:
        self.known.add(key_of(record))
        self.send(record)
        return True
