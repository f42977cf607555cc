"""Retrieval quality of similarities: mean average precision."""

from __future__ import annotations

import warnings
from importlib.resources import files
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import graphgrain as gg

from .data import molecule_file

SETTINGS = [(2, 1), (4, 1), (6, 1), (4, 2), (6, 2), (6, 3)]
QUERIES = 200


def average_precision(relevant: np.ndarray) -> float:
    """Return the average precision of a ranking, best first."""
    places = np.flatnonzero(relevant)
    return float(np.mean((np.arange(len(places)) + 1) / (places + 1)))


def mean_average_precision(similarities: np.ndarray, queries: np.ndarray, y: np.ndarray) -> float:
    """Return the mean over queries; relevant are other items of the query's class."""
    values = []
    for row, query in zip(similarities, queries, strict=True):
        others = np.delete(np.arange(len(y)), query)
        order = others[np.argsort(-row[others], kind="stable")]
        values.append(average_precision(y[order] == y[query]))
    return float(np.mean(values))


def similarities(X: csr_array, queries: np.ndarray, name: str) -> np.ndarray:
    """Return similarities of rows of a binary matrix."""
    sizes = np.asarray(X.sum(axis=1)).ravel()
    shared = (X[queries] @ X.T).toarray()
    if name == "cosine":
        return shared / np.sqrt(np.outer(sizes[queries], sizes))
    return shared / (sizes[queries][:, None] + sizes[None, :] - shared)


def ecfp(smiles: list[str], queries: np.ndarray) -> np.ndarray:
    """Return Tanimoto similarities of ECFP4 with 2,048 bits."""
    from rdkit import Chem, DataStructs
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    prints = [generator.GetFingerprint(Chem.MolFromSmiles(text)) for text in smiles]
    return np.array([DataStructs.BulkTanimotoSimilarity(prints[q], prints) for q in queries])


def table(name: str, graphs: gg.GraphBatch, smiles: list[str], y: Any, queries: Any) -> None:
    """Print the precision of every setting."""
    print(f"\n## {name}: {len(graphs):,} molecules, {len(queries)} queries\n")
    print("| path_depth | tree_depth | counts | cosine | min-max |\n|---:|---:|---|---:|---:|")
    reference = mean_average_precision(ecfp(smiles, queries), queries, y)
    for path_depth, tree_depth in SETTINGS:
        for counts in ("binary", "intersection"):
            kernel = gg.TreePlusPlus(
                path_depth, tree_depth, edge_labels=True, counts=counts, output="features", n_jobs=2
            )
            X = csr_array(kernel.fit_transform(graphs))
            found = [
                mean_average_precision(similarities(X, queries, kind), queries, y)
                for kind in ("cosine", "minmax")
            ]
            cells = f"{path_depth} | {tree_depth} | {counts} | {found[0]:.4f} | {found[1]:.4f}"
            print(f"| {cells} |", flush=True)
    print(f"| ECFP4, 2,048 bits | | | | {reference:.4f} |")


def print_quality() -> None:
    """Print the tables of docs/searching.md."""
    drugs = files("graphgrain.graphs.datasets") / "data" / "drugs.csv"
    graphs, columns = gg.load_molecules(str(drugs))
    y = columns["family"]
    table("drugs", graphs, columns["smiles"].tolist(), y, np.arange(len(y)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graphs, columns = gg.load_molecules(molecule_file("hiv"), errors="skip", n_jobs=2)
    y = columns["active"]
    rng = np.random.default_rng(0)
    queries = np.sort(rng.choice(np.flatnonzero(y == 1), QUERIES, replace=False))
    table("HIV", graphs, columns["smiles"].tolist(), y, queries)
