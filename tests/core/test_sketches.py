"""Graphs as bits come back; sketches never promise less than there is."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgrain.core.graph_bits import pack_graphs, unpack_graphs
from graphgrain.core.similarity import CONTAINMENT, COSINE, DOT, MINMAX
from graphgrain.core.sketches import (
    MOST_BITS,
    Best,
    Lists,
    Query,
    coarser,
    count_bits,
    lists_fit,
    make_lists,
    scan,
    sketch,
)

from ..graphs.graph_strategies import batches


def width(table):
    return max(0, len(table) - 1).bit_length()


@given(batches(attributes=False), st.data())
@settings(max_examples=60)
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
    tables = len(batch.label_table), 0 if edge_table is None else len(edge_table)
    offsets, indptr, indices, labels, edges, wrong = unpack_graphs(
        stream, starts, rows, bits, tables[0], edge_bits, tables[1]
    )
    assert wrong == -1
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
    st.sampled_from([COSINE, MINMAX, DOT, CONTAINMENT]),
    st.booleans(),
    st.sets(st.integers(0, 40), max_size=5),
    st.integers(3, MOST_BITS),
)
@settings(max_examples=100)
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

    product = kind in (COSINE, DOT) and weighted
    power = 2 if kind == COSINE else 1

    def total(graph):
        return sum(value**power for value in graph.values())

    measures = np.array([total(graph) for graph in graphs], dtype=np.float32)
    sizes = np.sqrt(measures) if kind == COSINE else measures
    order = sorted(query, key=lambda f: hashes[f])
    own = Query(
        np.array([hashes[f] for f in order], dtype=np.uint64),
        np.array([query[f] for f in order], dtype=np.float64),
        kind,
        product,
        float(total(query)),
        float(np.sqrt(total(query)) if kind == COSINE else total(query)),
    )
    size = len(graphs)
    best = Best(np.empty(size), np.empty(size, dtype=np.int64), np.zeros(1, dtype=np.int64))
    nothing, scratch = np.empty(0, dtype=np.int64), np.empty(size, dtype=np.float32)
    scan(own, lists, count_bits(rows), measures, sizes, nothing, 0, 0.0, best, scratch)
    filled = slice(best.filled[0])
    bounds = dict(zip(best.positions[filled].tolist(), best.bounds[filled].tolist(), strict=True))
    for number, graph in enumerate(graphs):
        shared = [(query[f], graph[f]) for f in query if f in graph]
        overlap = sum(a * b if product else min(a, b) for a, b in shared)
        if not overlap:
            continue
        below = total(query) * total(graph)
        if kind == COSINE:
            similarity = overlap / np.sqrt(below)
        elif kind == MINMAX:
            similarity = overlap / (total(query) + total(graph) - overlap)
        elif kind == DOT:
            similarity = overlap
        else:
            similarity = overlap / total(query)
        assert bounds[number] >= similarity * (1 - 1e-12)


@given(batches(attributes=False), st.data())
@settings(max_examples=60)
def test_damaged_bits_are_never_followed(batch, data):
    """Whatever the bytes are, graphs within range come back, or the number of one that is wrong."""
    edge_table = batch.edge_label_table
    edge_bits = 0 if edge_table is None else max(1, width(edge_table))
    codes = np.empty(0, dtype=np.int32) if edge_table is None else batch.edge_label_codes
    bits = width(batch.label_table)
    stream, starts = pack_graphs(
        batch.offsets, batch.indptr, batch.indices, batch.label_codes, codes, bits, edge_bits
    )
    if not len(stream):
        return
    for _ in range(5):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        starts[data.draw(st.integers(0, len(starts) - 1))] = data.draw(st.integers(0, 2**32 - 1))
    tables = len(batch.label_table), 0 if edge_table is None else len(edge_table)
    for graph in range(len(batch)):
        offsets, indptr, indices, labels, edges, wrong = unpack_graphs(
            stream, starts, np.array([graph]), bits, tables[0], edge_bits, tables[1]
        )
        if wrong >= 0:
            assert wrong == graph
            continue
        n = int(offsets[-1])
        assert ((labels >= 0) & (labels < tables[0])).all()
        assert ((edges >= 0) & (edges < max(1, tables[1]))).all()
        rows = np.repeat(np.arange(n), np.diff(indptr))
        pairs = set(zip(rows.tolist(), indices.tolist(), strict=True))
        assert len(pairs) == len(indices)  # simple, symmetric, without loops, inside the graph
        assert all(0 <= b < n and a != b and (b, a) in pairs for a, b in pairs)


def test_lists_that_do_not_fit():
    starts = np.array([0, 2, 2, 4, 6], dtype=np.uint32)
    gaps = np.array([0, 1, 255, 3, 2, 4], dtype=np.uint8)
    assert lists_fit(starts, gaps, 0, 259)
    assert not lists_fit(starts, gaps, 0, 258)
    for wrong in (
        [1, 2, 2, 4, 6],
        [0, 2, 2, 4, 5],
        [0, 5, 2, 4, 6],
        [0, 2, 2, 3, 6],
        [0, 9, 2, 4, 6],
    ):
        assert not lists_fit(np.array(wrong, dtype=np.uint32), gaps, 0, 300)
    # With codes: graph and code in turn.
    pairs = np.array([0, 1, 2, 0], dtype=np.uint8)
    two = np.array([0, 2, 4], dtype=np.uint32)
    assert lists_fit(two, pairs, 2, 3)
    assert not lists_fit(two, pairs, 1, 3)
    assert not lists_fit(two, pairs, 2, 2)
    assert not lists_fit(np.array([0, 1, 4], dtype=np.uint32), pairs, 2, 300)
