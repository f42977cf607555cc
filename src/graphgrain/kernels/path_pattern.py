"""The path-pattern kernel, the base kernel of Tree++."""

from __future__ import annotations

from ..parameters import parameter
from .tree_plus_plus import TreePlusPlus


class PathPattern(TreePlusPlus):
    """Path-pattern graph kernel: counts of the label sequences along shortest paths.

    Equivalent to level 0 of :class:`TreePlusPlus`.

    Parameters
    ----------
    path_depth, centrality, edge_labels, similarity, output, counts, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

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

    level_parameter = None
    tree_depth: int = parameter(default=0, init=False)
