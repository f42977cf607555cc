"""How tables and figures call kernels and data sets."""

from __future__ import annotations

from collections.abc import Iterable

from ..kernels.registry import KERNELS
from .records import LimitRecord, Record

#: The kernel that the others are tested against.
REFERENCE = "tree++"
#: In the place of a kernel's name: several kernels, of which the training graphs choose.
AUTO = "auto"
TITLES = {name: grid.title for name, grid in KERNELS.items()} | {AUTO: "All kernels"}


def kernel_label(kernel: str, variant: str = "") -> str:
    """A kernel by its title, with what tells its variant apart.

    Examples
    --------
    >>> from graphgrain.evaluation.display_names import kernel_label
    >>> kernel_label("wl"), kernel_label("tree++", "counts=sqrt"), kernel_label("of-old")
    ('WL', 'Tree++ (counts=sqrt)', 'of-old')
    """
    title = TITLES.get(kernel, kernel)
    return f"{title} ({variant})" if variant else title


def dataset_labels(records: Iterable[Record]) -> dict[tuple[str, str], str]:
    """A name for each data set and fingerprint; with the fingerprint if one name has several."""
    places = list(dict.fromkeys((r.dataset, r.fingerprint) for r in records))
    names = [dataset for dataset, _ in places]
    return {
        (dataset, mark): f"{dataset} [{mark[:6]}]" if names.count(dataset) > 1 else dataset
        for dataset, mark in places
    }


def limit_label(stopped: LimitRecord) -> str:
    """Where a kernel was stopped, for the cell of a table: more than so much.

    Examples
    --------
    >>> from graphgrain.evaluation.display_names import limit_label
    >>> from graphgrain.evaluation.records import LimitRecord
    >>> stopped = LimitRecord(dataset="NCI1", fingerprint="f00d", deduplicated=False, kernel="wwl",
    ...     variant="", mode="nested", folds=10, inner_folds=5, C=[1, 10], seed=0, reason="memory",
    ...     limit=4 * 2.0**30, repetitions=1)
    >>> limit_label(stopped)
    '> 4 GiB'
    """
    if stopped.reason == "time":
        return f"> {stopped.limit:g} s"
    return f"> {stopped.limit / 2**30:.3g} GiB"
