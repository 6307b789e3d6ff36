"""Work side by side on the same data: one read answers everyone.

Folds of a search, members of a committee and two-class problems ask the same blocks, each for
something of its own.  They run as threads that wait for each other: once all of them wait for a
read, one pass over the data answers them, and a block is loaded once for all.  Work may fall into
further work on the way; its threads join the same reads.  An error or an interrupt in one of them
ends the reads of the others.


---

Answers of many parts of the data, merged before they take much room.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from lincent import _threads

T = TypeVar("T")
Tell = Callable[[str], None]

ASK = 1.0
"""Seconds between two looks whether the others still read."""
POLL = 0.1
"""Seconds between two looks at threads that work."""


class ReadCancelled(RuntimeError):
    """Another thread of the same fit has ended, and so does this read."""


@dataclass(kw_only=True)
class Request:
    """What is asked of all blocks, and the answers."""

    verb: str
    tell: Tell
    answers: list[Any] = field(default_factory=list)
    error: BaseException | None = None
    done: bool = False

    def read_all(self, requests: Sequence[Any], halt: threading.Event) -> None:
        """Set the answers of all requests, which are of this kind, by one pass over the data."""
        raise NotImplementedError


class ReadBarrier:
    """Threads that read at the same time; each ``leave``s when it is done."""

    def __init__(self, members: int) -> None:
        self._members, self._waiting = members, list[Request]()
        self._change = threading.Condition()
        self.halt = threading.Event()

    def read(self, request: Request) -> None:
        """Wait until all others have a request, too; the last one to come reads for all."""
        with self._change:
            self._check(request)
            self._waiting.append(request)
            self._read_if_all_wait()
            while not request.done:
                self._change.wait(ASK)
                self._check(request)
        if request.error is not None:
            raise request.error

    def _check(self, request: Request) -> None:
        if self.halt.is_set() and not request.done:
            raise ReadCancelled(f"The read '{request.verb}' is not needed any more.")

    def join(self, more: int) -> None:
        """So many threads more to wait for."""
        with self._change:
            self._members += more

    def leave(self) -> None:
        """One thread less to wait for."""
        with self._change:
            self._members -= 1
            self._read_if_all_wait()

    def _read_if_all_wait(self) -> None:
        if not self._waiting or len(self._waiting) < self._members:
            return
        requests, self._waiting = self._waiting, []
        try:
            requests[0].read_all(requests, self.halt)
        except BaseException as error:
            for request in requests:
                request.error = error
        for request in requests:
            request.done = True
        self._change.notify_all()


_current: contextvars.ContextVar[ReadBarrier | None] = contextvars.ContextVar(
    "lincent_together", default=None
)


def perform_read(request: Request) -> None:
    """The answers to a request: at once, or with those of all that work side by side."""
    together = _current.get()
    if together is None:
        request.read_all([request], threading.Event())
    else:
        together.read(request)


def side_by_side(jobs: Sequence[Callable[[], T]], threads: int) -> list[T]:
    """What the jobs return, in order; so many at once, and all that run read together."""
    threads = min(threads, len(jobs))
    if threads <= 1:
        return [job() for job in jobs]
    outer = _current.get()
    together = ReadBarrier(threads) if outer is None else outer
    if outer is not None:
        outer.join(threads - 1)  # this thread only waits for its own
    crew = _Crew(jobs, together, stays=outer is not None, threads=threads)
    # The client of this thread, and whom it reads with, are those of the others, too.
    context = contextvars.copy_context()
    context.run(_current.set, together)
    with _threads.side_by_side(threads, threads):
        running: list[threading.Thread] = []
        try:
            for k in range(threads):
                one = threading.Thread(target=context.copy().run, args=(crew.work,))
                try:
                    one.start()
                except (RuntimeError, MemoryError):
                    # No room for its stack: those that run do its work.
                    crew.do_without(threads - max(k, 1))
                    if k == 0:
                        context.copy().run(crew.work)
                    break
                running.append(one)
            # A wait with an end: an interrupt does not get through to one without.
            while not crew.errors and (alive := [one for one in running if one.is_alive()]):
                alive[0].join(POLL)
        finally:
            if crew.errors or any(one.is_alive() for one in running):
                together.halt.set()  # ends what the others are still reading
            for one in running:
                one.join()
    for error in sorted(crew.errors, key=lambda error: isinstance(error, ReadCancelled)):
        raise error
    return crew.results


class _Crew:
    """Threads that take one job after the other."""

    def __init__(
        self, jobs: Sequence[Callable[[], Any]], together: ReadBarrier, *, stays: bool, threads: int
    ) -> None:
        self.results: list[Any] = [None] * len(jobs)
        self.errors: list[BaseException] = []
        self._todo = iter(enumerate(jobs))
        self._together, self._stays, self._left = together, stays, threads
        self._lock = threading.Lock()

    def work(self) -> None:
        try:
            while (found := self._next()) is not None:
                place, job = found
                self.results[place] = job()
        except BaseException as error:  # told to who waits
            self.errors.append(error)
        finally:
            with self._lock:
                self._left -= 1
                last = self._left == 0
            if not (last and self._stays):  # the last one's place goes back to who waits for it
                self._together.leave()

    def do_without(self, threads: int) -> None:
        """So many of the crew do not come."""
        with self._lock:
            self._left -= threads
        for _ in range(threads):
            self._together.leave()

    def _next(self) -> tuple[int, Callable[[], Any]] | None:
        with self._lock:
            return None if self._together.halt.is_set() else next(self._todo, None)


FEW_ANSWERS = 64
MUCH = 2**25
"""So many answers, or so many bytes of them, are kept before they are merged; where what has been
merged is larger (rows that are collected), as many as that, so that it is not copied each time."""

Merge = Callable[[list[Any]], Any]
"""From the answers of some parts to that of all of them together."""


class TreeReducer:
    """Answers that are put on each other."""

    def __init__(self, merge: Merge) -> None:
        self.merge = merge
        self.answers: list[Any] = []
        self._fresh = self._merged = 0

    def put(self, answer: Any) -> None:
        """One more."""
        self.answers.append(answer)
        self._fresh += _bytes(answer)
        if len(self.answers) >= FEW_ANSWERS or self._fresh > max(MUCH, self._merged):
            self.answers = [self.merge(self.answers)]
            self._fresh, self._merged = 0, _bytes(self.answers[0])


def _bytes(answer: Any) -> int:
    """The size of the arrays in an answer."""
    if isinstance(answer, np.ndarray):
        return answer.nbytes
    if is_dataclass(answer):
        return sum(_bytes(getattr(answer, field.name)) for field in fields(answer))
    return sum(map(_bytes, answer)) if isinstance(answer, list | tuple) else 0


ENCODE = (
    "blocks and batches are numbers: encode text and categories first, give X in memory, or use "
    "'lincent fit', which encodes them in files of any size"
)


class BlockError(ValueError):
    """What is wrong with the values of one block."""
