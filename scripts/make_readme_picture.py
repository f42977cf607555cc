"""Draw the README's picture: the bundled drugs as Tree++ sees them. Needs the extra ``plot``.

Left: the kernel matrix, drugs sorted by family. Right: the drugs in the plane, by kernel PCA.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np

import graphgrain as gg

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image
from sklearn.decomposition import KernelPCA


def main(path: Path) -> None:
    """Write the picture to ``path``."""
    graphs, families = gg.load_drugs()
    order = np.argsort(families, kind="stable")
    families = families[order]
    K = gg.TreePlusPlus(edge_labels=True, counts="sqrt", n_jobs=-1).fit_transform(graphs[order])
    names, starts = np.unique(families, return_index=True)
    colours = plt.get_cmap("tab20")(np.arange(len(names)) / 20 + 0.001)

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.9), dpi=110, layout="constrained")
    left.imshow(np.sqrt(K), cmap="magma", interpolation="nearest")
    middles = (starts + np.append(starts[1:], len(K))) / 2
    left.set_yticks(middles, names, fontsize=9)
    left.set_xticks([])
    left.set_title(f"{len(K)} drugs compared by Tree++", fontsize=11)
    left.tick_params(length=0)
    for spine in left.spines.values():
        spine.set_visible(False)

    points = KernelPCA(2, kernel="precomputed").fit_transform(K)
    for name, colour in zip(names, colours, strict=True):
        chosen = families == name
        right.scatter(*points[chosen].T, s=22, color=colour, label=name, linewidths=0)
    right.set_title("and the same drugs in the plane (kernel PCA)", fontsize=11)
    right.set_xticks([])
    right.set_yticks([])
    right.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    for spine in right.spines.values():
        spine.set_visible(False)
    figure.savefig(path, facecolor="white")
    with Image.open(path) as picture:  # 256 colours are plenty and a third of the bytes
        picture.convert("RGB").quantize(256).save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images/drugs.png"))
