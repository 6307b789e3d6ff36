"""One function over all blocks of a Dask collection: one graph, one read.

Locally (threads, processes, synchronous) the graph goes to Dask's own ``compute``.  On a cluster
its futures are watched, so that

    a block that fails          ends the read at once, and the error names the block
    a worker that dies          is Dask's business: its blocks are done again elsewhere
    a scheduler that is gone    is an error after ``PATIENCE`` seconds, not a wait without end
    an interrupt                cancels what the cluster still has to do

Threads that work on the same blocks (the folds of a search) read together: one graph answers all of
them (see ``passes.together``).

Task names are ``lincent-<verb>-...``: that is what a dashboard shows.
"""

from __future__ import annotations

import math
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from lincent.sources.shared_reads import (
    BlockError,
    Merge,
    ReadCancelled,
    Request,
    Tell,
    perform_read,
)

PATIENCE = 20.0
"""Seconds without a scheduler, or without any worker, after which a read gives up."""
ANSWER = 300.0
"""Seconds that a scheduler may take to answer a question while its connection stands: on a machine
with ten times the work it can do, loading this package there has taken more than thirty."""
POLL = 0.01
ASK = 1.0
"""Seconds between two looks at the futures, and between two questions to the scheduler."""
TALK = 10.0
"""Seconds between two lines about a read that takes long."""
FEW_BLOCKS = 64
"""Up to here the answers of all blocks come to the client; more are merged on the workers first."""
ENOUGH_TASKS = 16
"""With fewer blocks, requests that are read together have several tasks for a block, so that more
workers have something to do."""


class SchedulerGone(ConnectionError):
    """The cluster cannot finish a read."""


class Schedule:
    """The blocks of a data set, and the way to run something on each."""

    def __init__(self, blocks: Sequence[tuple[Any, ...]], tell: Tell) -> None:
        self.blocks = list(blocks)
        self.tell = tell
        self.reads = 0

    def altered(
        self,
        alter: Callable[..., tuple[Any, ...]],
        each: Sequence[tuple[Any, ...]] | None = None,
        name: str = "",
    ) -> Schedule:
        """The same blocks, each changed by a function; a name is told before each read."""
        extra = each if each is not None else [()] * len(self.blocks)
        blocks = [alter(*block, *more) for block, more in zip(self.blocks, extra, strict=True)]
        tell = (lambda line: self.tell(f"{name}: {line}")) if name else self.tell
        return Schedule(blocks, tell)

    def run(
        self,
        verb: str,
        function: Callable[..., Any],
        *,
        each: Sequence[tuple[Any, ...]] | None = None,
        merge: Merge,
        **shared: Any,
    ) -> Any:
        """merge([function(*block, *each_i, **shared) for all blocks]), as one read."""
        self.reads += 1
        extra = each if each is not None else [()] * len(self.blocks)
        blocks = [(*block, *more) for block, more in zip(self.blocks, extra, strict=True)]
        work = partial(function, **shared)
        begin = time.monotonic()
        request = GraphRequest(verb=verb, tell=self.tell, blocks=blocks, work=work, merge=merge)
        perform_read(request)
        answer = merge(request.answers)
        took = time.monotonic() - begin
        self.tell(f"read {self.reads}, {verb}: {len(blocks)} blocks in {took:.2f} s")
        return answer


