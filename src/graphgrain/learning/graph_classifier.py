"""GraphClassifier: from graphs to classes, with the kernel left to the training graphs too."""

from __future__ import annotations

from typing import Any, ClassVar

from ..graphs.batch import GraphBatch
from ..kernels.grid import KernelGrid
from ..parameters import Rule
from .classification import SelfTunedClassifier
from .committee import MEMBERS
from .kernel_choice import KERNEL_RULES, grids_of


class GraphClassifier(SelfTunedClassifier):
    """Classify graphs by kernels that the training graphs choose, and support vector machines.

    ``fit`` judges every combination of kernel, level (Tree++: tree depth; Weisfeiler-Lehman:
    refinement steps), count map, use of edge labels and C by stratified cross-validation. The
    best dozen combinations, of whatever kernels, are trained on all graphs and decide together.
    With ``kernels="tree++"`` it is :class:`TreePlusPlusClassifier`.

    Parameters
    ----------
    kernels : "auto", kernel or list of kernels, default="auto"
        Each is a name (:func:`list_kernels` has them), tried with all that the parameters below
        offer; or an estimator such as ``WeisfeilerLehman(3, counts="log")`` or a ``KernelGrid``,
        tried as it is, at all its levels. Kernels must count explicit features.
        "auto" is ``["tree++", "wl", "sp"]``; with the count map "intersection" WL is the optimal
        assignment kernel WL-OA.
    max_level : int, default=7
        Levels of named kernels from 0 to this are tried.
    C : float or list of float, default=(1, 10, 100, 1000)
        How much an error costs the support vector machine. Of equally good values the largest
        is taken, of equally good levels the smallest.
    edge_labels : "auto", bool or list of bool, default="auto"
        Whether named kernels look at edge labels. "auto" tries both if there are at least two.
    views : view, None or list of these, optional
        How named kernels see the graphs; see :class:`TreePlusPlusClassifier`.
    attributes : bool, default=True
        Where vertices or edges have attributes, try every named kernel also on graphs whose
        attributes have become labels: one of 8, 32 or 128 clusters, beside the label that is
        there (:class:`AttributeBins`), behind each of the views.
    counts : "auto", str or list of str, default="auto"
        Count maps of named kernels. "auto" tries "raw", "sqrt" and "intersection".
    normalize : bool, list of bool or "auto", default=True
        Whether named kernels are scaled so that every graph has similarity 1 with itself.
    weights, committee, solver, scoring, class_weight, cv, random_state, n_jobs, verbose
        As in :class:`TreePlusPlusClassifier`.
    time_budget : float, optional
        Seconds. Once they are over, no further combination is begun; at least one is tried.
        Kernels are tried in the order of the list.

    Attributes
    ----------
    members_ : list of dict
        The parameters of those that decide together, the best first; ``"kernel"`` is the name.
    kernel_ : kernel
        The kernel with the best parameters, not fitted to any graphs.
    classes_, best_params_, best_score_, scoring_, cv_results_, skipped_, member_weights_
        As in :class:`TreePlusPlusClassifier`; in ``cv_results_`` a parameter that a kernel does
        not have is None.
    pattern_weights_, view_
        As in :class:`TreePlusPlusClassifier`.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, y = gg.load_drugs()
    >>> model = gg.GraphClassifier(["wl", "sp"], max_level=3).fit(graphs[::2], y[::2])
    >>> model.best_params_["kernel"], model.kernel_.counts
    ('wl', 'sqrt')
    >>> model.score(graphs[1::2], y[1::2]) > 0.9
    True
    """

    parameter_rules: ClassVar[dict[str, Rule]] = {
        **SelfTunedClassifier.parameter_rules,
        **KERNEL_RULES,
    }
    _names_kernels = True

    def __init__(
        self,
        kernels: Any = "auto",
        max_level: int = 7,
        *,
        C: Any = (1, 10, 100, 1000),
        edge_labels: Any = "auto",
        views: Any = None,
        attributes: bool = True,
        counts: Any = "auto",
        normalize: Any = True,
        weights: str = "equal",
        committee: int = MEMBERS,
        solver: str = "auto",
        scoring: str = "auto",
        class_weight: Any = None,
        time_budget: float | None = None,
        cv: int = 5,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.max_level = max_level
        self.C = C
        self.edge_labels = edge_labels
        self.views = views
        self.attributes = attributes
        self.counts = counts
        self.normalize = normalize
        self.weights = weights
        self.committee = committee
        self.solver = solver
        self.scoring = scoring
        self.class_weight = class_weight
        self.time_budget = time_budget
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _grids(self, batch: GraphBatch) -> list[KernelGrid]:
        return grids_of(self, batch, path_depth=6)
