"""Runs cells in worker processes, keeps the time, and stores rows as they come.

Each worker is driven by one thread. When a fit passes the time limit its process is killed, the
cell is marked, and a new process takes its place. After three such fits of one method on one data
set, the rest of that pair is marked as skipped: the paper excluded such a method as well.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
import platform
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lincent._versions import versions
from lincent.paper.study.cells import DIED, FAILED, OK, SKIPPED, TIMEOUT, Cell, empty_row
from lincent.paper.study.methods import Method
from lincent.paper.study.problem import Problem
from lincent.paper.study.store import RunStore
from lincent.paper.study.worker import receive, send

TIME_LIMIT = 300.0
GIVE_UP_AFTER = 3
FLUSH_SECONDS = 2.0
PARTS_BEFORE_COMPACTION = 60
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)

Progress = Callable[[int, int, dict[str, Any]], None]


@dataclass(frozen=True)
class Plan:
    """All that a study runs.

    Parameters
    ----------
    cells : tuple of Cell
        One cell per fit.
    problems : dict[str, Problem]
        The data sets by name.
    methods : dict[str, Method]
        The methods by code.
    """

    cells: tuple[Cell, ...]
    problems: dict[str, Problem]
    methods: dict[str, Method]

    def __add__(self, other: Plan) -> Plan:
        cells = tuple(dict.fromkeys(self.cells + other.cells))
        problems, methods = self.problems | other.problems, self.methods | other.methods
        return Plan(cells, problems, methods)


def run_plan(
    plan: Plan,
    store: RunStore,
    *,
    jobs: int = 1,
    time_limit: float = TIME_LIMIT,
    progress: Progress | None = None,
    retry: bool = False,
    budget: float = math.inf,
) -> list[dict[str, Any]]:
    """Run what is not yet in the store and return all rows of the plan, in its order.

    Parameters
    ----------
    plan : Plan
        What is to be run.
    store : RunStore
        Where rows are kept; what it has is not run again.
    jobs : int
        Worker processes.
    time_limit : float
        Seconds for one fit with its scoring.
    progress : callable or None
        Called with (cells done, cells in all, last row).
    retry : bool
        Run marked cells (failed, stopped, skipped) of an earlier run again.
    budget : float
        Begin no fit after so many seconds; what is left is for another call.

    Returns
    -------
    list of dict
        The rows of the plan, in its order; all of them unless the budget was spent.
    """
    if jobs < 1:
        raise ValueError(f"jobs is a number of processes, 1 or more, got {jobs}.")
    if not time_limit > 0:
        raise ValueError(f"time_limit is a number of seconds above 0, got {time_limit}.")
    keys = [cell.key for cell in plan.cells]
    with store.writing():
        if retry:
            store.forget(lambda row: row["status"] != OK)
        known = store.read()
        todo = [cell for cell in plan.cells if cell.key not in known]
        if todo:
            late = Counter(
                (row["digest"], row["method"], row["procedure"])
                for row in known.values()
                if row["status"] == TIMEOUT
            )
            done = len(plan.cells) - len(todo)
            ends = time.monotonic() + budget
            crew = _Crew(plan, todo, min(jobs, len(todo)), time_limit, late, ends)
            _collect(crew, store, done, len(plan.cells), progress, keys)
        store.compact(keys)
    store.clean()
    rows = store.read()
    return [rows[key] for key in keys if key in rows]


def _collect(
    crew: _Crew,
    store: RunStore,
    done: int,
    total: int,
    progress: Progress | None,
    keys: Sequence[str],
) -> None:
    waiting: list[dict[str, Any]] = []
    flushed, parts = time.monotonic(), 0
    stamp = {"versions": json.dumps(versions()), "machine": json.dumps(machine())}
    try:
        crew.start()
        while (row := crew.next_row()) is not None:
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            waiting.append(row | stamp | {"finished": now})
            done += 1
            if progress is not None:
                progress(done, total, row)
            if time.monotonic() - flushed > FLUSH_SECONDS:
                store.append(waiting)
                waiting, flushed, parts = [], time.monotonic(), parts + 1
                if parts >= PARTS_BEFORE_COMPACTION:
                    store.compact(keys)
                    parts = 0
    finally:
        crew.stop()
        store.append(waiting)


class _Crew:
    """Worker processes and the threads that drive them."""

    def __init__(
        self,
        plan: Plan,
        todo: Sequence[Cell],
        jobs: int,
        time_limit: float,
        late: Counter[tuple[str, str, str]],
        ends: float,
    ) -> None:
        self.plan, self.time_limit, self.late, self.ends = plan, time_limit, late, ends
        self.work: queue.SimpleQueue[Cell] = queue.SimpleQueue()
        for cell in todo:
            self.work.put(cell)
        # None says that a worker has no more to do.
        self.rows: queue.SimpleQueue[dict[str, Any] | BaseException | None] = queue.SimpleQueue()
        self.at_work = jobs
        self.stopping = threading.Event()
        self.workers = [_Worker(plan, time_limit) for _ in range(jobs)]
        self.threads = [
            threading.Thread(target=self._drive, args=(worker,), daemon=True)
            for worker in self.workers
        ]

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.stopping.set()
        for worker in self.workers:
            worker.kill()
        for thread in self.threads:
            thread.join(timeout=10)

    def next_row(self) -> dict[str, Any] | None:
        """Wait for a row; None when every worker has ended."""
        while self.at_work:
            row = self.rows.get()
            if isinstance(row, BaseException):
                raise row
            if row is not None:
                return row
            self.at_work -= 1
        return None

    def _drive(self, worker: _Worker) -> None:
        try:
            while not self.stopping.is_set() and time.monotonic() < self.ends:
                cell = self.work.get_nowait()
                row = self._row(worker, cell)
                if not self.stopping.is_set():
                    self.rows.put(row)
            worker.kill()
            self.rows.put(None)
        except queue.Empty:
            worker.kill()
            self.rows.put(None)
        except BaseException as error:
            self.rows.put(error)

    def _row(self, worker: _Worker, cell: Cell) -> dict[str, Any]:
        pair = (cell.digest, cell.method, cell.procedure)
        if self.late[pair] >= GIVE_UP_AFTER:
            reason = f"{GIVE_UP_AFTER} earlier fits passed the limit of {self.time_limit:g} s"
            return empty_row(cell, SKIPPED, reason)
        row = worker.run(cell)
        if row["status"] == DIED and not self.stopping.is_set():
            row = worker.run(cell)  # once more: the machine may have been short of memory
        if row["status"] == TIMEOUT:
            self.late[pair] += 1
        return row


class _Worker:
    """One process, started when it is first needed and again after it was killed."""

    def __init__(self, plan: Plan, time_limit: float) -> None:
        self.plan, self.time_limit = plan, time_limit
        self.process: subprocess.Popen[bytes] | None = None
        self.told: set[tuple[str, str]] = set()
        self.expired = threading.Event()

    def run(self, cell: Cell) -> dict[str, Any]:
        try:
            messages = self._messages(cell)
        except Exception as error:  # an estimator that cannot be sent to another process
            return empty_row(cell, FAILED, f"{type(error).__name__}: {error}")
        process = self.process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        self.expired.clear()
        timer = threading.Timer(self.time_limit, self._expire)
        try:
            if not self.told:
                receive(process.stdout)  # imports are done: the limit is for the fit
            timer.start()
            for name, message in messages:
                send(process.stdin, message)
                self.told.add(name)
            row: dict[str, Any] = receive(process.stdout)
        except (EOFError, OSError):
            self.kill()
            if self.expired.is_set():
                reason = f"the fit passed the limit of {self.time_limit:g} s"
                return empty_row(cell, TIMEOUT, reason)
            code = process.returncode
            return empty_row(cell, DIED, f"the worker process ended with code {code}")
        finally:
            timer.cancel()
        return row

    def kill(self) -> None:
        process, self.process = self.process, None
        self.told = set()
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    _close(stream)

    def _expire(self) -> None:
        self.expired.set()
        process = self.process
        if process is not None:
            process.kill()

    def _start(self) -> subprocess.Popen[bytes]:
        environment = os.environ | dict.fromkeys(THREAD_VARIABLES, "1")
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from lincent.paper.study.worker import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        return self.process

    def _messages(self, cell: Cell) -> list[tuple[tuple[str, str], bytes]]:
        needed: list[tuple[str, str, Any]] = [
            ("problem", cell.digest, self.plan.problems[cell.digest]),
            ("method", cell.method, self.plan.methods[cell.method]),
        ]
        new = [item for item in needed if item[:2] not in self.told]
        new.append(("cell", cell.key, cell))
        return [((kind, name), _pickle((kind, name, value))) for kind, name, value in new]


def _pickle(message: Any) -> bytes:
    # cloudpickle also takes classes that were defined in a notebook or a script.
    try:
        import cloudpickle as pickler
    except ImportError:
        import pickle as pickler
    return bytes(pickler.dumps(message))


def _close(stream: Any) -> None:
    with contextlib.suppress(OSError):  # what was not sent is not needed any more
        stream.close()


def machine() -> dict[str, Any]:
    """Return what is worth knowing of the machine: nothing that names it."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "cores": os.cpu_count() or 0,
    }
