"""The errors that graphgrain raises on purpose.

Each message states the rule, the value that broke it and the way out.
"""


class GraphgrainError(Exception):
    """Base class of all errors that graphgrain raises on purpose.

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
    """The graphs given are not valid: an edge out of range, a missing label, ...

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
    """A parameter has a value outside what it may be.

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
    """A file does not hold what its format asks for.

    Examples
    --------
    >>> import graphgrain as gg
    >>> issubclass(gg.InvalidFileError, ValueError)
    True
    """


class DownloadError(GraphgrainError, OSError):
    """A file could not be downloaded, or is not the one that was expected.

    Examples
    --------
    >>> import graphgrain as gg
    >>> issubclass(gg.DownloadError, OSError)
    True
    """


class UnwritableFileError(GraphgrainError, OSError):
    """A file that is to be written cannot be.

    Examples
    --------
    >>> import graphgrain as gg
    >>> issubclass(gg.UnwritableFileError, OSError)
    True
    """


class WorkerError(GraphgrainError, RuntimeError):
    """Processes that shared the work were killed, again and again.

    Examples
    --------
    >>> import graphgrain as gg
    >>> issubclass(gg.WorkerError, RuntimeError)
    True
    """


class MissingDependencyError(GraphgrainError, ImportError):
    """An optional package is needed that is not installed.

    Examples
    --------
    >>> import graphgrain as gg
    >>> issubclass(gg.MissingDependencyError, ImportError)
    True
    """


class NotEnoughMemoryError(GraphgrainError, MemoryError):
    """A result would not fit into memory; known before it was begun.

    Examples
    --------
    >>> import graphgrain as gg
    >>> issubclass(gg.NotEnoughMemoryError, MemoryError)
    True
    """


class GraphgrainWarning(UserWarning):
    """Something was left out or left undecided; the message says what.

    Examples
    --------
    >>> import graphgrain as gg
    >>> import warnings
    >>> warnings.simplefilter("error", gg.GraphgrainWarning)  # let nothing be left out
    >>> warnings.resetwarnings()
    """
