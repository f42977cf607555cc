"""A path whose elements grow from vertices to trees."""

import matplotlib.pyplot as plt
from drawings import FIGURE_2, draw_graph, draw_path, draw_reach

edges, labels, place = FIGURE_2["G1"]
figure, axes = plt.subplots(1, 3, figsize=(11, 3))
for axis, depth in zip(axes, (0, 1, 2), strict=True):
    draw_graph(axis, edges, labels, place, title=f"the path 2 - 3, trees of depth {depth}")
    draw_reach(axis, [5, 2], depth, edges, place)
    draw_path(axis, [5, 2], place)
