"""Two sets of graphs: power beside other tests, the level under the null, planted effects, speed.

python -m benchmarks.two_sets                # all parts; --repeats 20 --only power,null
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import combinations

import numpy as np

import graphgrain as gg
from graphgrain.sets.permutations import mmd_statistics, p_value, signed_sets

from .data import load, load_with_classes, molecules

PERMUTATIONS = 199
#: Bandwidths of the peers' Gaussian kernels, as PolyGraph tries them; the best one counts.
BANDWIDTHS = np.array([0.01, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0])


# -------------------------------------------------------------------- random graphs


def generators() -> dict[str, Callable[[np.random.Generator], object]]:
    """Return models of random graphs of 20 to 40 vertices."""
    import networkx as nx

    def model(make: Callable[..., object]) -> Callable[[np.random.Generator], object]:
        return lambda rng: make(int(rng.integers(20, 41)), int(rng.integers(1 << 30)))

    def blocks(inside: float, across: float) -> Callable[[np.random.Generator], object]:
        return model(
            lambda n, seed: nx.stochastic_block_model(
                [n // 2, n - n // 2], [[inside, across], [across, inside]], seed=seed
            )
        )

    def rewired(make: Callable[[np.random.Generator], object], share: float) -> object:
        def graph(rng: np.random.Generator) -> object:
            G = nx.Graph(make(rng))
            for _ in range(round(share * G.number_of_edges())):
                edges, missing = list(G.edges), list(nx.non_edges(G))
                G.remove_edge(*edges[rng.integers(len(edges))])
                G.add_edge(*missing[rng.integers(len(missing))])
            return G

        return graph

    ba = model(lambda n, seed: nx.barabasi_albert_graph(n, 3, seed=seed))
    ws = model(lambda n, seed: nx.watts_strogatz_graph(n, 6, 0.3, seed=seed))
    return {
        "ER 0.20": model(lambda n, seed: nx.gnp_random_graph(n, 0.2, seed=seed)),
        "ER 0.22": model(lambda n, seed: nx.gnp_random_graph(n, 0.22, seed=seed)),
        "BA": ba,
        "BA, 10 % rewired": rewired(ba, 0.1),
        "BA, 30 % rewired": rewired(ba, 0.3),
        "WS 0.3": ws,
        "WS 0.4": model(lambda n, seed: nx.watts_strogatz_graph(n, 6, 0.4, seed=seed)),
        "WS, 5 % rewired": rewired(ws, 0.05),
        "WS, 20 % rewired": rewired(ws, 0.2),
        "blocks": blocks(0.35, 0.08),
        "weak blocks": blocks(0.28, 0.14),
        "geometric": model(lambda n, seed: nx.Graph(nx.random_geometric_graph(n, 0.28, seed=seed))),
    }


PAIRS = [
    ("ER 0.20", "ER 0.22"),
    ("ER 0.20", "BA"),
    ("ER 0.20", "blocks"),
    ("blocks", "weak blocks"),
    ("BA", "BA, 10 % rewired"),
    ("BA", "BA, 30 % rewired"),
    ("WS 0.3", "WS 0.4"),
    ("WS 0.3", "WS, 5 % rewired"),
    ("WS 0.3", "WS, 20 % rewired"),
    ("geometric", "WS 0.3"),
]


def batch_of(make: Callable[[np.random.Generator], object], n: int, seed: int) -> gg.GraphBatch:
    """Return random graphs, without the attributes that generators set."""
    rng = np.random.default_rng(seed)
    graphs = [make(rng) for _ in range(n)]
    return gg.as_graphs(
        [([e for e in G.edges if e[0] != e[1]], [0] * len(G)) for G in graphs]  # type: ignore
    )


# -------------------------------------------------------------------- peers


def _dense(graph: gg.GraphBatch) -> np.ndarray:
    A = np.zeros((graph.n_vertices, graph.n_vertices))
    edges = graph.edges
    A[edges[:, 0], edges[:, 1]] = A[edges[:, 1], edges[:, 0]] = 1
    return A


def degrees(graph: gg.GraphBatch) -> np.ndarray:
    """Return the share of vertices of each degree."""
    share: np.ndarray = np.bincount(graph.degrees, minlength=100)[:100] / max(1, graph.n_vertices)
    return share


def clustering(graph: gg.GraphBatch) -> np.ndarray:
    """Return the share of vertices by clustering coefficient, in 100 bins."""
    A = _dense(graph)
    k = A.sum(axis=0)
    triangles = np.einsum("ij,jk,ki->i", A, A, A) / 2
    coefficient = np.divide(triangles, k * (k - 1) / 2, out=np.zeros(len(A)), where=k > 1)
    return np.histogram(coefficient, bins=100, range=(0, 1))[0] / max(1, len(A))


def _orbit_table() -> np.ndarray:
    """Return for each adjacency code of four vertices the orbit of each vertex, or -1.

    In connected graphs of four vertices, the numbers of edges and the degrees decide the orbit.
    """
    pairs = list(combinations(range(4), 2))
    numbers: dict[object, int] = {}
    table = np.full((64, 4), -1)
    for code in range(64):
        A = np.zeros((4, 4), dtype=int)
        for bit, (i, j) in enumerate(pairs):
            A[i, j] = A[j, i] = code >> bit & 1
        if (np.linalg.matrix_power(A + np.eye(4, dtype=int), 3) > 0).all():
            k = A.sum(axis=0)
            for v in range(4):
                table[code, v] = numbers.setdefault((*sorted(k.tolist()), int(k[v])), len(numbers))
    return table


ORBITS = _orbit_table()


def orbits(graph: gg.GraphBatch) -> np.ndarray:
    """Return the mean number of times that a vertex is in each orbit of four vertices."""
    A = _dense(graph).astype(np.int64)
    if len(A) <= 40:
        quads = np.array(list(combinations(range(len(A)), 4)), dtype=np.int64).reshape(-1, 4)
    else:  # a sample of the sets of four vertices
        quads = np.random.default_rng(0).integers(0, len(A), (100_000, 4))
        quads = quads[(np.diff(np.sort(quads, axis=1), axis=1) > 0).all(axis=1)]
    code = sum(
        A[quads[:, i], quads[:, j]] << bit for bit, (i, j) in enumerate(combinations(range(4), 2))
    )
    of = ORBITS[code].ravel()
    counts: np.ndarray = np.bincount(of[of >= 0], minlength=ORBITS.max() + 1) / max(1, len(A))
    return counts


def summary(graph: gg.GraphBatch) -> np.ndarray:
    """Return a few means of a graph, for Hotelling's test."""
    k = graph.degrees
    A = _dense(graph)
    triangles = np.trace(A @ A @ A) / 6
    wedges = (k * (k - 1) / 2).sum()
    return np.array([len(k), k.mean(), k.std(), 3 * triangles / max(1, wedges), k.max(initial=0)])


