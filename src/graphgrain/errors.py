"""Exceptions raised by graphgrain.

Each message states the rule, the value that violates it and a remedy.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class GraphgrainError(Exception):
    """Base class of all exceptions raised by graphgrain.

    Examples
    --------
    >>> import graphgrain as gg
    >>> try:
    ...     gg.TreePlusPlus(tree_depth=-1).fit(["CCO"])
    ... except gg.GraphgrainError as error:
    ...     print(type(error).__name__)
    InvalidParameterError
    """


class InvalidGraphError(GraphgrainError, ValueError):
    """The graphs are invalid, for example an edge is out of range or a label is missing.

    Examples
    --------
    >>> import graphgrain as gg
    >>> try:
    ...     gg.as_graphs([([(0, 7)], ["C", "O"])])
    ... except gg.InvalidGraphError:
    ...     print("vertex 7 is not there")
    vertex 7 is not there
    """


class InvalidParameterError(GraphgrainError, ValueError):
    """A parameter has an invalid value.

    Examples
    --------
    >>> import graphgrain as gg
    >>> try:
    ...     gg.TreePlusPlus(similarity="tanimoto").fit(["CCO"])
    ... except gg.InvalidParameterError as error:
    ...     print(str(error).partition(";")[0])
    similarity must be one of 'cosine', 'minmax', 'dot'
    """


class InvalidFileError(GraphgrainError, ValueError):
    """A file does not conform to its format.

    Examples
    --------
    >>> import graphgrain as gg
    >>> issubclass(gg.InvalidFileError, ValueError)
    True
    """


class DownloadError(GraphgrainError, OSError):
    """A file could not be downloaded, or its checksum is wrong.

    Examples
    --------
    >>> import graphgrain as gg
    >>> issubclass(gg.DownloadError, OSError)
    True
    """


class UnwritableFileError(GraphgrainError, OSError):
    """A file cannot be written.

    Examples
    --------
    >>> import graphgrain as gg
    >>> issubclass(gg.UnwritableFileError, OSError)
    True
    """


class WorkerError(GraphgrainError, RuntimeError):
    """Worker processes were killed repeatedly.

    Examples
    --------
    >>> import graphgrain as gg
    >>> issubclass(gg.WorkerError, RuntimeError)
    True
    """


class MissingDependencyError(GraphgrainError, ImportError):
    """A required optional package is not installed.

    Examples
    --------
    >>> import graphgrain as gg
    >>> issubclass(gg.MissingDependencyError, ImportError)
    True
    """


@contextmanager
def needed(purpose: str, package: str) -> Iterator[None]:
    """Say how to install an optional package if its import in this block fails."""
    try:
        yield
    except ImportError:
        raise MissingDependencyError(
            f"{purpose}, which is not installed. Install it with: pip install {package}"
        ) from None


class NotEnoughMemoryError(GraphgrainError, MemoryError):
    """A result would not fit into memory; raised before it is computed.

    Examples
    --------
    >>> import graphgrain as gg
    >>> issubclass(gg.NotEnoughMemoryError, MemoryError)
    True
    """


class GraphgrainWarning(UserWarning):
    """Some input was skipped or left undecided; the message gives details.

    Examples
    --------
    >>> import graphgrain as gg
    >>> import warnings
    >>> warnings.simplefilter("error", gg.GraphgrainWarning)  # turn into errors
    >>> warnings.resetwarnings()
    """
