"""Who decides: not the best candidate alone but the best few together.

Validation accuracies of a small data set differ by luck, so that the best of many candidates is
seldom the best on new graphs. The mean of the decision values of the best dozen is steadier, and on
almost every data set better (docs/beyond.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

#: How many candidates decide together.
SEATS = 12


class Candidate(NamedTuple):
    """A kernel with the best parameter that its learner found for it.

    Attributes
    ----------
    score : float
        In validation.
    setting, depth : int
        Number of the kernel's setting, the plainest first, and its tree depth.
    value : float
        The learner's parameter.
    """

    score: float
    setting: int
    depth: int
    value: float


def seated(candidates: Iterable[Candidate], seats: int) -> list[Candidate]:
    """The best candidates, the best first.

    Of equally good ones the plainer setting, then the larger parameter, then the smaller depth.

    Examples
    --------
    >>> from graphgrain.learning.committee import Candidate, seated
    >>> some = [Candidate(0.7, 0, 0, 1.0), Candidate(0.8, 1, 0, 1.0), Candidate(0.8, 0, 3, 1.0)]
    >>> [(one.setting, one.depth) for one in seated(some, 2)]
    [(0, 3), (1, 0)]
    """
    # Rounded, so that the order in which equal scores are added does not decide.
    order = sorted(candidates, key=lambda c: (-round(c.score, 12), c.setting, -c.value, c.depth))
    return order[:seats]


def size(seats: int, tried: int) -> int:
    """How many seats there are when so many candidates were tried: at most half as many.

    Examples
    --------
    >>> from graphgrain.learning.committee import size
    >>> size(12, 48), size(12, 8), size(12, 1)
    (12, 4, 1)
    """
    return max(1, min(seats, tried // 2))


def classes_of(scores: np.ndarray) -> np.ndarray:
    """The classes that decision values speak for: one value per row for two classes."""
    return (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
