"""A view that an estimator has fitted to its training graphs, and what it shows of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..graphs.batch import GraphBatch
from ..kernels.bases.graph_kernel import GraphKernel
from ..views.base import seen_through


class ViewRule:
    """None, or something that turns graphs into graphs."""

    def allows(self, value: Any) -> bool:
        if isinstance(value, type | GraphKernel):
            return False
        return value is None or (hasattr(value, "fit") and hasattr(value, "transform"))

    def __str__(self) -> str:
        return (
            "None (the graphs as they are) or a view, such as EdgeFilter(drop=[1]) or a pipeline "
            "of views"
        )


@dataclass(frozen=True)
class FittedView:
    """The training graphs as a view shows them.

    Attributes
    ----------
    view : estimator or None
        As the user gave it.
    graphs : GraphBatch
        What it shows once it is fitted to the training graphs.
    """

    view: Any
    graphs: GraphBatch

    @classmethod
    def of(cls, view: Any, batch: GraphBatch) -> FittedView:
        """Fit a copy of the view."""
        fitted = None if view is None else clone(view).fit(batch)
        return cls(view, seen_through(fitted, batch))

    def shows_the_same(self, other: FittedView, edge_labels: bool) -> bool:
        """Whether a kernel that looks at edge labels, or does not, cannot tell the two apart."""
        names = ["offsets", "indptr", "indices", "label_codes", "label_table"]
        names += ["edge_label_codes", "edge_label_table"] if edge_labels else []
        return all(
            np.array_equal(getattr(self.graphs, name), getattr(other.graphs, name))
            for name in names
        )


def tells_edges_apart(batch: GraphBatch) -> bool:
    """Whether there are at least two different edge labels, so that they can say something."""
    codes = batch.edge_label_codes
    return codes is not None and len(codes) > 0 and bool((codes != codes[0]).any())
