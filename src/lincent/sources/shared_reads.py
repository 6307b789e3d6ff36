"""Concurrent work on the same data: one pass over the data serves all of it.

Folds of a search, base models of an ensemble and binary subproblems read the same blocks, each for
its own sums.  They run as threads that wait for each other: once all of them wait for a read, one
pass over the data serves them, and a block is loaded once for all.  A job may start further jobs,
whose threads join the same reads.  An error or an interrupt in one thread cancels the reads of the
others.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial, reduce
from typing import Any, TypeVar

import numpy as np

from lincent import _threads

T = TypeVar("T")
Log = Callable[[str], None]
Merge = Callable[[list[Any]], Any]
"""From the results of some parts to that of all of them together."""
Each = Sequence[tuple[Any, ...]] | None
"""Further arguments of a function, for each block."""
Alter = Callable[..., tuple[Any, ...]]
"""From the parts of a block, and further arguments, to other parts."""

MUCH = 2**23
"""Bytes of results, and at most 64 of them, that are kept before they are merged; where the merged
result is larger (rows that are collected), as many bytes as that: it is not copied each time."""
ENCODE = (
    "blocks and batches are numbers: encode text and categories first, give X in memory, or use "
    "'lincent fit', which encodes them in files of any size"
)


class BlockError(ValueError):
    """The values of one block are wrong."""


class ReadCancelled(RuntimeError):
    """Another thread of the same fit has ended, and so does this read."""


def merge_results(parts: list[Any]) -> Any:
    """Merge the results of several parts of the data: lists are chained, numbers are added.

    Tuples and dataclasses are merged field by field, unless their class has a method ``joined``.
    """
    first: Any = parts[0]
    if hasattr(first, "joined"):
        return first.joined(parts)
    if isinstance(first, list):
        return [item for part in parts for item in part]
    if isinstance(first, tuple):
        return tuple(merge_results(list(same)) for same in zip(*parts, strict=True))
    if is_dataclass(first):
        each = [[getattr(part, field.name) for part in parts] for field in fields(first)]
        make: Any = type(first)
        return make(*map(merge_results, each))
    # One after the other: a stack of matrices would be as large as all of them.
    return None if first is None else reduce(np.add, parts)


class TreeReducer:
    """Results of many parts of the data, merged before they take much memory."""

    def __init__(self, merge: Merge) -> None:
        self.merge = merge
        self.answers: list[Any] = []
        self._new = self._merged = 0

    def put(self, answer: Any) -> None:
        """Add a result."""
        self.answers.append(answer)
        self._new += _bytes(answer)
        if len(self.answers) >= 64 or self._new > max(MUCH, self._merged):
            self.answers = [self.merge(self.answers)]
            self._new, self._merged = 0, _bytes(self.answers[0])


def _bytes(answer: Any) -> int:
    """Return the size of the arrays in a result."""
    if isinstance(answer, np.ndarray):
        return answer.nbytes
    if is_dataclass(answer):
        return sum(_bytes(getattr(answer, field.name)) for field in fields(answer))
    return sum(map(_bytes, answer)) if isinstance(answer, list | tuple) else 0


@dataclass
class ReadRequest:
    """A function of all blocks of a schedule, its arguments for each, and its results."""

    schedule: Any
    verb: str
    work: Callable[..., Any]
    each: Each = None
    merge: Merge = merge_results
    answers: list[Any] = field(default_factory=list)
    error: BaseException | None = None
    done: bool = False

    def arguments(self, i: int, block: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of the function for a block of the data."""
        return (*self.schedule.alter(i, block), *(self.each[i] if self.each else ()))


class BaseSchedule:
    """Blocks of a data set, and the way to run a function on each."""

    unit = "blocks"
    count: int | None = None
    """The number of blocks, once it is known."""

    def __init__(self, log: Log) -> None:
        self.log, self.reads = log, 0
        self.alter: Callable[[int, tuple[Any, ...]], tuple[Any, ...]] = lambda i, block: block

    def altered(self, alter: Alter, each: Each = None, name: str = "") -> BaseSchedule:
        """Return the same blocks, each changed by a function; a name is logged before each pass."""
        other, before, log = copy(self), self.alter, self.log
        other.alter = lambda i, block: alter(*before(i, block), *(each[i] if each else ()))
        other.log = (lambda line: log(f"{name}: {line}")) if name else log
        other.reads = 0
        return other

    def sent(self, value: Any) -> Any:
        """Return a value that goes with blocks: to each worker once."""
        return value

    def read_all(self, requests: Sequence[ReadRequest], halt: threading.Event) -> None:
        """Set the results of requests to schedules of the same data, by one pass."""
        raise NotImplementedError

    def run(
        self,
        verb: str,
        function: Callable[..., T],
        *,
        each: Each = None,
        merge: Merge = merge_results,
        **shared: Any,
    ) -> T:
        """Return merge([function(*block, *each_i, **shared) for all blocks]), in one pass."""
        self.reads += 1
        begin = time.monotonic()
        request = ReadRequest(self, verb, partial(function, **shared), each, merge)
        perform_read(request)
        result: T = merge(request.answers)
        took = time.monotonic() - begin
        self.log(f"read {self.reads}, {verb}: {self.count} {self.unit} in {took:.2f} s")
        return result


