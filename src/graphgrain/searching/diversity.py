"""Picking graphs that differ: the MaxMin rule, without a matrix of all similarities.

1. For every graph a lower bound of its similarity to the nearest pick is kept. A new pick raises
   it by what the sketches prove: the common features that both have.
2. The graphs with the smallest bounds are compared with the picks exactly.
3. When the smallest bound is an exact one, no other graph is further away: it is picked.
"""

from __future__ import annotations

import numpy as np

from ..core.posting_scan import least_overlaps
from ..errors import InvalidParameterError
from ..parameters import Whole
from .graph_index import GraphIndex
from .keyed_features import KeyedFeatures, keyed_features
from .ranking import exact_similarity

#: Graphs that are compared exactly at a time.
_TOGETHER = 64


def pick_diverse(index: GraphIndex, count: int, first: int = 0) -> np.ndarray:
    """Pick graphs one by one, each as unlike as possible to those picked before (MaxMin).

    Parameters
    ----------
    index : GraphIndex
    count : int
        How many to pick.
    first : int
        The number of the first pick, as the index counts its graphs.

    Returns
    -------
    int array
        Numbers of graphs in the order of picking; ``index.ids[numbers]`` are their ids.

    Notes
    -----
    Exact, and fast for kernels with ``counts="binary"`` or ``"intersection"``; with other count
    maps sketches prove no lower bounds, and every graph is compared with every pick.

    Examples
    --------
    >>> import graphgrain as gg, tempfile
    >>> graphs, _, names = gg.load_drugs(names=True)
    >>> folder = tempfile.TemporaryDirectory()
    >>> index = gg.GraphIndex.build(f"{folder.name}/drugs.ggi", graphs, ids=names)
    >>> index.ids[gg.pick_diverse(index, 4)].tolist()
    ['alimemazine', 'fluocinonide', 'ceftriaxone', 'pazufloxacin']
    """
    rule = Whole(1, len(index))
    if not rule.allows(count):
        raise InvalidParameterError(f"count must be {rule}; got {count!r}.")
    place = Whole(0, len(index) - 1)
    if not place.allows(first):
        raise InvalidParameterError(f"first must be {place}; got {first!r}.")
    live = index._snapshot.live
    ranker = index._ranker()
    nearest = np.zeros(len(live))  # lower bounds of the similarity to the nearest pick
    exact = np.zeros(len(live), dtype=np.int64)  # how many picks the bound covers exactly
    picks = [first]
    nearest[first] = np.inf
    features = [_features(index, live[[first]])]
    _raise(index, features[-1], nearest)
    while len(picks) < count:
        while True:
            farthest = int(np.argmin(nearest))
            if exact[farthest] == len(picks):
                break
            few = np.argpartition(nearest, min(_TOGETHER, len(nearest) - 1))[:_TOGETHER]
            stale = np.union1d(few[exact[few] < len(picks)], [farthest])
            stale = stale[np.isfinite(nearest[stale])]
            begin = int(exact[stale].min())
            missing = _joined(features[begin:])
            pairs = len(picks) - begin
            values = ranker.similarities(
                missing, np.tile(np.arange(pairs), len(stale)), np.repeat(live[stale], pairs)
            )
            nearest[stale] = np.maximum(nearest[stale], values.reshape(len(stale), pairs).max(1))
            exact[stale] = len(picks)
        picks.append(farthest)
        nearest[farthest] = np.inf
        features.append(_features(index, live[[farthest]]))
        _raise(index, features[-1], nearest)
    return np.array(picks)


def _features(index: GraphIndex, places: np.ndarray) -> KeyedFeatures:
    return keyed_features(index.kernel, index._ranker().graphs(places)).sorted()


def _joined(parts: list[KeyedFeatures]) -> KeyedFeatures:
    lengths = np.concatenate([np.diff(part.pointers) for part in parts])
    return KeyedFeatures(
        np.concatenate(([0], np.cumsum(lengths))),
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.values for part in parts]),
    )


def _raise(index: GraphIndex, pick: KeyedFeatures, nearest: np.ndarray) -> None:
    """Raise the bounds of all graphs by what they surely share with a pick."""
    ranker = index._ranker()
    query = ranker.queries(pick)[0]
    begin = 0
    for segment in index._snapshot.segments:
        end = begin + len(segment.live)
        if segment.lists.bits.shape[1]:
            shared = np.zeros(len(segment), dtype=np.float32)
            least_overlaps(query, segment.lists, shared)
            measures, _ = segment.measures(ranker.kind)
            least = exact_similarity(
                ranker.kind,
                shared.astype(np.float64),
                np.full(len(shared), query.measure),
                measures.astype(np.float64),
            )[segment.live]
            np.maximum(nearest[begin:end], least, out=nearest[begin:end])
        begin = end
