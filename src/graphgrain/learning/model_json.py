"""Fitted values as JSON and arrays, and back; unknown objects are refused, nothing is executed."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..errors import InvalidParameterError
from ..kernels.bases.graph_kernel import GraphKernel
from ..kernels.grid import KernelGrid, Setting
from ..kernels.registry import KERNELS
from ..views import AttributeBins, AttributeScaler, EdgeFilter, EdgeLengths
from ..views.base import View
from .pattern_weights import PatternLevel, Patterns, PatternWeights
from .svm import ClassPairs

#: Views by the name of their class.
VIEWS: dict[str, type[View]] = {
    view.__name__: view for view in (AttributeBins, AttributeScaler, EdgeFilter, EdgeLengths)
}


class Encoder:
    """Turns values into JSON; arrays and shared patterns are set aside.

    Attributes
    ----------
    arrays : dict
    patterns : list
        What weights of several members share, each once.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.patterns: list[Any] = []
        self._numbers: dict[int, int] = {}

    def encode(self, value: Any) -> Any:
        """A value as JSON: plain values as they are, all others with a tag."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.generic):
            return self.encode(value.item())
        if isinstance(value, list | range):
            return [self.encode(item) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [self.encode(item) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[self.encode(k), self.encode(v)] for k, v in value.items()]}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, ClassPairs):
            return {"classes": [list(value.known), value.n_classes]}
        if isinstance(value, PatternWeights):
            learnt = value.level_weights
            return {
                "weights": {
                    "patterns": self._shared(value.patterns),
                    "counts": value.counts,
                    "normalize": value.normalize,
                    "weights": [self._array(weights) for weights in value.weights],
                    "intercept": self._array(value.intercept),
                    "without_patterns": self._array(value.without_patterns),
                    **({} if learnt is None else {"level_weights": self._array(learnt)}),
                }
            }
        if isinstance(value, GraphKernel):
            return {"estimator": self._kernel(value)}
        if isinstance(value, KernelGrid):
            return {"grid": self._grid(value)}
        return self._view(value)

    def _array(self, value: np.ndarray) -> dict[str, Any]:
        if value.dtype == object:
            return {"objects": self.encode(value.tolist())}
        name = f"array{len(self.arrays)}"
        self.arrays[name] = value
        return {"array": name}

    def _shared(self, patterns: Patterns) -> int:
        if id(patterns) not in self._numbers:
            self._numbers[id(patterns)] = len(self.patterns)
            self.patterns.append(
                {
                    "view": self.encode(patterns.view),
                    **self._kernel(patterns.kernel),
                    "label_kind": patterns.label_kind,
                    "levels": [[self._array(part) for part in lvl] for lvl in patterns.levels],
                }
            )
        return self._numbers[id(patterns)]

    def _kernel(self, kernel: GraphKernel) -> dict[str, Any]:
        """A kernel by its name and its parameters."""
        return {
            "kernel": _registered(type(kernel)),
            "parameters": self.encode(kernel.get_params(deep=False)),
        }

    def _grid(self, grid: KernelGrid) -> dict[str, Any]:
        own = {"name": grid.name, "kernel": _registered(grid.kernel), "title": grid.title}
        settings = [[self.encode(dict(s.parameters)), self.encode(s.view)] for s in grid.settings]
        rest = {"level_parameter": grid.level_parameter, "variant": grid.variant}
        return {**own, **rest, "settings": settings}

    def _view(self, view: Any) -> dict[str, Any]:
        if type(view) is Pipeline:
            return {"pipeline": [[name, self.encode(step)] for name, step in view.steps]}
        if VIEWS.get(type(view).__name__) is not type(view):
            raise InvalidParameterError(
                "A model file holds numbers, texts and the views of graphgrain "
                f"({', '.join(sorted(VIEWS))}, and pipelines of them); got a "
                f"{type(view).__name__}. Use pickle for models with other views."
            )
        parameters = view.get_params(deep=False)
        fitted = {name: value for name, value in vars(view).items() if name not in parameters}
        content = [self.encode(parameters), self.encode(fitted)]
        return {"view": type(view).__name__, "content": content}


def _registered(kind: type[GraphKernel]) -> str:
    """The name of a kernel of graphgrain; a model file holds no others."""
    for name, grid in KERNELS.items():
        if grid.kernel is kind:
            return name
    raise InvalidParameterError(
        f"A model file holds kernels of graphgrain ({', '.join(KERNELS)}); got a {kind.__name__}. "
        "Use pickle for models with other kernels."
    )


class Decoder:
    """The way back.

    Parameters
    ----------
    arrays : dict
    patterns : list
        As the encoder left them.
    """

    def __init__(self, arrays: dict[str, np.ndarray], patterns: list[Any]) -> None:
        self.arrays = arrays
        self.patterns = [self._patterns(content) for content in patterns]

    def decode(self, value: Any) -> Any:
        """The value that JSON stands for."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "view" in value:
            parameters, fitted = map(self.decode, value["content"])
            view = VIEWS[value["view"]](**parameters)
            for name, item in fitted.items():
                setattr(view, name, item)
            return view
        [(tag, content)] = value.items()
        if tag == "array":
            return self.arrays[content]
        if tag == "weights":
            parts = {name: self.decode(part) for name, part in content.items()}
            parts["patterns"] = self.patterns[content["patterns"]]
            return PatternWeights(**parts)
        if tag == "classes":
            return ClassPairs(tuple(content[0]), content[1])
        if tag == "pipeline":
            return Pipeline([(name, self.decode(step)) for name, step in content])
        if tag == "estimator":
            return self._kernel(content)
        if tag == "grid":
            settings = tuple(Setting(*map(self.decode, item)) for item in content["settings"])
            kernel = KERNELS[content["kernel"]].kernel
            return KernelGrid(**{**content, "kernel": kernel, "settings": settings})
        if tag == "dict":
            return {self.decode(key): self.decode(item) for key, item in content}
        if tag == "objects":
            return np.array(self.decode(content), dtype=object)
        return tuple(self.decode(content))

    def _kernel(self, content: dict[str, Any]) -> GraphKernel:
        return KERNELS[content["kernel"]].kernel(**self.decode(content["parameters"]))

    def _patterns(self, content: dict[str, Any]) -> Patterns:
        kernel = self._kernel(content)
        levels = [PatternLevel(*map(self.decode, level)) for level in content["levels"]]
        view = self.decode(content["view"])
        return Patterns(view, kernel, content["label_kind"], levels)  # type: ignore[arg-type]
