"""With the compiler switched off, the same code gives the same matrices for every kernel."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from graphgrain.kernels.registry import KERNELS

from .peers import random_graphs

SCRIPT = """
import sys, numpy as np
from tests.kernels.test_plain_python import matrices
np.savez(sys.argv[1], **matrices())
"""


def matrices():
    """Of every kernel, without and with the labels of edges."""
    batch = random_graphs(5, seed=3, largest=7)
    found = {}
    for name, entry in KERNELS.items():
        for edge_labels in (False, True):
            kernel = entry.kernel()
            if edge_labels and "edge_labels" not in kernel.get_params():
                continue
            if edge_labels:
                kernel.set_params(edge_labels=True)
            found[f"{name} {edge_labels}"] = kernel.fit(batch[:3]).transform(batch)
    return found


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="plain Python needs NumPy 2, where unsigned numbers stay unsigned",
)
def test_compiled_and_plain_python_agree(tmp_path):
    other = "0" if os.environ.get("NUMBA_DISABLE_JIT") == "1" else "1"
    path = tmp_path / "other.npz"
    subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", SCRIPT, str(path)],
        env={**os.environ, "NUMBA_DISABLE_JIT": other},
        check=True,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        here = matrices()
    there = np.load(path)
    assert set(here) == set(there)
    for name in here:
        np.testing.assert_allclose(here[name], there[name], rtol=1e-9, err_msg=name)
