"""Run a plan in worker processes, and keep its results in a folder.

    FOLDER/runs.parquet     the table of results, one row per run, in the order of the plan
    FOLDER/parts/*.parquet  rows that came after it, a few seconds' worth in each file
    FOLDER/study.json       settings, data sets, methods, versions, what is missing
    FOLDER/plot_data.json   what figures draw beside the table, where there is such data

Each file is written atomically, so an experiment that is killed loses seconds of work, and the same
call resumes it: runs whose key is in the table are not repeated. Compaction writes the joined table
before it removes the parts; a kill in between leaves rows twice, which reading undoes by their key.

Each run goes to a worker process (loky, as part of joblib) under a time limit. The process of a fit
that exceeds it is killed and replaced. After three such fits of one method on one data set the
rest of that pair is skipped, as the paper excluded such methods.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
import platform
import queue
import re
import signal
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lincent._errors import AppError
from lincent._files import atomic_write, remove_partial, write_file
from lincent._versions import versions
from lincent.model_selection.experiment import (
    DIED,
    FAILED,
    METRICS,
    OK,
    SKIPPED,
    TIMEOUT,
    Plan,
    Problem,
    Run,
    empty_row,
    measure,
)
from lincent.model_selection.methods import Method
from lincent.model_selection.statistics import TEST

TABLE, PARTS, RECORD, PLOT_DATA = "runs.parquet", "parts", "study.json", "plot_data.json"
MEASURED = ("fit_seconds", "score_seconds", "finished", "versions", "machine")
"""Columns that differ between two executions of the same run; all others must not."""
TIME_LIMIT = 300.0
MAX_TIMEOUTS = 3
FLUSH_SECONDS = 2.0
PARTS_BEFORE_COMPACTION = 60
PARENT_CHECK_SECONDS = 0.2
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
ONE_THREAD["VECLIB_MAXIMUM_THREADS"] = "1"

Progress = Callable[[int, int, dict[str, Any]], None]
PathLike = str | os.PathLike[str]


# ------------------------------------------------------------------------- the table of results


class FolderInUseError(AppError, RuntimeError):
    """Another process writes to the same folder."""


def _parquet() -> tuple[Any, Any]:
    """Return pyarrow and the schema of the table."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError('An experiment needs pyarrow: pip install "lincent[app]".') from error
    text, integer, number = pyarrow.string(), pyarrow.int64(), pyarrow.float64()
    scores = " ".join(f"{part}_{name}" for part in ("train", "test") for name in METRICS)
    columns = [
        (text, "key procedure dataset digest method settings params"),
        (integer, "split seed"),
        (text, "status error warnings chosen"),
        (integer, "n_train n_test"),
        (number, f"{scores} gap fit_seconds score_seconds"),
        (text, "finished versions machine"),
    ]
    return pyarrow, pyarrow.schema(
        [(name, kind) for kind, line in columns for name in line.split()]
    )


def _write(rows: Iterable[dict[str, Any]], path: Path) -> None:
    pyarrow, schema = _parquet()
    with atomic_write(path, force=True) as sink:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows), schema=schema), sink)


def _read(folder: Path) -> dict[str, dict[str, Any]]:
    """Return all rows by key; of rows with the same key the first counts."""
    pyarrow, schema = _parquet()
    rows: dict[str, dict[str, Any]] = {}
    for path in [folder / TABLE, *sorted((folder / PARTS).glob("*.parquet"))]:
        if path.is_file():
            for row in pyarrow.parquet.read_table(path, schema=schema).to_pylist():
                rows.setdefault(row["key"], row)
    return rows


def _append(rows: list[dict[str, Any]], folder: Path) -> None:
    if rows:
        number = len(list((folder / PARTS).glob("*.parquet")))
        _write(rows, folder / PARTS / f"{number:06d}-{uuid.uuid4().hex[:12]}.parquet")


