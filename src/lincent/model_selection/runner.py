"""Run a plan in worker processes, and keep its results in a folder.

    FOLDER/runs.parquet     the table of results, one row per run, in the order of the plan
    FOLDER/runs.jsonl       rows that came after it, a line of JSON each, while an experiment runs
    FOLDER/study.json       settings, data sets, methods, versions, what is missing, what is drawn

An experiment that is killed loses the fits under way, and the same call resumes it: runs whose key
is in the table or in the log are not repeated. The table is written atomically before the log is
emptied; a kill in between leaves rows twice, which reading undoes by their key.

Each run goes to a worker process (loky, as part of joblib) under a time limit. The process of a fit
that exceeds it is killed and replaced. After three such fits of one method on one data set the
rest of that pair is skipped, as the paper excluded such methods.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import platform
import re
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from joblib import effective_n_jobs

from lincent._errors import AppError, import_optional
from lincent._files import PathLike, write_file
from lincent._versions import versions
from lincent.model_selection.experiment import Plan, Problem, Run, empty_row, measure
from lincent.model_selection.methods import Method
from lincent.model_selection.statistics import TEST

TABLE, LOG, RECORD = "runs.parquet", "runs.jsonl", "study.json"
TIME_LIMIT = 300.0
MAX_TIMEOUTS = 3
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
ONE_THREAD["VECLIB_MAXIMUM_THREADS"] = "1"

Progress = Callable[[int, int, dict[str, Any]], None]


# ------------------------------------------------------------------------- the table of results


class FolderInUseError(AppError, RuntimeError):
    """Another process writes to the same folder."""


ROW = empty_row(Run("", "", "", "", "", "", 0, 0))
ROW |= dict.fromkeys(("finished", "versions", "machine"), "")
"""An empty row of the table: its columns and their types."""


def _frame(rows: Iterable[dict[str, Any]]) -> Any:
    """Return rows as a data frame with the columns of the table."""
    import pandas

    types = {name: type(value) for name, value in ROW.items()}
    return pandas.DataFrame(list(rows), columns=list(ROW)).astype(types)


def _read(folder: Path) -> dict[str, dict[str, Any]]:
    """Return all rows by key; those of the log replace those of the table."""
    rows = read_runs(folder).to_dict("records") if (folder / TABLE).is_file() else []
    for line in (folder / LOG).read_text("utf-8").splitlines():
        with contextlib.suppress(ValueError):  # the last line of a writer that was killed
            rows.append(json.loads(line))
    return {row["key"]: row for row in rows}


@contextlib.contextmanager
def open_log(folder: Path) -> Iterator[TextIO]:
    """Open the log of a folder for one writer; the operating system releases it at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / LOG, "a", encoding="utf-8", newline="\n", buffering=1) as log:
        try:
            import fcntl

            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # not on this system
            pass
        except OSError as error:
            raise FolderInUseError(
                f"Another run writes to {folder}: wait for it, or choose another folder with -o."
            ) from error
        if log.tell():
            log.write("\n")  # ends a line that a killed writer left
        yield log
    with contextlib.suppress(OSError):  # the rows of an unfinished experiment stay
        if not (folder / LOG).stat().st_size:
            (folder / LOG).unlink()


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
    pandas = import_optional("pandas", "app", "An experiment")
    path = Path(path) / TABLE if Path(path).is_dir() else Path(path)
    return pandas.read_parquet(path, columns=list(ROW))


# ------------------------------------------------------------------------------ worker processes

_PROBLEMS: dict[str, Problem] = {}
"""In a worker process: the data sets of the plan."""


