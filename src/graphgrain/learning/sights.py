"""How an estimator sees its graphs: as they are, or through a view that it has fitted to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.base import GraphKernel


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
class Sight:
    """The training graphs as a view shows them.

    Attributes
    ----------
    view : estimator or None
        As the user gave it.
    fitted : estimator or None
        A copy of it that knows the training graphs.
    batch : GraphBatch
    """

    view: Any
    fitted: Any
    batch: GraphBatch

    @classmethod
    def of(cls, view: Any, batch: GraphBatch) -> Sight:
        """Fit a copy of the view."""
        fitted = None if view is None else clone(view).fit(batch)
        return cls(view, fitted, seen_through(fitted, batch))

    def shows_the_same(self, other: Sight, edge_labels: bool) -> bool:
        """Whether a kernel that looks at edge labels, or does not, cannot tell the two apart."""
        names = ["offsets", "indptr", "indices", "label_codes", "label_table"]
        names += ["edge_label_codes", "edge_label_table"] if edge_labels else []
        return all(
            np.array_equal(getattr(self.batch, name), getattr(other.batch, name)) for name in names
        )


def seen_through(view: Any, batch: GraphBatch) -> GraphBatch:
    """Graphs as a fitted view shows them; None shows them as they are."""
    if view is None:
        return batch
    seen = as_graphs(view.transform(batch))
    if len(seen) != len(batch):
        raise InvalidParameterError(
            f"A view must give as many graphs as it takes; {view!r} took {len(batch)} and gave "
            f"{len(seen)}."
        )
    return seen


def tells_edges_apart(batch: GraphBatch) -> bool:
    """Whether there are at least two different edge labels, so that they can say something."""
    codes = batch.edge_label_codes
    return codes is not None and len(codes) > 0 and bool((codes != codes[0]).any())
