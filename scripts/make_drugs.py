"""Generate the bundled data set, drugs.zip and drugs_layout.npz, from drugs.csv.

Requires RDKit (``pip install graphgrain[chem]``). Run it after every change to drugs.csv, which has
the columns name, family and SMILES:

    python scripts/make_drugs.py

The zip contains the graphs in TU format, with atom symbols, bond types and families as labels, so
that loading does not need RDKit. The output is deterministic. drugs_layout.npz contains
coordinates, so that drawing the drugs does not need RDKit either.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import graphgrain as gg
from graphgrain.graphs.drawing.layout import place, skeleton_key

DATA = Path(__file__).parent.parent / "src" / "graphgrain" / "graphs" / "datasets" / "data"


def make_drugs(table: Path, target: Path) -> None:
    """Write the graphs and families of a table of drugs."""
    graphs, columns = gg.load_molecules(table)
    gg.save_tu(target, graphs, columns["family"], overwrite=True)
    print(f"{target.name}: {graphs}, {len(set(columns['family']))} families")
    make_layout(graphs, target.with_name(f"{target.stem}_layout.npz"))


def make_layout(graphs: gg.GraphBatch, target: Path) -> None:
    """Write the coordinates of molecules, in hundredths of a bond length."""
    points = [place(graph).points for graph in graphs]
    hundredths = np.concatenate([np.round(100 * (own - own.mean(axis=0))) for own in points])
    np.savez_compressed(
        target,
        keys=np.array([skeleton_key(graph) for graph in graphs]),
        sizes=graphs.vertex_counts.astype(np.int16),
        hundredths=hundredths.astype(np.int16),
    )
    print(f"{target.name}: {target.stat().st_size:,} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description="Generate the bundled data set of drugs.")
    parser.add_argument("--table", type=Path, default=DATA / "drugs.csv")
    parser.add_argument("--target", type=Path, default=DATA / "drugs.zip")
    arguments = parser.parse_args()
    make_drugs(arguments.table, arguments.target)


if __name__ == "__main__":
    main()
