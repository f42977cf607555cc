"""
Two versions of a program
=========================

Similar pairs are useful beyond molecules. Here the functions of two versions of a small program are
represented by their syntax trees, with vertices labelled by node type. Which functions correspond,
and what changed in them?
"""

# %%
# Two versions
# ------------
import ast

import matplotlib.pyplot as plt

import graphgrain as gg

BEFORE = """
def mean(xs):
    total = 0
    for x in xs:
        total += x
    return total / len(xs)

def largest(xs):
    best = xs[0]
    for x in xs:
        if x > best:
            best = x
    return best

def clean(text):
    return text.strip().lower()
"""
AFTER = """
def maximum(values):
    best = values[0]
    for value in values:
        if value >= best:
            best = value
    return best

def average(values):
    total = 0
    for value in values:
        total += value
    return total // len(values)

def tidy(line):
    return line.strip().upper().lower()
"""


def functions(source):
    """Return the syntax tree of each function by name, as edges and labels."""
    found = {}
    for function in ast.parse(source).body:
        labels, edges = [], []

        def visit(node, parent, labels=labels, edges=edges):
            number = len(labels)
            labels.append(type(node).__name__)
            if parent is not None:
                edges.append((parent, number))
            for child in ast.iter_child_nodes(node):
                visit(child, number)

        visit(function, None)
        found[function.name] = (edges, labels)
    return found


before, after = functions(BEFORE), functions(AFTER)
names = [f"{name} (before)" for name in before] + [f"{name} (after)" for name in after]
graphs = gg.as_graphs([*before.values(), *after.values()])

# %%
# Corresponding functions
# -----------------------
# The most similar pair of each function.
kernel = gg.TreePlusPlus(3, 1, counts="binary", similarity="minmax")
found = gg.pairs(graphs, min_similarity=0.3, kernel=kernel, max_per_graph=1)
for a, b, similarity in zip(*found):
    print(f"{similarity:.2f}  {names[a]:<18} {names[b]}")

# %%
# What changed
# ------------
# The patterns that only one of both versions has: a different comparison, an integer division, an
# additional call.
for a, b, _ in zip(*found):
    pair = gg.compare(kernel, graphs[[a]], graphs[[b]])
    old, new = ([pattern.name for pattern in pair.only(which, 2)] for which in (0, 1))
    print(f"{names[a]} -> {names[b]}: {old} -> {new}")

# %%
# All similarities: each row has one clearly most similar partner.
K = kernel.fit_transform(graphs)
fig, axes = plt.subplots(figsize=(5.2, 4.4))
image = axes.imshow(K, vmin=0, vmax=1, cmap="Blues")
axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
axes.set_yticks(range(len(names)), names)
fig.colorbar(image, label="similarity (min-max)")
fig.tight_layout()
plt.show()
