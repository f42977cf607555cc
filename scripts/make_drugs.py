"""Generate the bundled data set, drugs.zip, from drugs.csv.

Requires RDKit (``pip install graphgrain[chem]``). Run it after every change to drugs.csv, which has
the columns name, family and SMILES:

    python scripts/make_drugs.py

The zip contains the graphs in TU format, with atom symbols, bond types and families as labels, so
that loading does not need RDKit. The output is deterministic.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import graphgrain as gg

DATA = Path(__file__).parent.parent / "src" / "graphgrain" / "graphs" / "datasets" / "data"


def make_drugs(table: Path, target: Path) -> None:
    """Write the graphs and families of a table of drugs."""
    graphs, columns = gg.load_molecules(table)
    gg.save_tu(target, graphs, columns["family"], overwrite=True)
    print(f"{target.name}: {graphs}, {len(set(columns['family']))} families")


def main() -> None:
    parser = argparse.ArgumentParser(description="Generate the bundled data set of drugs.")
    parser.add_argument("--table", type=Path, default=DATA / "drugs.csv")
    parser.add_argument("--target", type=Path, default=DATA / "drugs.zip")
    arguments = parser.parse_args()
    make_drugs(arguments.table, arguments.target)


if __name__ == "__main__":
    main()
