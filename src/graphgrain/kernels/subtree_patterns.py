"""The subtree kernel of Ramon and Gaertner."""

from __future__ import annotations

from ..core.tree_patterns import TreeWeights
from .bases.common_trees import CommonTrees


class SubtreePatterns(CommonTrees):
    """Subtree kernel of Ramon and Gaertner: common tree patterns with any choice of branches.

    Two vertices with equal labels have in common, up to depth h, all patterns that consist of
    their label and, below it, common patterns up to depth h - 1 of some of their neighbours,
    matched one to one in all ways. The kernel adds up the common patterns of all pairs of vertices.

    Parameters
    ----------
    depth : int, default=3
        Number of vertices on the longest way down a pattern, the paper's h.
    decay : float, default=0.5
        Weight of every vertex that has branches below it, the paper's lambda, at most 1.
    edge_labels : bool, default=False
        Matched neighbours must also be reached over edges with equal labels.
    similarity, n_jobs, verbose
        As in :class:`GraphKernel`.

    See Also
    --------
    TreePatterns : Trees weighted by size or branching.
    WeisfeilerLehman : Whole neighbourhoods, in linear time.

    Notes
    -----
    It sees vertex labels, structure, edge labels if asked, and patterns that may meet a vertex
    again. Each step of a pair of graphs with n vertices of degree d takes n^2 d^2 2^d; degrees
    above 16 are refused. The choice of no branch counts, as in the paper. GraKeL does not have this
    kernel.

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
