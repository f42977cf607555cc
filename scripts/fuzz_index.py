"""Fuzz indexes with valid checksums: no crash, no unexpected exception, no wrong result.

Every variant modifies a small index (entries of arrays, headers, manifests, lists of removed
graphs) and recomputes all checksums, as an attacker would. A separate process then opens it,
searches, reads everything and verifies it. Only correct results and errors of graphgrain are
allowed. If `verify` passes, results must equal those of comparing all graphs in the index.

    python scripts/fuzz_index.py --variants 2000
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import struct
import sys
import tempfile
import time
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import graphgrain as gg
from graphgrain.errors import GraphgrainError
from graphgrain.kernels.bases.feature_kernel import FeatureKernel

#: Time limit of a variant in seconds.
_PATIENCE = 60
_FIXED = struct.Struct("<8sIII")


def make_indexes(folder: Path) -> list[Path]:
    """Build small indexes with bits, weights, attributes, removed graphs and several segments."""
    graphs, families, names = gg.load_drugs(names=True)
    graphs, families, names = graphs[:60], families[:60], names[:60]
    rng = np.random.default_rng(0)
    drawn = gg.GraphBatch.from_edges(
        [5] * 20,
        [(5 * g + a, 5 * g + a + 1) for g in range(20) for a in range(4)],
        rng.integers(0, 3, 100),
        vertex_attributes=rng.random((100, 2)),
        edge_attributes=rng.random((80, 1)),
    )
    made = []
    for name, source, kernel, more in (
        ("bits", graphs, None, {"ids": names, "columns": {"family": families}}),
        ("counts", graphs, gg.TreePlusPlus(2, 1, counts="raw"), {"similarity": "cosine"}),
        ("numbers", drawn, gg.WeisfeilerLehman(2, counts="sqrt"), {"similarity": "dot"}),
    ):
        index = gg.GraphIndex.build(folder / name, source[:-5], kernel, **_first(more, -5))
        index.add(source[-5:], **_last(more, -5))
        index.remove(index.ids[[3, 4, -1]])
        made.append(index.path)
    return made


def _first(more: dict[str, Any], at: int) -> dict[str, Any]:
    return {name: _cut(value, slice(None, at)) for name, value in more.items()}


def _last(more: dict[str, Any], at: int) -> dict[str, Any]:
    return {n: _cut(value, slice(at, None)) for n, value in more.items() if n != "similarity"}


def _cut(value: Any, part: slice) -> Any:
    if isinstance(value, dict):
        return {name: each[part] for name, each in value.items()}
    return value if isinstance(value, str) else value[part]


# -------------------------------------------------------------------- crafting


def craft(folder: Path, rng: random.Random) -> str:
    """Modify an index with valid checksums; return a description of the change."""
    files = sorted(path for path in folder.iterdir() if path.name != "lock")
    weights = [1 if path.suffix == ".json" else 4 for path in files]
    [path] = rng.choices(files, weights)
    try:
        return (_craft_document if path.suffix == ".json" else _craft_archive)(path, rng)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return "no change"  # an earlier change has left nothing to modify in this file


def _craft_document(path: Path, rng: random.Random) -> str:
    head, _, text = path.read_bytes().partition(b"\n")
    content = json.loads(text)
    said = _mutate_json(content, rng)
    text = json.dumps(content, indent=1).encode()
    first = {**json.loads(head), "crc32": zlib.crc32(text)}
    path.write_bytes(json.dumps(first).encode() + b"\n" + text + b"\n")
    return f"{path.suffix}: {said}"


def _craft_archive(path: Path, rng: random.Random) -> str:
    content = path.read_bytes()
    magic, version, length, _ = _FIXED.unpack(content[: _FIXED.size])
    header = json.loads(content[_FIXED.size : _FIXED.size + length])
    body = bytearray(content[_FIXED.size + length :])
    if rng.random() < 0.2:
        said = _mutate_json(header, rng)
    else:
        name = rng.choice([n for n, e in header["parts"].items() if np.prod(e["shape"])])
        entry = header["parts"][name]
        size = int(np.prod(entry["shape"])) * np.dtype(entry["dtype"]).itemsize
        begin = entry["offset"]
        part = bytearray(body[begin : begin + size])
        said = f"{name}: {_mutate_bytes(part, np.dtype(entry['dtype']), rng)}"
        body[begin : begin + size] = part
    for entry in header["parts"].values() if isinstance(header.get("parts"), dict) else ():
        try:
            size = int(np.prod(entry["shape"])) * np.dtype(entry["dtype"]).itemsize
            data = bytes(body[entry["offset"] : entry["offset"] + size])
            entry["crc32"] = zlib.crc32(data) if size else 0
        except (TypeError, KeyError, ValueError, OverflowError):
            continue
    text = json.dumps(header).encode()
    text += b" " * (-(_FIXED.size + len(text)) % 64)
    fixed = _FIXED.pack(magic, version, len(text), zlib.crc32(text))
    path.write_bytes(fixed + text + bytes(body))
    return f"{path.suffix}: {said}"


def _mutate_bytes(part: bytearray, dtype: np.dtype, rng: random.Random) -> str:
    """Modify entries of an array."""
    array = np.frombuffer(part, dtype=dtype)
    how = rng.choice(("bit", "byte", "extreme", "near", "swap", "zeros", "noise"))
    at = rng.randrange(len(array))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if how == "bit":
            part[rng.randrange(len(part))] ^= 1 << rng.randrange(8)
        elif how == "byte":
            part[rng.randrange(len(part))] = rng.randrange(256)
        elif how == "extreme":
            if dtype.kind == "f":
                array[at] = rng.choice((np.nan, np.inf, -np.inf, -1.0, 1e300, 0.0))
            else:
                array[at] = rng.choice((np.iinfo(dtype).max, np.iinfo(dtype).min, 0))
        elif how == "near":
            array[at] = array[at] + np.asarray(rng.choice((1, -1, 2, 64))).astype(dtype)
        elif how == "swap":
            other = rng.randrange(len(array))
            array[at], array[other] = array[other], array[at]
        elif how == "zeros":
            array[at : at + rng.randrange(1, 9)] = 0
        else:
            for place in range(at, min(len(array), at + rng.randrange(1, 33))):
                raw = rng.randbytes(dtype.itemsize)
                part[place * dtype.itemsize : (place + 1) * dtype.itemsize] = raw
    return f"{how} at {at}"


def _mutate_json(content: Any, rng: random.Random) -> str:
    """Modify one value in nested lists and dictionaries."""
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            places.append((value, key))
            if isinstance(inner, dict | list):
                walk(inner)

    walk(content)
    holder, key = rng.choice(places)
    old = holder[key]
    choices: list[Any] = [None, True, -1, 0, 2**31, 2**63, 2**70, 1.5, "", "x", [], {}, [[]]]
    if isinstance(old, int) and not isinstance(old, bool):
        choices += [old + 1, old - 1, old * 2, old + 64]
    if isinstance(old, str):
        choices += [old[::-1], old + "/../x", "../../etc/passwd", "|O", "<f8", "numbers", "pages"]
    if isinstance(old, list):
        choices += [old[::-1], old[1:], old + old, [0] * 9]
    if rng.random() < 0.1 and isinstance(holder, dict):
        del holder[key]
        return f"without {key!r}"
    holder[key] = rng.choice(choices)
    return f"{key!r}: {str(old)[:30]} became {str(holder[key])[:30]}"


# -------------------------------------------------------------------- judging


def judge(folder: Path, queries: gg.GraphBatch) -> str:
    """Use all methods of an index; return "error", "answer" or "wrong ..."."""
    warnings.simplefilter("ignore")
    try:
        index = gg.GraphIndex.open(folder)
        outcome = "answer"
    except GraphgrainError:
        return "error"
    answers: Any = None
    for act in (
        lambda: index.search(queries, k=5),
        lambda: index.search(queries, k=None, threshold=0.4, return_columns=True),
        lambda: index.ids,
        lambda: index.columns(),
        lambda: index.graphs(),
        lambda: index.similarity == "dot" or index.kneighbors(n_neighbors=2),
        lambda: list(index.ids[:3]) and index.columns(index.ids[:2].tolist()),
    ):
        try:
            found = act()
            answers = found if answers is None else answers
        except GraphgrainError:
            outcome = "error"
    try:
        index.verify()
    except GraphgrainError:
        return "error"
    if outcome == "error" and answers is None:
        return outcome
    try:
        _, values = index.search(queries, k=5)
        expected = _compared(index.kernel, queries, index.graphs(), index.similarity)
    except GraphgrainError:
        return "error"
    best = -np.sort(-expected, axis=1)[:, :5]
    if values.shape != best.shape or not np.allclose(values, best, rtol=1e-9, atol=1e-12):
        return f"wrong: {values[0].tolist()} instead of {best[0].tolist()}"
    return outcome


def _compared(
    kernel: FeatureKernel, queries: gg.GraphBatch, graphs: gg.GraphBatch, similarity: str
) -> np.ndarray:
    """Compute all similarities with dictionaries of features."""
    left, right = (_tables(kernel, batch) for batch in (queries, graphs))
    result = np.zeros((len(left), len(right)))
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            shared = a.keys() & b.keys()
            least = sum(min(a[key], b[key]) for key in shared)
            dot = sum(a[key] * b[key] for key in shared)
            if similarity == "minmax":
                below = sum(a.values()) + sum(b.values()) - least
                result[i, j] = least / below if below else 0.0
            elif similarity == "containment":
                result[i, j] = least / sum(a.values()) if a else 0.0
            elif similarity == "cosine":
                below = sum(v * v for v in a.values()) * sum(v * v for v in b.values())
                result[i, j] = dot / below**0.5 if below else 0.0
            else:
                result[i, j] = dot
    return result


def _tables(kernel: FeatureKernel, batch: gg.GraphBatch) -> list[dict[Any, float]]:
    tables: list[dict[Any, float]] = [{} for _ in range(len(batch))]
    maps = {"raw": float, "sqrt": lambda c: c**0.5, "log": np.log1p, "binary": lambda c: 1.0}
    for level, counts in enumerate(kernel.count_features(batch)):
        scale = float(kernel.level_scales[level])
        place = 0
        for graph, length in enumerate(counts.lengths.tolist()):
            for entry in range(place, place + length):
                key, count = int(counts.hashes[entry]), int(counts.counts[entry])
                if kernel.counts == "intersection":
                    tables[graph] |= {(level, key, n): scale for n in range(count)}
                else:
                    tables[graph][level, key] = scale * float(maps[kernel.counts](count))
            place += length
    return tables


def child(folder: Path, queries: gg.GraphBatch) -> str:
    """Run :func:`judge` in a separate process; return "crash by signal ..." if it crashes."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        signal.alarm(_PATIENCE)
        try:
            said = judge(folder, queries)
        except BaseException as error:  # unexpected exceptions are failures
            said = f"raw {type(error).__name__}: {error}"
        os.write(writing, said.encode()[:4000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code == -signal.SIGALRM:
        return f"hangs for {_PATIENCE} s"
    return said if code == 0 else f"crash by signal {-code}"


def main() -> int:
    """Craft and check variants, and count the outcomes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, help="stop after this time")
    options = parser.parse_args()
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    outcomes: dict[str, int] = {}
    bad = 0
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        indexes = make_indexes(folder)
        queries = {path: gg.GraphIndex.open(path).graphs()[:3] for path in indexes}
        for path in indexes:  # compile everything before forking
            assert judge(path, queries[path]) == "answer", path
        for number in range(options.variants):
            if options.seconds is not None and time.monotonic() - begin > options.seconds:
                break
            rng = random.Random(options.seed * 1_000_003 + number)
            original = rng.choice(indexes)
            crafted = folder / "crafted"
            shutil.copytree(original, crafted)
            said = "; ".join(craft(crafted, rng) for _ in range(rng.choice((1, 1, 1, 2, 4))))
            outcome = child(crafted, queries[original])
            shutil.rmtree(crafted)
            kind = outcome if outcome in ("error", "answer") else outcome.split()[0].rstrip(":")
            outcomes[kind] = outcomes.get(kind, 0) + 1
            if kind not in ("error", "answer"):
                bad += 1
                print(f"variant {number} of {original.name} ({said}): {outcome}", flush=True)
    total = sum(outcomes.values())
    print(f"{total:,} crafted indexes: " + ", ".join(f"{n:,} {k}" for k, n in outcomes.items()))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
