"""How many threads BLAS may use: as many as pay, and never more than there are cores.

BLAS hands small products to as many threads as there are cores, and threads that wait for the next
product spin: a fit of a few milliseconds then costs ten times its processor time, and on a busy
machine as much more wall time.  Threads pay where one product is long:

    m rows by n columns       a weighted Gram matrix takes m n min(m, n) multiplications
    a read of all rows        m n, and waits for memory rather than for the processor

The number of BLAS threads belongs to the process, not to a thread of ours.  Fits that run side by
side therefore share one ledger: the smallest number that anyone asked for holds, and the number
from before comes back when the last one has ended.  The number of OpenMP threads (for k-means) is
each thread's own, and is set and given back there.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

LONG_PRODUCT = 1e9
"""Multiplications of a Gram matrix from which on a second thread pays.  Measured on 16 idle cores:
10,000 x 500 takes 1.41 s with one thread, 0.97 with two, 0.73 with four, and 2.66 with sixteen."""
LONG_READ = 2e7
"""Entries from which on a second thread pays for reading all rows.  Measured there: 1,000,000 x 50
takes 0.49 s with one thread, 0.41 with two, 0.26 with sixteen; 1,000,000 x 10 gains nothing."""
MOST = 2
"""Threads that a fit takes for itself.  More save little (see above) and each costs a whole core:
sixteen spend 7.5 times the processor time of one.  Cores are for folds, classes and maps."""


def cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


def threads_that_pay(rows: int, columns: int) -> int:
    """How many BLAS threads a fit of this size should have."""
    product = float(rows) * columns * min(rows, columns)
    if product < LONG_PRODUCT and float(rows) * columns < LONG_READ:
        return 1
    return min(MOST, cores())


@cache
def _controller() -> Any:
    """The BLAS libraries of the process; finding them takes a millisecond, so it is done once."""
    from threadpoolctl import ThreadpoolController  # scikit-learn brings it

    return ThreadpoolController()


@cache
def _libraries(user_api: str) -> list[Any]:
    return list(_controller().select(user_api=user_api).lib_controllers)


@dataclass
class _Ledger:
    """Who asked for how many threads, and what holds."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    asked: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)

    def holds(self, most: int) -> bool:
        """Whether no more than so many threads are in use already."""
        return min(self.asked, default=most + 1) <= most

    def enter(self, most: int) -> None:
        with self.lock:
            libraries = _libraries("blas")
            if not self.asked:
                self.before = [library.get_num_threads() for library in libraries]
            elif most >= min(self.asked):
                self.asked.append(most)
                return
            self.asked.append(most)
            self._apply(libraries)

    def leave(self, most: int) -> None:
        with self.lock:
            self.asked.remove(most)
            if self.asked and most >= min(self.asked):
                return
            self._apply(_libraries("blas"))

    def _apply(self, libraries: list[Any]) -> None:
        least = min(self.asked, default=None)
        for library, before in zip(libraries, self.before, strict=True):
            if before == 1:  # and stays so
                continue
            # Never more than there were: a user's own limit stands.
            # threadpoolctl from 3.7 on lets only the first thread that came set the number, and
            # ignores the others in silence; here the ledger's lock settles that.
            setter = getattr(library, "_real_set_num_threads", library.set_num_threads)
            setter(before if least is None else min(before, least))


_ledger = _Ledger()


@contextmanager
def at_most(threads: int) -> Iterator[None]:
    """BLAS and OpenMP use at most so many threads, whoever else asks for more at the same time."""
    threads = max(1, threads)
    if _ledger.holds(threads):  # a part of a fit that is limited already
        yield
        return
    _ledger.enter(threads)
    openmp = [(library, library.get_num_threads()) for library in _libraries("openmp")]
    openmp = [(library, before) for library, before in openmp if before > threads]
    for library, _ in openmp:
        library.set_num_threads(threads)
    try:
        yield
    finally:
        for library, before in openmp:
            library.set_num_threads(before)
        _ledger.leave(threads)


def for_size(rows: int, columns: int) -> Any:
    """``at_most`` what pays for a fit of this size."""
    return at_most(threads_that_pay(rows, columns))


def for_data(X: Any) -> Any:
    """``for_size`` of what a user gave as X; a list of lists is little data."""
    shape = getattr(X, "shape", ())
    known = len(shape) == 2 and all(isinstance(side, int) for side in shape)
    return for_size(*shape) if known else at_most(cores() if shape else 1)


def running(n_jobs: int | None) -> int:
    """How many tasks run at the same time: what ``n_jobs`` says, or else joblib's setting."""
    from joblib.parallel import get_active_backend

    wanted: Any = get_active_backend()[1] if n_jobs is None else n_jobs
    wanted = wanted if isinstance(wanted, int) else 1
    return cores() + 1 + wanted if wanted < 0 else wanted


def side_by_side(n_jobs: int | None, tasks: int) -> Any:
    """``at_most`` the share of each of several tasks that run as threads at the same time."""
    return at_most(cores() // max(1, min(running(n_jobs), tasks)))