def gaussian_p(X: np.ndarray, n: int, signs: np.ndarray) -> float:
    """Return the p-value of the largest MMD over bandwidths, each in its permutation deviations."""
    squared = np.maximum(((X[:, None] - X[None]) ** 2).sum(axis=2), 0.0)
    best = np.full(signs.shape[1], -np.inf)
    for width in BANDWIDTHS * np.sqrt(np.median(squared[squared > 0]) if squared.any() else 1.0):
        statistics = mmd_statistics(np.exp(-squared / (2 * width**2)), signs)
        best = np.maximum(best, statistics / max(float(statistics[1:].std()), 1e-300))
    return p_value(best)


def hotelling_p(X: np.ndarray, n: int, signs: np.ndarray) -> float:
    """Return the permutation p-value of Hotelling's statistic."""
    Z = X - X.mean(axis=0)
    inverse = np.linalg.pinv(np.cov(Z.T) + 1e-9 * np.eye(Z.shape[1]))
    first = (signs > 0) / (signs > 0).sum(axis=0) - (signs < 0) / (signs < 0).sum(axis=0)
    difference = Z.T @ first
    return p_value(np.einsum("ij,ik,kj->j", difference, inverse, difference))


PEERS = {
    "degree MMD": (degrees, gaussian_p),
    "clustering MMD": (clustering, gaussian_p),
    "orbit MMD": (orbits, gaussian_p),
    "Hotelling": (summary, hotelling_p),
}


def p_values(A: gg.GraphBatch, B: gg.GraphBatch, seed: int) -> dict[str, float]:
    """Return the p-value of every test on the same permutations."""
    second = np.arange(len(A) + len(B)) >= len(A)
    signs = signed_sets(second, np.arange(len(second)), PERMUTATIONS, seed)
    graphs = [*A, *B]
    result = {
        "compare_sets": gg.compare_sets(A, B, permutations=PERMUTATIONS, random_state=seed).p_value
    }
    for name, (describe, test) in PEERS.items():
        result[name] = test(np.array([describe(graph) for graph in graphs]), len(A), signs)
    return result


# -------------------------------------------------------------------- parts


def cases() -> dict[str, Callable[[int], tuple[gg.GraphBatch, gg.GraphBatch]]]:
    """Return pairs of sets: random graphs, classes of TU sets, molecules."""
    make = generators()
    result: dict[str, Callable[[int], tuple[gg.GraphBatch, gg.GraphBatch]]] = {}
    for a, b in PAIRS:
        result[f"{a} / {b}"] = lambda seed, a=a, b=b: (
            batch_of(make[a], 20, 2 * seed),
            batch_of(make[b], 20, 2 * seed + 1),
        )

    def drawn(first: gg.GraphBatch, second: gg.GraphBatch, n: int) -> Callable[[int], object]:
        def sets(seed: int) -> tuple[gg.GraphBatch, gg.GraphBatch]:
            rng = np.random.default_rng(seed)
            return first[rng.permutation(len(first))[:n]], second[rng.permutation(len(second))[:n]]

        return sets

    for name in ("MUTAG", "PTC_MM", "BZR", "ENZYMES", "IMDB-BINARY", "KKI"):
        graphs, y = load_with_classes(name)
        values = np.unique(y)
        result[f"{name}, classes"] = drawn(graphs[y == values[0]], graphs[y == values[1]], 25)
    zinc, moses = (gg.from_smiles(molecules(name, 2000)) for name in ("zinc250k", "moses"))
    result["MOSES / ZINC"] = drawn(moses, zinc, 25)
    return result


