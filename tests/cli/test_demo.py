"""The command demo."""

from __future__ import annotations

import json
from functools import partial

from graphgrain.evaluation.exploration import explore

from .running import call


def test_demo(here, monkeypatch, quick_model):
    monkeypatch.setattr("graphgrain.evaluation.exploration.explore", partial(explore, most=24))
    shown = json.loads(call("demo", "--json").stdout)
    assert shown["drug"] == "morphine"
    assert [near["family"] for near in shown["neighbours"]][:3] == ["opioids"] * 3
    # The double bond and the ketone set them apart: with edge labels they are not the same.
    assert all(near["similarity"] < 0.95 for near in shown["neighbours"])
    assert shown["accuracy"]["Tree++"] > 0.9 > shown["accuracy"]["atoms only"]
    drawn = (here / "graphgrain-demo" / "neighbours.html").read_text()
    assert drawn.count(" molecule of ") == 6  # morphine once, five others
    assert "codeine is most similar to morphine" in drawn
    pages = ("neighbours", "evaluation", "explore")
    for name in ("neighbours", "explore"):
        page = (here / "graphgrain-demo" / f"{name}.html").read_text()
        assert all(f'href="{other}.html"' in page for other in pages)
    compared = (here / "graphgrain-demo" / "evaluation.html").read_text()
    assert "Tree++ has an accuracy of" in compared
    assert (here / "graphgrain-demo" / "folds.csv").read_text().count("Tree++") == 10
