"""Graphs as bits come back; sketches never promise less than there is."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgrain.core.graph_bits import pack_graphs, unpack_graphs
from graphgrain.core.posting_scan import Best, Query, count_bits, scan
from graphgrain.core.sketches import MOST_BITS, Lists, coarser, make_lists, sketch

from ..graphs.graph_strategies import batches


def width(table):
    return max(0, len(table) - 1).bit_length()


@given(batches(attributes=False), st.data())
@settings(max_examples=60, deadline=None)
def test_graphs_come_back(batch, data):
    edge_table = batch.edge_label_table
    edge_bits = 0 if edge_table is None else max(1, width(edge_table))
    codes = np.empty(0, dtype=np.int32) if edge_table is None else batch.edge_label_codes
    bits = width(batch.label_table)
    stream, starts = pack_graphs(
        batch.offsets, batch.indptr, batch.indices, batch.label_codes, codes, bits, edge_bits
    )
    chosen = data.draw(st.lists(st.integers(0, len(batch) - 1), max_size=5)) if len(batch) else []
    rows = np.array(chosen, dtype=np.int64)
    offsets, indptr, indices, labels, edges = unpack_graphs(stream, starts, rows, bits, edge_bits)
    expected = batch[rows]
    np.testing.assert_array_equal(offsets, expected.offsets)
    np.testing.assert_array_equal(indptr, expected.indptr)
    np.testing.assert_array_equal(indices, expected.indices)
    np.testing.assert_array_equal(labels, expected.label_codes)
    if edge_table is not None:
        np.testing.assert_array_equal(edges, expected.edge_label_codes)


def test_a_path_takes_two_bits_a_vertex():
    """The format as documented: gamma(n + 1), then gamma(2) gamma(1) for each further vertex."""
    n = 1000
    indptr = np.concatenate(([0], np.cumsum([1] + [2] * (n - 2) + [1])))
    indices = np.concatenate([[1], *[[v - 1, v + 1] for v in range(1, n - 1)], [n - 2]]).astype(
        np.int32
    )
    zeros = np.zeros(n, dtype=np.int32)
    stream, _ = pack_graphs(np.array([0, n]), indptr, indices, zeros, zeros[:0], 0, 0)
    bits = (2 * 9 + 1) + 1 + (n - 1) * (3 + 1)
    assert len(stream) == -(-bits // 8)


FEATURES = st.dictionaries(st.integers(0, 40), st.integers(1, 400), max_size=12)


@given(
    st.lists(FEATURES, min_size=1, max_size=400),
    FEATURES,
    st.integers(0, 2),
    st.booleans(),
    st.sets(st.integers(0, 40), max_size=5),
    st.integers(3, MOST_BITS),
)
@settings(max_examples=100, deadline=None)
def test_bounds_are_never_too_small(graphs, query, kind, weighted, common, bits):
    """Features that collide, long gaps, many values: a bound is at least the similarity."""
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 2**64, 41, dtype=np.uint64)
    hashes[20:] = hashes[:21] + np.uint64(1)  # same buckets
    if not weighted:
        graphs = [dict.fromkeys(graph, 1) for graph in graphs]
        query = dict.fromkeys(query, 1)
    else:
        common = set()
    pointers = np.concatenate(([0], np.cumsum([len(graph) for graph in graphs])))
    keys = np.array([hashes[f] for graph in graphs for f in graph], dtype=np.uint64)
    values = np.array([v for graph in graphs for v in graph.values()], dtype=np.float64)
    chosen = np.sort(hashes[list(common)]) if common else np.empty(0, dtype=np.uint64)
    rows, lengths, buckets, sums = sketch(pointers, keys, values, chosen, weighted)
    if bits < MOST_BITS:
        lengths, buckets, sums = coarser(lengths, buckets, sums, bits)
    table = np.unique(sums)[-256:]
    codes = np.minimum(np.searchsorted(table, sums), 255).astype(np.uint8)
    starts, gaps = make_lists(lengths, buckets, codes, bits)
    lists = Lists(chosen, rows, np.uint64(64 - bits), starts.astype(np.uint32), gaps, table)

    product = kind == 0 and weighted
    total = (lambda g: sum(v * v for v in g.values())) if kind == 0 else lambda g: sum(g.values())
    measures = np.array([total(graph) for graph in graphs], dtype=np.float32)
    sizes = np.sqrt(measures) if kind == 0 else measures
    order = sorted(query, key=lambda f: hashes[f])
    own = Query(
        np.array([hashes[f] for f in order], dtype=np.uint64),
        np.array([query[f] for f in order], dtype=np.float64),
        kind,
        product,
        float(total(query)),
        float(np.sqrt(total(query)) if kind == 0 else total(query)),
    )
    best = Best(np.empty(0), np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64))
    found = np.empty((len(graphs), 2))
    scratch = np.empty(len(graphs), dtype=np.float32)
    nothing = np.empty(0, dtype=np.int64)
    count = scan(
        own, lists, count_bits(rows), measures, sizes, nothing, 0, 0.0, False, best, scratch, found
    )
    bounds = dict(found[:count].tolist())
    for number, graph in enumerate(graphs):
        shared = [(query[f], graph[f]) for f in query if f in graph]
        overlap = sum(a * b if product else min(a, b) for a, b in shared)
        if not overlap:
            continue
        below = total(query) * total(graph)
        if kind == 0:
            similarity = overlap / np.sqrt(below)
        elif kind == 1:
            similarity = overlap / (total(query) + total(graph) - overlap)
        else:
            similarity = overlap / total(query)
        assert bounds[number] >= similarity * (1 - 1e-12)
