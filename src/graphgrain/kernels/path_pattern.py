"""The path-pattern kernel, the base kernel of Tree++."""

from __future__ import annotations

from typing import ClassVar

from ..parameters import Rule
from .tree_plus_plus import TreePlusPlus


class PathPattern(TreePlusPlus):
    """Path-pattern graph kernel: counts of the label sequences along shortest paths.

    It is level 0 of :class:`TreePlusPlus` on its own.

    Parameters
    ----------
    path_depth : int, default=6
        Length of the longest paths, the paper's d.
    similarity : {"cosine", "minmax", "dot"}, default="cosine"
        How the features of two graphs are compared: "dot", their dot product; "cosine", the same
        divided by both norms; "minmax", the sum of minima over the sum of maxima (the Tanimoto
        coefficient of counts). Does not concern ``output="features"``.
    output : {"gram", "features"}, default="gram"
        What ``transform`` returns: similarities to the fitted graphs, or a sparse matrix of
        feature counts with the columns seen at fit.
    centrality : {"eigenvector", "closeness", "betweenness", "degree", None}, default="eigenvector"
        Orders vertices with equal labels in the breadth-first trees.
    edge_labels : bool, default=False
        Let edge labels take part in trees and patterns.
    counts : {"raw", "sqrt", "log", "binary", "intersection"}, default="raw"
        Map applied to each count c before the product: c, its root, log(1 + c), 1, or c ones (so
        that the product becomes the sum of the minima).
    n_features : int, optional
        Number of columns of ``output="features"``: hashes modulo this number, so that nothing is
        learned, any graphs can be transformed anywhere and ``fit`` is not needed. By default a
        column for every feature seen at fit.
    n_jobs : int, optional
        Number of threads; -1 takes all cores. The result does not depend on it.
    verbose : int, default=0
        If 1 or more, show a progress bar on standard error for steps that take longer than two
        seconds.

    See Also
    --------
    TreePlusPlus : The same paths with neighbourhoods in place of vertices.
    ShortestPath : The ends of shortest paths and their length.

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
