"""From the candidates that were chosen to trained members: weights on patterns.

1. A member is trained on the kernel matrix of all graphs, and what it has learnt is folded into
   weights on patterns; or, where there are many graphs, on the features themselves.
2. Members that look at the same patterns share one extraction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from ..core.memory import release_memory
from ..core.threads import run
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.grid import FittedSetting, Setting
from ..views.base import seen_through
from .committee import Candidate
from .folding import Folding
from .learner import Learner
from .level_weights import bare_graphs, level_matrices, weighted_sum
from .linear import GroupedFeatures
from .pattern_weights import PatternWeights
from .search import Choice, Search, scaled_gram

#: With more occurrences of patterns than this, members are trained one after the other: each needs
#: some 30 bytes for one.
MOST_SIDE_BY_SIDE = 20_000_000


def fit_to_all(search: Search, batch: GraphBatch, n_jobs: int | None) -> None:
    """Fit the settings of the members, which a sample has chosen, to all graphs."""
    wanted = sorted({one.setting for one in search.members})
    search.fitted = {}
    grids = {id(search.choices[number][0]): search.choices[number][0] for number in wanted}
    for grid in grids.values():
        numbers = [number for number in wanted if search.choices[number][0] is grid]
        settings = grid.with_settings([search.choices[number][1] for number in numbers])
        search.fitted |= dict(zip(numbers, settings.fit_each(batch, n_jobs), strict=True))


def train_on_matrices(
    search: Search,
    targets: np.ndarray,
    weights: np.ndarray | None,
    learner: Learner,
    n_jobs: int | None,
) -> list[PatternWeights]:
    """Train each member on the kernel matrix of all graphs and fold what it has learnt."""
    models: dict[Candidate, tuple[np.ndarray, np.ndarray]] = {}
    for number, fitted in search.fitted.items():
        for one, gram in _matrices(search, number, fitted):
            scaled, scale = scaled_gram(gram, fitted.kernel)
            [model] = learner.only(one.value).fit(scaled, targets, weights)
            coefficients, intercepts = model.linear
            models[one] = coefficients * scale, intercepts
    foldings: dict[tuple[Any, ...], Folding] = {}
    members = []
    for one in search.members:
        fitted, choice = search.fitted[one.setting], search.choices[one.setting]
        key = _patterns_key(choice)
        if key not in foldings:
            foldings[key] = _folding(search, choice, fitted.view, fitted.graphs, n_jobs)
        kernel = fitted.kernel
        assert isinstance(kernel, FeatureKernel)
        members.append(
            foldings[key].fold(
                kernel.counts,
                kernel.similarity == "cosine",
                _n_levels(search, one),
                *models[one],
                search.level_weights.get(one),
            )
        )
    return members


def _matrices(
    search: Search, number: int, fitted: FittedSetting
) -> Iterator[tuple[Candidate, np.ndarray]]:
    """The members of a setting, each with its kernel matrix."""
    here = [one for one in search.members if one.setting == number]
    plain = {one.level: one for one in here if one not in search.level_weights}
    for level, gram in zip(range(max(plain, default=-1) + 1), fitted.grams(), strict=False):
        if level in plain:
            yield plain[level], gram
    for one in here:
        if one in search.level_weights:
            bare, weights = bare_graphs(fitted), search.level_weights[one]
            yield one, weighted_sum(level_matrices(fitted), weights, bare)


def train_on_features(
    search: Search,
    batch: GraphBatch,
    train: Callable[[Candidate, GroupedFeatures], PatternWeights],
    n_jobs: int | None,
) -> list[PatternWeights]:
    """Train each member on the features of all graphs."""
    groups: dict[tuple[Any, ...], list[Candidate]] = {}
    for one in search.members:
        groups.setdefault(_patterns_key(search.choices[one.setting]), []).append(one)
    found: dict[Candidate, PatternWeights] = {}
    for members in groups.values():
        found |= _trained_together(search, members, batch, train, n_jobs)
        release_memory()
    return [found[one] for one in search.members]


def _trained_together(
    search: Search,
    members: list[Candidate],
    batch: GraphBatch,
    train: Callable[[Candidate, GroupedFeatures], PatternWeights],
    n_jobs: int | None,
) -> dict[Candidate, PatternWeights]:
    """Train members that look at the same patterns."""
    grid, setting = search.choices[members[0].setting]
    view = None if setting.view is None else clone(setting.view).fit(batch)
    folding = _folding(search, (grid, setting), view, seen_through(view, batch), n_jobs)

    def trained(begin: int, end: int) -> PatternWeights:
        one = members[begin]
        choice = search.choices[one.setting]
        kernel = choice[0].estimator(choice[1])
        assert isinstance(kernel, FeatureKernel)
        how = (kernel.counts, kernel.similarity == "cosine", _n_levels(search, one))
        return train(one, GroupedFeatures.of(folding, *how, search.level_weights.get(one)))

    ranges = [(place, place + 1) for place in range(len(members))]
    occurrences = sum(int(columns.counts.sum()) for columns in folding.columns)
    jobs = n_jobs if occurrences <= MOST_SIDE_BY_SIDE else 1
    return dict(zip(members, run(trained, ranges, jobs), strict=True))


def _patterns_key(choice: Choice) -> tuple[Any, ...]:
    """Equal for settings with the same patterns."""
    grid, setting = choice
    return (grid.kernel, *grid.extraction_key(setting))


def _n_levels(search: Search, one: Candidate) -> int | None:
    """How many levels of its kernel a candidate has; None stands for all."""
    grid, setting = search.choices[one.setting]
    if grid.level_parameter is None:
        return None
    return min(one.level + 1, len(grid.levels(setting)))


def _folding(
    search: Search, choice: Choice, view: Any, graphs: GraphBatch, n_jobs: int | None
) -> Folding:
    """The patterns of all graphs, as deep as any member needs them."""
    grid, setting = choice
    own = {n: v for n, v in setting.parameters.items() if n not in ("counts", "similarity")}
    if grid.level_parameter is not None:
        key = _patterns_key(choice)
        sharing = [o for o in search.members if _patterns_key(search.choices[o.setting]) == key]
        own[grid.level_parameter] = max(_n_levels(search, one) or 0 for one in sharing) - 1
    kernel = grid.estimator(Setting(own), n_jobs)
    assert isinstance(kernel, FeatureKernel)
    counted = kernel.count_features(graphs)
    release_memory()
    # a level is gone as soon as its patterns are grouped
    levels = (counted.pop(0) for _ in range(len(counted)))
    return Folding(view, kernel.set_params(n_jobs=None), graphs.label_kind, levels)
