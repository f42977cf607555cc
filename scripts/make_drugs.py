"""Make the bundled data set, drugs.zip and drugs_layout.npz, from drugs.csv (name, family, SMILES).

Needs RDKit (``pip install graphgrain[chem]``). Run it after every change to drugs.csv:

    python scripts/make_drugs.py

The zip holds the graphs in TU format, with atom symbols, bond types and families as labels, so
that loading needs no RDKit. The same table always gives the same graphs. drugs_layout.npz holds
coordinates, so that drugs are drawn as molecules without RDKit too.
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
    """Write coordinates for each of some molecules, in hundredths of a bond."""
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
    parser = argparse.ArgumentParser(description="Make the bundled data set of drugs.")
    parser.add_argument("--table", type=Path, default=DATA / "drugs.csv")
    parser.add_argument("--target", type=Path, default=DATA / "drugs.zip")
    arguments = parser.parse_args()
    make_drugs(arguments.table, arguments.target)


if __name__ == "__main__":
    main()
