"""The Weisfeiler-Lehman optimal assignment kernel."""

from __future__ import annotations

from ..parameters import parameter
from .weisfeiler_lehman import WeisfeilerLehman


class WLOptimalAssignment(WeisfeilerLehman):
    """Weisfeiler-Lehman optimal assignment kernel (WL-OA): vertices matched one to one.

    Two vertices are as similar as the number of refinement steps, from 0 to ``n_iter``, in which
    they have the same colour. The kernel is the total similarity of the best assignment of the
    vertices of the smaller graph to those of the larger. Since colours only ever split, the best
    assignment need not be searched: its value is the number of common colours, the sum over all
    colours of the smaller of both counts.

    Parameters
    ----------
    n_iter, edge_labels, similarity, n_features, n_jobs, verbose
        As in :class:`WeisfeilerLehman`.
    output : {"gram", "features"}, default="gram"
        What ``transform`` returns: similarities to the fitted graphs, or a sparse matrix with
        a column for every "at least c vertices have this colour".

    See Also
    --------
    WeisfeilerLehman : Products of counts of the same colours.
    PyramidMatch : Matches vertices by their embedding.

    Notes
    -----
    It sees what :class:`WeisfeilerLehman` sees, vertex labels, structure and, if asked, edge
    labels, and is the same as that kernel with ``counts="intersection"``. Its cost is that of
    colour refinement, linear in the edges and the steps: with the unary map (a count of c is c
    ones) it is an explicit kernel, and linear models need no Gram matrix. GraKeL's kernel of this
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

    counts: str = parameter(default="intersection", init=False)  # the best assignment, always
