"""Fuzz the readers with damaged files: only errors of graphgrain are allowed.

    python scripts/fuzz_readers.py --seconds 60

Each case is a small valid file (a TU folder or zip, a MAT-file, SMILES, CSV or SDF) with random
damage, read in this process with limits on memory and time. Cases that end in anything but a result
or a GraphgrainError are printed with their seed, and make the command fail. Cases are reproducible:
--reader mat --seed 17 --cases 1 runs one again.
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import graphgrain as gg
from graphgrain.errors import GraphgrainError

MEMORY = 2 * 2**30  # bytes in addition to those used at the start
PATIENCE = 20  # seconds for one case

# fmt: off
BITS = (
    "", "0", "1", "-1", "2", "99999999999", "9223372036854775808", "1e400", "nan", "-inf", "0x10",
    "1_0", ".", ",", ";", ":", "/", "\\", '"', "'", " ", "\n", "\n\n", "\r", "\t", "\0", "\ufeff",
    "é", "\ud7ff", "[", "]", "{", "}", "(", ")", "#", "@", "+", "-", "=", "%", "$$$$", "M  END",
    ">", "<", "null", "true", "../", "C", "N", "c1", "*", "9" * 5000,
)
# fmt: on
NUMBERS = (0, 1, 2, 7, 8, 14, 15, 127, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1)


# -------------------------------------------------------------------- damage


def damage_text(text: bytes, rng: random.Random) -> bytes:
    """Cut, repeat, replace or insert text."""
    data = bytearray(text)
    for _ in range(rng.randint(1, 3)):
        at = rng.randint(0, len(data))
        end = min(len(data), at + rng.choice((0, 1, 2, 10)))
        kind = rng.randrange(5)
        if kind == 0:
            data[at:end] = rng.choice(BITS).encode("utf-8", "surrogatepass")
        elif kind == 1:
            del data[at : min(len(data), at + rng.randint(1, 40))]
        elif kind == 2:
            data[at:at] = data[max(0, at - rng.randint(1, 40)) : at] * rng.choice((1, 2, 50))
        elif kind == 3:
            data[at:end] = rng.randbytes(rng.randint(1, 8))
        else:
            del data[at:]
    return bytes(data)


def damage_binary(content: bytes, rng: random.Random) -> bytes:
    """Change bytes, overwrite with extreme numbers, cut or repeat."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(max(1, len(data)))
        kind = rng.randrange(5)
        if kind == 0:
            data[at : at + 1] = rng.randbytes(1)
        elif kind == 1:
            at -= at % 4
            order = rng.choice("<>")
            data[at : at + 4] = struct.pack(order + "I", rng.choice(NUMBERS))
        elif kind == 2:
            data[at : at + 2] = struct.pack("<H", rng.choice(NUMBERS) & 0xFFFF)
        elif kind == 3:
            del data[at : at + rng.randint(1, 16)]
        else:
            data[at:at] = data[at : at + rng.randint(1, 64)]
    return bytes(data)


# -------------------------------------------------------------------- cases

Case = tuple[str, bytes | dict[str, bytes], Callable[[Path], object]]


def tu_parts(rng: random.Random) -> dict[str, bytes]:
    """Return a small valid data set in TU format, as written by ``save_tu``."""
    return dict(
        _saved(
            rng.random() < 0.3,
            rng.random() < 0.5,
            rng.random() < 0.5,
            rng.random() < 0.3,
            rng.choice((None, (1, -1, 1), (0.5, 1.5, 2.5), ("a", "b", "a"))),
        )
    )


@cache
def _saved(
    strings: bool, edge_labels: bool, attributes: bool, edge_attributes: bool, y: Any
) -> dict[str, bytes]:
    graph = gg.GraphBatch.from_edges(
        [3, 2, 1],
        [(0, 1), (1, 2), (3, 4)],
        list("CCOCNC") if strings else [1, 2, 1, 0, 5, 3],
        edge_labels=[0, 1, 0] if edge_labels else None,
        vertex_attributes=[[0.5, n] for n in range(6)] if attributes else None,
        edge_attributes=[[1.5], [2.5], [3.5]] if edge_attributes else None,
    )
    with tempfile.TemporaryDirectory() as folder:
        gg.save_tu(Path(folder, "DS"), graph, y)
        return {file.name: file.read_bytes() for file in Path(folder, "DS").iterdir()}


def tu_folder(rng: random.Random) -> Case:
    parts = tu_parts(rng)
    name = rng.choice(sorted(parts))
    if rng.random() < 0.1:
        del parts[name]
    else:
        parts[name] = damage_text(parts[name], rng)
    return "DS", parts, gg.load_tu