def _compact(
    folder: Path, order: Iterable[str] = (), keep: Callable[[dict[str, Any]], bool] | None = None
) -> None:
    """Join all files to one table: the keys of ``order`` first, in that order, others after."""
    parts = list((folder / PARTS).glob("*.parquet"))
    rows = {key: row for key, row in _read(folder).items() if keep is None or keep(row)}
    keys = dict.fromkeys([*(key for key in order if key in rows), *sorted(rows)])
    _write((rows[key] for key in keys), folder / TABLE)
    for path in parts:
        path.unlink()


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold a folder for one writer; the operating system releases it when the process ends."""
    (folder / PARTS).mkdir(parents=True, exist_ok=True)
    with open(folder / PARTS / "lock", "w") as lock:
        try:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # not on this system; names of parts are unique, so nothing is lost
            pass
        except OSError as error:
            raise FolderInUseError(
                f"Another run writes to {folder}: wait for it, or choose another folder with -o."
            ) from error
        remove_partial(folder / PARTS)
        yield
    with contextlib.suppress(OSError):  # the parts of an unfinished experiment stay
        (folder / PARTS / "lock").unlink(missing_ok=True)
        (folder / PARTS).rmdir()


def read_runs(path: PathLike) -> Any:
    """Return a table of results as a pandas DataFrame.

    Parameters
    ----------
    path : str or path-like
        A folder of an experiment, or its table.

    Returns
    -------
    pandas.DataFrame
        One row per run.
    """
    pyarrow, schema = _parquet()
    return pyarrow.parquet.read_table(Path(path), schema=schema).to_pandas()


# ------------------------------------------------------------------------------ worker processes

_PROBLEMS: dict[str, Problem] = {}
"""In a worker process: the data sets of the plan."""


def _initialize(problems: dict[str, Problem], parent: int) -> None:
    """Prepare a worker process: it keeps the data and ends with its parent, not on an interrupt."""

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_CHECK_SECONDS)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    os.dup2(2, 1)  # what a method prints must not mix with our output
    _PROBLEMS.update(problems)


def _measure(run: Run, method: Method) -> dict[str, Any]:
    return measure(run, _PROBLEMS[run.digest], method)


class _Worker:
    """One worker process, started when it is first needed and again after it was killed."""

    def __init__(self, plan: Plan, time_limit: float) -> None:
        self.plan, self.time_limit = plan, time_limit
        self.executor: Any = None

    def run(self, run: Run) -> dict[str, Any]:
        """Return the row of a run."""
        from joblib.externals.loky import ProcessPoolExecutor

        try:
            if self.executor is None:
                data = (self.plan.problems, os.getpid())
                self.executor = ProcessPoolExecutor(
                    1, initializer=_initialize, initargs=data, env=ONE_THREAD
                )
                self.executor.submit(int).result()  # imports and data: the limit is for the fit
            future = self.executor.submit(_measure, run, self.plan.methods[run.method])
            row: dict[str, Any] = future.result(self.time_limit)
        except TimeoutError:
            self.kill()
            return empty_row(run, TIMEOUT, f"the fit exceeded the limit of {self.time_limit:g} s")
        except BrokenExecutor as error:
            self.kill()
            codes = re.search(r"\{(.*)\}", str(error))
            ending = f" with {codes[1]}" if codes else ""
            return empty_row(run, DIED, f"the worker process ended{ending}")
        except Exception as error:  # an estimator that cannot be sent to another process
            return empty_row(run, FAILED, f"{type(error).__name__}: {error}")
        return row

    def kill(self) -> None:
        executor, self.executor = self.executor, None
        if executor is not None:
            executor.shutdown(wait=True, kill_workers=True)


def run_plan(
    plan: Plan,
    folder: PathLike | None = None,
    *,
    n_jobs: int = 1,
    time_limit: float = TIME_LIMIT,
    progress: Progress | None = None,
    retry: bool = False,
    budget: float = math.inf,
) -> Any:
    """Run what is not yet in the table of a folder, and return all rows of the plan.

    Parameters
    ----------
    plan : Plan
        What is to be run.
    folder : path or None
        Where the table of results is kept; None keeps nothing.
    n_jobs : int
        Number of worker processes.
    time_limit : float
        Seconds for one fit with its scoring.
    progress : callable or None
        Called with (runs done, runs in all, last row).
    retry : bool
        Repeat runs of an earlier call that failed or were stopped or skipped.
    budget : float
        Begin no fit after so many seconds; what is left is for another call.

    Returns
    -------
    pandas.DataFrame
        The rows of the plan, in its order; all of them unless the budget was spent.
    """
    if n_jobs < 1:
        raise ValueError(f"n_jobs (--jobs) is a number of processes, 1 or more, got {n_jobs}.")
    if not time_limit > 0:
        raise ValueError(f"time_limit is a number of seconds above 0, got {time_limit}.")
    keys = [run.key for run in plan.runs]
    with contextlib.ExitStack() as stack:
        path = Path(folder or stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(lock_folder(path))
        if retry:
            _compact(path, keep=lambda row: row["status"] == OK)
        finished = _read(path)
        todo = [run for run, key in zip(plan.runs, keys, strict=True) if key not in finished]
        if todo:
            timeouts = Counter(
                (row["digest"], row["method"], row["procedure"])
                for row in finished.values()
                if row["status"] == TIMEOUT
            )
            workers = [_Worker(plan, time_limit) for _ in range(min(n_jobs, len(todo)))]
            deadline = time.monotonic() + budget
            rows = _run_all(todo, workers, time_limit, timeouts, deadline)
            _store(rows, path, keys, len(keys) - len(todo), progress)
        _compact(path, keys)
        table = _read(path)
    pyarrow, schema = _parquet()
    in_order = [table[key] for key in keys if key in table]
    return pyarrow.Table.from_pylist(in_order, schema=schema).to_pandas()


def _run_all(
    todo: list[Run],
    workers: list[_Worker],
    time_limit: float,
    timeouts: Counter[tuple[str, str, str]],
    deadline: float,
) -> Iterator[dict[str, Any]]:
    """Yield the row of each run as it ends; each worker is driven by a thread."""
    idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
    for worker in workers:
        idle.put(worker)
    stopping = threading.Event()

    def row_of(run: Run) -> dict[str, Any] | None:
        if stopping.is_set() or time.monotonic() >= deadline:
            return None
        pair = (run.digest, run.method, run.procedure)
        if timeouts[pair] >= MAX_TIMEOUTS:
            reason = f"{MAX_TIMEOUTS} earlier fits exceeded the limit of {time_limit:g} s"
            return empty_row(run, SKIPPED, reason)
        worker = idle.get()
        try:
            row = worker.run(run)
            if row["status"] == DIED and not stopping.is_set():
                row = worker.run(run)  # once more: the machine may have been short of memory
        finally:
            idle.put(worker)
        timeouts[pair] += row["status"] == TIMEOUT
        return None if stopping.is_set() else row

    with ThreadPoolExecutor(len(workers)) as threads:
        try:
            for future in as_completed([threads.submit(row_of, run) for run in todo]):
                row = future.result()
                if row is not None:
                    yield row
        finally:
            stopping.set()
            threads.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.kill()


def _store(
    rows: Iterator[dict[str, Any]],
    folder: Path,
    keys: list[str],
    done: int,
    progress: Progress | None,
) -> None:
    """Write rows to the folder as they come, also those that came before an interrupt."""
    waiting: list[dict[str, Any]] = []
    flushed, n_parts = time.monotonic(), 0
    stamp = {"versions": json.dumps(versions()), "machine": json.dumps(_machine())}
    try:
        for number, row in enumerate(rows, done + 1):
            waiting.append(row | stamp | {"finished": _now()})
            if progress is not None:
                progress(number, len(keys), row)
            if time.monotonic() - flushed > FLUSH_SECONDS:
                _append(waiting, folder)
                waiting, flushed, n_parts = [], time.monotonic(), n_parts + 1
                if n_parts % PARTS_BEFORE_COMPACTION == 0:
                    _compact(folder, keys)
    finally:
        rows.close()  # type: ignore[attr-defined]
        _append(waiting, folder)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _machine() -> dict[str, Any]:
    """Return the kind of machine, without its name."""
    cores = os.cpu_count() or 0
    return {"system": platform.system(), "architecture": platform.machine(), "cores": cores}


# ------------------------------------------------------------------------- finished experiments


@dataclass(frozen=True)
class ExperimentResult:
    """The outcome of `compare` or `reproduce`; reports are functions of it.

    Parameters
    ----------
    kind : {"compare", "reproduce", "seizure"}
        Which experiment it was.
    frame : DataFrame
        One row per run.
    problems, methods : tuple of dict
        Descriptions of the data sets and of the methods.
    missing : tuple of (str, str)
        What could not be run, and the remedy.
    config : dict
        Settings, seed, versions, machine, statistics, wall time.
    plot_data : dict
        What figures draw beside the runs.
    """

    kind: str
    frame: Any = field(repr=False)
    problems: tuple[dict[str, Any], ...]
    methods: tuple[dict[str, Any], ...]
    missing: tuple[tuple[str, str], ...]
    config: dict[str, Any]
    plot_data: dict[str, Any] = field(default_factory=dict, repr=False)

    def save(self, folder: PathLike) -> Path:
        """Write all but the table of runs.

        Parameters
        ----------
        folder : str or path-like
            Where the experiment was run.

        Returns
        -------
        Path
            The file written.
        """
        names = ("kind", "problems", "methods", "missing", "config")
        record = {name: getattr(self, name) for name in names}
        if self.plot_data:
            write_file(Path(folder) / PLOT_DATA, json.dumps(self.plot_data) + "\n")
        text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
        return write_file(Path(folder) / RECORD, text)


def load_result(folder: PathLike) -> ExperimentResult:
    """Read a finished experiment back.

    Parameters
    ----------
    folder : str or path-like
        Where an experiment was run and saved.

    Returns
    -------
    ExperimentResult
        The experiment.
    """
    folder = Path(folder)
    record = json.loads((folder / RECORD).read_text("utf-8"))
    plot_data = folder / PLOT_DATA
    return ExperimentResult(
        record["kind"],
        read_runs(folder / TABLE),
        tuple(record["problems"]),
        tuple(record["methods"]),
        tuple((name, remedy) for name, remedy in record["missing"]),
        record["config"],
        json.loads(plot_data.read_text("utf-8")) if plot_data.exists() else {},
    )


def run_experiment(
    kind: str,
    plan: Plan,
    config: dict[str, Any],
    missing: Iterable[tuple[str, str]] = (),
    *,
    random_state: int = 0,
    plot_data: Callable[[Any], dict[str, Any]] | None = None,
    n_jobs: int = 1,
    time_limit: float = TIME_LIMIT,
    **options: Any,
) -> ExperimentResult:
    """Run a plan and describe the outcome.

    Parameters
    ----------
    kind, missing
        As in `ExperimentResult`.
    plan : Plan
        What is to be run.
    config : dict
        What is particular to this experiment; seed, versions, machine and the like are added.
    random_state : int
        The seed of the plan.
    plot_data : callable or None
        Computes the data of figures from the table.
    n_jobs, time_limit, **options
        As in `run_plan`.
    """
    started = time.time()
    frame = run_plan(plan, n_jobs=n_jobs, time_limit=time_limit, **options)
    drawn = {} if plot_data is None else plot_data(frame)
    common = {
        "seed": random_state,
        "jobs": n_jobs,
        "time_limit": time_limit,
        "fits": len(plan.runs),
        "finished": _now(),
        "versions": versions(),
        "machine": _machine(),
        "statistics": TEST,
        "wall_seconds": round(time.time() - started, 1),
    }
    problems, methods = (
        tuple(item.describe() for item in items.values()) for items in (plan.problems, plan.methods)
    )
    return ExperimentResult(kind, frame, problems, methods, tuple(missing), common | config, drawn)
