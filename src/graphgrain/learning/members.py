"""From the candidates that were chosen to trained members: weights on patterns.

1. A member is trained on the kernel matrix of all graphs, and what it has learnt is folded into
   weights on patterns; or, where there are many graphs, on the features themselves.
2. Members that look at the same patterns share one extraction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from ..core.threads import run
from ..graphs.batch import GraphBatch
from ..kernels.features import FeatureKernel
from ..kernels.grid import Setting
from ..views.base import seen_through
from .committee import Candidate
from .folding import Folding
from .learner import Learner
from .linear import GroupedFeatures
from .pattern_weights import PatternWeights
from .search import Choice, Search, scaled_gram


def fit_to_all(search: Search, batch: GraphBatch, n_jobs: int | None) -> None:
    """Fit the settings of the members, which a sample has chosen, to all graphs."""
    wanted = sorted({one.setting for one in search.members})
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
        here = [one for one in search.members if one.setting == number]
        deepest = max((one.level for one in here), default=-1)
        for level, gram in zip(range(deepest + 1), fitted.grams(), strict=False):
            for one in here:
                if one.level == level:
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
        levels = _n_levels(choice, one)
        members.append(foldings[key].fold(kernel.counts, kernel.normalize, levels, *models[one]))
    return members


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
        grid, setting = search.choices[members[0].setting]
        view = None if setting.view is None else clone(setting.view).fit(batch)
        folding = _folding(search, (grid, setting), view, seen_through(view, batch), n_jobs)

        def trained(
            begin: int, end: int, members: list[Candidate] = members, folding: Folding = folding
        ) -> PatternWeights:
            one = members[begin]
            choice = search.choices[one.setting]
            kernel = choice[0].estimator(choice[1])
            assert isinstance(kernel, FeatureKernel)
            levels = _n_levels(choice, one)
            return train(one, GroupedFeatures.of(folding, kernel.counts, kernel.normalize, levels))

        ranges = [(place, place + 1) for place in range(len(members))]
        for one, weighted in zip(members, run(trained, ranges, n_jobs), strict=True):
            found[one] = weighted
    return [found[one] for one in search.members]


def _patterns_key(choice: Choice) -> tuple[Any, ...]:
    """Equal for settings with the same patterns."""
    grid, setting = choice
    return (grid.kernel, *grid.extraction_key(setting))


def _n_levels(choice: Choice, one: Candidate) -> int | None:
    """How many levels of its kernel a candidate has; None stands for all."""
    return None if choice[0].level_parameter is None else one.level + 1


def _folding(
    search: Search, choice: Choice, view: Any, graphs: GraphBatch, n_jobs: int | None
) -> Folding:
    """The patterns of all graphs, as deep as any member needs them."""
    grid, setting = choice
    own = {n: v for n, v in setting.parameters.items() if n not in ("counts", "normalize")}
    if grid.level_parameter is not None:
        key = _patterns_key(choice)
        sharing = [o for o in search.members if _patterns_key(search.choices[o.setting]) == key]
        own[grid.level_parameter] = max(one.level for one in sharing)
    kernel = grid.estimator(Setting(own), n_jobs)
    assert isinstance(kernel, FeatureKernel)
    counted = kernel.count_features(graphs)
    return Folding(view, kernel.set_params(n_jobs=None), graphs.label_kind, counted)
