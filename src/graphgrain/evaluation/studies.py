"""The paper's experiments: which kernels with which parameters stand behind each table and figure.

- Tables 2 and 3: every kernel with its usual grid; for Tree++ d = 6 and k from 0 to 7.
- Figure "varying k": Tree++ with d = 7 and k from 0 to 7.
- Figure "varying d": Tree++ with k = 1 and d from 0 to 7.
"""

from __future__ import annotations

from ..kernels.grid import KernelGrid, Setting
from ..kernels.registry import KERNELS
from . import published

FIGURE_K = "figure-k"
FIGURE_D = "figure-d"


def table_kernels() -> list[str]:
    """The kernels of the paper's tables, in their order, by name."""
    return [name for name in published.KERNELS if name in KERNELS]


def varying_k() -> KernelGrid:
    """Tree++ as in the paper's figure for k."""
    return KERNELS["tree++"].with_settings([Setting({"path_depth": 7, "tree_depth": 7})], FIGURE_K)


def varying_d() -> KernelGrid:
    """Tree++ as in the paper's figure for d."""
    settings = [Setting({"path_depth": depth, "tree_depth": 1}) for depth in range(8)]
    return KERNELS["tree++"].with_settings(settings, FIGURE_D)
