"""Limit the number of BLAS and OpenMP threads to what is useful for the size of the data.

BLAS uses as many threads for small products as there are cores, and threads that wait for the next
product spin: a fit of a few milliseconds then costs ten times its processor time, and on a busy
machine as much more wall time.  A second thread is useful where one product is long:

    m rows by n columns       a weighted Gram matrix takes m n min(m, n) multiplications
    a pass over all rows      m n, and waits for memory rather than for the processor

The number of BLAS threads belongs to the process: of several fits in parallel threads only the
first one sets it.  The number of OpenMP threads (for k-means) is that of the current thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

# Measured on 16 idle cores: 10,000 x 500 takes 1.41 s with one thread, 0.97 with two, 0.73 with
# four and 2.66 with sixteen; 1,000,000 x 50 takes 0.49 s with one, 0.41 with two and 0.26 with
# sixteen; 1,000,000 x 10 gains nothing.  More than two save little, and each costs a core.
LONG_PRODUCT = 1e9
LONG_PASS = 2e7
MOST_THREADS = 2

_blas_lock = threading.RLock()


def cores() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


def useful_threads(rows: int, columns: int) -> int:
    """Return how many BLAS threads a fit of this size should have."""
    product = float(rows) * columns * min(rows, columns)
    if product < LONG_PRODUCT and float(rows) * columns < LONG_PASS:
        return 1
    return min(MOST_THREADS, cores())


@cache
def _libraries(user_api: str) -> list[Any]:
    """Return the controllers of the loaded libraries; loading them takes a millisecond."""
    from threadpoolctl import ThreadpoolController  # a dependency of scikit-learn

    return list(ThreadpoolController().select(user_api=user_api).lib_controllers)


@contextmanager
def limit_threads(threads: int) -> Iterator[None]:
    """Use at most so many threads for BLAS and OpenMP; a lower number stays."""
    threads = max(1, threads)
    is_first = _blas_lock.acquire(blocking=False)  # true again for nested calls of one thread
    lowered: list[tuple[Any, int]] = []
    try:
        for library in (*(_libraries("blas") if is_first else ()), *_libraries("openmp")):
            before = library.get_num_threads()
            if before > threads:
                lowered.append((library, before))
                library.set_num_threads(threads)
        yield
    finally:
        for library, before in lowered:
            library.set_num_threads(before)
        if is_first:
            _blas_lock.release()


def limits_for_size(rows: int, columns: int) -> Any:
    """Limit the threads to what is useful for a fit of this size."""
    return limit_threads(useful_threads(rows, columns))


def limits_for_data(X: Any) -> Any:
    """Limit the threads to what is useful for X; a list of lists is a small problem."""
    shape = getattr(X, "shape", ())
    if len(shape) == 2 and all(isinstance(side, int) for side in shape):
        return limits_for_size(*shape)
    return limit_threads(cores() if shape else 1)


def share_cores(n_jobs: int | None, tasks: int) -> Any:
    """Limit the threads of each of several tasks that run as threads at the same time."""
    from joblib import effective_n_jobs

    return limit_threads(cores() // max(1, min(effective_n_jobs(n_jobs), tasks)))
