"""What the ready-made Tree++ estimators share: they choose their kernel's parameters themselves.

1. Every combination of view and kernel parameters to choose from is a setting. The plainest come
   first: plain counts of vertex labels, then edge labels, then other views and count maps. A view
   that changes nothing, or edge labels alone, is not tried where a kernel cannot see it.
2. Settings that differ in the count map alone share one extraction of features, which also gives
   the kernel matrices of all tree depths, one after the other.
3. Inner cross-validation scores each matrix with each value of the learner's own parameter.
4. The best few kernels, each with its best learner, are trained on all graphs and decide together.

With a time budget no setting is begun once it is used up; the first is always tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.features import COUNT_MAPS, Counts
from ..kernels.tree_plus_plus import CENTRALITIES, TreePlusPlus
from ..parameters import BOOLEAN, Jobs, Number, OneOf, Rule, Seed, Whole, check_parameters
from .committee import Candidate, seated, size
from .machines import Learner
from .pattern_weights import Folding, PatternWeights, decision_values, without_zeros
from .search import Split, best_of_each, search
from .sights import Sight, ViewRule, tells_edges_apart
from .targets import check_folds

AUTO = "auto"
#: Count maps to choose from, the plainest first. By the figures in docs/beyond.md a committee gains
#: nothing from the logarithm or from presence alone.
COUNTS = ("raw", "sqrt", "intersection")


def is_auto(value: Any) -> bool:
    """Whether a parameter leaves the choice to the estimator."""
    return isinstance(value, str) and value == AUTO


@dataclass(frozen=True)
class OneOrMore:
    """A value, or a list of values to choose from; also "auto" if ``auto``."""

    rule: Rule
    auto: bool = False

    def allows(self, value: Any) -> bool:
        if self.auto and is_auto(value):
            return True
        values = alternatives(value)
        return bool(values) and all(self.rule.allows(item) for item in values)

    def __str__(self) -> str:
        words = f"{self.rule}; or a list of such values to choose from"
        return f"{words}; or {AUTO!r}" if self.auto else words


def alternatives(value: Any) -> list[Any]:
    """The values that a parameter offers."""
    return list(value) if isinstance(value, list | tuple | np.ndarray | range) else [value]


@dataclass(frozen=True)
class Setting:
    """What the kernel sees, and its parameters, all but the tree depth.

    Attributes
    ----------
    sight : Sight
    kernel : dict
        The parameters of the kernel.
    params : dict
        The same for the user, with the view if views were given.
    """

    sight: Sight
    kernel: dict[str, Any]
    params: dict[str, Any]


class TunedTreePlusPlus(BaseEstimator):
    """Base class of TreePlusPlusClassifier and TreePlusPlusRegressor."""

    parameter_rules: ClassVar[dict[str, Rule]] = {
        "path_depth": OneOrMore(Whole(0)),
        "max_tree_depth": Whole(0),
        "centrality": OneOrMore(OneOf(tuple(CENTRALITIES))),
        "edge_labels": OneOrMore(BOOLEAN, auto=True),
        "views": OneOrMore(ViewRule()),
        "counts": OneOrMore(OneOf(COUNT_MAPS), auto=True),
        "committee": Whole(1),
        "time_budget": Number(0.0, optional=True),
        "cv": Whole(2),
        "random_state": Seed(),
        "n_jobs": Jobs(),
    }
    #: The learner's own parameter.
    _tuned: ClassVar[str]

    path_depth: Any
    max_tree_depth: int
    centrality: Any
    edge_labels: Any
    views: Any
    counts: Any
    committee: int
    time_budget: float | None
    cv: int
    random_state: int | None
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    # ---------------------------------------------------------------- fit

    def _settings(self, sights: list[Sight]) -> list[Setting]:
        """What is tried, all but the tree depth, in this order."""
        counts = COUNTS if is_auto(self.counts) else alternatives(self.counts)
        others = list(product(alternatives(self.path_depth), alternatives(self.centrality)))
        edges = [self._edge_choices(sight, sights[:n]) for n, sight in enumerate(sights)]
        settings = []
        for how, (sight, flags) in product(counts, zip(sights, edges, strict=True)):
            for (path_depth, centrality), edge_labels in product(others, flags):
                kernel = {
                    "counts": how,
                    "path_depth": path_depth,
                    "centrality": centrality,
                    "edge_labels": edge_labels,
                }
                view = {} if self.views is None else {"view": sight.view}
                settings.append(Setting(sight, kernel, {**kernel, **view}))
        return settings

    def _edge_choices(self, sight: Sight, before: list[Sight]) -> list[bool]:
        """With and without edge labels, unless an earlier view shows the same."""
        flags = alternatives(self.edge_labels)
        if is_auto(self.edge_labels):
            flags = [False, True] if tells_edges_apart(sight.batch) else [False]
        return [f for f in flags if not any(sight.shows_the_same(other, f) for other in before)]

    def _checked_graphs(self, X: Any) -> GraphBatch:
        check_parameters(self, self.parameter_rules)
        batch = as_graphs(X)
        if not len(batch):
            raise InvalidGraphError(
                f"{type(self).__name__} needs graphs to learn from; got an empty list."
            )
        check_folds(self.cv, len(batch))
        return batch

    def _tune(
        self, batch: GraphBatch, targets: np.ndarray, splits: list[Split], learner: Learner
    ) -> None:
        """Try the settings, keep the best kernels, train on all graphs."""
        settings = self._settings([Sight.of(view, batch) for view in alternatives(self.views)])
        self._extractions: dict[tuple[Any, ...], list[Counts]] = {}
        tried: list[dict[str, Any]] = []
        scores: list[np.ndarray] = []
        kernels: dict[int, TreePlusPlus] = {}
        seats: list[Candidate] = []
        for number, (setting, kernel) in enumerate(self._kernels(settings)):
            found = np.concatenate(
                [
                    search([gram], targets, splits, learner, self.n_jobs)
                    for gram in kernel.each_gram_level()
                ]
            )
            tried += [
                {**setting.params, "tree_depth": depth, self._tuned: value}
                for depth, value in product(range(len(found)), learner.grid)
            ]
            scores.append(found.reshape(-1, len(splits)))
            seats += [
                Candidate(score, number, depth, learner.grid[place])
                for depth, (score, place) in enumerate(best_of_each(found, learner))
            ]
            seats = seated(seats, self.committee)
            kernels[number] = kernel
            kernels = {n: kernels[n] for n in sorted({seat.setting for seat in seats})}
        seats = seats[: size(self.committee, len(tried) // len(learner.grid))]
        self._seat(seats, kernels, settings, targets, learner)
        del self._extractions
        self.n_graphs_ = len(batch)
        self.cv_results_ = _results(tried, np.concatenate(scores))
        self.skipped_ = [setting.params for setting in settings[len(scores) :]]

    def _seat(
        self,
        seats: list[Candidate],
        kernels: dict[int, TreePlusPlus],
        settings: list[Setting],
        targets: np.ndarray,
        learner: Learner,
    ) -> None:
        """Train the learner of each seat on all graphs."""
        depths = {seat.setting: 0 for seat in seats}
        for seat in seats:
            depths[seat.setting] = max(depths[seat.setting], seat.depth)
        models: dict[Candidate, Any] = {}
        for number, deepest in depths.items():
            for depth, gram in zip(
                range(deepest + 1), kernels[number].each_gram_level(), strict=False
            ):
                for seat in seats:
                    if (seat.setting, seat.depth) == (number, depth):
                        [models[seat]] = learner.only(seat.value).fit(gram, targets)
        self._models = [models[seat].without_coefficients() for seat in seats]
        self.pattern_weights_ = self._folded(seats, models, settings)
        self.members_ = [
            {**settings[seat.setting].params, "tree_depth": seat.depth, self._tuned: seat.value}
            for seat in seats
        ]
        self.best_params_, self.best_score_ = self.members_[0], seats[0].score
        self.kernel_ = self.pattern_weights_[0].kernel
        self.view_ = self.pattern_weights_[0].view

    def _folded(
        self, seats: list[Candidate], models: dict[Candidate, Any], settings: list[Setting]
    ) -> list[PatternWeights]:
        """The trained models as weights on patterns, so that no training graph is kept."""
        foldings: dict[tuple[Any, ...], Folding] = {}
        members = []
        for seat in seats:
            sight, own = settings[seat.setting].sight, settings[seat.setting].kernel
            key = self._extraction_key(settings[seat.setting])
            if key not in foldings:
                features = {name: own[name] for name in own if name != "counts"}
                kernel = TreePlusPlus(tree_depth=self.max_tree_depth, **features)
                foldings[key] = Folding(
                    sight.fitted, kernel, sight.batch.label_kind, self._extractions[key]
                )
            coefficients, intercept = models[seat].linear
            members.append(
                foldings[key].fold(own["counts"], True, seat.depth + 1, coefficients, intercept)
            )
        return without_zeros(members)

    def _kernels(self, settings: list[Setting]) -> Iterator[tuple[Setting, TreePlusPlus]]:
        """The fitted kernel of each setting, as long as there is time."""
        begin = perf_counter()
        extractions = self._extractions
        for number, setting in enumerate(settings):
            spent = perf_counter() - begin
            if number and self.time_budget is not None and spent >= self.time_budget:
                return
            batch, own = setting.sight.batch, setting.kernel
            kernel = TreePlusPlus(tree_depth=self.max_tree_depth, n_jobs=self.n_jobs, **own)
            features = self._extraction_key(setting)
            if features not in extractions:
                extractions[features] = kernel.count_features(batch)
            kernel.fit_counted(batch, extractions[features])
            yield setting, kernel

    @staticmethod
    def _extraction_key(setting: Setting) -> tuple[Any, ...]:
        """Equal for settings with the same features."""
        own = setting.kernel
        return (id(setting.sight.batch), *(own[name] for name in own if name != "counts"))

    # ---------------------------------------------------------------- predict

    def _mean(self, X: Any, answer: Callable[[Any, np.ndarray], np.ndarray]) -> np.ndarray:
        """The mean of what the members answer."""
        check_is_fitted(self, "members_")
        values = decision_values(self.pattern_weights_, X)
        answers = [answer(*pair) for pair in zip(self._models, values, strict=True)]
        return np.mean(answers, axis=0)


def _results(tried: list[dict[str, Any]], scores: np.ndarray) -> dict[str, Any]:
    """What was tried in the form of scikit-learn's searches, ready for a pandas.DataFrame."""
    means = scores.mean(axis=1)
    table: dict[str, Any] = {
        f"param_{name}": [params[name] for params in tried] for name in tried[0]
    }
    table["params"] = tried
    for split in range(scores.shape[1]):
        table[f"split{split}_test_score"] = scores[:, split]
    table["mean_test_score"] = means
    table["std_test_score"] = scores.std(axis=1)
    table["rank_test_score"] = 1 + np.array([int((means > mean + 1e-12).sum()) for mean in means])
    return table


#: A grid of positive numbers.
POSITIVE = OneOrMore(Number(0.0))
