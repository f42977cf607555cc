"""The errors that graphgrain raises on purpose.

Each message states the rule, the value that broke it and the way out.
"""


class GraphgrainError(Exception):
    """Base class of all errors that graphgrain raises on purpose."""


class InvalidGraphError(GraphgrainError, ValueError):
    """The graphs given are not valid: an edge out of range, a missing label, ..."""


class InvalidParameterError(GraphgrainError, ValueError):
    """A parameter has a value outside what it may be."""


class InvalidFileError(GraphgrainError, ValueError):
    """A file does not hold what its format asks for."""


class DownloadError(GraphgrainError, OSError):
    """A file could not be downloaded, or is not the one that was expected."""


class UnwritableFileError(GraphgrainError, OSError):
    """A file that is to be written cannot be."""


class WorkerError(GraphgrainError, RuntimeError):
    """Processes that shared the work were killed, again and again."""


class MissingDependencyError(GraphgrainError, ImportError):
    """An optional package is needed that is not installed."""


class NotEnoughMemoryError(GraphgrainError, MemoryError):
    """A result would not fit into memory; known before it was begun."""


class GraphgrainWarning(UserWarning):
    """Something was left out or left undecided; the message says what."""
