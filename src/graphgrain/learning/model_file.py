"""Model files: arrays and JSON in one archive, without executable code.

The format is that of :mod:`graphgrain.archives`. ``about`` contains the class, its parameters and
its fitted attributes as JSON, in which everything but plain values is a list that starts with a
tag; arrays are stored separately in the archive. Features of training graphs are written once for
all terms that share them, by columns, in the smallest sufficient integer type. Kernels and views
are stored by class name and must be graphgrain's own (or a scikit-learn pipeline of these).
"""

from __future__ import annotations

from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.pipeline import Pipeline

from .. import views
from ..archives import Archive, Format, write_archive
from ..core.counting import group_hashes, transpose
from ..errors import InvalidFileError, InvalidParameterError
from ..kernels.bases.graph_kernel import RUN_PARAMETERS, GraphKernel
from ..kernels.features import Counts, Features
from ..kernels.grid import KernelGrid, Setting
from ..kernels.registry import KERNELS, kernel_from_json, kernel_to_json
from ..views.base import View
from ..writing import atomic_write
from .columns import ColumnEncoder, ColumnForest, ColumnKernel, ColumnPart
from .machine import FittedTerm, KernelMachine, PatternWeights, Source, Term
from .regressor import TargetScale

if TYPE_CHECKING:
    from .classifier import GraphClassifier
    from .regressor import GraphRegressor

FORMAT = Format("graphgrain model", b"GGMODEL\0", 3, "Train the model again")

#: Views by class name.
VIEWS: dict[str, type[View]] = {name: getattr(views, name) for name in dir(views)}
#: scikit-learn splitters that hold out every graph once, by class name.
SPLITTERS: dict[str, type[Any]] = {
    splitter.__name__: splitter
    for splitter in (
        KFold, StratifiedKFold, GroupKFold, StratifiedGroupKFold, LeaveOneGroupOut, LeaveOneOut,
    )
}  # fmt: skip
#: Dataclasses by their tags in files. Values are stored in the order of the fields.
PLAIN: dict[str, type[Any]] = {
    "term": Term,
    "source": Source,
    "fitted term": FittedTerm,
    "pattern weights": PatternWeights,
    "machine": KernelMachine,
    "column part": ColumnPart,
    "column encoder": ColumnEncoder,
    "column kernel": ColumnKernel,
    "column forest": ColumnForest,
}
_TAGS = {kind: tag for tag, kind in PLAIN.items()}
_SHARED = (Source, Features)


def write_model(model: Any, path: Path) -> None:
    """Write a fitted estimator; the file is replaced atomically."""
    encoder = _Encoder()
    parameters = model.get_params(deep=False)
    fitted = {n: v for n, v in vars(model).items() if n not in parameters and n != "_factored"}
    about = {
        "class": type(model).__name__,
        "parameters": encoder.encode(parameters),
        "fitted": encoder.encode(fitted),
        "shared": encoder.shared,
    }
    with atomic_write(path, "The model") as file:
        write_archive(file, FORMAT, about, encoder.arrays, packed=True)


def load_model(path: str | Path) -> GraphClassifier | GraphRegressor:
    """Read a model written by the ``save`` method of an estimator.

    Parameters
    ----------
    path : str or Path
        File to read.

    Returns
    -------
    GraphClassifier or GraphRegressor

    Examples
    --------
    >>> import graphgrain as gg, tempfile, pathlib
    >>> graphs, _ = gg.load_drugs()
    >>> sizes = graphs.vertex_counts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "sizes.ggm"
    ...     gg.GraphRegressor(max_level=1).fit(graphs[::2], sizes[::2]).save(file)
    ...     model = gg.load_model(file)
    >>> model.score(graphs[1::2], sizes[1::2]) > 0.99
    True
    """
    from .classifier import GraphClassifier
    from .regressor import GraphRegressor

    path = Path(path)
    _check_beginning(path)
    archive = Archive(path, FORMAT)
    classes: dict[str, type[GraphClassifier | GraphRegressor]] = {
        kind.__name__: kind for kind in (GraphClassifier, GraphRegressor)
    }
    try:
        about = archive.about
        decoder = _Decoder(archive, about["shared"])
        model = classes[about["class"]](**decoder.decode(about["parameters"]))
        for name, value in decoder.decode(about["fitted"]).items():
            setattr(model, str(name), value)
        _check(model)
    except InvalidFileError:
        raise
    except (
        KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, MemoryError,
    ) as error:  # fmt: skip
        raise archive.damaged("header", f"it does not describe a model ({error})") from None
    return model


