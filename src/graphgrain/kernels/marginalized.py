"""The marginalised kernel."""

from __future__ import annotations

import numpy as np

from ..graphs.batch import GraphBatch
from ..parameters import SHARE, parameter
from .bases.common_walks import CommonWalks


class Marginalized(CommonWalks):
    """Marginalised kernel: the probability that two random walks have the same labels.

    A walk starts at a vertex chosen uniformly, ends at every vertex with probability ``stop`` and
    otherwise continues to a neighbour chosen uniformly. The kernel is the probability that
    independent walks on two graphs have the same sequence of labels.

    Parameters
    ----------
    stop : float, default=0.1
        Probability of ending at each vertex, p_q in the paper, between 0 and 1.
    edge_labels : bool, default=False
        If True, the labels of edges along the walks must also agree.
    similarity, n_jobs, verbose
        As in :class:`GraphKernel`.

    See Also
    --------
    RandomWalk : Common walks, with less weight on longer ones.

    Notes
    -----
    Uses structure, vertex labels and optionally edge labels. Walks may turn back at every step, and
    end at vertices without neighbours. An iteration costs as much as in :class:`RandomWalk`; the
    number of iterations increases as ``stop`` approaches 0. Labels are compared for equality, as
    for the molecules of the paper. The paper's linear system is solved by summing over walk lengths
    up to a precision of thirteen digits. GraKeL does not have this kernel.

    References
    ----------
    Kashima, Tsuda, Inokuchi: Marginalized Kernels Between Labeled Graphs. ICML 2003.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"]), ([], ["O"])]
    >>> gg.Marginalized(0.5).fit_transform(graphs).round(2).tolist()
    [[1.0, 0.86, 0.41], [0.86, 1.0, 0.61], [0.41, 0.61, 1.0]]
    """

    stop: float = parameter(SHARE, default=0.1, kw_only=False)

    def _weights(self, batch: GraphBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        counts = batch.vertex_counts
        degrees = batch.degrees
        return (
            np.repeat(1.0 / np.maximum(counts, 1), counts),
            (1.0 - self.stop) / np.maximum(degrees, 1),
            np.where(degrees > 0, self.stop, 1.0),
        )
