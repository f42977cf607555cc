"""The picture of the README: the atoms behind a prediction.

    python scripts/picture_explanation.py

The three lines in the middle are those of the README.
"""

from __future__ import annotations

from pathlib import Path

import graphgrain as gg

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "explanation.svg"


def main() -> None:
    graphs, family, names = gg.load_drugs(names=True)
    model = gg.GraphClassifier().fit(graphs, family)
    [why] = gg.explain(model, graphs[names == "diazepam"], target="predicted")
    why.to_svg(PICTURE)
    print(why)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