def _check_beginning(path: Path) -> None:
    try:
        with open(path, "rb") as file:
            first = file.read(8)
    except FileNotFoundError:
        raise InvalidFileError(f"There is no file {str(path)!r}.") from None
    except OSError as error:
        raise InvalidFileError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    if first[:2] == b"PK":
        raise InvalidFileError(
            f"{str(path)!r} is a model of graphgrain 0.2, which had other estimators. Train it "
            "again with GraphClassifier or GraphRegressor."
        )
    if first != FORMAT.magic:
        raise InvalidFileError(
            f"{str(path)!r} is not a graphgrain model, or it is damaged. Save the model again."
        )


def _check(model: Any) -> None:
    """Raise a ValueError if the parts of a model have inconsistent sizes."""
    own, near = model.machine_, model._landmarks
    for term in own.terms:
        if isinstance(term, PatternWeights):
            sizes = sum(len(vocabulary) for vocabulary in term.vocabulary)
            fits = term.weights.shape == (sizes, len(own.intercept))
        else:
            wanted = (len(own.intercept), len(term.features))
            fits = own.coefficients is not None and own.coefficients.shape == wanted
        if not fits:
            raise ValueError("weights and patterns differ in number")
    if near is None and own.coefficients is not None:
        return
    number = near.n_graphs
    if (
        any(len(term.features) != number for term in near.terms)
        or model._landmark_rows.shape != (number,)
        or model._landmark_inverse.shape != (number, number)
        or {id(source) for source in near.sources} != {id(source) for source in own.sources}
    ):
        raise ValueError("landmarks and their process differ in number")


class _Encoder:
    """Converts values to JSON; arrays and shared objects are collected separately."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.shared: list[Any] = []
        self._numbers: dict[int, int] = {}

    def encode(self, value: Any) -> Any:
        """Return plain values unchanged and all others as a list that starts with a tag."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.generic):
            return self.encode(value.item())
        if isinstance(value, list | range | tuple):
            return ["tuple" if isinstance(value, tuple) else "list", *map(self.encode, value)]
        if isinstance(value, dict):
            return ["dict", *([self.encode(k), self.encode(v)] for k, v in value.items())]
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, _SHARED):
            if id(value) not in self._numbers:
                counted = isinstance(value, Features)
                self.shared.append(self._features(value) if counted else self._plain(value))
                self._numbers[id(value)] = len(self.shared) - 1
            return ["shared", self._numbers[id(value)]]
        if type(value) in _TAGS:
            return self._plain(value)
        if isinstance(value, TargetScale):
            return ["target scale", self.encode(vars(value))]
        if isinstance(value, GraphKernel):
            _known_name(type(value))
            return ["kernel", kernel_to_json(value, leave_out=RUN_PARAMETERS)]
        if isinstance(value, KernelGrid):
            return ["grid", self._grid(value)]
        if SPLITTERS.get(type(value).__name__) is type(value):
            own = {name: getattr(value, name) for name in signature(type(value)).parameters}
            return ["splitter", type(value).__name__, self.encode(own)]
        return self._view(value)

    def _plain(self, value: Any) -> list[Any]:
        own = [getattr(value, each.name) for each in fields(value) if each.init]
        return [_TAGS[type(value)], *map(self.encode, own)]

    def _array(self, value: np.ndarray) -> list[Any]:
        if value.dtype.kind == "U" or value.dtype == object:
            return ["texts", value.dtype.kind, [self.encode(item) for item in value.tolist()]]
        name = f"array{len(self.arrays)}"
        self.arrays[name] = value.astype(np.uint8) if value.dtype == bool else value
        return ["array", name, value.dtype == bool]

    def _features(self, features: Any) -> list[Any]:
        levels = []
        for level in features.levels:
            vocabulary, indptr, rows, values, _ = group_hashes(*level)
            whole = bool((values == np.round(values)).all())
            levels.append(
                [
                    self._array(np.diff(vocabulary, prepend=np.uint64(0))),
                    self._array(_small(np.diff(indptr))),
                    self._array(_small(rows)),
                    self._array(_small(values.astype(np.int64)) if whole else values),
                ]
            )
        return ["features", len(features), features.whole, levels]

    def _grid(self, grid: KernelGrid) -> dict[str, Any]:
        settings = [[self.encode(dict(s.parameters)), self.encode(s.view)] for s in grid.settings]
        return {
            "name": grid.name,
            "kernel": _known_name(grid.kernel),
            "title": grid.title,
            "level_parameter": grid.level_parameter,
            "variant": grid.variant,
            "settings": settings,
            "attribute_view": self.encode(grid.attribute_view),
        }

    def _view(self, view: Any) -> list[Any]:
        if type(view) is Pipeline:
            return ["pipeline", *([name, self.encode(step)] for name, step in view.steps)]
        if VIEWS.get(type(view).__name__) is not type(view):
            raise InvalidParameterError(
                "A model file holds numbers, texts, the views of graphgrain "
                f"({', '.join(sorted(VIEWS))}, and pipelines of them) and splitters of "
                f"scikit-learn ({', '.join(SPLITTERS)}); got a {type(view).__name__}. Use pickle "
                "for models with others."
            )
        parameters = view.get_params(deep=False)
        fitted = {name: value for name, value in vars(view).items() if name not in parameters}
        return ["view", type(view).__name__, self.encode(parameters), self.encode(fitted)]


