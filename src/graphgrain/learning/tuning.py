"""What the ready-made estimators share: they choose kernels and their parameters themselves.

1. Every combination of view and kernel parameters to choose from is a setting
   (:mod:`graphgrain.learning.candidates`). The plainest come first: plain counts of vertex labels,
   then edge labels, then other views and count maps; kernel after kernel, if there are several.
2. Settings that differ in the count map alone share one extraction of features, which also gives
   the kernel matrices of all levels (tree depths, refinement steps), one after the other.
3. Inner cross-validation scores each matrix with each value of the learner's own parameter. Sets
   with more than a few thousand graphs are judged by a sample of them.
4. The best few kernels, each with its best learner, are trained on all graphs and decide together:
   on kernel matrices, or on the features themselves where there are many graphs.
5. What they have learnt is folded into weights on patterns (:mod:`graphgrain.learning.members`).

With a time budget no setting is begun once it is used up; the first is always tried.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, count
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.features import COUNT_MAPS
from ..kernels.grid import FittedSetting, KernelGrid
from ..parameters import BOOLEAN, Jobs, Number, OneOf, Rule, Seed, Whole, check_parameters
from .candidates import AUTO, OneOrMore
from .committee import Candidate
from .fitted_view import ViewRule
from .folding import without_zeros
from .learner import Learner, Split
from .linear import GroupedFeatures
from .members import fit_to_all, train_on_features, train_on_matrices
from .pattern_weights import PatternWeights, decision_values
from .search import Choice, Judge, Search, search_candidates
from .targets import check_folds

SOLVERS = ("auto", "kernel", "linear")
#: How levels are added up.
EQUAL, LEARNED = "equal", "learned"
#: Up to so many graphs, "auto" trains on kernel matrices.
MOST_FOR_KERNEL = 5000

#: A grid of positive numbers.
POSITIVE = OneOrMore(Number(0.0))


class SelfTuned(BaseEstimator):
    """Base class of the estimators that choose for themselves.

    A subclass names its kernels with their settings (``_grids``) and knows how to learn from
    kernel matrices and features.
    """

    parameter_rules: ClassVar[dict[str, Rule]] = {
        "edge_labels": OneOrMore(BOOLEAN, auto=True),
        "views": OneOrMore(ViewRule()),
        "counts": OneOrMore(OneOf(COUNT_MAPS), auto=True),
        "normalize": OneOrMore(BOOLEAN, auto=True),
        "weights": OneOf((EQUAL, LEARNED)),
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
    #: Whether the name of the kernel is among the parameters of a candidate.
    _names_kernels: ClassVar[bool] = False

    edge_labels: Any
    views: Any
    counts: Any
    normalize: Any
    weights: str
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

    @abstractmethod
    def _grids(self, batch: GraphBatch) -> list[KernelGrid]:
        """The kernels with all settings to try on these graphs."""

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
            raise InvalidParameterError(
                "sample_weight must be above zero for some graph; all weights are zero."
            )
        return weights

    def _trains_on_features(self, graphs: int) -> bool:
        return self.solver == "linear" or (self.solver == AUTO and graphs > MOST_FOR_KERNEL)

    def _tune(
        self,
        batch: GraphBatch,
        targets: np.ndarray,
        weights: np.ndarray,
        judging: tuple[np.ndarray, np.ndarray],
        splits: list[Split],
        learner: Learner,
        score: Callable[[np.ndarray, np.ndarray], float],
    ) -> Search:
        """Try the settings on a sample, keep the best kernels, train them on all graphs.

        ``judging`` has the positions of the sample and the weights that its graphs have there.
        """
        sample, own = judging
        whole = len(sample) == len(batch)
        searched = batch if whole else batch[sample]
        search = self._search(searched, targets[sample], own, splits, learner, score)
        shares = self._shares(search, targets[sample], own, splits)
        search.members = [one for one, share in zip(search.members, shares, strict=True) if share]
        self.member_weights_ = shares[shares > 0]
        if self._trains_on_features(len(batch)):
            search.fitted.clear()
            members = train_on_features(
                search, batch, partial(self._trained_member, search, targets, weights), self.n_jobs
            )
        else:
            if not whole:
                fit_to_all(search, batch, self.n_jobs)
            members = train_on_matrices(
                search, targets, plain_weights(weights), learner, self.n_jobs
            )
        # The mean of the members is what they predict together, whatever their shares.
        factors = len(members) * self.member_weights_
        self.pattern_weights_ = without_zeros(
            self._in_units(member, factor) for member, factor in zip(members, factors, strict=True)
        )
        self.members_ = [
            {**self._named(search.choices[one.setting], one.level), self._tuned: one.value}
            for one in search.members
        ]
        self.best_params_, self.best_score_ = self.members_[0], search.members[0].score
        self.kernel_, self.view_ = self.pattern_weights_[0].kernel, self.pattern_weights_[0].view
        self.n_graphs_ = len(batch)
        self.cv_results_ = search.table(
            [self._named(search.choices[number], level) for number, level in search.places],
            self._tuned,
            learner.grid,
        )
        self.skipped_ = [self._named(choice) for choice in search.choices[len(search.scores) :]]
        return search

    def _named(self, choice: Choice, level: int | None = None) -> dict[str, Any]:
        """The parameters of a setting for the user; kernel and view where there are several."""
        grid, setting = choice
        own = {n: v for n, v in setting.parameters.items() if n != grid.level_parameter}
        kernel = {"kernel": grid.name} if self._names_kernels else {}
        shown = setting.view is not None or self.views is not None
        view = {"view": setting.view} if shown else {}
        levels = grid.levels(setting)
        at = {} if level is None else levels[min(level, len(levels) - 1)]
        learnt = {"weights": LEARNED} if level is not None and level == len(levels) else {}
        return {**kernel, **own, **view, **learnt, **at}

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
        grids = self._grids(batch)
        seen: dict[int, Any] = {}  # each view is fitted once for all kernels
        fitted = (grid.fit_each(batch, self.n_jobs, seen) for grid in grids)
        return search_candidates(
            [(grid, setting) for grid in grids for setting in grid.settings],
            self._in_time(chain.from_iterable(fitted)),
            Judge(targets, splits, learner, score, plain_weights(weights), self.n_jobs),
            self.committee,
            self._tell,
            self.weights == LEARNED,
        )

    def _in_time(self, settings: Iterator[FittedSetting]) -> Iterator[FittedSetting]:
        """Settings as long as there is time."""
        begin = perf_counter()
        for number in count():
            spent = perf_counter() - begin
            if number and self.time_budget is not None and spent >= self.time_budget:
                return
            if (fitted := next(settings, None)) is None:
                return
            yield fitted

    def _tell(self, search: Search, fitted: FittedSetting, best: float) -> None:
        if self.verbose:
            named = self._named((fitted.grid, fitted.setting))
            words = ", ".join(f"{name}={value}" for name, value in named.items())
            done = f"{len(search.scores)} of {len(search.choices)} settings tried"
            print(f"{type(self).__name__}: {done}; {words}: {best:.4f}", file=sys.stderr)

    def _trained_member(
        self,
        search: Search,
        targets: np.ndarray,
        weights: np.ndarray,
        one: Candidate,
        features: GroupedFeatures,
    ) -> PatternWeights:
        trained = self._train_on_features(features, targets, one.value, weights)
        if self.verbose:
            named = self._named(search.choices[one.setting])
            print(f"{type(self).__name__}: trained {named}", file=sys.stderr, flush=True)
        return trained

    @abstractmethod
    def _train_on_features(
        self, features: GroupedFeatures, targets: np.ndarray, value: float, weights: np.ndarray
    ) -> PatternWeights:
        """A model with this value of the learner's parameter."""

    def _shares(
        self, search: Search, targets: np.ndarray, weights: np.ndarray, splits: list[Split]
    ) -> np.ndarray:
        """How much each member counts; 0 leaves it out."""
        return np.full(len(search.members), 1.0 / len(search.members))

    def _in_units(self, weights: PatternWeights, factor: float) -> PatternWeights:
        """A member times its factor, in the units of the targets."""
        return weights if factor == 1.0 else weights.in_units(np.array(factor), np.array(0.0))

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
