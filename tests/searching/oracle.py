"""Similarities in the slowest, most obvious way: dictionaries of counts, one pair at a time."""

from __future__ import annotations

import math

import numpy as np


def feature_table(kernel, batch):
    """For every graph a dictionary from (level, hash) to its count."""
    tables = [{} for _ in range(len(batch))]
    for level, counts in enumerate(kernel.count_features(batch)):
        place = 0
        for graph, length in enumerate(counts.lengths.tolist()):
            for entry in range(place, place + length):
                tables[graph][level, int(counts.hashes[entry])] = int(counts.counts[entry])
            place += length
    return tables


def mapped(table, how):
    if how == "intersection":
        return {(key, times): 1.0 for key, count in table.items() for times in range(count)}
    change = {
        "raw": float,
        "sqrt": math.sqrt,
        "log": math.log1p,
        "binary": lambda count: 1.0,
    }[how]
    return {key: change(count) for key, count in table.items()}


def similarity(a, b, name):
    if not a and not b and name != "dot":  # as in the kernel, graphs without features are equal
        return 1.0
    if name == "cosine":
        dot = sum(value * b[key] for key, value in a.items() if key in b)
        below = math.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
        return dot / below if below else 0.0
    if name == "dot":
        return sum(value * b[key] for key, value in a.items() if key in b)
    least = sum(min(value, b[key]) for key, value in a.items() if key in b)
    below = sum(a.values())
    if name == "minmax":
        below += sum(b.values()) - least
    return least / below if below else 0.0


def similarity_matrix(kernel, queries, graphs, name):
    if queries is graphs:  # both halves are the same
        tables = [mapped(table, kernel.counts) for table in feature_table(kernel, graphs)]
        values = np.zeros((len(tables), len(tables)))
        for row, a in enumerate(tables):
            values[row, row:] = [similarity(a, b, name) for b in tables[row:]]
        return np.maximum(values, values.T)
    left = [mapped(table, kernel.counts) for table in feature_table(kernel, queries)]
    right = [mapped(table, kernel.counts) for table in feature_table(kernel, graphs)]
    return np.array([[similarity(a, b, name) for b in right] for a in left])


def best(values, k):
    """The k best of each row; equal ones in order."""
    return np.argsort(-values, axis=1, kind="stable")[:, :k]
