"""Make the bundled data set: drugs.csv (name, family, SMILES, formula) to drugs.zip.

Needs RDKit (``pip install graphgrain[chem]``). Run it after every change to drugs.csv:

    python scripts/make_drugs.py

The zip holds the graphs in TU format, with atom symbols, bond types and families as labels, so
that loading needs no RDKit. The same table always gives the same graphs.
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
    parser = argparse.ArgumentParser(description="Make the bundled data set of drugs.")
    parser.add_argument("--table", type=Path, default=DATA / "drugs.csv")
    parser.add_argument("--target", type=Path, default=DATA / "drugs.zip")
    arguments = parser.parse_args()
    make_drugs(arguments.table, arguments.target)


if __name__ == "__main__":
    main()
