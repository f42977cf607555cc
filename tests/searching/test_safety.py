"""Whatever happens to a writer or to the files, nothing is lost and nothing is wrong."""

from __future__ import annotations

import os
import pickle
import shutil
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import (
    InvalidFileError,
    InvalidParameterError,
    UnwritableFileError,
)
from graphgrain.searching.index_files import read_manifest

from .oracle import similarity_matrix

BEFORE, AFTER = 40, 55


@pytest.fixture
def index(drugs, tmp_path):
    graphs, _, names = drugs
    made = gg.GraphIndex.build(tmp_path / "d.ggi", graphs[:BEFORE], ids=names[:BEFORE])
    made.remove(names[:2])
    return made


def contents(path):
    found = gg.GraphIndex.open(path)
    found.verify()
    return found.ids.tolist()


CHANGES = {
    "add": lambda path, drugs: gg.GraphIndex.open(path).add(
        drugs[0][BEFORE:AFTER], ids=drugs[2][BEFORE:AFTER]
    ),
    "remove": lambda path, drugs: gg.GraphIndex.open(path).remove(drugs[2][10:20]),
    "compact": lambda path, drugs: gg.GraphIndex.open(path).compact(),
    "build": lambda path, drugs: gg.GraphIndex.build(
        path, drugs[0][:AFTER], ids=drugs[2][:AFTER], overwrite=True
    ),
}


def dies_at(step, change):
    """Run a change in a child that dies, without any cleaning up, at its n-th change on disk.

    Returns whether it got that far.
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    try:
        left = [step]

        def deadly(function):
            def call(*arguments, **more):
                if left[0] == 0:
                    os._exit(9)
                left[0] -= 1
                return function(*arguments, **more)

            return call

        os.replace, os.fsync = deadly(os.replace), deadly(os.fsync)
        Path.unlink = deadly(Path.unlink)
        change()
        os._exit(0)
    finally:
        os._exit(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("name", CHANGES)
def test_death_at_any_step_leaves_before_or_after(index, drugs, tmp_path, name):
    before = contents(index.path)
    whole = tmp_path / "whole.ggi"
    shutil.copytree(index.path, whole)
    CHANGES[name](whole, drugs)
    after = contents(whole)
    seen = set()
    step = 0
    while True:
        copy = tmp_path / f"copy{step}.ggi"
        shutil.copytree(index.path, copy)
        died = dies_at(step, lambda copy=copy: CHANGES[name](copy, drugs))
        found = contents(copy)
        assert found in (before, after)
        seen.add(found == after)
        # Whoever comes next can write, and clears away what was left behind.
        gg.GraphIndex.open(copy).remove([found[-1]])
        assert contents(copy) == found[:-1]
        files = {path.name for path in copy.iterdir()} - {"manifest.json", "lock"}
        assert files == read_manifest(copy).files
        if not died:
            break
        step += 1
    assert step >= 4
    assert (before == after) or seen == {True, False}


def test_disk_full(index, drugs, tmp_path):
    """A limit on the size of files stands for a full disk: the system refuses to write on."""
    pytest.importorskip("resource", reason="needs limits as POSIX has them")
    before = contents(index.path)
    files = sorted(path.name for path in index.path.iterdir())
    script = (
        "import resource, sys, graphgrain as gg\n"
        "from graphgrain.errors import UnwritableFileError\n"
        "graphs = gg.load_drugs()[0]\n"
        "index = gg.GraphIndex.open(sys.argv[1])\n"
        "index.kernel.count_features(graphs[:2])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "for change in (lambda: index.add(graphs),\n"
        "               lambda: gg.GraphIndex.build(sys.argv[2], graphs)):\n"
        "    try:\n"
        "        change()\n"
        "    except UnwritableFileError as error:\n"
        "        print(error)\n"
    )
    new = tmp_path / "new.ggi"
    done = subprocess.run(
        [sys.executable, "-c", script, str(index.path), str(new)],
        capture_output=True,
        text=True,
        check=True,
    )
    messages = done.stdout.splitlines()
    assert len(messages) == 2
    assert all("The index cannot be written" in message for message in messages)
    assert contents(index.path) == before
    assert sorted(path.name for path in index.path.iterdir()) == files
    with pytest.raises(InvalidFileError, match="not a graphgrain index"):
        gg.GraphIndex.open(new)


def test_one_writer_at_a_time(index, drugs):
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from graphgrain.searching.index_files import only_writer\n"
        "with only_writer(Path(sys.argv[1])):\n"
        "    print('locked', flush=True)\n"
        "    time.sleep(60)\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(index.path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(UnwritableFileError, match="Another process is writing"):
            index.remove(drugs[2][5:6])
        assert len(contents(index.path)) == BEFORE - 2  # readers do not mind
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    index.remove(drugs[2][5:6])  # the lock died with its holder


def test_readers_keep_what_they_opened(index, drugs):
    reader = gg.GraphIndex.open(index.path)
    before = reader.search(drugs[0][:3], k=4)
    index.remove(drugs[2][10:20])
    index.compact()
    after = reader.search(drugs[0][:3], k=4)
    assert before[0].tolist() == after[0].tolist()
    assert len(reader.refresh()) == BEFORE - 12


WRITER = """
import random, sys
import graphgrain as gg
path, seed = sys.argv[1:]
graphs = gg.load_drugs()[0]
chance, number = random.Random(int(seed)), 0
while True:
    try:
        index = gg.GraphIndex(path)
        act = chance.random()
        if act < 0.5:
            chosen = chance.sample(range(40), chance.randrange(1, 12))
            ids = [(graph, seed, number, place) for place, graph in enumerate(chosen)]
            number += 1
            index.add(graphs[chosen], ids=ids, columns={"graph": chosen})
            print("added", flush=True)
        elif act < 0.9 and len(index) > 60:
            index.remove(chance.sample(index.ids.tolist(), 20))
        else:
            index.compact()
    except (gg.UnwritableFileError, gg.InvalidParameterError) as error:
        assert "Another process" in str(error) or "no graph with the id" in str(error), error
