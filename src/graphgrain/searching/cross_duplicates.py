"""Near-duplicates between two collections: what leaks from one to the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidParameterError
from .columns import as_array
from .graph_index import GraphIndex


class NearDuplicates(NamedTuple):
    """Pairs of a query and its most similar graph of an index.

    Attributes
    ----------
    queries : int array
        The numbers of the queries that have a near-duplicate.
    ids : array
        The most similar graph of the index, for each of them.
    similarities : array
    """

    queries: np.ndarray
    ids: np.ndarray
    similarities: np.ndarray


def near_duplicates(index: GraphIndex, queries: Any, threshold: float = 0.9) -> NearDuplicates:
    """Queries that have a graph of at least this similarity in the index, most similar first.

    Parameters
    ----------
    index : GraphIndex
        For example of the training set.
    queries : graphs
        For example the test set.
    threshold : float
        The least similarity of near-duplicates.

    Examples
    --------
    >>> import graphgrain as gg, tempfile
    >>> graphs, _, names = gg.load_drugs(names=True)
    >>> folder = tempfile.TemporaryDirectory()
    >>> index = gg.GraphIndex.build(f"{folder.name}/train.ggi", graphs[::2], ids=names[::2])
    >>> found = gg.near_duplicates(index, graphs[1::2], threshold=0.9)
    >>> [(str(names[1::2][q]), i) for q, i in zip(found.queries, found.ids.tolist())][:2]
    [('norfloxacin', 'pefloxacin'), ('cloxacillin', 'dicloxacillin')]
    """
    if not 0.0 < threshold <= 1.0:
        raise InvalidParameterError(f"threshold must be above 0 and at most 1; got {threshold!r}.")
    ids, similarities = index.search(queries, k=1, threshold=threshold)
    found = np.array([number for number, row in enumerate(ids) if len(row)], dtype=np.int64)
    values = np.array([similarities[number][0] for number in found])
    order = np.argsort(-values, kind="stable")
    nearest = as_array([ids[number].tolist()[0] for number in found[order]])
    return NearDuplicates(found[order], nearest, values[order])
