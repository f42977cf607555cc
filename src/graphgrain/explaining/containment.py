"""Whether a graph is a subgraph of another: RDKit tells for molecules, else a bounded search."""

from __future__ import annotations

from collections.abc import Iterator

from ..graphs.batch import GraphBatch
from ..graphs.convert.to_rdkit import labelled_molecule
from ..graphs.molecule_labels import are_molecules

#: Pairs of vertices that are tried before the search gives up.
_MOST_STEPS = 20_000


def contains(whole: GraphBatch, part: GraphBatch) -> bool | None:
    """Return whether ``part`` is a subgraph of ``whole`` with equal labels; None if undecided.

    >>> import graphgrain as gg
    >>> chain, ring = gg.as_graphs([([(0, 1), (1, 2)], list("CCO")),
    ...                             ([(0, 1), (1, 2), (2, 0)], list("CCO"))])
    >>> contains(ring, chain), contains(chain, ring)
    (True, False)
    """
    if part.n_vertices > whole.n_vertices or part.n_edges > whole.n_edges:
        return False
    if are_molecules(whole) and are_molecules(part):
        try:
            return bool(labelled_molecule(whole).HasSubstructMatch(labelled_molecule(part)))
        except ImportError:
            pass
        except (ValueError, RuntimeError):  # RDKit cannot read such a molecule
            return None
    return _search(whole, part)


def _search(whole: GraphBatch, part: GraphBatch) -> bool | None:
    """Map the vertices of ``part`` one by one, each beside earlier ones, and go back (VF2)."""
    large, small = _linked(whole), _linked(part)
    labels, wanted = whole.labels.tolist(), part.labels.tolist()
    order: list[int] = []
    for start in range(part.n_vertices):
        queue = [start] if start not in order else []
        for vertex in queue:
            queue += [near for near in small[vertex] if near not in queue]
        order += queue
    image: list[int] = []  # of the first vertices of the order
    options: list[Iterator[int]] = []
    steps = 0
    while len(image) < len(order):
        vertex = order[len(image)]
        mapped = {
            image[place]: small[vertex][near]
            for place, near in enumerate(order[: len(image)])
            if near in small[vertex]
        }
        if len(options) == len(image):
            options.append(iter(large[min(mapped)] if mapped else range(whole.n_vertices)))
        for target in options[-1]:
            steps += 1
            fits = labels[target] == wanted[vertex] and target not in image
            if fits and all(large[target].get(near) == bond for near, bond in mapped.items()):
                image.append(target)
                break
        else:
            options.pop()
            if not image:
                return False
            image.pop()
        if steps > _MOST_STEPS:
            return None
    return True


def _linked(graph: GraphBatch) -> list[dict[int, object]]:
    """Return, for each vertex, its neighbours with the labels of the edges between."""
    linked: list[dict[int, object]] = [{} for _ in range(graph.n_vertices)]
    bonds = [""] * graph.n_edges if graph.edge_labels is None else graph.edge_labels.tolist()
    for (u, v), bond in zip(graph.edges.tolist(), bonds, strict=True):
        linked[u][v] = linked[v][u] = bond
    return linked
