"""GraphRegressor: from graphs to numbers, with the kernel left to the training graphs too."""

from __future__ import annotations

from typing import Any, ClassVar

from ..graphs.batch import GraphBatch
from ..kernels.grid import KernelGrid
from ..parameters import Rule
from .committee import MEMBERS
from .kernel_choice import KERNEL_RULES, grids_of
from .regression import SelfTunedRegressor


class GraphRegressor(SelfTunedRegressor):
    """Predict numbers from graphs by kernels that the training graphs choose, and ridge regression.

    With ``kernels="tree++"`` it is :class:`TreePlusPlusRegressor`.

    Parameters
    ----------
    kernels, edge_labels, views, attributes, counts, time_budget
        As in :class:`GraphClassifier`; Tree++ is tried with path depths 0 and 6.
    max_level : int, default=3
        Levels of named kernels from 0 to this are tried.
    alpha, normalize, weights, committee, solver, scoring, cv, random_state, n_jobs, verbose
        As in :class:`TreePlusPlusRegressor`.

    Attributes
    ----------
    members_, kernel_, cv_results_
        As in :class:`GraphClassifier`.
    member_weights_, best_params_, best_score_, skipped_, pattern_weights_, view_
        As in :class:`TreePlusPlusRegressor`.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, _ = gg.load_drugs()
    >>> atoms = graphs.vertex_counts
    >>> model = gg.GraphRegressor(["wl", "sp"], 2).fit(graphs[::2], atoms[::2])
    >>> model.score(graphs[1::2], atoms[1::2]) > 0.9
    True
    """

    parameter_rules: ClassVar[dict[str, Rule]] = {
        **SelfTunedRegressor.parameter_rules,
        **KERNEL_RULES,
    }
    _names_kernels = True

    def __init__(
        self,
        kernels: Any = "auto",
        max_level: int = 3,
        *,
        alpha: Any = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0),
        edge_labels: Any = "auto",
        views: Any = None,
        attributes: bool = True,
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
        self.kernels = kernels
        self.max_level = max_level
        self.alpha = alpha
        self.edge_labels = edge_labels
        self.views = views
        self.attributes = attributes
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
        return grids_of(self, batch, path_depth=(0, 6))
