"""Buffers that a worker keeps from one slice of rows to the next.

Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_=65536``, so that they give memory back early.
glibc then takes every buffer of more than 128 kB from the system and returns it at once, and the
system clears its pages each time: more than half of a read that opens blocks slice by slice.  Here
buffers of up to 32 MB are kept instead, 64 MB in all.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache

OF_DASK = "65536"
TRIM, MMAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
KEPT, LARGE = 64 << 20, 32 << 20


@cache
def keep_buffers() -> bool:
    """Ask glibc for that, once, where the setting is Dask's own; whether it was asked."""
    if os.environ.get("MALLOC_TRIM_THRESHOLD_") != OF_DASK:
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return False
    return bool(mallopt(MMAP, LARGE) and mallopt(TRIM, KEPT))
