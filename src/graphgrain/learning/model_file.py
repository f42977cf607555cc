"""Model files: a ``.npz`` archive of arrays, and the rest as JSON in one of them.

Code is never executed: parameters and fitted attributes are plain values, arrays, and objects of a
few known classes, by their tags. Members and sizes are checked before they are read, and the sizes
of the parts of a model against each other before it is used.
"""

from __future__ import annotations

import io
import json
import math
import os
import struct
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from .. import views
from ..core.counting import group_hashes, transpose
from ..errors import InvalidFileError, InvalidParameterError
from ..kernels.bases.graph_kernel import RUN_PARAMETERS, GraphKernel
from ..kernels.features import Counts, Features
from ..kernels.registry import KERNELS, kernel_from_json, kernel_to_json
from ..views.base import View
from ..writing import atomic_write
from .columns import ColumnEncoder, ColumnSimilarity, ColumnSource, ColumnTerm
from .machine import FittedTerm, Machine
from .sigma import Sigma
from .terms import Source, Term

if TYPE_CHECKING:
    from .classifier import GraphClassifier
    from .regressor import GraphRegressor

FORMAT, VERSION = "graphgrain model", 4
REMEDY = "Save the model again"

#: Views by class name.
VIEWS: dict[str, type[View]] = {name: getattr(views, name) for name in dir(views)}
#: Dataclasses by their tags in files. Values are stored in the order of the fields.
PLAIN: dict[str, type[Any]] = {
    "term": Term,
    "source": Source,
    "fitted term": FittedTerm,
    "machine": Machine,
    "sigma": Sigma,
    "column encoder": ColumnEncoder,
    "column source": ColumnSource,
    "column similarity": ColumnSimilarity,
    "column term": ColumnTerm,
}
_TAGS = {kind: tag for tag, kind in PLAIN.items()}
_SHARED = (Source, ColumnSource, Features)


def write_model(model: Any, path: Path) -> None:
    """Write a fitted estimator; the file is replaced atomically."""
    encoder = _Encoder()
    parameters = model.get_params(deep=False)
    left_out = {*parameters, "_posteriors"}
    fitted = {name: value for name, value in vars(model).items() if name not in left_out}
    about = {
        "format": FORMAT,
        "version": VERSION,
        "class": type(model).__name__,
        "parameters": encoder.encode(parameters),
        "fitted": encoder.encode(fitted),
        "shared": encoder.shared,
    }
    content = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    with atomic_write(path, "The model") as file:
        np.savez(file, allow_pickle=False, **{"about": content, **encoder.arrays})


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
    ...     gg.GraphRegressor().fit(graphs[::2], sizes[::2]).save(file)
    ...     model = gg.load_model(file)
    >>> model.score(graphs[1::2], sizes[1::2]) > 0.95
    True
    """
    from .classifier import GraphClassifier
    from .regressor import GraphRegressor

    path = Path(path)
    arrays = _arrays(path)
    classes: dict[str, type[GraphClassifier | GraphRegressor]] = {
        kind.__name__: kind for kind in (GraphClassifier, GraphRegressor)
    }
    try:
        about = json.loads(arrays.pop("about", np.zeros(0, dtype=np.uint8)).tobytes())
    except (ValueError, RecursionError):
        about = None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InvalidFileError(f"{str(path)!r} is not a model of graphgrain. {REMEDY}.")
    if about.get("version") != VERSION:
        raise InvalidFileError(
            f"{str(path)!r} is a model of another version of graphgrain. Train it again, or use "
            "the graphgrain that wrote it."
        )
    try:
        decoder = _Decoder(arrays, about["shared"])
        model = classes[about["class"]](**decoder.decode(about["parameters"]))
        for name, value in decoder.decode(about["fitted"]).items():
            setattr(model, str(name), value)
        _check(model)
    except (
        KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, MemoryError,
    ) as error:  # fmt: skip
        raise InvalidFileError(
            f"{str(path)!r} is damaged: it does not describe a model ({error}). {REMEDY}."
        ) from None
    return model


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """Read the arrays of a file; nothing is allocated for sizes that the file does not have."""
    arrays: dict[str, np.ndarray] = {}
    try:
        with open(path, "rb") as file:
            if file.read(7) == b"GGMODEL":
                raise InvalidFileError(
                    f"{str(path)!r} is a model of graphgrain 0.3, whose models were others. Train "
                    "it again with GraphClassifier or GraphRegressor."
                )
            size = os.fstat(file.fileno()).st_size
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
                if sum(member.file_size for member in members) > size:
                    raise ValueError("its members claim more bytes than it has")
                for member in members:
                    if member.compress_type != zipfile.ZIP_STORED:
                        raise ValueError(f"{member.filename[:60]!r} is not an uncompressed array")
                    content = archive.read(member)
                    arrays[member.filename.removesuffix(".npy")] = _array(content)
    except FileNotFoundError:
        raise InvalidFileError(f"There is no file {str(path)!r}.") from None
    except InvalidFileError:
        raise
    except (
        OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, SyntaxError,
        OverflowError, struct.error, zipfile.BadZipFile,
    ) as error:  # fmt: skip
        raise InvalidFileError(
            f"{str(path)!r} cannot be read, or is not a model of graphgrain: {error}. {REMEDY}."
        ) from None
    return arrays


def _array(content: bytes) -> np.ndarray:
    """Return an array in NumPy's format, after comparing its header with the available bytes."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(file)
    else:
        raise ValueError(f"version {version} of arrays is not known")
    if dtype.hasobject or dtype.itemsize * math.prod(shape) != len(content) - file.tell():
        raise ValueError(f"an array of {dtype} of shape {shape} in {len(content):,} bytes")
    array = np.frombuffer(bytearray(content[file.tell() :]), dtype=dtype)
    return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)


