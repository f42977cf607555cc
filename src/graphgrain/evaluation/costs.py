"""What a kernel costs on a data set, from the records of computing it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .records import KernelRecord, Record, kernel_records


@dataclass(frozen=True)
class KernelCost:
    """Time and memory of one kernel on one data set, per setting of its grid.

    Attributes
    ----------
    seconds : float
        Mean over the settings, all levels of each included.
    processor_seconds : float or None
        Processor time of all settings together; None if a record does not tell.
    memory : int or None
        The largest, in bytes; None where the system does not tell.
    n_jobs : int
        Number of threads.
    graphs : int
    """

    seconds: float
    processor_seconds: float | None
    memory: int | None
    n_jobs: int
    graphs: int


def kernel_cost(
    records: Iterable[Record],
    dataset: str,
    fingerprint: str,
    kernel: str,
    variant: str = "",
) -> KernelCost | None:
    """The cost of a kernel on a data set; None without a record of it.

    Where it was measured with several numbers of threads, the smallest counts: times with
    different numbers cannot be averaged.
    """
    wanted = (dataset, fingerprint, kernel, variant)
    found: list[KernelRecord] = [
        record
        for record in kernel_records(records)
        if (record.dataset, record.fingerprint, record.kernel, record.variant) == wanted
    ]
    if not found:
        return None
    threads = min(record.n_jobs for record in found)
    found = [record for record in found if record.n_jobs == threads]
    memories = [record.memory for record in found if record.memory is not None]
    spent = [r.processor_seconds for r in found if r.processor_seconds is not None]
    return KernelCost(
        seconds=float(np.mean([record.seconds for record in found])),
        processor_seconds=sum(spent) if len(spent) == len(found) else None,
        memory=max(memories) if memories else None,
        n_jobs=threads,
        graphs=found[0].graphs,
    )
