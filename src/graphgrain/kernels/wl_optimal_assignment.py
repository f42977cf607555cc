"""The Weisfeiler-Lehman optimal assignment kernel."""

from __future__ import annotations

from ..parameters import parameter
from .weisfeiler_lehman import WeisfeilerLehman


class WLOptimalAssignment(WeisfeilerLehman):
    """Weisfeiler-Lehman optimal assignment kernel (WL-OA): vertices matched one to one.

    The similarity of two vertices is the number of refinement steps, from 0 to ``n_iter``, after
    which they have the same colour. The kernel is the total similarity of the optimal assignment of
    the vertices of the smaller graph to those of the larger. Since refinement only splits colours,
    no search is needed: the value of the optimal assignment is the number of common colours, the
    sum over all colours of the smaller of the two counts.

    Parameters
    ----------
    n_iter, edge_labels, similarity, n_features, n_jobs, verbose
        As in :class:`WeisfeilerLehman`.
    output : {"gram", "features"}, default="gram"
        Output of ``transform``: similarities to the fitted graphs, or a sparse matrix with one
        column for each "at least c vertices have this colour".

    See Also
    --------
    WeisfeilerLehman : Dot products of the counts of the same colours.
    PyramidMatch : Matches vertices by their embedding.

    Notes
    -----
    Equivalent to :class:`WeisfeilerLehman` with ``counts="intersection"``, and uses the same
    inputs: structure, vertex labels and optionally edge labels. The cost is that of colour
    refinement, linear in the number of edges and steps. Due to the unary map (a count of c becomes
    c ones) features are explicit, and linear models need no Gram matrix. GraKeL's kernel of this
    name has the same values and compares histograms pair by pair.

    References
    ----------
    Kriege, Giscard, Wilson: On Valid Optimal Assignment Kernels and Applications to Graph
    Classification. NeurIPS 2016.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> gg.WLOptimalAssignment(n_iter=1, similarity="dot").fit_transform(graphs).tolist()
    [[6.0, 3.0], [3.0, 4.0]]
    """

    counts: str = parameter(default="intersection", init=False)  # the optimal assignment
