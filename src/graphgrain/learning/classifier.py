"""TreePlusPlusClassifier: from graphs to classes by Tree++, with nothing left to choose."""

from __future__ import annotations

from typing import Any, ClassVar

from ..graphs.batch import GraphBatch
from ..kernels.grid import KernelGrid
from ..parameters import Rule
from .candidates import TREE_RULES, tree_grid_of
from .classification import SelfTunedClassifier
from .committee import MEMBERS


class TreePlusPlusClassifier(SelfTunedClassifier):
    """Classify graphs: Tree++ and a support vector machine that choose their own parameters.

    ``fit`` counts features once for all tree depths and count maps (once more with edge labels,
    where graphs have them, and again for each further view) and judges every combination and C by
    stratified cross-validation. The best dozen combinations, each with its best C, are trained on
    all graphs and decide together.

    Parameters
    ----------
    path_depth : int or list of int, default=6
        Length of the longest paths, the paper's d.
    max_tree_depth : int, default=7
        Tree depths (the paper's k) from 0 to this are tried.
    C : float or list of float, default=(1, 10, 100, 1000)
        How much an error costs the support vector machine. Of equally good values the largest
        is taken, of equally good tree depths the smallest.
    centrality : str or None, or list of these, default="eigenvector"
        As in :class:`TreePlusPlus`.
    edge_labels : "auto", bool or list of bool, default="auto"
        As in :class:`TreePlusPlus`. "auto" tries both if there are at least two edge labels.
    views : view, None or list of these, optional
        How to see the graphs: None is as they are, else :class:`EdgeFilter`,
        :class:`AttributeBins` or a pipeline of views. ``[None, EdgeFilter(drop=[1])]`` tries
        both. Each is fitted to the training graphs alone. A view is not tried where the kernel
        would see what another has shown it already.
    counts : "auto", str or list of str, default="auto"
        As in :class:`TreePlusPlus`. "auto" tries "raw", "sqrt" and "intersection".
    normalize : bool, list of bool or "auto", default=True
        As in :class:`TreePlusPlus`. "auto" tries both.
    weights : {"equal", "learned"}, default="equal"
        How tree depths are added up. "equal" is their plain sum, as in :class:`TreePlusPlus`.
        "learned" tries, beside these sums, all depths with weights that make the kernel most like
        the classes (centred alignment): a sum of weight times the cosine of what two graphs
        count at one depth alone. It takes about an eighth longer, and the memory of the kernel
        matrices of all depths at once.
    committee : int, default=12
        How many of the best combinations decide together, by the mean of their decision values:
        this number, but no more than half of those that were tried. 1 is the best alone, which
        is quicker to predict.
    solver : {"auto", "kernel", "linear"}, default="auto"
        On what the support vector machines are trained: on kernel matrices, or on the features
        themselves, which takes any number of graphs. "auto" is "kernel" up to 5,000 graphs.
        Beyond that, combinations are judged by a sample of 3,000 graphs, unless the solver is
        "kernel"; where the ROC AUC of two classes or the balanced accuracy judges, a rare class
        is in it whole, and each graph of the others weighs as much as those it stands for.
    scoring : {"auto", "accuracy", "balanced_accuracy", "roc_auc", "average_precision"}
        What combinations are judged by. "auto" is the ROC AUC if one of two classes has less than
        a tenth of the graphs, else the accuracy.
    class_weight : None, "balanced" or dict, default=None
        What C is multiplied by for each class; "balanced" lets all classes weigh the same.
    time_budget : float, optional
        Seconds. Once they are over, no further combination of the parameters above is begun; at
        least one is tried. Combinations are tried in this order: the first count map without
        edge labels, with edge labels, through the other views, then the other count maps in the
        same way.
    cv : int, default=5
        Number of inner folds.
    random_state : int or None, default=0
        Seed of the inner folds.
    n_jobs : int, optional
        Number of threads; -1 takes all cores. The result does not depend on it.
    verbose : int, default=0
        1 tells on standard error how far the search is.

    Attributes
    ----------
    classes_ : array
        The classes in sorted order.
    members_ : list of dict
        The parameters of those that decide together, the best first. The weights of a member with
        ``"weights": "learned"`` are ``level_weights`` of its :class:`PatternWeights`.
    best_params_ : dict
        The first of them.
    best_score_ : float
        Its score in the inner cross-validation. Having been chosen makes it optimistic: for an
        honest figure give the classifier to ``cross_val_score``.
    scoring_ : str
        What combinations were judged by.
    cv_results_ : dict
        All that was tried, in the form of scikit-learn's ``GridSearchCV``.
    skipped_ : list of dict
        What there was no time for.
    member_weights_ : array
        How much each counts; all the same.
    pattern_weights_ : list of PatternWeights
        What each member has learnt, as a weight for each pattern; no training graph is kept.
    kernel_ : TreePlusPlus
        The kernel with the best parameters, not fitted to any graphs.
    view_ : view or None
        The fitted view in front of it.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs, y = gg.load_drugs()
    >>> model = gg.TreePlusPlusClassifier().fit(graphs[::2], y[::2])
    >>> [model.best_params_[name] for name in ("counts", "edge_labels", "tree_depth", "C")]
    ['intersection', True, 0, 10]
    >>> model.predict(graphs[[61, 81, 221]]).tolist()
    ['benzodiazepines', 'beta blockers', 'opioids']
    >>> float(round(model.score(graphs[1::2], y[1::2]), 2))
    0.99
    """

    parameter_rules: ClassVar[dict[str, Rule]] = {
        **SelfTunedClassifier.parameter_rules,
        **TREE_RULES,
    }

    def __init__(
        self,
        path_depth: Any = 6,
        max_tree_depth: int = 7,
        *,
        C: Any = (1, 10, 100, 1000),
        centrality: Any = "eigenvector",
        edge_labels: Any = "auto",
        views: Any = None,
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
        self.path_depth = path_depth
        self.max_tree_depth = max_tree_depth
        self.C = C
        self.centrality = centrality
        self.edge_labels = edge_labels
        self.views = views
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
        return [tree_grid_of(self, batch)]
