"""A function over all blocks of a Dask collection: one graph, one pass.

Locally (threads, processes, synchronous) the graph goes to Dask's own ``compute``.  On a cluster
its futures are watched, so that

    a block that fails          ends the pass at once, and the error has the number of the block
    a worker that dies          is left to Dask: its blocks are done again on other workers
    a scheduler that is lost    is an error after ``PATIENCE`` seconds, not a wait without end
    an interrupt                cancels the tasks that are left

Threads that work on the same blocks (the folds of a search) share their passes: one graph serves
all of them (see ``shared_reads``).

Task names are ``lincent-<verb>-...``, as shown by the dashboard.
"""

from __future__ import annotations

import math
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from lincent.sources.shared_reads import (
    BaseSchedule,
    BlockError,
    Log,
    Merge,
    ReadCancelled,
    ReadRequest,
)

PATIENCE = 20.0
"""Seconds without a scheduler, or without any worker, after which a pass fails."""
ANSWER = 300.0
"""Seconds that a scheduler may take to answer while its connection stands: on an overloaded
machine, loading this package there has taken more than thirty."""


class SchedulerGone(ConnectionError):
    """The cluster cannot finish a pass."""


class Schedule(BaseSchedule):
    """The blocks of a Dask collection."""

    def __init__(self, blocks: Sequence[tuple[Any, ...]], log: Log) -> None:
        super().__init__(log)
        self.blocks, self.count = list(blocks), len(blocks)

    def sent(self, value: Any) -> Any:
        from dask import delayed

        return delayed(value, pure=False, traverse=False)

    def read_all(self, requests: Sequence[ReadRequest], halt: threading.Event) -> None:
        """Compute one graph; a task serves all requests of its block: tasks cost milliseconds."""
        count, client = len(self.blocks), _cluster()
        # With few blocks, requests have several tasks for a block, to use more workers.
        shares = min(len(requests), -(-16 // count))
        verbs = dict.fromkeys(request.verb for request in requests)
        stem = f"lincent-{'+'.join(verbs)}-{uuid.uuid4().hex}"
        parts = [task for k in range(shares) for task in _tasks(requests[k::shares], f"{stem}-{k}")]
        wanted = parts
        if shares == 1 and count > 64:  # merged on the workers first
            wanted = _groups(parts, [request.merge for request in requests], stem)
        if client is None:
            answers = _locally(parts, wanted, count)
        else:
            watch = _Watch(client, ", ".join(verbs), self.log, halt, count)
            answers = watch.answers(parts, wanted)
        size = len(answers) // shares
        for k in range(shares):
            by_request = zip(*answers[k * size : (k + 1) * size], strict=True)
            for request, found in zip(requests[k::shares], by_request, strict=True):
                request.answers = list(found)


def _tasks(requests: Sequence[ReadRequest], stem: str) -> list[Any]:
    """Return a task for each block, which serves all requests."""
    from dask import delayed

    call = delayed(partial(_answers, [request.work for request in requests]), pure=False)
    count = len(requests[0].schedule.blocks)
    asked = [[r.arguments(i, r.schedule.blocks[i]) for r in requests] for i in range(count)]
    return [call(one, dask_key_name=f"{stem}-{i}") for i, one in enumerate(asked)]


def _answers(works: list[Callable[..., Any]], asked: list[Any]) -> list[Any]:
    return [work(*block) for work, block in zip(works, asked, strict=True)]


def _groups(parts: list[Any], merges: list[Merge], stem: str) -> list[Any]:
    """Return tasks that merge the results of some blocks on their workers."""
    from dask import delayed

    size = math.isqrt(len(parts))
    join = delayed(partial(_merged, merges), pure=False)
    return [
        join(parts[k : k + size], dask_key_name=f"{stem}-group-{k}")
        for k in range(0, len(parts), size)
    ]


def _merged(merges: list[Merge], parts: list[Any]) -> list[Any]:
    by_request = zip(*parts, strict=True)
    return [merge(list(some)) for merge, some in zip(merges, by_request, strict=True)]


def _cluster() -> Any:
    """Return the client that Dask would use, or None where it would compute in this process."""
    from dask.base import get_scheduler

    chosen: Any = get_scheduler()  # type: ignore[no-untyped-call,unused-ignore]
    client = getattr(chosen, "__self__", None)
    return client if hasattr(client, "scheduler_info") else None


def _locally(parts: list[Any], wanted: list[Any], count: int) -> list[Any]:
    import dask

    compute: Any = dask.compute
    try:
        return list(compute(*wanted))
    except Exception:
        # Local schedulers do not report which task failed: do the blocks again one by one.
        for i, part in enumerate(parts):
            try:
                compute(part)
            except Exception as error:
                _blame(i % count, count, error)
        raise


def _blame(i: int, count: int, error: BaseException) -> NoReturn:
    """Raise the error of one block again, with its number."""
    where = f"partition {i} of {count} (counted from 0)"
    if isinstance(error, BlockError):
        raise ValueError(f"In {where}: {error}") from error
    if type(error).__name__ == "KilledWorker":
        raise MemoryError(
            f"Workers died again and again at {where}, most likely for lack of memory: use smaller "
            "partitions, or workers with more memory."
        ) from error
    raise RuntimeError(
        f"X could not be read: {where} failed with {type(error).__name__}: {error}"
    ) from error


class _Watch:
    """Futures on a cluster, watched until they are done or have failed."""

    def __init__(self, client: Any, verb: str, log: Log, halt: threading.Event, count: int) -> None:
        self.client, self.verb, self.log, self.halt = client, verb, log, halt
        self.count = count
        self.good = self.logged = time.monotonic()

    def answers(self, parts: list[Any], wanted: list[Any]) -> list[Any]:
        import dask
        from distributed.client import CancelledError  # what a scheduler that dies leaves behind
        from distributed.comm import CommClosedError

        try:
            # Labels given as a plain array travel with the graph; that is meant.
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
                more = [] if wanted is parts else wanted
                futures = self.client.compute([*parts, *more])
        except CommClosedError as error:
            self._lost(error)
        try:
            self._wait(futures)
            return list(self.client.gather(futures[-len(wanted) :]))
        except BaseException as error:
            if self.client.status == "running":
                self.client.cancel(futures)
            if isinstance(error, CommClosedError | CancelledError):
                self._lost(error)
            raise

    def _wait(self, futures: list[Any]) -> None:
        # The client updates every future on a thread of its own; checking costs nothing.
        asked = time.monotonic()
        while True:
            states = [future.status for future in futures]
            if "error" in states:
                first = states.index("error")
                _blame(first % self.count, self.count, futures[first].exception(timeout=ANSWER))
            if "cancelled" in states:
                self._lost(None)
            # "lost" is what a dead worker had finished: it is being done again.
            pending = states.count("pending") + states.count("lost")
            if not pending:
                return
            if self.halt.is_set():
                raise ReadCancelled(f"The read '{self.verb}' is not needed any more.")
            time.sleep(0.01)
            if time.monotonic() - asked > 1.0:
                self._still_alive(len(futures), pending)
                asked = time.monotonic()

    def _still_alive(self, count: int, pending: int) -> None:
        now = time.monotonic()
        running = self.client.status == "running"
        if running and self._workers():
            self.good = now
        elif now - self.good > PATIENCE:
            self._no_workers() if running else self._lost(None)
        if now - self.logged > 10.0:
            self.logged = now
            self.log(f"{self.verb}: {count - pending} of {count} blocks")

    def _workers(self) -> Any:
        """Return the workers of the scheduler; one that does not answer is lost."""
        try:
            ask = self.client.scheduler.identity
            return self.client.sync(ask, callback_timeout=ANSWER)["workers"]
        except TimeoutError as error:
            self._lost(error)

    def _lost(self, cause: BaseException | None) -> NoReturn:
        raise SchedulerGone(
            f"The Dask scheduler is lost (client status: {self.client.status}), so the read "
            f"'{self.verb}' cannot be finished. Start the cluster again, connect a new Client "
            "and call fit again."
        ) from cause

    def _no_workers(self) -> NoReturn:
        raise SchedulerGone(
            f"The Dask cluster has had no workers for {PATIENCE:.0f} s, so the read '{self.verb}' "
            "cannot be finished. Add workers and call fit again."
        )
