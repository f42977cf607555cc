"""Whatever happens to a writer or to the files, nothing is lost and nothing is wrong."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import graphgrain as gg
from graphgrain.errors import (
    InvalidFileError,
    InvalidParameterError,
    UnwritableFileError,
)

from .oracle import best, similarity_matrix

BEFORE, AFTER = 40, 55
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


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


def files_of(path):
    """The arrays that the table names, and those in the folder."""
    with closing(sqlite3.connect(path / "index.sqlite")) as connection:
        named = {name for (name,) in connection.execute("SELECT file FROM segments")}
    return named, {file.name for file in path.glob("*.npy")}


def dies_at(step, change):
    """Run a change in a child that dies, without any cleaning up, at its n-th act on disk.

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

        execute = deadly(sqlite3.Connection.execute)

        class Deadly(sqlite3.Connection):
            executemany = deadly(sqlite3.Connection.executemany)

            def execute(self, statement, *values):
                reads = statement.startswith(("PRAGMA", "SELECT", "BEGIN"))
                run = sqlite3.Connection.execute if reads else execute
                return run(self, statement, *values)

        connect = sqlite3.connect
        sqlite3.connect = lambda *arguments, **more: connect(*arguments, **more, factory=Deadly)
        os.fsync, Path.unlink = deadly(os.fsync), deadly(Path.unlink)
        change()
        os._exit(0)
    finally:
        os._exit(1)


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


@needs_fork
@pytest.mark.parametrize(
    "name", ["add", *(pytest.param(name, marks=pytest.mark.slow) for name in list(CHANGES)[1:])]
)
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
        named, there = files_of(copy)
        assert named == there
        if not died:
            break
        step += 1
    assert step >= 2
    assert (before == after) or seen == {True, False}


@needs_fork
@pytest.mark.slow
def test_death_while_a_new_index_is_built(drugs, tmp_path):
    for step in range(20):
        path = tmp_path / f"new{step}.ggi"
        died = dies_at(step, lambda path=path: gg.GraphIndex.build(path, drugs[0][:5]))
        if not died:
            break
        if next(path.glob("*.npy"), None) is None or not is_index(path):
            with pytest.raises(InvalidFileError, match="is not a graphgrain index"):
                contents(path)
            assert len(gg.GraphIndex.build(path, drugs[0][:5])) == 5
        assert contents(path) == list(range(5))
    assert contents(path) == list(range(5))


def is_index(path):
    with closing(sqlite3.connect(path / "index.sqlite")) as connection:
        return connection.execute("PRAGMA user_version").fetchone() != (0,)


class IndexBesideDictionary(RuleBasedStateMachine):
    """An index does what a dictionary from ids to graphs does, also when writers are killed."""

    pool: gg.GraphBatch
    matrix: np.ndarray
    folder: Path
    runs = 0

    def __init__(self):
        super().__init__()
        type(self).runs += 1
        self.index = gg.GraphIndex.build(self.folder / f"{self.runs}.ggi", self.pool[:0], KERNEL)
        self.graphs = {}
        self.next = 0

    def added(self, chosen):
        ids = [("id", self.next + n) for n in range(len(chosen))]
        self.next += len(chosen)
        return ids, self.graphs | dict(zip(ids, chosen, strict=True))

    @rule(chosen=st.lists(st.integers(0, 29), min_size=1, max_size=6))
    def add(self, chosen):
        ids, self.graphs = self.added(chosen)
        self.index.add(self.pool[chosen], ids=ids, columns={"graph": chosen})

    @rule(first=st.integers(0, 3), step=st.integers(1, 3))
    def remove(self, first, step):
        gone = list(self.graphs)[first::step]
        self.index.remove(gone)
        self.graphs = {key: graph for key, graph in self.graphs.items() if key not in gone}

    @rule()
    def compact(self):
        self.index.compact()

    @rule()
    def reopen(self):
        self.index = gg.GraphIndex(self.index.path)

    @rule(chosen=st.lists(st.integers(0, 29), min_size=1, max_size=6), step=st.integers(0, 8))
    @precondition(lambda self: hasattr(os, "fork"))
    def kill(self, chosen, step):
        ids, after = self.added(chosen)
        columns = {"graph": chosen}
        died = dies_at(step, lambda: self.index.add(self.pool[chosen], ids=ids, columns=columns))
        self.index = gg.GraphIndex(self.index.path)
        if not died or len(self.index) > len(self.graphs):
            self.graphs = after

    @rule(query=st.integers(0, 29))
    def search(self, query):
        if not self.graphs:
            return
        chosen = np.array(list(self.graphs.values()))
        expected = self.matrix[query, chosen]
        ids, values, columns = self.index.search(self.pool[query], k=5, return_columns=True)
        order = best(expected[np.newaxis], 5)[0]
        assert values[0].tolist() == expected[order].tolist()
        assert ids[0].tolist() == [list(self.graphs)[at] for at in order]
        assert columns[0]["graph"].tolist() == chosen[order].tolist()

    @invariant()
    def has_the_same_graphs(self):
        assert self.index.ids.tolist() == list(self.graphs)
        columns = self.index.columns()
        assert columns.get("graph", np.empty(0)).tolist() == list(self.graphs.values())


KERNEL = gg.TreePlusPlus(2, 1, edge_labels=True, counts="binary", similarity="minmax")


def test_an_index_beside_a_dictionary(drugs, tmp_path):
    machine = IndexBesideDictionary
    machine.pool, machine.folder = drugs[0][:30], tmp_path
    machine.matrix = similarity_matrix(KERNEL, machine.pool, machine.pool, "minmax")
    testing = machine.TestCase()
    testing.settings = settings(max_examples=5, stateful_step_count=15, deadline=None)
    testing.runTest()


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
    assert not new.exists()


