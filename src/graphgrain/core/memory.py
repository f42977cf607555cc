"""How much memory there is, and errors before what does not fit is begun."""

from __future__ import annotations

import os

from ..errors import NotEnoughMemoryError

#: This part of the memory that is free may be taken by one thing.
_SHARE = 0.9
#: What needs fewer bytes is not looked at.
_LITTLE = 1 << 26


def available_memory() -> int | None:
    """Bytes that can be taken without swapping; None where the system does not tell.

    The smallest of what is free in the machine, in the container (control group) and below the
    limit of the process.
    """
    known = [size for size in (_free_in_machine(), _free_in_container(), _below_limit()) if size]
    return min(known, default=None)


def require_memory(needed: float, what: str, instead: str) -> None:
    """Raise an error if ``needed`` bytes are more than there are.

    ``what`` needs them (the beginning of a sentence); ``instead`` says what to do.
    """
    available = available_memory() if needed > _LITTLE else None
    if available is not None and needed > _SHARE * available:
        raise NotEnoughMemoryError(
            f"{what} would need {_gibibytes(needed)} of memory; {_gibibytes(available)} are there. "
            f"{instead}."
        )


def _gibibytes(size: float) -> str:
    return f"{size / 2**30:,.1f} GiB"


def _free_in_machine() -> int | None:
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:  # what the machine has is better than nothing
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _free_in_container() -> int | None:
    """What the control group of the process may still take (version 2 or 1)."""
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        try:
            with open(limit) as file, open(used) as other:
                # files in the cache count as used but give way
                return max(1, int(file.read()) - int(other.read()) + _file_cache(used))
        except (OSError, ValueError):  # "max" means that there is no limit
            continue
    return None


def _file_cache(used: str) -> int:
    folder = os.path.dirname(used)
    try:
        with open(os.path.join(folder, "memory.stat")) as file:
            values = dict(line.split() for line in file)
        return int(values.get("inactive_file", values.get("total_inactive_file", 0)))
    except (OSError, ValueError):
        return 0


def _below_limit() -> int | None:
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        with open("/proc/self/statm") as file:
            return max(1, limit - int(file.read().split()[0]) * resource.getpagesize())
    except OSError:
        return limit
