"""
Programs as graphs
==================

A function can be represented as a graph: its syntax tree, with additional edges from each name to
its last assignment. Here small Python functions are compared by structure, not by identifiers.
"""

# %%
# From source code to graphs
# --------------------------
# Vertices are syntax nodes, labelled by their type; variable names are ignored.
import ast

import matplotlib.pyplot as plt
import numpy as np

import graphgrain as gg

LOOPS = [
    "def total(xs):\n    s = 0\n    for x in xs:\n        s += x\n    return s",
    "def product(values):\n    p = 1\n    for v in values:\n        p *= v\n    return p",
    "def count(items):\n    n = 0\n    for i in items:\n        n += 1\n    return n",
    "def largest(xs):\n    m = xs[0]\n    for x in xs:\n        m = max(x, m)\n    return m",
]
RECURSIONS = [
    "def factorial(n):\n    if n == 0:\n        return 1\n    return n * factorial(n - 1)",
    "def fib(n):\n    if n < 2:\n        return n\n    return fib(n - 1) + fib(n - 2)",
    "def power(b, e):\n    if e == 0:\n        return 1\n    return b * power(b, e - 1)",
]
COMPREHENSIONS = [
    "def squares(xs):\n    return [x * x for x in xs]",
    "def evens(xs):\n    return [x for x in xs if x % 2 == 0]",
    "def lengths(words):\n    return [len(w) for w in words]",
]
SOURCES = LOOPS + RECURSIONS + COMPREHENSIONS
KINDS = ["loop"] * 4 + ["recursion"] * 3 + ["comprehension"] * 3


def syntax_graph(source):
    """Return edges and labels of a function's syntax tree with its data flow."""
    nodes, edges, assigned = [], [], {}

    def visit(node, parent):
        number = len(nodes)
        nodes.append(type(node).__name__)
        if parent is not None:
            edges.append((parent, number))
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                assigned[node.id] = number
            elif node.id in assigned:
                edges.append((assigned[node.id], number))
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr_context):
                visit(child, number)

    visit(ast.parse(source).body[0], None)
    return edges, nodes


graphs = gg.as_graphs([syntax_graph(source) for source in SOURCES])
print(graphs)

# %%
# Similarities
# ------------
K = gg.TreePlusPlus(path_depth=4, tree_depth=2, counts="sqrt").fit_transform(graphs)
names = [source.split("(")[0].removeprefix("def ") for source in SOURCES]
figure, axis = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
image = axis.imshow(K, cmap="magma", vmin=0, vmax=1)
axis.set_xticks(range(len(names)), names, rotation=60, ha="right")
axis.set_yticks(range(len(names)), names)
figure.colorbar(image, label="similarity")
axis.set_title("Similarity of functions")
plt.show()

# %%
# The nearest neighbour of each function is of the same kind:
np.fill_diagonal(K, 0)
for number, nearest in enumerate(K.argmax(axis=1)):
    print(f"{names[number]:10} {KINDS[number]:14} nearest: {names[nearest]} ({KINDS[nearest]})")
