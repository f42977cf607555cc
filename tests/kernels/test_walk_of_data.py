"""From SMILES to a Gram matrix: CONTRIBUTING shows which files that takes, and it is true."""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path
from queue import SimpleQueue

import pytest

import graphgrain as gg
from graphgrain.core import threads

SOURCE = Path(gg.__file__).parent
CONTRIBUTING = SOURCE.parents[1] / "CONTRIBUTING.md"


def visited(work, monkeypatch) -> set[str]:
    """The files of the package in which a function is called."""
    files = set()

    def to_a_new_worker(piece):  # the only ones that are watched
        inbox = SimpleQueue()
        threading.Thread(target=threads._serve, args=(inbox,), daemon=True).start()
        inbox.put(piece)

    def note(frame, event, argument):
        path = Path(frame.f_code.co_filename)
        if event == "call" and SOURCE in path.parents:
            files.add(path.relative_to(SOURCE).as_posix())

    monkeypatch.setattr(threads, "_hand_over", to_a_new_worker)
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        threads._idle.clear()
    return files


def listed(title: str) -> set[str]:
    """The files in the list below a title."""
    text = CONTRIBUTING.read_text(encoding="utf-8").split(title)[1]
    return set(re.findall(r"^\s*(\S+\.py)", text.split("```")[1], re.MULTILINE))


@pytest.mark.skipif(not CONTRIBUTING.exists(), reason="not part of an installed package")
def test_the_walk_from_smiles_to_a_gram_matrix(monkeypatch):
    pytest.importorskip("rdkit")
    gg.TreePlusPlus().fit_transform(["CCO", "CC"])  # compiles, imports
    graphs = ["CCO", "CC", "CCN"]
    files = visited(lambda: gg.TreePlusPlus().fit_transform(graphs), monkeypatch)
    assert files == listed("From SMILES to a Gram matrix")


@pytest.mark.skipif(not CONTRIBUTING.exists(), reason="not part of an installed package")
def test_the_walk_from_graphs_to_a_saved_model(monkeypatch, tmp_path):
    graphs, y = gg.load_drugs()

    def work():
        model = gg.GraphClassifier().fit(graphs[::4], y[::4])
        model.predict(graphs[1::4])
        model.save(tmp_path / "model.ggm")

    work()  # compiles, imports
    files = {file for file in visited(work, monkeypatch) if file.startswith("learning/")}
    assert files == {f"learning/{name}" for name in listed("From graphs to a saved model")}
