"""How kernels call linear algebra on the matrices of single graphs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Keep BLAS from starting threads: single graphs are too small, they would only wait."""
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    with threadpool_limits(limits=1, user_api="blas"):
        yield
