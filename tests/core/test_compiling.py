"""Compiling: with a cache on disk where there can be one, and without where there cannot."""

from __future__ import annotations

import os
import subprocess
import sys

#: As root every folder can be written, so the refusal of the system is played.
UNWRITABLE = """
from numba.core import caching
def refuse(self):
    raise PermissionError(13, "Permission denied", self.get_cache_path())
caching._CacheLocator.ensure_cache_path = refuse
"""


def output(script: str, **environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_read_only_installation_without_a_home():
    use = """
import numpy as np, graphgrain as gg
from graphgrain.core import attribution, counting, gram, multiscale, support_vectors
from graphgrain.core.counting import find_columns
hashes = np.array([3, 1, 2], dtype=np.uint64)
print(find_columns(hashes, np.array([1, 3], dtype=np.uint64)).tolist(), gg.TreePlusPlus())
"""
    assert output(UNWRITABLE + use) == "[1, 0, -1] TreePlusPlus()\n"
    version = "from graphgrain.cli import main; import sys; sys.argv[1:] = ['--version']; main()"
    assert output(UNWRITABLE + version) == output(version)


def test_one_thread_is_one_core():
    """BLAS has no threads of its own where one is asked for."""
    script = """
import numpy as np, threadpoolctl
import graphgrain as gg
from graphgrain.core import gram
seen = []
class Array(np.ndarray):
    def __matmul__(self, other):
        seen.extend(p["num_threads"] for p in threadpoolctl.threadpool_info()
                    if p["user_api"] == "blas")
        return np.asarray(self) @ np.asarray(other)
dense = gram._dense
gram._dense = lambda *arguments: dense(*arguments).view(Array)
graphs = [([(0, 1)], [1, 2])] * 40
for n_jobs in (None, 1):
    gg.TreePlusPlus(n_jobs=n_jobs).fit_transform(graphs)
print(sorted(set(seen)))
"""
    assert output(script) == "[1]\n"


def test_notice_of_a_compilation_that_takes_a_while():
    script = """
import sys, time
from types import SimpleNamespace
from graphgrain.core import compiling
compiling._PATIENCE = 0.2
def event(module):
    function = SimpleNamespace(__module__=module)
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})
sys.stderr = sys.stdout
notice = compiling._Notice()
for module, seconds in (("somebody.else", 0.5), ("graphgrain.core.gram", 0.0),
                        ("graphgrain.core.gram", 0.6), ("graphgrain.core.gram", 0.6)):
    notice.on_start(event(module)); notice.on_start(event(module))
    time.sleep(seconds)
    notice.on_end(event(module)); notice.on_end(event(module))
    print(module, seconds)
"""
    lines = output(script).splitlines()
    assert [line.startswith("graphgrain: compiling") for line in lines] == [0, 0, 1, 0, 0]


def test_functions_that_others_generate_can_be_compiled():
    """Code made from text has no module; the notice of compiling must not stumble over it."""
    script = """
import numba, graphgrain as gg
from graphgrain.core import compiling
made = {}
exec("def twice(x): return 2 * x", made)
print(numba.njit(made["twice"])(21))
"""
    assert output(script) == "42\n"
