"""TreePatterns: the tree-pattern kernel of Mahe and Vert."""

from __future__ import annotations

from ..core.tree_patterns import TreeWeights
from ..parameters import BOOLEAN, SHARE, OneOf, parameter
from .bases.common_trees import CommonTrees


class TreePatterns(CommonTrees):
    """Tree-pattern kernel of Mahe and Vert: trees weighted by their size or their branching.

    A tree pattern of depth h is a tree whose leaves are all h - 1 steps below the root, mapped into
    the graph such that the children of a vertex are distinct neighbours of it. The kernel counts
    pairs of equal patterns in two graphs. The weight of a tree t is ``decay`` to the power of
    ``|t| - h``, its size in excess of a path, or of its number of leaves - 1, its branching.

    Parameters
    ----------
    depth : int, default=3
        Number of vertices from the root to a leaf, h in the paper.
    weighting : {"size", "branching"}, default="branching"
        Whether the weight of a tree decreases with its size or its branching.
    decay : float, default=0.1
        Lambda in the paper, above 0 and at most 1. Near 0 only paths contribute and the kernel
        becomes a walk kernel; with 1 all trees have the same weight.
    until : bool, default=False
        If True, count trees of all depths up to ``depth``, with leaves at any depth. The weights
        are then ``decay`` to the power of ``|t|``, or of the number of leaves - 1.
    edge_labels : bool, default=False
        If True, neighbours match only if the edges leading to them have equal labels.
    similarity, n_jobs, verbose
        As in :class:`GraphKernel`.

    See Also
    --------
    SubtreePatterns : Any choice of branches.
    TreePlusPlus : Whole breadth-first trees along paths, with explicit features.

    Notes
    -----
    Uses structure, vertex labels and optionally edge labels. Patterns may return to the vertex they
    came from; the paper's extension against this tottering is not implemented. Each level of a pair
    of graphs with n vertices of degree d takes n^2 d^2 2^d steps; graphs with degrees above 16
    raise an error. GraKeL does not have this kernel.

    References
    ----------
    Mahe, Vert: Graph Kernels Based on Tree Patterns for Molecules. Machine Learning 75, 2009.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> gg.TreePatterns(2, decay=1.0, similarity="dot").fit_transform(graphs).tolist()
    [[7.0, 2.0], [2.0, 2.0]]
    """

    weighting: str = parameter(OneOf(("size", "branching")), default="branching")
    decay: float = parameter(SHARE, default=0.1)
    until: bool = parameter(BOOLEAN, default=False)

    def _weights(self) -> tuple[TreeWeights, float]:
        decay, empty = float(self.decay), float(self.until)
        if self.weighting == "branching":
            return TreeWeights(self.depth, 1.0, 1.0, empty, 1.0 / decay, decay), 1.0
        factor = 1.0 if self.until else decay**-self.depth
        return TreeWeights(self.depth, decay, decay, empty, 1.0, 1.0), factor
