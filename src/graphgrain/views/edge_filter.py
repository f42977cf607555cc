"""EdgeFilter: select edges by label or attribute."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch, keep_entries
from ..parameters import Number, Whole, parameter
from .base import View, attribute_columns


class EdgeFilter(View):
    """Select edges by their label, or by the range of an attribute.

    Parameters
    ----------
    keep : sequence of labels, optional
        Labels of the edges to keep. By default all.
    drop : sequence of labels, optional
        Labels of the edges to remove. By default none.
    attribute : int, default=0
        Index of the edge attribute that ``above`` and ``below`` apply to.
    above, below : float, optional
        Keep only edges whose attribute is at least ``above`` and at most ``below``.

    Examples
    --------
    The graphs of the TU datasets BZR_MD, COX2_MD and DHFR_MD are complete, and edge label 1 means
    "no chemical bond". ``EdgeFilter(drop=[1])`` keeps only the bonds.

    >>> import graphgrain as gg
    >>> graphs = gg.as_graphs([([(0, 1), (1, 2), (0, 2)], ["C", "C", "O"], [2, 3, 1])])
    >>> gg.EdgeFilter(drop=[1]).fit_transform(graphs)
    GraphBatch(1 graph, 3 vertices, 2 edges, 2 vertex labels, 2 edge labels)
    """

    keep: Any = parameter(default=None, kw_only=False)
    drop: Any = parameter(default=None, kw_only=False)
    attribute: int = parameter(Whole(0), default=0)
    above: float | None = parameter(Number(float("-inf"), optional=True), default=None)
    below: float | None = parameter(Number(float("-inf"), optional=True), default=None)

    def _fit(self, batch: GraphBatch) -> None:
        for name in ("keep", "drop"):
            value = getattr(self, name)
            if isinstance(value, str) or (value is not None and not hasattr(value, "__iter__")):
                raise InvalidParameterError(
                    f"{name} must be a list of edge labels, or None; got {value!r}. "
                    f"For a single label write {name}=[{value!r}]."
                )
            table = batch.edge_label_table
            known = [] if table is None else table.tolist()[:1]
            wrong = [
                label
                for label in (() if value is None else value)
                if known and isinstance(label, str) != isinstance(known[0], str)
            ]
            if wrong:
                raise InvalidParameterError(
                    f"{name} must be edge labels as these graphs have them, such as {known[0]!r}; "
                    f"got {wrong[0]!r}."
                )
        self._transform(batch)

    def _transform(self, batch: GraphBatch) -> GraphBatch:
        stays = np.ones(len(batch.indices), dtype=bool)
        if self.keep is not None or self.drop is not None:
            table, codes = batch.edge_label_table, batch.edge_label_codes
            if (table is None or codes is None) and batch.n_edges:
                raise InvalidGraphError(
                    "EdgeFilter(keep=..., drop=...) needs graphs with edge labels; these have none."
                )
            if table is not None and codes is not None:
                labels = set(table.tolist() if self.keep is None else self.keep)
                labels -= set(() if self.drop is None else self.drop)
                stays &= np.array([value in labels for value in table.tolist()], dtype=bool)[codes]
        if self.above is not None or self.below is not None:
            column = attribute_columns(batch, "edge")
            if len(column) and self.attribute >= column.shape[1]:
                raise InvalidParameterError(
                    f"attribute must be a column of the edge attributes (0 to "
                    f"{column.shape[1] - 1}); got {self.attribute}."
                )
            chosen = column[:, self.attribute] if len(column) else np.empty(0)
            if self.above is not None:
                stays &= chosen >= self.above
            if self.below is not None:
                stays &= chosen <= self.below
        return keep_entries(batch, stays)
