"""Available memory, and errors raised before a computation that would exceed it."""

from __future__ import annotations

import os

from ..errors import NotEnoughMemoryError

#: Maximum fraction of the available memory that a single result may take.
_SHARE = 0.9
#: Smaller requests, in bytes, are not checked.
_UNCHECKED = 1 << 26


def available_memory() -> int | None:
    """Return the bytes available without swapping; None if the system does not report it.

    This is the minimum of the memory available in the machine, in the container (control group) and
    below the process limit.
    """
    known = [size for size in (_free_in_machine(), _free_in_container(), _below_limit()) if size]
    return min(known, default=None)


def require_memory(needed: float, what: str, instead: str) -> None:
    """Raise an error if ``needed`` bytes are not available.

    ``what`` is the subject of the error message, ``instead`` the advice.
    """
    available = available_memory() if needed > _UNCHECKED else None
    if available is not None and needed > _SHARE * available:
        raise NotEnoughMemoryError(
            f"{what} would need {_gibibytes(needed)} of memory; {_gibibytes(available)} are "
            f"available. {instead}."
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
    try:  # the total memory as an approximation
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _free_in_container() -> int | None:
    """Return the remaining memory of the process's control group (version 2 or 1)."""
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        try:
            with open(limit) as file, open(used) as other:
                # cached files count as used but can be evicted
                return max(1, int(file.read()) - int(other.read()) + _file_cache(used))
        except (OSError, ValueError):  # "max" means no limit
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
