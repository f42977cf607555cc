"""64-bit hashes of label values, the same in every run and on every machine.

1. A label is mapped to a 64-bit number that depends only on its value: integers by a bijection,
   strings by BLAKE2b.
2. ``mix`` (the finaliser of SplitMix64) scrambles a number, so that sums and products of
   mixed numbers behave like random ones.
3. Sequences are hashed by sums: ``sum of x[p] * WEIGHT(p)`` for the labels of a tree, and a
   polynomial in ``BASE``, which can be extended at both ends, for the elements of a path.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from ..errors import InvalidParameterError
from .compiling import inlined

_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)

#: Base of the polynomial that hashes paths; odd, so that its powers never vanish.
BASE = np.uint64(0xD1342543DE82EF95)


def mix_array(x: np.ndarray) -> np.ndarray:
    """Apply ``mix`` to an array."""
    with np.errstate(over="ignore"):
        x = (x ^ (x >> _S30)) * _FIRST
        x = (x ^ (x >> _S27)) * _SECOND
        return x ^ (x >> _S31)


def segment_sums(values: np.ndarray, pointers: np.ndarray) -> np.ndarray:
    """Sum ``values[pointers[i]:pointers[i + 1]]`` for each i, modulo 2**64."""
    running = np.concatenate(([np.uint64(0)], np.cumsum(values, dtype=np.uint64)))
    return running[pointers[1:]] - running[pointers[:-1]]


@inlined
def mix(x):
    """Scramble a 64-bit number bijectively."""
    x = (x ^ (x >> _S30)) * _FIRST
    x = (x ^ (x >> _S27)) * _SECOND
    return x ^ (x >> _S31)


def hash_labels(table: np.ndarray, purpose: int = 0) -> np.ndarray:
    """Hash labels to 64-bit integers, the same in every run and on every machine.

    Parameters
    ----------
    table : array of integers or strings
    purpose : int, default=0
        Separates different uses, such as vertex labels (0) and edge labels (1).

    Returns
    -------
    uint64 array
        One hash per label.

    Examples
    --------
    >>> import numpy as np
    >>> import graphgrain as gg
    >>> [f"{code:x}" for code in gg.hash_labels(np.array(["C", "O"], dtype=object))]
    ['893390aac4649549', '3830b4258d18f414']
    """
    table = np.asarray(table)
    words = table.dtype.kind == "U" or all(isinstance(label, str) for label in table.tolist())
    if not words and table.dtype.kind not in "biu":
        raise InvalidParameterError(
            f"The labels to hash must all be integers or all be strings; got {table[:3].tolist()} "
            f"(an array of type {table.dtype}). Divide numbers with a fraction into bins first."
        )
    if words and table.dtype.kind in "OU":
        key = bytes([purpose])
        digests = [
            blake2b(label.encode("utf-8", "surrogatepass"), digest_size=8, key=key).digest()
            for label in table
        ]
        return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
    with np.errstate(over="ignore"):
        salt = GOLDEN * np.uint64(2 * purpose + 1)
        return mix_array(mix_array(table.astype(np.int64).view(np.uint64) + salt) + salt)


def position_weights(count: int) -> np.ndarray:
    """Return the odd factor of the p-th label of a tree, for p below ``count``."""
    with np.errstate(over="ignore"):
        positions = np.arange(1, count + 1, dtype=np.uint64) * GOLDEN
    return mix_array(positions) | np.uint64(1)
