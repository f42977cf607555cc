"""The tree-pattern kernel of Mahe and Vert."""

from __future__ import annotations

from ..core.tree_patterns import TreeWeights
from ..parameters import BOOLEAN, OneOf, Share, parameter
from .bases.common_trees import CommonTrees


class TreePatterns(CommonTrees):
    """Tree-pattern kernel of Mahe and Vert: trees weighted by their size or their branching.

    A tree pattern of depth h is a tree all of whose leaves are h - 1 steps below the root,
    mapped into the graph so that the children of a vertex are different neighbours of it. The
    kernel counts pairs of equal patterns in two graphs. A tree t counts with ``decay`` to the power
    of its size beyond a path, ``|t| - h``, or of its branching, its leaves - 1.

    Parameters
    ----------
    depth : int, default=3
        Number of vertices from the root to a leaf, the paper's h.
    weighting : {"size", "branching"}, default="branching"
        What the weight of a tree falls with.
    decay : float, default=0.1
        The paper's lambda, above 0 and at most 1. Near 0 only paths are left, and the kernel is
        that of walks; with 1 all trees weigh the same.
    until : bool, default=False
        Count the trees of all depths up to ``depth``, with leaves at any depth; the weights are
        then ``decay`` to the power of ``|t|``, or of the leaves - 1.
    edge_labels : bool, default=False
        Matched neighbours must also be reached over edges with equal labels.
    similarity, n_jobs, verbose
        As in :class:`GraphKernel`.

    See Also
    --------
    SubtreePatterns : Any choice of branches.
    TreePlusPlus : Whole breadth-first trees along paths, with explicit features.

    Notes
    -----
    It sees vertex labels, structure, edge labels if asked, and patterns that may go back to the
    vertex they came from (the paper's extension against this tottering is not offered). Each step
    of a pair of graphs with n vertices of degree d takes n^2 d^2 2^d; degrees above 16 are
    refused. GraKeL does not have this kernel.

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
    decay: float = parameter(Share(), default=0.1)
    until: bool = parameter(BOOLEAN, default=False)

    def _weights(self) -> tuple[TreeWeights, float]:
        decay, empty = float(self.decay), float(self.until)
        if self.weighting == "branching":
            return TreeWeights(self.depth, 1.0, 1.0, empty, 1.0 / decay, decay), 1.0
        factor = 1.0 if self.until else decay**-self.depth
        return TreeWeights(self.depth, decay, decay, empty, 1.0, 1.0), factor
