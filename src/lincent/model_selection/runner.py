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
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lincent._errors import AppError
from lincent._files import remove_abandoned, whole_file, write_whole
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
    describe_estimator,
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
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)

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
    types = dict.fromkeys(
        ("key", "procedure", "dataset", "digest", "method", "settings", "params"), text
    )
    types |= dict.fromkeys(("split", "seed"), integer)
    types |= dict.fromkeys(("status", "error", "warnings", "chosen"), text)
    types |= dict.fromkeys(("n_train", "n_test"), integer)
    types |= {f"{part}_{name}": number for part in ("train", "test") for name in METRICS}
    types |= dict.fromkeys(("gap", "fit_seconds", "score_seconds"), number)
    types |= dict.fromkeys(("finished", "versions", "machine"), text)
    return pyarrow, pyarrow.schema(list(types.items()))


def _write(rows: Iterable[dict[str, Any]], path: Path) -> None:
    pyarrow, schema = _parquet()
    with whole_file(path, force=True) as sink:
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
    remove_abandoned(folder / PARTS)
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
    with contextlib.ExitStack() as stack:
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
        path = Path(folder)
        keys = [run.key for run in plan.runs]
        with lock_folder(path):
            if retry:
                _compact(path, keep=lambda row: row["status"] == OK)
            rows = _read(path)
            todo = [run for run, key in zip(plan.runs, keys, strict=True) if key not in rows]
            if todo:
                timeouts = Counter(
                    (row["digest"], row["method"], row["procedure"])
                    for row in rows.values()
                    if row["status"] == TIMEOUT
                )
                pool = _Pool(plan, min(n_jobs, len(todo)), time_limit, timeouts, budget)
                _collect(pool, todo, path, keys, progress)
            _compact(path, keys)
        rows = _read(path)
    pyarrow, schema = _parquet()
    table = [rows[key] for key in keys if key in rows]
    return pyarrow.Table.from_pylist(table, schema=schema).to_pandas()


class _Pool:
    """Worker processes, each driven by a thread."""

    def __init__(
        self,
        plan: Plan,
        n_jobs: int,
        time_limit: float,
        timeouts: Counter[tuple[str, str, str]],
        budget: float,
    ) -> None:
        self.timeouts, self.deadline = timeouts, time.monotonic() + budget
        self.time_limit, self.n_jobs = time_limit, n_jobs
        self.workers = [_Worker(plan, time_limit) for _ in range(n_jobs)]
        self.idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for worker in self.workers:
            self.idle.put(worker)
        self.stopping = threading.Event()

    def rows(self, todo: list[Run]) -> Iterator[dict[str, Any]]:
        """Yield the row of each run as it ends."""
        with ThreadPoolExecutor(self.n_jobs) as threads:
            try:
                for future in as_completed([threads.submit(self._row, run) for run in todo]):
                    row = future.result()
                    if row is not None:
                        yield row
            finally:
                self.stopping.set()
                threads.shutdown(wait=False, cancel_futures=True)
                for worker in self.workers:
                    worker.kill()

    def _row(self, run: Run) -> dict[str, Any] | None:
        if self.stopping.is_set() or time.monotonic() >= self.deadline:
            return None
        pair = (run.digest, run.method, run.procedure)
        if self.timeouts[pair] >= MAX_TIMEOUTS:
            reason = f"{MAX_TIMEOUTS} earlier fits exceeded the limit of {self.time_limit:g} s"
            return empty_row(run, SKIPPED, reason)
        worker = self.idle.get()
        try:
            row = worker.run(run)
            if row["status"] == DIED and not self.stopping.is_set():
                row = worker.run(run)  # once more: the machine may have been short of memory
        finally:
            self.idle.put(worker)
        if row["status"] == TIMEOUT:
            self.timeouts[pair] += 1
        return None if self.stopping.is_set() else row


def _collect(
    pool: _Pool, todo: list[Run], folder: Path, keys: list[str], progress: Progress | None
) -> None:
    """Write the rows of a pool to the folder as they come."""
    waiting: list[dict[str, Any]] = []
    flushed, n_parts, done = time.monotonic(), 0, len(keys) - len(todo)
    stamp = {"versions": json.dumps(versions()), "machine": json.dumps(_machine())}
    try:
        for row in pool.rows(todo):
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            waiting.append(row | stamp | {"finished": now})
            done += 1
            if progress is not None:
                progress(done, len(keys), row)
            if time.monotonic() - flushed > FLUSH_SECONDS:
                _append(waiting, folder)
                waiting, flushed, n_parts = [], time.monotonic(), n_parts + 1
                if n_parts >= PARTS_BEFORE_COMPACTION:
                    _compact(folder, keys)
                    n_parts = 0
    finally:
        _append(waiting, folder)


def _machine() -> dict[str, Any]:
    """Return the kind of machine, without its name."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "cores": os.cpu_count() or 0,
    }


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
        record = {name: value for name, value in asdict(self).items() if name not in _APART}
        if self.plot_data:
            write_whole(Path(folder) / PLOT_DATA, json.dumps(self.plot_data) + "\n")
        text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
        return write_whole(Path(folder) / RECORD, text)


_APART = ("frame", "plot_data")


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
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "machine": _machine(),
        "statistics": TEST,
        "wall_seconds": round(time.time() - started, 1),
    }
    methods = [
        {
            "code": method.code,
            "title": method.title,
            "family": method.family,
            "settings": describe_estimator(method.estimator),
            "grid": len(method.grid),
            "note": method.note,
        }
        for method in plan.methods.values()
    ]
    problems = tuple(problem.describe() for problem in plan.problems.values())
    return ExperimentResult(
        kind, frame, problems, tuple(methods), tuple(missing), common | config, drawn
    )