def power(repeats: int) -> None:
    print(f"rejections at 5 % in {repeats} repetitions")
    names = ["compare_sets", *PEERS]
    print(f"{'sets':32}" + "".join(f"{name:>16}" for name in names))
    level = total = 0
    for case, sets in cases().items():
        p = [p_values(*sets(seed), seed) for seed in range(repeats)]
        rates = {name: float(np.mean([each[name] <= 0.05 for each in p])) for name in names}
        print(f"{case:32}" + "".join(f"{rates[name]:16.2f}" for name in names), flush=True)
        best = max(rates[name] for name in PEERS)
        deviation = np.sqrt(max(best * (1 - best), 1e-9) / repeats)
        level += rates["compare_sets"] >= best - 2 * deviation
        total += 1
    print(f"best or level (two standard errors) on {level} of {total}")


def null(repeats: int) -> None:
    """Random halves of one set: rejections, and reasons listed by chance."""
    graphs, _ = gg.load_drugs()
    pools = {"drugs": graphs, "ER 0.20": batch_of(generators()["ER 0.20"], 200, 1)}
    pools["KKI"] = load("KKI")
    total, rejected = 0, 0
    print(f"{'random halves':20}{'rejected at 5 %':>16}{'with a reason':>16}{'mean AUC':>10}")
    for name, pool in pools.items():
        p, listed, auc = [], [], []
        for seed in range(repeats):
            order = np.random.default_rng(seed).permutation(len(pool))[:80]
            test = gg.compare_sets(
                pool[order[:40]], pool[order[40:]], permutations=PERMUTATIONS, random_state=seed
            )
            p.append(test.p_value)
            listed.append(bool(test.patterns()))
            auc.append(test.separation.auc)
        rate = np.mean(np.array(p) <= 0.05)
        print(f"{name:20}{rate:16.3f}{np.mean(listed):16.3f}{np.mean(auc):10.3f}", flush=True)
        total, rejected = total + len(p), rejected + int((np.array(p) <= 0.05).sum())
    print(f"{'all':20}{rejected / total:16.3f} of {total}")


def brain_null(repeats: int) -> None:
    """Labels permuted by subject, each subject twice: reasons listed by chance."""
    kki = load("KKI")
    listed = []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        subjects = rng.permutation(len(kki))[:20]
        rows = [np.repeat(part, 2) for part in (subjects[:10], subjects[10:])]
        test = gg.compare_sets(kki[rows[0]], kki[rows[1]], groups=rows, permutations=PERMUTATIONS)
        listed.append(bool(test.patterns()))
    print(f"KKI, subjects twice: a reason is listed in {np.mean(listed):.3f} of {repeats}")


def planted(repeats: int) -> None:
    """A substituent in a tenth of the molecules: share of true and false reasons."""
    data = gg.from_smiles(molecules("zinc250k", 4000))
    found, false, n = 0, 0, 0
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(data))
        A, B = data[order[:200]], data[order[200:400]]
        changed = []
        for number, graph in enumerate(B):
            edges, labels = graph.edges.tolist(), graph.labels.tolist()
            bonds = graph.edge_labels.tolist()
            if number < 20:
                edges.append([0, len(labels)])
                labels.append("Si")
                bonds.append("single")
            changed.append((edges, labels, bonds))
        names = [
            name
            for p in gg.compare_sets(A, gg.as_graphs(changed), permutations=PERMUTATIONS).patterns()
            for name in (p.name,)
        ]
        true = [name for name in names if "Si" in name or "#14" in name]
        found += bool(true)
        false += len(names) - len(true)
        n += len(names)
    print(f"silicon in 10 % of 200 molecules: found in {found} of {repeats}, false {false} of {n}")


def speed() -> None:
    """Seconds for molecules and syntax trees."""
    data = gg.from_smiles(molecules("zinc250k", 20_000))
    for n in (300, 10_000):
        start = time.perf_counter()
        test = gg.compare_sets(data[:n], data[-n:])
        test.patterns(10)
        print(f"2 x {n:,} molecules, with patterns: {time.perf_counter() - start:.1f} s")


PARTS: dict[str, Callable[..., None]] = {
    "power": power, "null": null, "brain": brain_null, "planted": planted,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--only", default="power,null,brain,planted,speed")
    options = parser.parse_args()
    for name in options.only.split(","):
        if name == "speed":
            speed()
        else:
            PARTS[name](options.repeats)


if __name__ == "__main__":
    main()
