"""What the ready-made Tree++ estimators share: they choose their kernel's parameters themselves.

1. Every combination of view and kernel parameters to choose from is a setting
   (:mod:`graphgrain.learning.candidates`). The plainest come first: plain counts of vertex labels,
   then edge labels, then other views and count maps.
2. Settings that differ in the count map alone share one extraction of features, which also gives
   the kernel matrices of all tree depths, one after the other.
3. Inner cross-validation scores each matrix with each value of the learner's own parameter. Sets
   with more than a few thousand graphs are judged by a sample of them.
4. The best few kernels, each with its best learner, are trained on all graphs and decide together:
   on kernel matrices, or on the features themselves where there are many graphs.
5. What they have learnt is folded into weights on patterns.

With a time budget no setting is begun once it is used up; the first is always tried.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..core.threads import run
from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.features import COUNT_MAPS, FeatureKernel
from ..kernels.grid import FittedSetting, KernelGrid, Setting
from ..kernels.tree_plus_plus import CENTRALITIES
from ..parameters import BOOLEAN, Jobs, Number, OneOf, Rule, Seed, Whole, check_parameters
from ..views.base import seen_through
from .candidates import AUTO, OneOrMore, candidate_grid
from .committee import Candidate
from .fitted_view import ViewRule
from .folding import Folding, without_zeros
from .learner import Learner, Split
from .linear import GroupedFeatures
from .pattern_weights import PatternWeights, decision_values
from .search import Judge, Search, scaled_gram, search_candidates
from .targets import check_folds

SOLVERS = ("auto", "kernel", "linear")
#: Up to so many graphs, "auto" trains on kernel matrices.
MOST_FOR_KERNEL = 5000

#: A grid of positive numbers.
POSITIVE = OneOrMore(Number(0.0))


class TunedTreePlusPlus(BaseEstimator):
    """Base class of TreePlusPlusClassifier and TreePlusPlusRegressor."""

    parameter_rules: ClassVar[dict[str, Rule]] = {
        "path_depth": OneOrMore(Whole(0)),
        "max_tree_depth": Whole(0),
        "centrality": OneOrMore(OneOf(tuple(CENTRALITIES))),
        "edge_labels": OneOrMore(BOOLEAN, auto=True),
        "views": OneOrMore(ViewRule()),
        "counts": OneOrMore(OneOf(COUNT_MAPS), auto=True),
        "normalize": OneOrMore(BOOLEAN, auto=True),
        "committee": Whole(1),
        "solver": OneOf(SOLVERS),
        "time_budget": Number(0.0, optional=True),
        "cv": Whole(2),
        "random_state": Seed(),
        "n_jobs": Jobs(),
        "verbose": Whole(0),
    }
    #: The learner's own parameter.
    _tuned: ClassVar[str]

    path_depth: Any
    max_tree_depth: int
    centrality: Any
    edge_labels: Any
    views: Any
    counts: Any
    normalize: Any
    committee: int
    solver: str
    time_budget: float | None
    cv: int
    random_state: int | None
    n_jobs: int | None
    verbose: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    # ---------------------------------------------------------------- fit

    def _checked_graphs(self, X: Any) -> GraphBatch:
        check_parameters(self, self._rules)
        batch = as_graphs(X)
        if not len(batch):
            raise InvalidGraphError(
                f"{type(self).__name__} needs graphs to learn from; got an empty list."
            )
        check_folds(self.cv, len(batch))
        return batch

    @property
    def _rules(self) -> dict[str, Rule]:
        verbose = {"verbose": OneOf((True, False))} if isinstance(self.verbose, bool) else {}
        return {**self.parameter_rules, **verbose}

    def _checked_weights(self, sample_weight: Any, graphs: int) -> np.ndarray:
        if sample_weight is None:
            return np.ones(graphs)
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.shape != (graphs,) or not np.isfinite(weights).all() or (weights < 0).any():
            raise InvalidParameterError(
                f"sample_weight must hold a finite number of 0 or more for each of the {graphs} "
                f"graphs; its shape is {weights.shape}, its smallest entry "
                f"{weights.min(initial=np.inf):g}."
            )
        if not (weights > 0).any():
            raise InvalidParameterError("sample_weight must be above 0 for some graph.")
        return weights

    def _trains_on_features(self, graphs: int) -> bool:
        return self.solver == "linear" or (self.solver == AUTO and graphs > MOST_FOR_KERNEL)

    def _tune(
        self,
        batch: GraphBatch,
        targets: np.ndarray,
        weights: np.ndarray,
        sample: np.ndarray,
        splits: list[Split],
        learner: Learner,
        score: Callable[[np.ndarray, np.ndarray], float],
    ) -> Search:
        """Try the settings on the sample, keep the best kernels, train them on all graphs."""
        whole = len(sample) == len(batch)
        searched = batch if whole else batch[sample]
        search = self._search(searched, targets[sample], weights[sample], splits, learner, score)
        shares = self._shares(search, targets[sample], weights[sample])
        search.members = [one for one, share in zip(search.members, shares, strict=True) if share]
        self.member_weights_ = shares[shares > 0]
        settings = search.grid.settings
        if self._trains_on_features(len(batch)):
            search.fitted.clear()
            members = self._on_features(search, batch, targets, weights)
        else:
            if not whole:
                self._fit_to_all(search, batch)
            members = self._on_kernel_matrices(search, targets, weights, learner)
        # The mean of the members is what they predict together, whatever their shares.
        factors = len(members) * self.member_weights_
        self.pattern_weights_ = without_zeros(
            self._in_units(member, factor) for member, factor in zip(members, factors, strict=True)
        )
        self.members_ = [
            {**self._named(settings[one.setting], one.level), self._tuned: one.value}
            for one in search.members
        ]
        self.best_params_, self.best_score_ = self.members_[0], search.members[0].score
        self.kernel_, self.view_ = self.pattern_weights_[0].kernel, self.pattern_weights_[0].view
        self.n_graphs_ = len(batch)
        self.cv_results_ = search.table(
            [self._named(settings[number], level) for number, level in search.places],
            self._tuned,
            learner.grid,
        )
        self.skipped_ = [self._named(setting) for setting in settings[len(search.scores) :]]
        return search

    def _named(self, setting: Setting, level: int | None = None) -> dict[str, Any]:
        """The parameters of a setting for the user, with the view if views were given."""
        own = {name: value for name, value in setting.parameters.items() if name != "tree_depth"}
        view = {} if self.views is None else {"view": setting.view}
        return {**own, **view, **({} if level is None else {"tree_depth": level})}

    def _search(
        self,
        batch: GraphBatch,
        targets: np.ndarray,
        weights: np.ndarray,
        splits: list[Split],
        learner: Learner,
        score: Callable[[np.ndarray, np.ndarray], float],
    ) -> Search:
        """Judge all candidates by cross-validation."""
        names = ("path_depth", "max_tree_depth", "centrality", "edge_labels", "views", "counts")
        grid = candidate_grid(
            batch, normalize=self.normalize, **{name: getattr(self, name) for name in names}
        )
        return search_candidates(
            grid,
            self._in_time(grid, grid.fit_each(batch, self.n_jobs)),
            Judge(targets, splits, learner, score, plain_weights(weights), self.n_jobs),
            self.committee,
            self._tell,
        )

    def _in_time(
        self, grid: KernelGrid, fitted: Iterator[FittedSetting]
    ) -> Iterator[FittedSetting]:
        """Settings as long as there is time."""
        begin = perf_counter()
        for number in range(len(grid.settings)):
            spent = perf_counter() - begin
            if number and self.time_budget is not None and spent >= self.time_budget:
                return
            yield next(fitted)

    def _tell(self, search: Search, setting: Setting, best: float) -> None:
        if self.verbose:
            words = ", ".join(f"{name}={value}" for name, value in self._named(setting).items())
            done = f"{len(search.scores)} of {len(search.grid.settings)} settings tried"
            print(f"{type(self).__name__}: {done}; {words}: {best:.4f}", file=sys.stderr)

    def _fit_to_all(self, search: Search, batch: GraphBatch) -> None:
        """Fit the settings of the members, which a sample has chosen, to all graphs."""
        numbers = sorted({one.setting for one in search.members})
        settings = search.grid.with_settings([search.grid.settings[n] for n in numbers])
        search.fitted = dict(zip(numbers, settings.fit_each(batch, self.n_jobs), strict=True))

    def _on_kernel_matrices(
        self, search: Search, targets: np.ndarray, weights: np.ndarray, learner: Learner
    ) -> list[PatternWeights]:
        """Train each member on the kernel matrix of all graphs and fold what it has learnt."""
        models: dict[Candidate, tuple[np.ndarray, np.ndarray]] = {}
        for number, fitted in search.fitted.items():
            here = [one for one in search.members if one.setting == number]
            deepest = max((one.level for one in here), default=-1)
            for level, gram in zip(range(deepest + 1), fitted.grams(), strict=False):
                for one in here:
                    if one.level == level:
                        scaled, scale = scaled_gram(gram, fitted.setting)
                        [model] = learner.only(one.value).fit(
                            scaled, targets, plain_weights(weights)
                        )
                        coefficients, intercepts = model.linear
                        models[one] = coefficients * scale, intercepts
        foldings: dict[tuple[Any, ...], Folding] = {}
        members = []
        for one in search.members:
            fitted = search.fitted[one.setting]
            setting = fitted.setting.parameters
            key = _features_key(fitted.setting)
            if key not in foldings:
                deepest = self._deepest(search, key)
                foldings[key] = _folding(
                    search.grid, fitted.setting, fitted.view, fitted.graphs, deepest, self.n_jobs
                )
            counts, normalize = setting["counts"], setting["normalize"]
            members.append(foldings[key].fold(counts, normalize, one.level + 1, *models[one]))
        return members

    def _on_features(
        self, search: Search, batch: GraphBatch, targets: np.ndarray, weights: np.ndarray
    ) -> list[PatternWeights]:
        """Train each member on the features of all graphs."""
        settings = search.grid.settings
        groups: dict[tuple[Any, ...], list[Candidate]] = {}
        for one in search.members:
            groups.setdefault(_features_key(settings[one.setting]), []).append(one)
        found: dict[Candidate, PatternWeights] = {}
        for key, members in groups.items():
            setting = settings[members[0].setting]
            view = None if setting.view is None else _fitted(setting.view, batch)
            folding = _folding(
                search.grid,
                setting,
                view,
                seen_through(view, batch),
                self._deepest(search, key),
                self.n_jobs,
            )

            def train(
                begin: int, end: int, members: list[Candidate] = members, folding: Folding = folding
            ) -> PatternWeights:
                one = members[begin]
                own = settings[one.setting].parameters
                features = GroupedFeatures.of(
                    folding, own["counts"], own["normalize"], one.level + 1
                )
                trained = self._train_on_features(features, targets, one.value, weights)
                if self.verbose:
                    print(
                        f"{type(self).__name__}: trained {self._named(settings[one.setting])}",
                        file=sys.stderr,
                        flush=True,
                    )
                return trained

            ranges = [(place, place + 1) for place in range(len(members))]
            for one, weighted in zip(members, run(train, ranges, self.n_jobs), strict=True):
                found[one] = weighted
        return [found[one] for one in search.members]

    @abstractmethod
    def _train_on_features(
        self, features: GroupedFeatures, targets: np.ndarray, value: float, weights: np.ndarray
    ) -> PatternWeights:
        """A model with this value of the learner's parameter."""

    def _shares(self, search: Search, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """How much each member counts; 0 leaves it out."""
        return np.full(len(search.members), 1.0 / len(search.members))

    def _in_units(self, weights: PatternWeights, factor: float) -> PatternWeights:
        """A member times its factor, in the units of the targets."""
        return weights if factor == 1.0 else weights.in_units(np.array(factor), np.array(0.0))

    @staticmethod
    def _deepest(search: Search, key: tuple[Any, ...]) -> int:
        settings = search.grid.settings
        return max(o.level for o in search.members if _features_key(settings[o.setting]) == key)

    # ---------------------------------------------------------------- predict

    def _outputs(self, X: Any) -> list[np.ndarray]:
        """The outputs of each member."""
        check_is_fitted(self, "members_")
        return decision_values(self.pattern_weights_, X, self.n_jobs)

    # ---------------------------------------------------------------- files

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file that :func:`graphgrain.load_model` reads.

        Parameters
        ----------
        path : str or Path
            Arrays and JSON in one file; nothing in it is code.

        Examples
        --------
        >>> import graphgrain as gg, tempfile, pathlib
        >>> graphs, y = gg.load_drugs()
        >>> model = gg.TreePlusPlusClassifier(2, 1).fit(graphs, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(pathlib.Path(folder) / "drugs.ggm")
        ...     again = gg.load_model(pathlib.Path(folder) / "drugs.ggm")
        >>> bool((again.predict(graphs) == model.predict(graphs)).all())
        True
        """
        from .model_file import write_model

        check_is_fitted(self, "members_")
        write_model(self, Path(path))


def plain_weights(weights: np.ndarray) -> np.ndarray | None:
    """None where all weights are one, which saves learners some work."""
    return None if (weights == 1.0).all() else weights


def _features_key(setting: Setting) -> tuple[Any, ...]:
    """Equal for settings with the same patterns."""
    own = {
        name: value
        for name, value in setting.parameters.items()
        if name not in ("counts", "normalize", "tree_depth")
    }
    return (id(setting.view), *own.values())


def _fitted(view: Any, batch: GraphBatch) -> Any:
    from sklearn.base import clone

    return clone(view).fit(batch)


def _folding(
    grid: KernelGrid,
    setting: Setting,
    view: Any,
    graphs: GraphBatch,
    deepest: int,
    n_jobs: int | None,
) -> Folding:
    own = {n: v for n, v in setting.parameters.items() if n not in ("counts", "normalize")}
    kernel = grid.estimator(Setting({**own, "tree_depth": deepest}), n_jobs)
    assert isinstance(kernel, FeatureKernel)
    counted = kernel.count_features(graphs)
    return Folding(view, kernel.set_params(n_jobs=None), graphs.label_kind, counted)