"""


def test_writers_that_are_killed_and_readers_at_the_same_time(drugs, tmp_path):
    """Readers always see a complete index, whose answers are those of all comparisons."""
    graphs = drugs[0][:40]
    path = tmp_path / "shared.ggi"
    ids = [(graph, "", 0, 0) for graph in range(40)]
    index = gg.GraphIndex.build(path, graphs, ids=ids, columns={"graph": np.arange(40)})
    matrix = similarity_matrix(index.kernel, graphs, graphs, "minmax")

    def started(seed):
        command = [sys.executable, "-c", WRITER, str(path), str(seed)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    writers = [started(0), started(1)]
    try:
        for turn in range(3):
            for writer in writers:
                assert writer.stdout.readline() == "added\n"
            for query in range(40):
                index = index.refresh() if query % 2 else gg.GraphIndex(path)
                there = np.array([key[0] for key in index.ids])
                found, values, columns = index.search(graphs[query], k=8, return_columns=True)
                assert values[0].tolist() == (-np.sort(-matrix[query, there]))[:8].tolist()
                named = [key[0] for key in found[0]]
                assert values[0].tolist() == matrix[query, named].tolist()
                assert columns[0]["graph"].tolist() == named
                assert index.nbytes() > 0
            writers[turn % 2].kill()
            assert writers[turn % 2].wait() != 0
            writers[turn % 2].stdout.close()
            writers[turn % 2] = started(turn + 2)
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
            writer.stdout.close()
    gg.GraphIndex(path).verify()


def test_threads_search_while_another_changes_the_index(drugs, tmp_path):
    graphs = drugs[0][:40]
    index = gg.GraphIndex.build(tmp_path / "shared.ggi", graphs, ids=[f"{n} 0" for n in range(40)])
    matrix = similarity_matrix(index.kernel, graphs, graphs, "minmax")
    stopped = threading.Event()

    def change():
        number = 0
        while not stopped.is_set():
            number += 1
            index.remove(index.ids[:7])
            index.add(graphs[:7], ids=[f"{graph} {number}" for graph in range(7)])

    def search(query):
        for _ in range(40):
            ids, values = index.search(graphs[query], k=5)
            named = [int(key.split()[0]) for key in ids[0]]
            assert values[0].tolist() == matrix[query, named].tolist()

    changing = threading.Thread(target=change)
    changing.start()
    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(search, range(10)))
    finally:
        stopped.set()
        changing.join()


def test_an_index_that_was_replaced_by_one_with_another_kernel(index, drugs):
    """The kernel is that of the files, also for a reader that was there before."""
    graphs = drugs[0]
    built = gg.GraphIndex.build(index.path, graphs[:30], gg.TreePlusPlus(3, 1), overwrite=True)
    other = gg.WeisfeilerLehman(2, similarity="minmax")
    gg.GraphIndex.build(index.path, graphs[:30], other, overwrite=True)
    index.refresh()
    expected = other.fit(graphs[:30]).transform(graphs[40:43])
    ids, values = index.search(graphs[40:43], k=30)
    np.testing.assert_allclose(values, np.take_along_axis(expected, ids, 1), rtol=1e-12)
    index.add(graphs[30:35])
    index.compact()
    index.verify()
    with pytest.raises(InvalidParameterError, match="was built with WeisfeilerLehman"):
        built.add(graphs[35:36])  # opened with the kernel of before


# -------------------------------------------------------------------- damage


def test_every_part_is_guarded(index):
    """One wrong byte in any part is an error that names the part."""
    [segment] = [path for path in index.path.iterdir() if path.suffix == ".segment"]
    container = index._snapshot.segments[0].archive
    original = segment.read_bytes()
    for name, entry in container._entries.items():
        if not container[name].nbytes:
            continue
        damaged = bytearray(original)
        damaged[container._base + entry["offset"]] ^= 1
        segment.write_bytes(damaged)
        with pytest.raises(InvalidFileError, match=f"The part '{name}' of .* is damaged"):
            gg.GraphIndex.open(index.path).verify()
    segment.write_bytes(original)
    gg.GraphIndex.open(index.path).verify()


def test_damage_is_found_by_a_search(index, drugs):
    [segment] = [path for path in index.path.iterdir() if path.suffix == ".segment"]
    container = index._snapshot.segments[0].archive
    damaged = bytearray(segment.read_bytes())
    damaged[container._base + container._entries["gaps"]["offset"]] ^= 255
    segment.write_bytes(damaged)
    with pytest.raises(InvalidFileError, match="'gaps'"):
        gg.GraphIndex.open(index.path).search(drugs[0][:1])


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.99])
def test_files_that_end_early(index, share):
    for path in index.path.iterdir():
        if path.suffix in (".segment", ".removed"):
            content = path.read_bytes()
            path.write_bytes(content[: int(share * len(content))])
            with pytest.raises(InvalidFileError, match=path.name):
                gg.GraphIndex.open(index.path).verify()
            path.write_bytes(content)


def test_missing_files(index):
    for path in list(index.path.iterdir()):
        if path.suffix in (".segment", ".removed"):
            content = path.read_bytes()
            path.unlink()
            with pytest.raises(InvalidFileError, match=f"{path.name} is missing"):
                gg.GraphIndex.open(index.path)
            path.write_bytes(content)


def test_a_damaged_manifest(index):
    manifest = index.path / "manifest.json"
    content = manifest.read_bytes()
    manifest.write_bytes(content.replace(b"minmax", b"cosine"))
    with pytest.raises(InvalidFileError, match=r"manifest .* is damaged"):
        gg.GraphIndex.open(index.path)
    for other in (b"", b"{}", b"\xff\xfe", b'{"format": "zip"}\n{}\n'):
        manifest.write_bytes(other)
        with pytest.raises(InvalidFileError, match="not the manifest"):
            gg.GraphIndex.open(index.path)


def test_another_version(index):
    manifest = index.path / "manifest.json"
    content = manifest.read_bytes()
    manifest.write_bytes(content.replace(b'"version": 1', b'"version": 9'))
    with pytest.raises(InvalidFileError, match="version 9 of the format 'graphgrain index'"):
        gg.GraphIndex.open(index.path)
    manifest.write_bytes(content)
    [segment] = [path for path in index.path.iterdir() if path.suffix == ".segment"]
    changed = bytearray(segment.read_bytes())
    changed[8:12] = struct.pack("<I", 7)
    segment.write_bytes(changed)
    with pytest.raises(InvalidFileError, match="version 7"):
        gg.GraphIndex.open(index.path)


def test_what_is_no_index(tmp_path):
    (tmp_path / "file.txt").write_text("hello")
    for path in (tmp_path, tmp_path / "file.txt", tmp_path / "nowhere"):
        with pytest.raises(InvalidFileError, match="not a graphgrain index"):
            gg.GraphIndex.open(path)
    with pytest.raises(InvalidParameterError, match="by its path; got int"):
        gg.GraphIndex.open(3)


def test_opening_and_pickling_by_path(index, drugs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    opened = gg.GraphIndex("d.ggi", n_jobs=2)
    monkeypatch.chdir("/")
    again = pickle.loads(pickle.dumps(opened))
    assert again.path == index.path
    assert again.n_jobs == 2
    assert (
        again.search(drugs[0][5:6], k=3)[0].tolist() == index.search(drugs[0][5:6], k=3)[0].tolist()
    )
    with pytest.raises(InvalidParameterError, match=r"GraphIndex\.build\(path, graphs\) makes one"):
        gg.GraphIndex(drugs[0])


def test_another_kernel(index):
    with pytest.raises(InvalidParameterError, match="was built with TreePlusPlus"):
        gg.GraphIndex.open(index.path, kernel=gg.WeisfeilerLehman())
    same = gg.TreePlusPlus(4, 1, edge_labels=True, counts="binary")
    assert len(gg.GraphIndex.open(index.path, kernel=same)) == BEFORE - 2


class OwnKernel(gg.VertexHistogram):
    """A kernel that graphgrain does not know."""


def test_a_kernel_of_ones_own(tmp_path, drugs):
    made = gg.GraphIndex.build(tmp_path / "own.ggi", drugs[0][:5], OwnKernel())
    with pytest.raises(InvalidFileError, match="'OwnKernel' is not one of graphgrain's"):
        gg.GraphIndex.open(made.path)
    assert len(gg.GraphIndex.open(made.path, kernel=OwnKernel())) == 5


# -------------------------------------------------------------------- resuming

_BUILD = """
import sys
import graphgrain.searching.graph_index as graph_index
import graphgrain as gg
graph_index.CHUNK = graph_index.LARGEST = 50
gg.GraphIndex.build(sys.argv[1], sys.argv[2], verbose=False)
"""


def test_a_killed_build_goes_on(tmp_path, drugs, monkeypatch):
    pytest.importorskip("rdkit")
    source = tmp_path / "many.csv"
    data = Path(gg.__file__).parent / "graphs" / "datasets" / "data" / "drugs.csv"
    header, *lines = data.read_text().splitlines()
    source.write_text("\n".join([header, *(lines * 12)]))
    target = tmp_path / "many.ggi"
    child = subprocess.Popen([sys.executable, "-c", _BUILD, str(target), str(source)])
    try:
        while len(list(target.glob("*.segment"))) < 4 and child.poll() is None:
            time.sleep(0.005)
        child.kill()
    finally:
        child.wait()
    assert not (target / "manifest.json").exists()
    with pytest.raises(InvalidFileError, match="building was interrupted"):
        gg.GraphIndex.open(target)
    made = {path.name for path in target.glob("*.segment")}
    monkeypatch.setattr("graphgrain.searching.graph_index.LARGEST", 50)
    monkeypatch.setattr("graphgrain.searching.graph_index.CHUNK", 50)
    index = gg.GraphIndex.build(target, source)
    assert len(index) == 12 * len(lines)
    kept = made & {path.name for path in target.glob("*.segment")}
    assert len(kept) >= 3  # not made anew
    assert index.columns()["name"].tolist() == [line.split(",")[0] for line in lines] * 12
    assert index.ids.tolist() == list(range(12 * len(lines)))
