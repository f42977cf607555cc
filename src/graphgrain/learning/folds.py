"""Folds and samples for cross-validation.

They depend only on the random generator, not on the version of scikit-learn, so that results stay
reproducible.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.hashing import mix_array, segment_sums
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch, subgraph

#: Positions of training and test graphs.
Split = tuple[np.ndarray, np.ndarray]


def random_folds(graphs: int, folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Shuffle the numbers 0 to graphs - 1 and split them into parts of (nearly) equal size."""
    return np.array_split(rng.permutation(graphs), folds)


def stratified_folds(codes: np.ndarray, folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return folds in which each class has (nearly) the same share.

    The graphs are shuffled, sorted by class and assigned to folds in turn, so that both fold sizes
    and class sizes within folds differ by at most one.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.folds import stratified_folds
    >>> codes = np.array([0] * 6 + [1] * 3)
    >>> [codes[fold].tolist() for fold in stratified_folds(codes, 3, np.random.default_rng(0))]
    [[0, 0, 1], [0, 0, 1], [0, 0, 1]]
    """
    order = rng.permutation(len(codes))
    dealt = order[np.argsort(codes[order], kind="stable")]
    return [dealt[fold::folds] for fold in range(folds)]


def stratified_sample(codes: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return sorted positions of ``size`` graphs with (nearly) the same class shares.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.folds import stratified_sample
    >>> codes = np.array([0] * 60 + [1] * 30)
    >>> codes[stratified_sample(codes, 9, np.random.default_rng(0))].tolist()
    [0, 0, 0, 0, 0, 0, 1, 1, 1]
    """
    order = rng.permutation(len(codes))
    by_class = order[np.argsort(codes[order], kind="stable")]
    steps = np.floor((np.arange(size) + 0.5) * len(codes) / size).astype(np.int64)
    return np.sort(by_class[steps])


def even_sample(
    codes: np.ndarray, size: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return sorted positions of ``size`` graphs, with classes as balanced as possible.

    A class smaller than an even share of the sample is included completely; the other classes
    share the rest evenly.

    Returns
    -------
    positions : array
    stand_for : array
        Number of graphs of its class that each one represents, relative to the class of which the
        largest share is in the sample.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.folds import even_sample
    >>> codes = np.array([0] * 60 + [1] * 3)
    >>> positions, stand_for = even_sample(codes, 9, np.random.default_rng(0))
    >>> codes[positions].tolist(), stand_for.tolist()
    ([0, 0, 0, 0, 0, 0, 1, 1, 1], [10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 1.0, 1.0, 1.0])
    """
    order = rng.permutation(len(codes))
    counts = np.bincount(codes)
    parts, taken = [], np.zeros(len(counts))
    room, left = size, np.count_nonzero(counts)
    for code in np.argsort(counts, kind="stable")[len(counts) - left :]:
        own = order[codes[order] == code][: room // left]
        parts.append(own)
        taken[code] = len(own)
        room, left = room - len(own), left - 1
    positions = np.sort(np.concatenate(parts))
    ratios = counts / np.maximum(taken, 1)
    return positions, ratios[codes[positions]] / ratios[taken > 0].min()


def train_and_test(folds: list[np.ndarray], test: int) -> Split:
    """Return the sorted positions of all folds but one, and that fold."""
    rest = [fold for number, fold in enumerate(folds) if number != test]
    return np.sort(np.concatenate(rest)), folds[test]


def fold_numbers(
    cv: Any,
    batch: GraphBatch,
    codes: np.ndarray | None,
    groups: Any,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the fold number of each graph.

    Parameters
    ----------
    cv : int, splitter, or "scaffold"
        An integer makes random folds, stratified if there are class ``codes``, or folds that keep
        ``groups`` together. "scaffold" uses the ring systems of molecules as groups.
    batch : GraphBatch
    codes : array or None
        Class codes, None for regression.
    groups : array-like or None
        Group of each graph.
    rng : numpy.random.Generator
    """
    graphs = len(batch)
    if hasattr(cv, "split") and not isinstance(cv, str):
        numbers = np.full(graphs, -1)
        target = np.zeros(graphs) if codes is None else codes
        try:
            splits = list(cv.split(np.zeros(graphs), target, groups))
            outside = any(np.max(test, initial=0) >= graphs for _, test in splits)
        except ValueError as error:
            raise InvalidParameterError(
                f"cv={cv!r} cannot split these {graphs} graphs: {error}"
            ) from None
        if outside:
            raise InvalidParameterError(
                f"cv={cv!r} is made for more graphs than the {graphs} that are given."
            )
        for fold, (_, test) in enumerate(splits):
            if (numbers[test] >= 0).any():
                raise InvalidParameterError(
                    f"cv must hold out every graph once; {cv!r} holds out graph "
                    f"{int(np.asarray(test)[numbers[test] >= 0][0])} twice. Use KFold, GroupKFold "
                    "or StratifiedKFold."
                )
            numbers[test] = fold
        if (numbers < 0).any():
            raise InvalidParameterError(
                f"cv must hold out every graph once; {cv!r} leaves out graph "
                f"{int(np.flatnonzero(numbers < 0)[0])}. Use KFold, GroupKFold or StratifiedKFold."
            )
        if numbers.max() < 1:
            raise InvalidParameterError(f"cv must make at least two folds; {cv!r} makes one.")
        return numbers
    if isinstance(cv, str):
        groups = scaffold_codes(batch)
        cv = min(5, int(groups.max(initial=0)) + 1)
        if cv < 2:
            raise InvalidParameterError(
                "cv='scaffold' needs molecules with different ring systems; all molecules have the "
                "same scaffold. Use a number of folds."
            )
    if groups is not None:
        return _grouped_folds(np.asarray(groups), cv, rng)
    folds = random_folds(graphs, cv, rng) if codes is None else stratified_folds(codes, cv, rng)
    numbers = np.empty(graphs, dtype=np.int64)
    for fold, members in enumerate(folds):
        numbers[members] = fold
    return numbers


def _grouped_folds(groups: np.ndarray, folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return fold numbers that keep groups together: largest first, each to the smallest fold."""
    _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    codes = codes.reshape(-1)
    if len(sizes) < folds:
        raise InvalidParameterError(
            f"There must be at least as many groups as folds; got {len(sizes)} groups for {folds} "
            "folds. Use fewer folds."
        )
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    filled = np.zeros(folds, dtype=np.int64)
    fold_of = np.empty(len(sizes), dtype=np.int64)
    for group in order.tolist():
        fold_of[group] = int(filled.argmin())
        filled[fold_of[group]] += sizes[group]
    return fold_of[codes]


def scaffold_codes(batch: GraphBatch) -> np.ndarray:
    """Return a number for the scaffold of each graph, the part left after pruning all end vertices.

    Vertices of degree 1 or 0 are removed repeatedly; rings and the chains between them remain, as
    in Murcko scaffolds. Graphs without rings have the same, empty scaffold.
    """
    from ..kernels.weisfeiler_lehman import WeisfeilerLehman

    degrees = batch.degrees.copy()
    kept = np.ones(batch.n_vertices, dtype=bool)
    ends = np.flatnonzero(degrees <= 1)
    while len(ends):
        kept[ends] = False
        next_ends = []
        for vertex in ends.tolist():
            for other in batch.indices[batch.indptr[vertex] : batch.indptr[vertex + 1]].tolist():
                if kept[other]:
                    degrees[other] -= 1
                    if degrees[other] == 1:
                        next_ends.append(other)
        ends = np.array(next_ends, dtype=np.int64)
    core = subgraph(batch, np.flatnonzero(kept))
    kernel = WeisfeilerLehman(8, edge_labels=core.edge_label_codes is not None and core.n_edges > 0)
    last = kernel.count(core).levels[-1]
    with np.errstate(over="ignore"):
        mixed = mix_array(last.hashes + mix_array(last.counts.astype(np.uint64)))
        sums = segment_sums(mixed, last.starts)
    return np.unique(sums, return_inverse=True)[1].reshape(-1)
