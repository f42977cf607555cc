"""Small things that benchmarks are tried on."""

from tests.evaluation.conftest import families

__all__ = ["families"]