def _initialize(problems: dict[str, Problem], parent: int) -> None:
    """Prepare a worker process: it keeps the data and ends with its parent, not on an interrupt."""

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
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
            return empty_row(run, "timeout", f"the fit exceeded the limit of {self.time_limit:g} s")
        except BrokenExecutor as error:
            self.kill()
            codes = re.search(r"\{(.*)\}", str(error))
            ending = f" with {codes[1]}" if codes else ""
            return empty_row(run, "died", f"the worker process ended{ending}")
        except Exception as error:  # an estimator that cannot be sent to another process
            return empty_row(run, "failed", f"{type(error).__name__}: {error}")
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
) -> Any:
    """Run what is not yet in the table of a folder, and return all rows of the plan.

    Parameters
    ----------
    plan : Plan
        What is to be run.
    folder : path or None
        Where the table of results is kept; None keeps nothing.
    n_jobs : int
        Number of worker processes; -1 is one for each core.
    time_limit : float
        Seconds for one fit with its scoring.
    progress : callable or None
        Called with (runs done, runs in all, last row).
    retry : bool
        Repeat runs of an earlier call that failed or were stopped or skipped.

    Returns
    -------
    pandas.DataFrame
        The rows of the plan, in its order.
    """
    n_jobs = effective_n_jobs(n_jobs)
    if not time_limit > 0:
        raise ValueError(f"time_limit is a number of seconds above 0, got {time_limit}.")
    for package in ("pandas", "pyarrow"):
        import_optional(package, "app", "An experiment")
    keys = [run.key for run in plan.runs]
    with contextlib.ExitStack() as stack:
        path = Path(folder or stack.enter_context(tempfile.TemporaryDirectory()))
        log = stack.enter_context(open_log(path))
        table = _read(path)
        if retry:
            table = {key: row for key, row in table.items() if row["status"] == "ok"}
        todo = [run for run, key in zip(plan.runs, keys, strict=True) if key not in table]
        if todo:
            timeouts = Counter(
                (row["digest"], row["method"], row["procedure"])
                for row in table.values()
                if row["status"] == "timeout"
            )
            stamp = {"versions": json.dumps(versions()), "machine": json.dumps(_machine())}
            workers = min(n_jobs, len(todo))
            rows = _run_all(plan, todo, workers, time_limit, timeouts)
            with contextlib.closing(rows):
                for done, row in enumerate(rows, len(keys) - len(todo) + 1):
                    table[row["key"]] = row | stamp | {"finished": _now()}
                    log.write(json.dumps(table[row["key"]]) + "\n")
                    if progress is not None:
                        progress(done, len(keys), row)
        every = _frame(table[key] for key in dict.fromkeys([*keys, *sorted(table)]))
        write_file(path / TABLE, every.to_parquet(index=False))
        log.truncate(0)
    return _frame(table[key] for key in keys)


def _run_all(
    plan: Plan,
    todo: list[Run],
    n_jobs: int,
    time_limit: float,
    timeouts: Counter[tuple[str, str, str]],
) -> Generator[dict[str, Any]]:
    """Yield the row of each run as it ends; each worker is driven by a thread."""
    own, stopping = threading.local(), threading.Event()
    workers: list[_Worker] = []

    def add_worker() -> None:
        own.worker = _Worker(plan, time_limit)
        workers.append(own.worker)

    def row_of(run: Run) -> dict[str, Any] | None:
        if stopping.is_set():
            return None
        pair = (run.digest, run.method, run.procedure)
        if timeouts[pair] >= MAX_TIMEOUTS:
            reason = f"{MAX_TIMEOUTS} earlier fits exceeded the limit of {time_limit:g} s"
            return empty_row(run, "skipped", reason)
        row: dict[str, Any] = own.worker.run(run)
        if row["status"] == "died" and not stopping.is_set():
            row = own.worker.run(run)  # once more: the machine may have been short of memory
        timeouts[pair] += row["status"] == "timeout"
        return None if stopping.is_set() else row

    with ThreadPoolExecutor(n_jobs, initializer=add_worker) as threads:
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
    problems, methods : sequence of dict
        Descriptions of the data sets and of the methods.
    missing : sequence of (str, str)
        What could not be run, and the remedy.
    config : dict
        Settings, seed, versions, machine, statistics, wall time.
    plot_data : dict
        What figures draw beside the runs.
    """

    kind: str
    frame: Any = field(repr=False)
    problems: Sequence[dict[str, Any]]
    methods: Sequence[dict[str, Any]]
    missing: Sequence[Sequence[str]]
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
        record = {name: value for name, value in vars(self).items() if name != "frame"}
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
    return ExperimentResult(frame=read_runs(folder), **record)


def run_experiment(
    kind: str,
    plan: Plan,
    config: dict[str, Any],
    missing: Iterable[tuple[str, str]] = (),
    *,
    random_state: int = 0,
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
    n_jobs, time_limit, **options
        As in `run_plan`.
    """
    started = time.time()
    frame = run_plan(plan, n_jobs=n_jobs, time_limit=time_limit, **options)
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
        [part.describe() for part in parts.values()] for parts in (plan.problems, plan.methods)
    )
    return ExperimentResult(kind, frame, problems, methods, list(missing), common | config)
