"""How many threads BLAS may use, also one that comes later."""

import subprocess
import sys


def test_a_blas_that_is_loaded_later_is_limited_too():
    script = """
import numpy
from threadpoolctl import threadpool_info
from graphgrain.core.threads import blas_threads

def limits():
    with blas_threads(1):
        return [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]

first = limits()
import scipy.linalg
then = limits()
print(set(first + then), len(then) >= len(first) >= 1)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "{1} True\n"
