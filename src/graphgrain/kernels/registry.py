"""All kernels by their short names, each with the settings among which validation chooses.

The grids are small on purpose: ten repetitions of ten folds must stay feasible. They take the
values of the original papers, thinned where neighbouring values hardly differ; none was chosen by
the accuracy that it leads to. On small sets a validation fold has a few dozen graphs, and choosing
among many settings can end below a single good one. Levels, which one extraction gives for free,
are kept in full where the paper validates them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..graphs.batch import GraphBatch
from .base import GraphKernel
from .deep_graph_kernel import DeepGraphKernel
from .features import FeatureKernel
from .histograms import EdgeHistogram, VertexHistogram
from .multiscale_laplacian import MultiscaleLaplacian
from .propagation import Propagation
from .pyramid_match import PyramidMatch
from .return_probability import ReturnProbability
from .shortest_path import ShortestPath
from .spectral_distance import SpectralDistance
from .tree_plus_plus import PathPattern, TreePlusPlus
from .weisfeiler_lehman import WeisfeilerLehman


@dataclass(frozen=True)
class KernelEntry:
    """One kernel and its validation grid.

    Attributes
    ----------
    kernel : class
    column : str
        How tables of results call it; for the nine kernels of the Tree++ paper as there.
    grid : tuple of dict
        Settings to try, each a dictionary of parameters.
    levels : str or None
        The parameter that counts levels, if all its values from 0 to that of the setting come
        from one extraction.
    """

    kernel: type[GraphKernel]
    column: str
    grid: tuple[dict[str, Any], ...] = field(default_factory=lambda: ({},))
    levels: str | None = None

    def settings(self) -> list[dict[str, Any]]:
        """All settings of the grid with the levels written out, in the order of :meth:`grams`."""
        if self.levels is None:
            return list(self.grid)
        return [
            setting | {self.levels: level}
            for setting in self.grid
            for level in range(setting[self.levels] + 1)
        ]

    def grams(
        self, graphs: GraphBatch, n_jobs: int | None = None
    ) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
        """``(setting, normalised Gram matrix)`` for every setting, one extraction per grid row."""
        for setting in self.grid:
            kernel = self.kernel(**setting, n_jobs=n_jobs)
            if self.levels is None:
                yield setting, kernel.fit_transform(graphs)
                continue
            assert isinstance(kernel, FeatureKernel)
            for level, K in enumerate(kernel.fit(graphs).gram_levels()):  # type: ignore[attr-defined]
                yield setting | {self.levels: level}, K


#: Kernels by the names that the command line uses.
KERNELS: dict[str, KernelEntry] = {
    # d = 6 and k from 0 to 7, as in the Tree++ paper.
    "tree++": KernelEntry(
        TreePlusPlus, "Tree++", ({"path_depth": 6, "tree_depth": 7},), "tree_depth"
    ),
    "path-pattern": KernelEntry(PathPattern, "Path pattern"),
    "wl": KernelEntry(WeisfeilerLehman, "WL", ({"n_iter": 10},), "n_iter"),
    "sp": KernelEntry(ShortestPath, "SP"),
    # The grid of its own paper.
    "pm": KernelEntry(
        PyramidMatch,
        "PM",
        tuple({"dimension": d, "depth": depth} for d in (4, 6, 8, 10) for depth in (2, 4, 6)),
    ),
    # The paper's bin width, and its 0 to 10 steps.
    "propa": KernelEntry(Propagation, "Propa", ({"n_iter": 10},), "n_iter"),
    # From the paper's grid: vectors of 5 to 50 numbers with a window of half that width or so.
    "dgk": KernelEntry(
        DeepGraphKernel,
        "DGK",
        tuple(
            {"dimension": dimension, "window": window}
            for dimension, window in ((5, 2), (10, 5), (25, 10), (50, 25))
        ),
    ),
    # The defaults of the authors' code, with one to three levels.
    "mlg": KernelEntry(
        MultiscaleLaplacian, "MLG", tuple({"n_levels": levels} for levels in (1, 2, 3))
    ),
    "retgk": KernelEntry(ReturnProbability, "RetGK"),
    # The authors' bin width for molecules; C is all they validate.
    "fgsd": KernelEntry(SpectralDistance, "FGSD"),
    "vertex-histogram": KernelEntry(VertexHistogram, "Vertex histogram"),
    "edge-histogram": KernelEntry(EdgeHistogram, "Edge histogram"),
}
