"""Digests of everything that graphgrain computes, to see whether a change has changed a number.

    python scripts/digests.py write before.json --data ../shared/data   # with one version
    python scripts/digests.py write after.json --data ../shared/data    # with another
    python scripts/digests.py compare before.json after.json

On each of seven data sets (molecules, proteins, brain networks, complete, attributed and unlabelled
graphs among them): Gram matrices of all kernels, with levels 0 to 7, all count maps, similarities,
centralities and edge labels; features in hashed columns; pairs and answers of an index; predictions
of an estimator and of a support vector machine. Only names are used that versions 0.3 and 0.4 have.

An entry is the SHA-256 of the exact values, and for floats two of the values rounded to ten digits,
on grids that are half a step apart: if only the last bits of a value differ, it is unlikely to
cross a border of both.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

import graphgrain as gg

#: Data sets with the number of graphs used, which are spread over the set.
DATA = {
    "MUTAG": 60, "PTC_MM": 60, "KKI": 30, "BZR_MD": 30,
    "IMDB-BINARY": 50, "Letter-high": 100, "ENZYMES": 40,
}  # fmt: skip
#: Columns of hashed features: they tell nearly all hashes apart.
COLUMNS = 2**30
#: Parameters that are varied one at a time if a kernel has them.
VARIED: dict[str, tuple[Any, ...]] = {
    "tree_depth": tuple(range(8)),
    "n_iter": tuple(range(8)),
    "path_depth": (0, 1, 3, 8),
    "counts": ("raw", "sqrt", "log", "binary", "intersection"),
    "similarity": ("cosine", "minmax", "dot"),
    "centrality": ("eigenvector", "closeness", "betweenness", "degree", None),
    "edge_labels": (True,),
}
KERNELS = [
    *gg.list_kernels().values(),
    gg.AttributedGraphHopper,
    gg.AttributedGraphInvariants,
    gg.HashedAttributes,
]
Case = tuple[str, Callable[[], Any]]


def digest(value: Any) -> list[str]:
    """Return the digests of an array, a sparse matrix or a list of arrays."""
    if issparse(value):
        rows = value.tocsr()
        rows.sum_duplicates()  # also sorts
        value = [rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data]
    arrays = [
        np.asarray(array) for array in (value if isinstance(value, list | tuple) else [value])
    ]
    digests = [_hashed([array.tobytes() for array in map(_wide, arrays)])]
    if any(array.dtype.kind == "f" for array in arrays):
        digests += [_hashed([_rounded(array, shift) for array in arrays]) for shift in (0.0, 0.5)]
    return digests


def _hashed(contents: list[bytes]) -> str:
    return hashlib.sha256(b"".join(contents)).hexdigest()[:16]


def _wide(array: np.ndarray) -> np.ndarray:
    """Return integers as 64 bits, and zeros without their sign."""
    if array.dtype.kind == "f":
        return array.astype(np.float64) + 0.0
    return array.astype(np.int64) if array.dtype.kind in "iub" else array


def _rounded(array: np.ndarray, shift: float) -> bytes:
    """Return the values with ten digits after the leading one's place, as bytes."""
    if array.dtype.kind != "f":
        return array.tobytes()
    mantissas, exponents = np.frexp(array.astype(np.float64))
    with np.errstate(invalid="ignore"):
        whole = np.floor(mantissas * 1e10 + shift)
    return (np.ldexp(whole, exponents) + 0.0).tobytes()


def kernel_cases(graphs: Any, half: int) -> Iterator[Case]:
    """Yield the Gram matrices and features of all kernels."""
    for kernel in KERNELS:
        parameters = inspect.signature(kernel).parameters
        settings: list[dict[str, Any]] = [{}]
        for name, values in VARIED.items():
            if name in parameters and not (name == "edge_labels" and graphs.edge_labels is None):
                settings += [{name: value} for value in values]
        if kernel is gg.DeepGraphKernel:
            settings.remove({"n_iter": 0})  # version 0.3 hangs if all vertices are equal
        for setting in settings:
            name = f"{kernel.__name__}({', '.join(f'{k}={v!r}' for k, v in setting.items())})"
            yield f"{name} gram", lambda k=kernel, s=setting: k(**s).fit_transform(graphs)
            if "output" in parameters and set(setting) <= {"edge_labels", "centrality"}:
                hashed = {**setting, "output": "features", "n_features": COLUMNS}
                yield f"{name} features", lambda k=kernel, s=hashed: k(**s).fit_transform(graphs)
        fitted = kernel.__name__ + "() transform"
        yield fitted, lambda k=kernel: k().fit(graphs[:half]).transform(graphs[half:])