def tu_zip(rng: random.Random) -> Case:
    parts = tu_parts(rng)
    stream = io.BytesIO()
    with zipfile.ZipFile(
        stream, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    ) as out:
        for name, content in parts.items():
            out.writestr(f"DS/{name}", content)
    return "DS.zip", damage_binary(stream.getvalue(), rng), gg.load_tu


def mat(rng: random.Random) -> Case:
    import numpy as np
    import scipy.io
    import scipy.sparse

    adjacency = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.uint8)
    fields: dict[str, object] = {"am": adjacency, "nl": np.array([[1], [2], [3]])}
    if rng.random() < 0.5:
        fields["el"] = np.array([[1, 2, 1], [2, 3, 2]])
    if rng.random() < 0.3:
        fields["am"] = scipy.sparse.csc_array(adjacency.astype(float))
    if rng.random() < 0.3:
        fields["nl"] = {"values": np.array([[1.0], [2.0], [3.0]])}
    graphs = np.zeros((1, 2), dtype=[(name, object) for name in fields])
    graphs[0, 0] = graphs[0, 1] = tuple(fields.values())
    stream = io.BytesIO()
    scipy.io.savemat(stream, {"graph": graphs, "label": [[1], [2]]})
    content = stream.getvalue()
    header, body = content[:128], damage_binary(content[128:], rng)
    if rng.random() < 0.3:  # damage inside a compressed part with a valid checksum
        packed = zlib.compress(body)
        body = struct.pack("<II", 15, len(packed)) + packed
    return "x.mat", header + body, gg.load_mat


def molecules(rng: random.Random) -> Case:
    errors = rng.choice(("raise", "skip"))

    def load(path: Path) -> object:
        return gg.load_molecules(path, errors=errors)

    smiles = rng.choice(
        ("CCO", "c1ccccc1[N+](=O)[O-]", "C1CC2CC1CC2", "[13CH4]", "C/C=C/C", "[Na+].[Cl-]")
    )
    kind = rng.choice((".smi", ".csv", ".sdf"))
    if kind == ".smi":
        text = f"{smiles} a name\nCN\n"
    elif kind == ".csv":
        text = f'id,smiles,y\n1,{smiles},0.5\n2,"CN",1\n'
    else:
        from rdkit import Chem

        text = Chem.MolToMolBlock(Chem.MolFromSmiles(smiles)) + ">  <y>\n1\n\n$$$$\n"
        text *= rng.randint(1, 2)
    return f"x{kind}", damage_text(text.encode(), rng), load


READERS: dict[str, Callable[[random.Random], Case]] = {
    "tu_folder": tu_folder,
    "tu_zip": tu_zip,
    "mat": mat,
    "molecules": molecules,
}


# -------------------------------------------------------------------- running


def run_case(reader: str, seed: int, folder: Path) -> str | None:
    """Create and read one case; return the traceback of an unexpected exception."""
    name, content, load = READERS[reader](random.Random(f"{reader} {seed}"))
    path = folder / name
    if isinstance(content, dict):
        path.mkdir()
        for part, data in content.items():
            (path / part).write_bytes(data)
    else:
        path.write_bytes(content)
    before = sorted(folder.rglob("*"))
    signal.alarm(PATIENCE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load(path)
    except GraphgrainError:
        pass
    except BaseException:
        if isinstance(sys.exc_info()[1], KeyboardInterrupt):
            raise
        return traceback.format_exc()
    finally:
        signal.alarm(0)
    return None if sorted(folder.rglob("*")) == before else "the reader left files behind"


def fuzz(
    readers: list[str], seconds: float, first: int = 0, cases: int | None = None
) -> Iterator[str]:
    """Run cases, alternating between the readers, and yield a report for each failure."""
    signal.signal(signal.SIGALRM, _too_slow)
    start, seed = time.monotonic(), first
    while time.monotonic() - start < seconds and (cases is None or seed - first < cases):
        for reader in readers:
            with tempfile.TemporaryDirectory() as folder:
                problem = run_case(reader, seed, Path(folder))
            if problem is not None:
                yield f"{reader}, seed {seed}:\n{problem}"
        seed += 1
    print(f"{(seed - first) * len(readers):,} cases in {time.monotonic() - start:.0f} s")


def _too_slow(signum: int, frame: object) -> None:
    raise TimeoutError(f"a case took longer than {PATIENCE} s")


def limit_memory() -> None:
    """Limit the address space, so that excessive allocations fail."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(
        resource.RLIMIT_AS, (used + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1])
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=int, help="number of cases for each reader")
    parser.add_argument("--reader", choices=READERS, action="append", help="only this one")
    arguments = parser.parse_args()
    if Path("/proc/self/statm").exists():
        limit_memory()
    failures = 0
    for report in fuzz(
        arguments.reader or list(READERS), arguments.seconds, arguments.seed, arguments.cases
    ):
        failures += 1
        print(report)
    print("no unexpected exceptions" if not failures else f"{failures} failed")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
