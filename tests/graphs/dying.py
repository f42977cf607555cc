"""Work that kills its worker, in a module that a new worker imports quickly."""

import os
import time

from ..systems import KILL


def die_once(item: tuple[str, int]) -> int:
    """Kill the own process at item 3, but only the first time."""
    marker, number = item
    if number == 3 and not os.path.exists(marker):
        with open(marker, "w"):
            pass
        os.kill(os.getpid(), KILL)
    return number * number


def die_always(number: int) -> int:
    if number == 1:
        time.sleep(0.1)
        os.kill(os.getpid(), KILL)
    return number