class ReadBarrier:
    """Threads that read at the same time; each calls ``leave`` when it is done."""

    def __init__(self, members: int) -> None:
        self._members, self._waiting = members, list[ReadRequest]()
        self._change = threading.Condition()
        self.halt = threading.Event()

    def read(self, request: ReadRequest) -> None:
        """Wait until all others have a request, too; the last one to come reads for all."""
        with self._change:
            self._check(request)
            self._waiting.append(request)
            self._read_if_all_wait()
            while not request.done:
                self._change.wait(1.0)  # then checks whether the others still read
                self._check(request)
        if request.error is not None:
            raise request.error

    def _check(self, request: ReadRequest) -> None:
        if self.halt.is_set() and not request.done:
            raise ReadCancelled(f"The read '{request.verb}' is not needed any more.")

    def join(self, more: int) -> None:
        """Wait for so many threads more."""
        with self._change:
            self._members += more

    def leave(self) -> None:
        """Wait for one thread less."""
        with self._change:
            self._members -= 1
            self._read_if_all_wait()

    def _read_if_all_wait(self) -> None:
        complete = self._waiting and len(self._waiting) >= self._members
        if complete and not self.halt.is_set():
            requests, self._waiting = self._waiting, []
            try:
                requests[0].schedule.read_all(requests, self.halt)
            except BaseException as error:
                for request in requests:
                    request.error = error
            for request in requests:
                request.done = True
        self._change.notify_all()


_current: contextvars.ContextVar[ReadBarrier | None] = contextvars.ContextVar(
    "lincent_read_barrier", default=None
)


def perform_read(request: ReadRequest) -> None:
    """Read for a request: at once, or with the requests of all concurrent threads."""
    barrier = _current.get()
    if barrier is None:
        request.schedule.read_all([request], threading.Event())
    else:
        barrier.read(request)


def run_concurrently(jobs: Sequence[Callable[[], T]], threads: int) -> list[T]:
    """Return the results of the jobs, in order; so many run at once and share their reads."""
    threads = min(threads, len(jobs))
    if threads <= 1:
        return [job() for job in jobs]
    outer = _current.get()
    barrier = ReadBarrier(threads) if outer is None else outer
    if outer is not None:
        outer.join(threads - 1)  # this thread is one of them: others take memory for a stack each
    pool = _JobPool(jobs, barrier, nested=outer is not None, threads=threads)
    # The Dask client of this thread, and its barrier, are those of the others, too.
    context = contextvars.copy_context()
    context.run(_current.set, barrier)
    with _threads.share_cores(threads, threads):
        running: list[threading.Thread] = []
        try:
            for k in range(int(outer is not None), threads):
                thread = threading.Thread(target=context.copy().run, args=(pool.work,))
                try:
                    thread.start()
                except (RuntimeError, MemoryError):
                    # No memory for its stack: the threads that run do its work.
                    pool.do_without(threads - max(k, 1))
                    break
                running.append(thread)
            if outer is not None or not running:
                context.copy().run(pool.work)
            # With a timeout: an interrupt does not get through to a wait without one.
            while not pool.errors and (alive := [one for one in running if one.is_alive()]):
                alive[0].join(0.1)
        finally:
            if any(thread.is_alive() for thread in running):
                barrier.halt.set()  # cancels the reads of the others
            for thread in running:
                thread.join()
    for error in sorted(pool.errors, key=lambda error: isinstance(error, ReadCancelled)):
        raise error
    return pool.results


class _JobPool:
    """Jobs that several threads take one after the other."""

    def __init__(
        self, jobs: Sequence[Callable[[], Any]], barrier: ReadBarrier, *, nested: bool, threads: int
    ) -> None:
        self.results: list[Any] = [None] * len(jobs)
        self.errors: list[BaseException] = []
        self._todo = iter(enumerate(jobs))
        self._barrier, self._nested, self._left = barrier, nested, threads
        self._lock = threading.Lock()

    def work(self) -> None:
        """Run jobs until there are none."""
        try:
            while (item := self._next()) is not None:
                self.results[item[0]] = item[1]()
        except BaseException as error:  # raised again by the thread that waits
            self.errors.append(error)
            self._barrier.halt.set()  # before it leaves: nothing is read for the others any more
        finally:
            with self._lock:
                self._left -= 1
                last = self._left == 0
            if not (last and self._nested):  # the last place is that of the thread that waits
                self._barrier.leave()

    def do_without(self, threads: int) -> None:
        """Count so many threads as ended."""
        with self._lock:
            self._left -= threads
        for _ in range(threads):
            self._barrier.leave()

    def _next(self) -> tuple[int, Callable[[], Any]] | None:
        with self._lock:
            return None if self._barrier.halt.is_set() else next(self._todo, None)
