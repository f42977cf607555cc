"""Fitted models in files: arrays and JSON in one archive, and nothing that could be run.

A model file is an uncompressed NumPy archive (``.npz``). ``header`` holds JSON: the version of the
format, the class, its parameters, what it has fitted, and a digest of all of it. Everything else
is arrays, which the header names. Views are written by their class's name, which must be one of
graphgrain's (or a scikit-learn pipeline of these), their parameters and what they have fitted.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidFileError
from ..writing import atomic_write
from .model_json import Decoder, Encoder

FORMAT = 1


def write_model(model: Any, path: Path) -> None:
    """Write a fitted estimator; the file appears whole or not at all."""
    encoder = Encoder()
    parameters = model.get_params(deep=False)
    fitted = {n: v for n, v in vars(model).items() if n not in (*parameters, "kernel_", "view_")}
    header: dict[str, Any] = {
        "graphgrain model": FORMAT,
        "class": type(model).__name__,
        "parameters": encoder.encode(parameters),
        "fitted": encoder.encode(fitted),
        "patterns": encoder.patterns,
    }
    arrays = encoder.arrays
    header["digest"] = _digest(header, arrays)
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with atomic_write(path, "The model") as file:
        np.savez(file, **{"header": text, **arrays})  # type: ignore[arg-type]  # names are ours


def load_model(path: str | Path) -> Any:
    """Read a model that ``save`` of a self-tuned estimator has written.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    TreePlusPlusClassifier, TreePlusPlusRegressor, GraphClassifier or GraphRegressor

    Examples
    --------
    >>> import graphgrain as gg, tempfile, pathlib
    >>> graphs, _ = gg.load_drugs()
    >>> sizes = graphs.vertex_counts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "sizes.ggm"
    ...     gg.TreePlusPlusRegressor(2, 1).fit(graphs[::2], sizes[::2]).save(file)
    ...     model = gg.load_model(file)
    >>> model.score(graphs[1::2], sizes[1::2]) > 0.99
    True
    """
    path = Path(path)
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop("header").tobytes())
        version = header["graphgrain model"]
    except FileNotFoundError:
        raise InvalidFileError(f"There is no file {str(path)!r}.") from None
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, AttributeError):
        raise InvalidFileError(
            f"{str(path)!r} is no model of graphgrain, or it is damaged. Save the model again."
        ) from None
    if version != FORMAT:
        raise InvalidFileError(
            f"{str(path)!r} has format {version!r} of model files; this version of graphgrain "
            f"reads {FORMAT}."
        )
    digest = header.pop("digest", None)
    if digest != _digest(header, arrays):
        raise InvalidFileError(
            f"{str(path)!r} is damaged: its content does not match its digest. Save the model "
            "again."
        )
    return _model(header, arrays)


def _model(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    from .classifier import TreePlusPlusClassifier
    from .graph_classifier import GraphClassifier
    from .graph_regressor import GraphRegressor
    from .regressor import TreePlusPlusRegressor

    kinds: list[type[Any]] = [TreePlusPlusClassifier, TreePlusPlusRegressor]
    classes = {kind.__name__: kind for kind in (*kinds, GraphClassifier, GraphRegressor)}
    decoder = Decoder(arrays, header["patterns"])
    model = classes[header["class"]](**decoder.decode(header["parameters"]))
    for name, value in decoder.decode(header["fitted"]).items():
        setattr(model, name, value)
    best = model.pattern_weights_[0]
    model.kernel_, model.view_ = best.kernel, best.view
    return model


def _digest(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name};{array.dtype.str};{array.shape};".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
