"""Path patterns of three lengths."""

import matplotlib.pyplot as plt
from drawings import FIGURE_2, draw_graph, draw_path

figure, axes = plt.subplots(1, 3, figsize=(11, 3))
edges, labels, place = FIGURE_2["G1"]
for axis, path, text in zip(
    axes,
    [[4], [0, 4], [0, 4, 3]],
    ["length 0: (4)", "length 1: (1, 4)", "length 2: (1, 4, 3)"],
    strict=True,
):
    draw_graph(axis, edges, labels, place, title=text)
    draw_path(axis, path, place)
