"""The two graphs of the paper's Figure 2."""

import matplotlib.pyplot as plt
from drawings import FIGURE_2, draw_graph

figure, axes = plt.subplots(1, 2, figsize=(8, 3.2))
for axis, name in zip(axes, FIGURE_2, strict=True):
    draw_graph(axis, *FIGURE_2[name], title=name)
