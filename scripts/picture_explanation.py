"""Draw the picture of the README and the site: an explained prediction.

    python scripts/picture_explanation.py

The model and the explanation are those of the README.
"""

from __future__ import annotations

from pathlib import Path

import graphgrain as gg

DARK = Path(__file__).parents[1] / "docs" / "images" / "explanation-dark.svg"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "explanation.svg"


def main() -> None:
    graphs, family, names = gg.load_drugs(names=True)
    new = names == "benzylpenicillin"
    model = gg.GraphClassifier().fit(graphs[~new], family[~new])
    [why] = gg.explain(model, graphs[new])
    for path, theme in ((PICTURE, "light"), (DARK, "dark")):
        why.to_svg(path, fragments=3, theme=theme, width=460, height=300)
    for fragment in why.fragments():
        print(f"{fragment.contribution:+.2f} {fragment.name}")
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
