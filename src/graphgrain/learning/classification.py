"""SelfTunedClassifier: support vector machines on kernels that training graphs choose."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from ..errors import InvalidParameterError
from ..parameters import OneOf, Rule
from .calibration import fit_sigmoids, probabilities
from .candidates import alternatives
from .linear import GroupedFeatures, train_svm
from .pattern_weights import PatternWeights
from .scoring import AUTO, OF_CLASSES, for_classes
from .splits import even_sample, stratified_folds, stratified_sample, train_and_test
from .svm import ClassPairs, KernelSvm, classes_of
from .targets import check_classes, check_folds, check_two_classes
from .tuning import MOST_FOR_KERNEL, POSITIVE, SelfTuned

#: With many graphs, so many judge the candidates.
SAMPLE = 3000


class ClassWeightRule:
    """None, "balanced", or a weight for each class."""

    def allows(self, value: Any) -> bool:
        return (
            value is None
            or (isinstance(value, str) and value == "balanced")
            or isinstance(value, dict)
        )

    def __str__(self) -> str:
        return "None, 'balanced' or a dictionary with the weight of each class"


class SelfTunedClassifier(ClassifierMixin, SelfTuned):
    """Base class of the classifiers that choose for themselves."""

    parameter_rules: ClassVar[dict[str, Rule]] = {
        **SelfTuned.parameter_rules,
        "C": POSITIVE,
        "scoring": OneOf((AUTO, *OF_CLASSES)),
        "class_weight": ClassWeightRule(),
    }
    _tuned = "C"

    C: Any
    scoring: str
    class_weight: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose kernels and parameters, and train.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
        y : array-like of integers or strings
            The class of each graph.
        sample_weight : array-like, optional
            What C is multiplied by for each graph; graphs of weight 0 are left out.
        """
        batch = self._checked_graphs(X)
        self.classes_, codes = check_classes(y, len(batch), members=1)
        weights = self._checked_weights(sample_weight, len(batch)) * self._class_weights(codes)
        if (weights == 0).any():
            kept = np.flatnonzero(weights)
            batch, codes, weights = batch[kept], codes[kept], weights[kept]
            check_two_classes(self.classes_[np.unique(codes)], len(kept))
            check_folds(self.cv, len(kept))
        rng = np.random.default_rng(self.random_state)
        self.scoring_ = for_classes(self.scoring, codes)
        sample, stand_for = np.arange(len(batch)), np.ones(len(batch))
        if self.solver != "kernel" and len(batch) > MOST_FOR_KERNEL:
            sample, stand_for = self._sample(codes, rng)
        folds = stratified_folds(codes[sample], self.cv, rng)
        splits = [train_and_test(folds, fold) for fold in range(self.cv)]
        learner = KernelSvm(sorted(alternatives(self.C)), len(self.classes_))
        self._pairs = ClassPairs(tuple(np.unique(codes).tolist()), len(self.classes_))
        search = self._tune(
            batch,
            codes,
            weights,
            (sample, weights[sample] * stand_for),
            splits,
            learner,
            OF_CLASSES[self.scoring_],
        )
        held_out = np.mean([search.held_out[one] for one in search.members], axis=0)
        self._sigmoids = fit_sigmoids(codes[sample], held_out, len(self.classes_), stand_for)
        return self

    def _sample(self, codes: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The graphs that judge the candidates, and how many each stands for.

        A measure that does not depend on how large the classes are is known best from a sample
        with as many graphs of the rare class as there are. Standing for many, each of the others
        weighs more, so that a C means the same there as for all graphs.
        """
        pairs = len(self.classes_) == 2 and self.scoring_ == "roc_auc"
        if pairs or self.scoring_ == "balanced_accuracy":
            return even_sample(codes, SAMPLE, rng)
        sample = stratified_sample(codes, SAMPLE, rng)
        return sample, np.ones(len(sample))

    def _class_weights(self, codes: np.ndarray) -> np.ndarray:
        counts = np.bincount(codes, minlength=len(self.classes_))
        if self.class_weight is None:
            return np.ones(len(codes))
        if isinstance(self.class_weight, dict):
            known = {str(name): weight for name, weight in self.class_weight.items()}
            missing = [name for name in self.classes_.tolist() if str(name) not in known]
            if missing:
                raise InvalidParameterError(
                    f"class_weight must have a weight for every class; {missing[0]!r} has none."
                )
            factors = np.array([known[str(name)] for name in self.classes_.tolist()], dtype=float)
            if not (np.isfinite(factors) & (factors > 0)).all():
                raise InvalidParameterError(
                    f"Weights of classes must be finite numbers above 0; got {factors.tolist()}."
                )
            return factors[codes]
        return (len(codes) / (len(counts) * counts))[codes]

    def _train_on_features(
        self, features: GroupedFeatures, targets: np.ndarray, value: float, weights: np.ndarray
    ) -> PatternWeights:
        return train_svm(features, targets, self._pairs, value, weights)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each graph."""
        return self.classes_[classes_of(self.decision_function(X))]

    def decision_function(self, X: Any) -> np.ndarray:
        """How strongly each graph belongs to each class.

        Returns
        -------
        array of shape (graphs,) for two classes, where positive means ``classes_[1]``, else
        (graphs, classes)
        """
        return np.mean([self._pairs.answers(values) for values in self._outputs(X)], axis=0)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class.

        Sigmoids of the decision values, fitted to graphs that were held out in the inner
        cross-validation. Where these do not cross one half at a decision value of zero, the
        likelier class may differ from :meth:`predict`.

        Returns
        -------
        array of shape (graphs, classes)
        """
        return probabilities(self._sigmoids, self.decision_function(X))