@dataclass(kw_only=True)
class GraphRequest(Request):
    """A function of a block, what it is given for each, and how the answers are merged."""

    blocks: list[tuple[Any, ...]]
    work: Callable[..., Any]
    merge: Merge

    def read_all(self, requests: Sequence[GraphRequest], halt: threading.Event) -> None:
        """One graph; a task answers all that is asked of its block: tasks cost milliseconds."""
        count, client = len(self.blocks), _cluster()
        shares = min(len(requests), -(-ENOUGH_TASKS // count))
        verbs = dict.fromkeys(request.verb for request in requests)
        stem = f"lincent-{'+'.join(verbs)}-{uuid.uuid4().hex}"
        parts = [task for k in range(shares) for task in _tasks(requests[k::shares], f"{stem}-{k}")]
        wanted = parts
        if shares == 1 and count > FEW_BLOCKS:
            wanted = _groups(parts, [request.merge for request in requests], stem)
        if client is None:
            answers = _locally(parts, wanted, count)
        else:
            watch = _Watch(client, ", ".join(verbs), self.tell, halt, count)
            answers = watch.answers(parts, wanted)
        size = len(answers) // shares
        for k in range(shares):
            by_request = zip(*answers[k * size : (k + 1) * size], strict=True)
            for request, found in zip(requests[k::shares], by_request, strict=True):
                request.answers = list(found)


def _tasks(requests: Sequence[GraphRequest], stem: str) -> list[Any]:
    """A task for each block, which answers all of these."""
    from dask import delayed

    call = delayed(partial(_answers, [request.work for request in requests]), pure=False)
    blocks = zip(*(request.blocks for request in requests), strict=True)
    return [call(list(asked), dask_key_name=f"{stem}-{i}") for i, asked in enumerate(blocks)]


def _answers(works: list[Callable[..., Any]], asked: list[Any]) -> list[Any]:
    return [work(*block) for work, block in zip(works, asked, strict=True)]


def _groups(parts: list[Any], merges: list[Merge], stem: str) -> list[Any]:
    """Tasks that merge the answers of some blocks where they are."""
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
    """The client that Dask would use, or None where it would compute in this process."""
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
        # Local schedulers do not say which task failed: do the blocks again one by one.
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
    """Futures on a cluster, watched until they are done or hopeless."""

    def __init__(
        self, client: Any, verb: str, tell: Tell, halt: threading.Event, count: int
    ) -> None:
        self.client, self.verb, self.tell, self.halt = client, verb, tell, halt
        self.count = count
        self.good = self.spoken = time.monotonic()

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
            self._gone(error)
        try:
            self._wait(futures)
            return list(self.client.gather(futures[-len(wanted) :]))
        except BaseException as error:
            if self.client.status == "running":
                self.client.cancel(futures)
            if isinstance(error, CommClosedError | CancelledError):
                self._gone(error)
            raise

    def _wait(self, futures: list[Any]) -> None:
        # The client hears of every future on a thread of its own; looking costs nothing.
        asked = time.monotonic()
        # "lost" is what a dead worker had finished: it is being done again.
        while pending := sum(future.status in ("pending", "lost") for future in futures):
            self._first_error(futures)
            if self.halt.is_set():
                raise ReadCancelled(f"The read '{self.verb}' is not needed any more.")
            time.sleep(POLL)
            if time.monotonic() - asked > ASK:
                self._still_alive(len(futures), pending)
                asked = time.monotonic()
        self._first_error(futures)

    def _first_error(self, futures: list[Any]) -> None:
        for i, future in enumerate(futures):
            if future.status == "error":
                _blame(i % self.count, self.count, future.exception(timeout=ANSWER))
            if future.status == "cancelled":
                self._gone(None)

    def _still_alive(self, count: int, pending: int) -> None:
        now = time.monotonic()
        running = self.client.status == "running"
        if running and self._workers():
            self.good = now
        elif now - self.good > PATIENCE:
            self._no_workers() if running else self._gone(None)
        if now - self.spoken > TALK:
            self.spoken = now
            self.tell(f"{self.verb}: {count - pending} of {count} blocks")

    def _workers(self) -> Any:
        """The workers that the scheduler knows; a scheduler that does not answer is gone."""
        try:
            ask = self.client.scheduler.identity
            return self.client.sync(ask, callback_timeout=ANSWER)["workers"]
        except TimeoutError as error:
            self._gone(error)

    def _gone(self, cause: BaseException | None) -> NoReturn:
        raise SchedulerGone(
            f"The Dask scheduler is gone (client status: {self.client.status}), so the read "
            f"'{self.verb}' cannot be finished. Start the cluster again, connect a new Client "
            "and call fit again."
        ) from cause

    def _no_workers(self) -> NoReturn:
        raise SchedulerGone(
            f"The Dask cluster has had no workers for {PATIENCE:.0f} s, so the read '{self.verb}' "
            "cannot be finished. Add workers and call fit again."
        )