def answer_cases(graphs: Any, y: np.ndarray, half: int) -> Iterator[Case]:
    """Yield the answers of pairs, an index and models."""
    from sklearn.svm import SVC

    train, test = graphs[:half], graphs[half:]

    def answers(kernel: Any, similarity: str) -> list[np.ndarray]:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/index.ggi"
            index = gg.GraphIndex.build(path, train, kernel, similarity=similarity)
            index.add(test)
            index.remove([1, half + 1])
            return [np.asarray(part) for part in index.search(graphs, k=5)]

    def predictions() -> np.ndarray:
        model = SVC(kernel="precomputed").fit(gg.TreePlusPlus().fit_transform(train), y[:half])
        return model.decision_function(gg.TreePlusPlus().fit(train).transform(test))

    for similarity in ("minmax", "cosine"):
        for kernel in (gg.TreePlusPlus(), gg.WeisfeilerLehman()):
            name = f"{type(kernel).__name__} {similarity}"
            yield f"index {name}", lambda k=kernel, s=similarity: answers(k, s)
            yield (
                f"pairs {name}",
                lambda k=kernel, s=similarity: list(gg.pairs(graphs, 0.7, kernel=k, similarity=s)),
            )
    yield "support vector machine", predictions
    yield "GraphClassifier", lambda: gg.GraphClassifier().fit(train, y[:half]).predict_proba(test)
    numbers = graphs.vertex_counts.astype(float)
    yield "GraphRegressor", lambda: gg.GraphRegressor().fit(train, numbers[:half]).predict(test)


def write(path: Path, data: Path) -> None:
    """Write the digests of all cases to a file."""
    entries: dict[str, list[str]] = {}
    for name, count in DATA.items():
        begin = time.perf_counter()
        everything, y = gg.load_tu(data / f"{name}.zip")
        order = np.linspace(0, len(everything) - 1, count).astype(int)
        order = np.concatenate([order[::2], order[1::2]])  # both halves have all classes
        graphs, half = everything[order], (count + 1) // 2
        for case, compute in (*kernel_cases(graphs, half), *answer_cases(graphs, y[order], half)):
            try:
                entries[f"{name} {case}"] = digest(compute())
            except Exception as error:  # whether there is an error must not change either
                entries[f"{name} {case}"] = [f"error: {type(error).__name__}"]
        print(f"{name}: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
        path.write_text(json.dumps({"version": gg.__version__, "digests": entries}, indent=0))


def compare(first: Path, second: Path) -> int:
    """Print which digests differ, and return their number without those in the last bits."""
    a, b = (json.loads(path.read_text())["digests"] for path in (first, second))
    changed = rounding = 0
    for case in sorted(a.keys() | b.keys()):
        old, new = a.get(case, ["absent"]), b.get(case, ["absent"])
        if old[0] == new[0]:
            continue
        last_bits = any(x == y for x, y in zip(old[1:], new[1:], strict=False))
        rounding += last_bits
        changed += not last_bits
        words = [digests[0] for digests in (old, new) if digests[0][:6] in ("error:", "absent")]
        print("last bits" if last_bits else "CHANGED  ", case, *words)
    equal = len(a.keys() | b.keys()) - changed - rounding
    print(f"{equal} equal, {rounding} differ in the last bits, {changed} differ")
    return changed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("file", type=Path)
    writing.add_argument("--data", type=Path, default=Path("../shared/data"))
    comparing = commands.add_parser("compare")
    comparing.add_argument("files", type=Path, nargs=2)
    options = parser.parse_args()
    if options.command == "write":
        warnings.simplefilter("ignore")
        write(options.file, options.data)
        return 0
    return min(compare(*options.files), 1)


if __name__ == "__main__":
    sys.exit(main())
