"""Result of an evaluation: scores by fold, a table with comparisons, and its verdict."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .statistics import corrected_t_test, holm, p_words

#: Measures by short name: scikit-learn's scorer, and its sign.
MEASURES = {
    "accuracy": ("accuracy", 1),
    "balanced_accuracy": ("balanced_accuracy", 1),
    "roc_auc": ("roc_auc", 1),
    "average_precision": ("average_precision", 1),
    "rmse": ("neg_root_mean_squared_error", -1),
    "mae": ("neg_mean_absolute_error", -1),
    "r2": ("r2", 1),
}


@dataclass(frozen=True)
class FoldScore:
    """Scores of one model on one test fold."""

    model: str
    repetition: int
    fold: int
    train: int
    test: int
    scores: dict[str, float]
    seconds: float
    chosen: str = ""


@dataclass(frozen=True)
class Standing:
    """One row of the table of an evaluation."""

    model: str
    mean: float
    std: float  # over the test folds; NaN if there is one
    #: First model minus this one on the same folds, and the corrected t-test of it, adjusted for
    #: the number of models (Holm). NaN for the first model and the baseline.
    difference: float = float("nan")
    p: float = float("nan")
    chosen: str = ""


@dataclass(frozen=True)
class Evaluation:
    """Result of :func:`graphgrain.evaluate`.

    Attributes
    ----------
    name : str
        Of the data set.
    graphs : int
    measures : list of str
        The first one is the measure of :attr:`table`, comparisons and verdict.
    folds : list of FoldScore
    baseline : str
        Name of the model that predicts the majority class or the mean.
    models : list of str
        Names of all models, the reference first and the baseline last.
    """

    name: str
    graphs: int
    measures: list[str]
    folds: list[FoldScore]
    baseline: str
    models: list[str]

    def values(self, model: str, measure: str | None = None) -> np.ndarray:
        """Return the score of a model on each test fold."""
        name = measure or self.measures[0]
        return np.array([fold.scores[name] for fold in self.folds if fold.model == model])

    def table(self, measure: str | None = None) -> list[Standing]:
        """Return one row for each model, in the given order; the baseline is last."""
        first = self.models[0]
        reference = self.values(first, measure)
        rivals = [name for name in self.models[1:] if name != self.baseline]
        lead = {name: reference - self.values(name, measure) for name in rivals}
        share = float(np.mean([fold.test / fold.train for fold in self.folds]))
        tests = [
            corrected_t_test(values, share) if np.isfinite(values).all() else float("nan")
            for values in lead.values()
        ]
        adjusted = dict(zip(rivals, holm(tests), strict=True))
        rows = []
        for name in self.models:
            values = self.values(name, measure)
            chosen = [fold.chosen for fold in self.folds if fold.model == name]
            rows.append(
                Standing(
                    model=name,
                    mean=float(np.mean(values)),
                    std=float(np.std(values)) if len(values) > 1 else float("nan"),
                    difference=float(np.mean(lead[name])) if name in lead else float("nan"),
                    p=adjusted.get(name, float("nan")),
                    chosen=max(set(chosen), key=chosen.count),
                )
            )
        return rows

    @property
    def verdict(self) -> str:
        """What the comparison shows, in a sentence."""
        first, *rest = self.table()
        sign = MEASURES.get(self.measures[0], ("", 1))[1]
        measure = self.measures[0].replace("_", " ")
        parts = [f"{first.model} has {article(measure)} of {first.mean:.3f}"]
        for row in rest:
            if row.model == self.baseline:
                parts.append(f"{self.baseline} has {row.mean:.3f}")
            elif row.difference == 0:
                parts.append(f"{row.model} has the same")
            else:
                ahead = "better" if sign * row.difference > 0 else "worse"
                if not np.isfinite(row.p):
                    sure = "not testable"
                else:
                    sure = ("" if row.p < 0.05 else "not significant, ") + p_words(row.p)
                size = f"{abs(row.difference):.3f} {ahead} than {row.model}"
                parts.append(f"it is {size} ({sure})")
        return "; ".join(parts) + "."

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; undefined values are None."""
        rows = [
            {key: None if value != value else value for key, value in asdict(row).items()}
            for row in self.table()
        ]
        folds = [asdict(fold) for fold in self.folds]
        for fold in folds:
            fold["scores"] = {k: None if v != v else v for k, v in fold["scores"].items()}
        return {
            "name": self.name,
            "graphs": self.graphs,
            "measure": self.measures[0],
            "models": rows,
            "verdict": self.verdict,
            "folds": folds,
        }

    def __str__(self) -> str:
        width = max(len(name) for name in self.models)
        lines = [f"{self.name}: {self.measures[0]} on {len(self.values(self.models[0]))} folds"]
        for row in self.table():
            std = "" if np.isnan(row.std) else f" ± {row.std:.3f}"
            p = "" if np.isnan(row.p) else f"  {row.difference:+.3f} ({p_words(row.p)})"
            lines.append(f"{row.model:{width}}  {row.mean:.3f}{std}{p}")
        return "\n".join([*lines, self.verdict])


def article(words: str) -> str:
    """Return words with their indefinite article."""
    spoken_with_vowel = words[0] in "aeiou" or words in ("f1", "r2", "rmse")
    return f"{'an' if spoken_with_vowel else 'a'} {words}"
