"""Random batches of small graphs with everything that a batch can hold."""

from __future__ import annotations

from hypothesis import strategies as st

from graphgrain import GraphBatch

INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)
STRINGS = st.text(alphabet='abC\n\r\t ,;"\\é€\U0001f600\ud800', max_size=3)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def _column(draw, count, kinds):
    """A list of labels of one kind, or None."""
    kind = draw(st.sampled_from(kinds))
    if kind is None:
        return None
    items = INTEGERS if kind is int else STRINGS
    return draw(st.lists(items, min_size=count, max_size=count))


def _table(draw, count, allowed):
    """Rows of numbers, or None."""
    width = draw(st.integers(0, 2)) if allowed else 0
    if not width or not count:
        return None
    row = st.lists(FLOATS, min_size=width, max_size=width)
    return draw(st.lists(row, min_size=count, max_size=count))


@st.composite
def batches(draw, label_kinds=(None, int, str), attributes=True, min_graphs=0):
    """A GraphBatch of up to four graphs, empty and edgeless ones among them."""
    sizes = draw(st.lists(st.integers(0, 6), min_size=min_graphs, max_size=4))
    edges, base = [], 0
    for size in sizes:
        pairs = [(base + u, base + v) for u in range(size) for v in range(u)]
        edges += [pair for pair in pairs if draw(st.booleans())]
        base += size
    return GraphBatch.from_edges(
        sizes,
        edges,
        _column(draw, base, label_kinds) if base else None,
        edge_labels=_column(draw, len(edges), label_kinds) if edges else None,
        vertex_attributes=_table(draw, base, attributes),
        edge_attributes=_table(draw, len(edges), attributes),
    )
