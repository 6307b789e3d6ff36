"""How much memory the process may still take, and how to live with little.

``ulimit -v`` counts addresses, used or not: a library that reserves a gigabyte to fill it later has
taken a gigabyte.  So have the threads of BLAS, a buffer each, and the allocator of Arrow.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

LITTLE = 8 * 2**30
"""A limit on addresses below this many bytes is worth a second start."""
BLAS_THREAD = 2**30
"""Bytes of the limit for each thread of BLAS, which takes 40 MB of addresses in each of two copies
of it (NumPy's and SciPy's)."""
LATER = 60 * 10**6
"""Bytes of the limit that libraries take with the first thread and rows."""
BUFFERS = 2 * 2**25
"""Bytes that BLAS takes with its first product, in both copies."""

LEAST = 250_000


def available_memory() -> float:
    """Return the bytes that this process may still allocate; infinite where no limit is known."""
    return min(_free(), _cgroup(), _address_space())


def sample_entries(most: int) -> int:
    """Numbers (eight bytes) in a sample that is solved here: ``most``, or an eighth of the room.

    Never fewer than ``LEAST``: a sample that says nothing costs reads without end.
    """
    return int(min(most, max(LEAST, available_memory() / (8 * 8))))


def spare_addresses() -> None:
    """Begin the process anew where a limit leaves little, with libraries that reserve less.

    They ask the environment when they are loaded, which they are by now.
    """
    limit = _address_limit()
    wanted = {
        "ARROW_DEFAULT_MEMORY_POOL": "system",  # Arrow's own takes a gigabyte at once
        "MALLOC_ARENA_MAX": "1",  # else 64 MB for each thread
        "OPENBLAS_NUM_THREADS": str(max(1, int(limit / BLAS_THREAD))) if limit < LITTLE else "",
    }
    missing = {name: value for name, value in wanted.items() if name not in os.environ}
    if limit < LITTLE and missing:
        command = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, command, {**os.environ, **missing})  # noqa: S606 - itself, anew


@cache
def _take_buffers() -> None:
    """Let BLAS take its buffers while a limit on addresses leaves room for them.

    Where OpenBLAS finds none it asks for it again without end, and nothing interrupts it.
    """
    if _address_limit() - _size() < BUFFERS:
        raise MemoryError("the limit on addresses leaves no room for the buffers of BLAS")
    import numpy as np
    from scipy.linalg import cholesky

    np.linalg.cholesky(np.eye(64))
    cholesky(np.eye(64))


def _free() -> float:
    found = _fields(Path("/proc/meminfo")).get("MemAvailable")
    return float("inf") if found is None else found


def _cgroup() -> float:
    """What the control group of the process leaves, version 2 or 1."""
    for folder, most, used in (
        ("/sys/fs/cgroup", "memory.max", "memory.current"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        try:
            limit, taken = ((Path(folder) / name).read_text().strip() for name in (most, used))
            return float("inf") if limit == "max" else float(limit) - float(taken)
        except (OSError, ValueError):
            continue
    return float("inf")


def _address_limit() -> float:
    """What ``ulimit -v`` says."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    except ImportError:  # not on Windows
        return float("inf")
    return float("inf") if limit == resource.RLIM_INFINITY else float(limit)


def _address_space() -> float:
    """What ``ulimit -v`` leaves."""
    if _address_limit() == float("inf"):
        return float("inf")
    _take_buffers()
    return _address_limit() - _size() - LATER


def _size() -> float:
    """Addresses that the process has."""
    return _fields(Path("/proc/self/status")).get("VmSize", 0.0)


def _fields(path: Path) -> dict[str, float]:
    """``name: number kB`` lines in bytes."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    parts = [line.split() for line in lines if line.endswith(" kB")]
    return {part[0].rstrip(":"): 1024.0 * float(part[1]) for part in parts}
