"""With the compiler switched off, the same code gives the same matrices for every kernel."""

import os
import subprocess
import sys

import numpy as np
import pytest

SCRIPT = """
import sys, numpy as np
from graphgrain.kernels.registry import KERNELS
from tests.kernels.peers import random_graphs

batch = random_graphs(6, seed=3, largest=8)
matrices = {}
for name, entry in KERNELS.items():
    for edge_labels in (False, True):
        kernel = entry.kernel()
        if edge_labels and "edge_labels" not in kernel.get_params():
            continue
        if edge_labels:
            kernel.set_params(edge_labels=True)
        matrices[f"{name} {edge_labels}"] = kernel.fit(batch[:4]).transform(batch)
np.savez(sys.argv[1], **matrices)
"""


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="plain Python needs NumPy 2, where unsigned numbers stay unsigned",
)
def test_compiled_and_plain_python_agree(tmp_path):
    results = []
    for switch in ("0", "1"):
        path = tmp_path / f"{switch}.npz"
        subprocess.run(
            [sys.executable, "-W", "error::RuntimeWarning", "-c", SCRIPT, str(path)],
            env={**os.environ, "NUMBA_DISABLE_JIT": switch},
            check=True,
        )
        results.append(np.load(path))
    assert set(results[0]) == set(results[1])
    for name in results[0]:
        np.testing.assert_allclose(results[0][name], results[1][name], rtol=1e-9, err_msg=name)
