"""The subtree kernel of Ramon and Gaertner."""

from __future__ import annotations

from ..core.tree_patterns import TreeWeights
from .bases.common_trees import CommonTrees


class SubtreePatterns(CommonTrees):
    """Subtree kernel of Ramon and Gaertner: common tree patterns with any choice of branches.

    Up to depth h, two vertices with equal labels share every pattern that consists of their label
    and, below it, common patterns up to depth h - 1 of some of their neighbours, matched one to one
    in all possible ways. The kernel is the sum of the common patterns over all pairs of vertices.

    Parameters
    ----------
    depth : int, default=3
        Number of vertices on the longest path from the root of a pattern, h in the paper.
    decay : float, default=0.5
        Weight of every vertex with children, lambda in the paper, at most 1.
    edge_labels : bool, default=False
        If True, neighbours match only if the edges leading to them have equal labels.
    similarity, n_jobs, verbose
        As in :class:`GraphKernel`.

    See Also
    --------
    TreePatterns : Trees weighted by size or branching.
    WeisfeilerLehman : Whole neighbourhoods, in linear time.

    Notes
    -----
    Uses structure, vertex labels and optionally edge labels. A pattern may visit a vertex more than
    once. Each level of a pair of graphs with n vertices of degree d takes n^2 d^2 2^d steps; graphs
    with degrees above 16 raise an error. As in the paper, choosing no branch counts as a pattern.
    GraKeL does not have this kernel.

    References
    ----------
    Ramon, Gaertner: Expressivity versus Efficiency of Graph Kernels. First International Workshop
    on Mining Graphs, Trees and Sequences, 2003.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> gg.SubtreePatterns(2, decay=1.0, similarity="dot").fit_transform(graphs).tolist()
    [[12.0, 5.0], [5.0, 4.0]]
    """

    def _weights(self) -> tuple[TreeWeights, float]:
        return TreeWeights(self.depth, 1.0, float(self.decay) ** 2, 1.0, 1.0, 1.0), 1.0
