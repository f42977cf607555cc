"""How kernels call linear algebra on the matrices of single graphs."""

from __future__ import annotations

from contextlib import AbstractContextManager

from ..core.threads import blas_threads


def one_thread_each() -> AbstractContextManager[None]:
    """Keep BLAS from starting threads: single graphs are too small, they would only wait."""
    return blas_threads(1)
