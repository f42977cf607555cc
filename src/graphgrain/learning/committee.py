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
MEMBERS = 12


class Candidate(NamedTuple):
    """A kernel with the best parameter that its learner found for it.

    Attributes
    ----------
    score : float
        In validation.
    setting, level : int
        Number of the kernel's setting, the plainest first, and its level (Tree++: tree depth).
    value : float
        The learner's parameter.
    """

    score: float
    setting: int
    level: int
    value: float


def best_members(candidates: Iterable[Candidate], members: int) -> list[Candidate]:
    """The best candidates, the best first.

    Of equally good ones the plainer setting, then the larger parameter, then the lower level.

    Examples
    --------
    >>> from graphgrain.learning.committee import Candidate, best_members
    >>> some = [Candidate(0.7, 0, 0, 1.0), Candidate(0.8, 1, 0, 1.0), Candidate(0.8, 0, 3, 1.0)]
    >>> [(one.setting, one.level) for one in best_members(some, 2)]
    [(0, 3), (1, 0)]
    """
    # Rounded, so that the order in which equal scores are added does not decide.
    order = sorted(candidates, key=lambda c: (-round(c.score, 12), c.setting, -c.value, c.level))
    return order[:members]


def committee_size(members: int, tried: int) -> int:
    """How many decide together when so many candidates were tried: at most half as many.

    Examples
    --------
    >>> from graphgrain.learning.committee import committee_size
    >>> committee_size(12, 48), committee_size(12, 8), committee_size(12, 1)
    (12, 4, 1)
    """
    return max(1, min(members, tried // 2))


def best_value(scores: np.ndarray) -> int:
    """The best entry of a learner's grid; of equal ones the last, which is the largest."""
    means = np.round(scores, 12)  # so that the order in which equal scores are added is no matter
    return len(means) - 1 - int(np.argmax(means[::-1]))