def test_one_writer_at_a_time(index, drugs, monkeypatch):
    script = (
        "import sqlite3, sys, time\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('BEGIN IMMEDIATE')\n"
        "print('locked', flush=True)\n"
        "time.sleep(60)\n"
    )
    monkeypatch.setattr(gg.searching.index_folder, "PATIENCE", 0.1)
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(index.path / "index.sqlite")],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline() == "locked\n"
        unfinished = index.path / "unfinished.npy"  # of the other process
        unfinished.touch()
        with pytest.raises(UnwritableFileError, match="Another process is writing"):
            index.remove(drugs[2][5:6])
        assert unfinished.exists()
        assert len(contents(index.path)) == BEFORE - 2  # readers do not mind
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    index.remove(drugs[2][5:6])  # the lock died with its holder


def test_readers_keep_what_they_opened(index, drugs):
    reader = gg.GraphIndex.open(index.path)
    before = reader.search(drugs[0][:3], k=4, return_columns=True)
    index.remove(drugs[2][10:20])
    index.compact()
    gg.GraphIndex.build(index.path, drugs[0][:3], overwrite=True)
    after = reader.search(drugs[0][:3], k=4, return_columns=True)
    assert before[0].tolist() == after[0].tolist()
    assert reader.graphs() == drugs[0][2:BEFORE]
    assert len(reader.refresh()) == 3


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


@pytest.mark.slow
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
        for turn in range(2):
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
        for _ in range(15):
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


def every_way_in(path):
    """Open and check an index of strangers."""
    gg.GraphIndex.open(path).verify()


def test_one_wrong_byte_in_any_array_is_one_error(index, drugs):
    [array] = index.path.glob("*.npy")
    original = array.read_bytes()
    begin = len(original) - len(index._snapshot.segments[0]._data)
    for name, (_, shape, offset, _) in index._snapshot.segments[0].about["arrays"].items():
        if not np.prod(shape):
            continue
        changed = bytearray(original)
        changed[begin + offset] ^= 1
        array.write_bytes(changed)
        with pytest.raises(InvalidFileError, match=f"is damaged: the checksum of {name} does not"):
            every_way_in(index.path)
        if name == "gaps":
            with pytest.raises(InvalidFileError, match="checksum of gaps"):
                gg.GraphIndex.open(index.path).search(drugs[0][:1])
    array.write_bytes(original)
    every_way_in(index.path)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.99])
def test_files_that_end_early_or_are_missing(index, share):
    for path in index.path.iterdir():
        content = path.read_bytes()
        for damage in (lambda: path.write_bytes(content[: int(share * len(content))]), path.unlink):  # noqa: B023
            damage()
            with pytest.raises(InvalidFileError, match="index"):
                every_way_in(index.path)
            path.write_bytes(content)
    every_way_in(index.path)


def rewritten(path, statement, *values):
    with closing(sqlite3.connect(path / "index.sqlite")) as connection:
        connection.execute(statement, values)
        connection.commit()


TABLE_DAMAGE = [
    "UPDATE settings SET value = '\"dice\"' WHERE name = 'similarity'",
    "UPDATE settings SET value = '{' WHERE name = 'kernel'",
    "DELETE FROM settings WHERE name = 'kernel'",
    "INSERT INTO settings VALUES ('more', '1')",
    "UPDATE segments SET file = '../' || file",
    "UPDATE segments SET about = '[]'",
    "UPDATE segments SET about = replace(about, '\"graphs\"', '\"grafs\"')",
    "UPDATE segments SET about = replace(about, '\"|u1\"', '\"O\"')",
    "UPDATE segments SET about = replace(about, '\"graphs\": 40', '\"graphs\": 41')",
    "UPDATE columns SET pages = zeroblob(10)",
    "UPDATE columns SET starts = zeroblob(10)",
    "DELETE FROM columns",
    "INSERT INTO tombstones VALUES (1, 4000)",
    "DROP TABLE tombstones",
    "PRAGMA user_version = 9",
]


@pytest.mark.parametrize("statement", TABLE_DAMAGE)
def test_a_wrong_table_is_one_error(index, statement):
    rewritten(index.path, statement)
    with pytest.raises(InvalidFileError, match="index"):
        every_way_in(index.path)


def test_arrays_outside_their_file_or_of_other_numbers(index):
    """Places in the table are compared with the file, and contents with what may be in it."""
    segment = index._snapshot.segments[0]
    original = segment.about["arrays"]
    for name, (dtype, shape, offset, crc) in original.items():
        for entry in (
            [dtype, [side + 10**6 for side in shape], offset, crc],
            [dtype, shape, len(segment._data) - 1, crc],
            [dtype, shape, -64, crc],
            ["|O", shape, offset, crc],
        ):
            if not np.prod(shape) or (name == "keys" and entry[1] != shape):
                continue
            arrays = original | {name: entry}
            rewritten(
                index.path,
                "UPDATE segments SET about = ?",
                json.dumps(segment.about | {"arrays": arrays}),
            )
            with pytest.raises(InvalidFileError, match="is damaged"):
                every_way_in(index.path)


def test_what_is_no_index(tmp_path):
    (tmp_path / "file.txt").write_text("hello")
    for path in (tmp_path, tmp_path / "file.txt", tmp_path / "nowhere"):
        with pytest.raises(InvalidFileError, match="not a graphgrain index"):
            gg.GraphIndex.open(path)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(InvalidFileError, match=r"graphgrain 0\.3: scripts/export_index\.py"):
        gg.GraphIndex.open(tmp_path)
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