def _known_name(kernel: type[Any]) -> str:
    """Return the registered name of a kernel class."""
    known = {each.kernel: name for name, each in KERNELS.items()}
    if kernel not in known:
        raise InvalidParameterError(
            f"A model file holds kernels of graphgrain ({', '.join(KERNELS)}); got a "
            f"{kernel.__name__}. Use pickle for models with other kernels."
        )
    return known[kernel]


def _small(values: np.ndarray) -> np.ndarray:
    """Convert non-negative integers to the smallest sufficient type."""
    most = int(values.max(initial=0))
    for kind in (np.uint8, np.uint16, np.uint32):
        if most <= np.iinfo(kind).max:
            return values.astype(kind)
    return values.astype(np.int64)


class _Decoder:
    """Inverse of :class:`_Encoder`."""

    def __init__(self, archive: Archive, shared: list[Any]) -> None:
        self.archive = archive
        self.shared: list[Any] = []
        for content in shared:  # entries may refer to earlier ones
            self.shared.append(self.decode(content))

    def decode(self, value: Any) -> Any:
        """Return the value encoded as JSON."""
        if not isinstance(value, list):
            return value
        tag, *content = value
        if tag in ("list", "tuple"):
            return (list if tag == "list" else tuple)(map(self.decode, content))
        if tag == "dict":
            return {self.decode(key): self.decode(item) for key, item in content}
        if tag == "array":
            array = np.array(self.archive[content[0]])
            return array.astype(bool) if content[1] else array
        if tag == "texts":
            items = [self.decode(item) for item in content[1]]
            return np.array(items, dtype=object if content[0] == "O" else None)
        if tag == "shared":
            return self.shared[content[0]]
        if tag == "features":
            return self._features(*content)
        if tag == "target scale":
            scale = TargetScale.__new__(TargetScale)
            vars(scale).update(self.decode(content[0]))
            return scale
        if tag == "kernel":
            return kernel_from_json(content[0])
        if tag == "grid":
            own = content[0]
            decoded = {
                "kernel": KERNELS[own["kernel"]].kernel,
                "settings": tuple(Setting(*map(self.decode, item)) for item in own["settings"]),
                "attribute_view": self.decode(own.get("attribute_view")),
            }
            return KernelGrid(**{**own, **decoded})
        if tag == "splitter":
            return SPLITTERS[content[0]](**self.decode(content[1]))
        if tag == "pipeline":
            return Pipeline([(name, self.decode(step)) for name, step in content])
        if tag == "view":
            view = VIEWS[content[0]](**self.decode(content[1]))
            for name, item in self.decode(content[2]).items():
                setattr(view, name, item)
            return view
        return PLAIN[tag](*map(self.decode, content))

    def _features(self, graphs: Any, whole: Any, levels: list[Any]) -> Features:
        found = []
        for level in levels:
            gaps, lengths, rows, values = (self.decode(part) for part in level)
            vocabulary = np.cumsum(gaps, dtype=np.uint64)
            total = int(lengths.sum())
            ascending = bool((vocabulary[1:] > vocabulary[:-1]).all())
            if (
                gaps.dtype != np.uint64
                or not ascending
                or len(lengths) != len(vocabulary)
                or not len(rows) == len(values) == total
                or rows.max(initial=0) >= max(graphs, 1)
                or (total and values.min() <= 0)
            ):
                raise ValueError("counted features do not fit together")
            indptr = np.concatenate(([0], np.cumsum(lengths.astype(np.int64))))
            starts, columns, counts = transpose(
                indptr, rows.astype(np.int32), values.astype(np.float64), graphs
            )
            kind = np.int64 if whole and values.dtype.kind in "iu" else np.float64
            found.append(Counts(np.diff(starts), vocabulary[columns], counts.astype(kind)))
        return Features(found, bool(whole))
