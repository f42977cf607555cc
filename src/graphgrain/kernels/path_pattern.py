"""The path-pattern kernel, the base kernel of Tree++."""

from __future__ import annotations

from typing import ClassVar

from ..parameters import Rule
from .tree_plus_plus import TreePlusPlus


class PathPattern(TreePlusPlus):
    """Path-pattern graph kernel: counts of the label sequences along shortest paths.

    It is level 0 of :class:`TreePlusPlus` on its own; the parameters mean the same there.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = gg.PathPattern(path_depth=2, output="features")
    >>> kernel.fit_transform(graphs).sum(axis=1).tolist()
    [9.0, 4.0]
    >>> sorted(kernel.feature_names())
    ['C', 'C->C', 'C->C->O', 'C->O', 'O']
    """

    parameter_rules: ClassVar[dict[str, Rule]] = {
        name: rule for name, rule in TreePlusPlus.parameter_rules.items() if name != "tree_depth"
    }
    level_parameter = None
    tree_depth = 0

    def __init__(
        self,
        path_depth: int = 6,
        *,
        similarity: str = "cosine",
        output: str = "gram",
        centrality: str | None = "eigenvector",
        edge_labels: bool = False,
        counts: str = "raw",
        n_features: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.path_depth = path_depth
        self.similarity = similarity
        self.output = output
        self.centrality = centrality
        self.edge_labels = edge_labels
        self.counts = counts
        self.n_features = n_features
        self.n_jobs = n_jobs
        self.verbose = verbose