def _check(model: Any) -> None:
    """Raise a ValueError if the parts of a model have inconsistent sizes."""
    machine, sigma = model.machine_, model._sigma
    graphs, outputs = machine.n_graphs, machine.n_outputs
    wanted = {
        "coefficients": (machine.coefficients, (outputs, graphs)),
        "coefficients of sigma": (sigma.coefficients, (outputs, graphs)),
        "bias of sigma": (sigma.bias, (outputs,)),
        "slopes of sigma": (sigma.slopes, (outputs, 2)),
        "scores": (sigma.scores, (graphs, outputs)),
        "held-out sigma": (sigma.held_out, (graphs, outputs)),
        "similarities": (sigma.similarity, (graphs,)),
        "factor": (sigma.factor, (len(sigma.landmarks),) * 2),
        "solution": (sigma.ones, (len(sigma.landmarks),)),
        "targets": (model._targets, (graphs, outputs)),
        "weights": (model._training_weights, (graphs,)),
        "groups": (model._groups, (graphs,)),
    }
    for name, (array, shape) in wanted.items():
        if array.shape != shape or array.dtype.kind not in "fi":
            raise ValueError(f"{name} of shape {array.shape} instead of {shape}")
    if any(len(fitted.features) != graphs for fitted in machine.terms):
        raise ValueError("its terms have different numbers of graphs")
    landmarks = sigma.landmarks
    if landmarks.dtype.kind != "i" or not (0 <= landmarks.min() <= landmarks.max() < graphs):
        raise ValueError("its landmarks are not training graphs")


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
        if isinstance(value, GraphKernel):
            _check_known(type(value))
            return ["kernel", kernel_to_json(value, leave_out=RUN_PARAMETERS)]
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

    def _view(self, view: Any) -> list[Any]:
        if type(view) is Pipeline:
            return ["pipeline", *([name, self.encode(step)] for name, step in view.steps)]
        if VIEWS.get(type(view).__name__) is not type(view):
            raise InvalidParameterError(
                "A model file holds numbers, texts, the views of graphgrain "
                f"({', '.join(sorted(VIEWS))}, and pipelines of them) and kernels with explicit "
                f"features; got a {type(view).__name__}. Use pickle for models with others."
            )
        parameters = view.get_params(deep=False)
        fitted = {name: value for name, value in vars(view).items() if name not in parameters}
        return ["view", type(view).__name__, self.encode(parameters), self.encode(fitted)]


def _check_known(kernel: type[Any]) -> None:
    """Raise an error unless a kernel class is one of graphgrain's."""
    if kernel not in [entry.kernel for entry in KERNELS.values()]:
        raise InvalidParameterError(
            f"A model file holds kernels of graphgrain ({', '.join(KERNELS)}); got a "
            f"{kernel.__name__}. Use pickle for models with other kernels."
        )


def _small(values: np.ndarray) -> np.ndarray:
    """Convert non-negative integers to the smallest sufficient type."""
    most = int(values.max(initial=0))
    for kind in (np.uint8, np.uint16, np.uint32):
        if most <= np.iinfo(kind).max:
            return values.astype(kind)
    return values.astype(np.int64)


class _Decoder:
    """Inverse of :class:`_Encoder`."""

    def __init__(self, arrays: dict[str, np.ndarray], shared: list[Any]) -> None:
        self.arrays = arrays
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
            array = self.arrays[content[0]]
            return array.astype(bool) if content[1] else array
        if tag == "texts":
            items = [self.decode(item) for item in content[1]]
            return np.array(items, dtype=object if content[0] == "O" else None)
        if tag == "shared":
            return self.shared[content[0]]
        if tag == "features":
            return self._features(*content)
        if tag == "kernel":
            return kernel_from_json(content[0])
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
