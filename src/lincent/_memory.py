"""Estimate how much memory the process may still allocate.

``ulimit -v`` counts addresses, used or not: memory that a library reserves to fill it later counts,
such as a buffer of BLAS for each thread and the memory pool of Arrow.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

M_ARENA_MAX = -8  # of mallopt in glibc
SMALL_LIMIT = 8 * 2**30  # bytes of address space below which libraries should reserve less
LATER = 60 * 10**6  # bytes that libraries allocate with the first thread and rows
BUFFERS = 2 * 2**25  # bytes that BLAS allocates with its first product, in NumPy and in SciPy
LEAST = 250_000


def available_memory() -> float:
    """Return the bytes that this process may still allocate; infinite where no limit is known."""
    limits = [_fields(Path("/proc/meminfo")).get("MemAvailable", float("inf"))]
    for folder, most, used in (  # control groups, version 2 or 1
        ("/sys/fs/cgroup", "memory.max", "memory.current"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        try:
            limit, taken = ((Path(folder) / name).read_text().strip() for name in (most, used))
            limits.append(float("inf") if limit == "max" else float(limit) - float(taken))
            break
        except (OSError, ValueError):
            continue
    if _address_limit() < float("inf"):
        _allocate_buffers()
        limits.append(_address_limit() - _size() - LATER)
    return min(limits)


def sample_entries(most: int) -> int:
    """Return the numbers (eight bytes) in a sample that is solved in memory.

    ``most``, or an eighth of the available memory, but at least ``LEAST``: a sample that is too
    small costs many passes over the data.
    """
    return int(min(most, max(LEAST, available_memory() / (8 * 8))))


def reserve_less() -> None:
    """Set defaults of libraries for a command under a small limit of the address space.

    They read the environment when they are imported.  Variables of the user take precedence.
    """
    limit = _address_limit()
    if limit < SMALL_LIMIT:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # Arrow's takes a gigabyte
        # Each thread takes 40 MB of addresses in each of two copies of BLAS.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", str(max(1, int(limit / 2**30))))
        if "MALLOC_ARENA_MAX" not in os.environ:  # too late for the variable itself
            with suppress(AttributeError, OSError):  # glibc gives each thread 64 MB of addresses
                ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


@cache
def _allocate_buffers() -> None:
    """Let BLAS allocate its buffers while the limit on addresses allows it.

    OpenBLAS repeats a failed allocation without end, and cannot be interrupted.
    """
    if _address_limit() - _size() < BUFFERS:
        raise MemoryError("the limit on addresses leaves too little memory for the buffers of BLAS")
    import numpy as np
    from scipy.linalg import cholesky

    np.linalg.cholesky(np.eye(64))
    cholesky(np.eye(64))


def _address_limit() -> float:
    """Return the limit of ``ulimit -v``."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    except ImportError:  # not on Windows
        return float("inf")
    return float("inf") if limit == resource.RLIM_INFINITY else float(limit)


def _size() -> float:
    """Return the size of the address space of the process."""
    return _fields(Path("/proc/self/status")).get("VmSize", 0.0)


def _fields(path: Path) -> dict[str, float]:
    """Return ``name: number kB`` lines in bytes."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    parts = [line.split() for line in lines if line.endswith(" kB")]
    return {part[0].rstrip(":"): 1024.0 * float(part[1]) for part in parts}
