"""TreePlusPlusRegressor: from graphs to numbers by Tree++, with nothing left to choose."""

from __future__ import annotations

from typing import Any, ClassVar

from ..graphs.batch import GraphBatch
from ..kernels.grid import KernelGrid
from ..parameters import Rule
from .candidates import TREE_RULES, tree_grid_of
from .committee import MEMBERS
from .regression import SelfTunedRegressor


class TreePlusPlusRegressor(SelfTunedRegressor):
    """Predict numbers from graphs: Tree++ and kernel ridge regression that tune themselves.

    Parameters
    ----------
    path_depth : int or list of int, default=(0, 6)
        Length of the longest paths, the paper's d. With 0 the features are single neighbourhoods.
    max_tree_depth : int, default=3
        Tree depths (the paper's k) from 0 to this are tried.
    centrality, edge_labels, views, counts, weights, solver, time_budget, cv
        As in :class:`TreePlusPlusClassifier`; but with more than 1,000 graphs, combinations are
        judged by a sample of so many, unless the solver is "kernel".
    random_state, n_jobs, verbose
        As in :class:`TreePlusPlusClassifier`.
    normalize : bool, list of bool or "auto", default="auto"
        As in :class:`TreePlusPlus`. "auto" tries both: what grows with the size of a graph, such
        as its mass, is better told without.
    committee : int, default=12
        How many of the best combinations may predict together, no more than half of those that
        were tried. What they say is added up with shares: equal ones, or those of non-negative
        least squares, whichever predicts held-out graphs better; those without a share are left
        out.
    alpha : float or list of float
        How much to smooth, for kernels whose graphs have similarity 1 with themselves (on
        average). Of equally good values the largest is taken.
    scoring : {"r2", "neg_mean_absolute_error"}, default="r2"
        What combinations are judged by: the squared or the absolute error. Targets are scaled to
        mean 0 and standard deviation 1, so that their unit does not matter.

    Attributes
    ----------
    member_weights_ : array
        The share of each member.
    members_, best_params_, cv_results_, skipped_, pattern_weights_, kernel_, view_
        As in :class:`TreePlusPlusClassifier`.
    best_score_ : float
        The score in the inner cross-validation: R2, or minus the mean absolute error in standard
        deviations of the targets.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, _ = gg.load_drugs()
    >>> atoms = graphs.vertex_counts
    >>> model = gg.TreePlusPlusRegressor(max_tree_depth=2).fit(graphs[::2], atoms[::2])
    >>> model.score(graphs[1::2], atoms[1::2]) > 0.5
    True
    """

    parameter_rules: ClassVar[dict[str, Rule]] = {
        **SelfTunedRegressor.parameter_rules,
        **TREE_RULES,
    }

    def __init__(
        self,
        path_depth: Any = (0, 6),
        max_tree_depth: int = 3,
        *,
        alpha: Any = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0),
        centrality: Any = "eigenvector",
        edge_labels: Any = "auto",
        views: Any = None,
        counts: Any = "auto",
        normalize: Any = "auto",
        weights: str = "equal",
        committee: int = MEMBERS,
        solver: str = "auto",
        scoring: str = "r2",
        time_budget: float | None = None,
        cv: int = 5,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.path_depth = path_depth
        self.max_tree_depth = max_tree_depth
        self.alpha = alpha
        self.centrality = centrality
        self.edge_labels = edge_labels
        self.views = views
        self.counts = counts
        self.normalize = normalize
        self.weights = weights
        self.committee = committee
        self.solver = solver
        self.scoring = scoring
        self.time_budget = time_budget
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _grids(self, batch: GraphBatch) -> list[KernelGrid]:
        return [tree_grid_of(self, batch)]
