"""The study of the paper on one's own table."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from lincent.study.columns import table_problem
from lincent.study.files import RawTable, TableError, read_table
from lincent.study.methods import Method, find_method, list_methods
from lincent.study.metrics import METRICS
from lincent.study.problem import Problem, load_problem
from lincent.study.procedures import nested, procedure1
from lincent.study.results import (
    StudyResult,
    common_config,
    method_records,
    problem_records,
)
from lincent.study.runner import Progress, run_plan
from lincent.study.store import RunStore, frame_of

COMPARE_METHODS = (
    "LCC",
    "LCC-1SV",
    "RegularizedLCCCV",
    "StructuredLCCCV",
    "KernelLCC",
    "LDA",
    "SVM",
    "DLS",
    "SMP",
    "WSV",
    "TSV",
    "DEL",
    "LogReg",
    "LogReg-bal",
    "LinearSVC",
    "LinearSVC-bal",
    "sk-LDA",
    "sk-LDA-bal",
    "SVC-RBF",
    "HistGB",
)
"""What `compare` runs unless told; those that are not installed are shown as missing."""


def make_problem(
    data: Any,
    target: str | None = None,
    *,
    group: str | None = None,
    drop: tuple[str, ...] = (),
    keep: tuple[str, ...] = (),
    skip_bad_columns: bool = False,
) -> Problem:
    """Return a problem from a file, a name of `lincent.datasets`, a DataFrame or an (X, y) pair.

    Raises
    ------
    TableError
        One sentence with file, row and column.
    """
    options: dict[str, Any] = {
        "group": group,
        "drop": drop,
        "keep": keep,
        "skip_bad_columns": skip_bad_columns,
    }
    if isinstance(data, Problem):
        return data
    if isinstance(data, tuple) and len(data) == 2:
        return Problem("data", np.asarray(data[0], dtype=float), np.asarray(data[1]).astype(str))
    if hasattr(data, "columns"):
        return table_problem(RawTable(data, Path("data"), 1), _needed(target, "data"), **options)
    path = Path(data)
    if isinstance(data, str) and not path.exists() and not path.suffix:
        return _named(data, target)
    return table_problem(read_table(path), _needed(target, str(path)), **options)


def _needed(target: str | None, what: str) -> str:
    if target is None:
        raise TableError(f"{what}: say which column holds the classes (--target COLUMN).")
    return target


def _named(name: str, target: str | None) -> Problem:
    from lincent.datasets import DatasetNotFoundError

    if target is not None:
        raise TableError(f"{name}: there is no such file, and a named data set has its own target.")
    try:
        return load_problem(name)
    except (ValueError, DatasetNotFoundError) as error:
        raise TableError(f"{name}: there is no such file. {error}") from error


def find_methods(methods: Iterable[Any]) -> tuple[list[Method], list[tuple[str, str]]]:
    """Return the methods that can be made, and (name, reason) of those that cannot."""
    found: list[Method] = []
    missing: list[tuple[str, str]] = []
    for method in methods:
        try:
            found.append(find_method(method))
        except ImportError as error:
            missing.append((str(method), str(error)))
    codes = [method.code for method in found]
    double = {code for code in codes if codes.count(code) > 1}
    if double:
        raise ValueError(f"The method name {sorted(double)[0]!r} is given twice.")
    return found, missing


def compare(
    data: Any,
    target: str | None = None,
    *,
    methods: Iterable[Any] | None = None,
    metric: str = "balanced_accuracy",
    runs: int = 20,
    tune: bool = False,
    jobs: int = 1,
    seed: int = 0,
    time_limit: float = 60.0,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    retry: bool = False,
    problem: Problem | None = None,
    **reading: Any,
) -> StudyResult:
    """Compare methods on a table.

    Parameters
    ----------
    data : path, str, DataFrame, (X, y) or Problem
        A CSV, Parquet or Arrow file, a name of `lincent.datasets`, or data in memory.
    target : str
        Column with the classes.
    methods : iterable or None
        Codes of `list_methods`, estimators or (name, estimator) pairs; None for the usual ones.
    metric : str
        The score that decides; all are stored.
    runs : int
        Stratified 70/30 splits.
    tune : bool
        Choose each method's parameters inside the training part (nested cross-validation).
    jobs : int
        Worker processes.
    seed : int
    time_limit : float
        Seconds for one fit.
    folder : path or None
        Where the table of runs is kept; None keeps nothing.
    progress : callable or None
    retry : bool
        Run marked cells of an earlier run in the same folder again.
    problem : Problem or None
        The same data, where it was read before.
    **reading
        ``group``, ``drop``, ``keep``, ``skip_bad_columns``, see `make_problem`.

    Returns
    -------
    StudyResult

    Examples
    --------
    >>> from lincent.study import compare
    >>> result = compare("circles", methods=["LCC", "SVC-RBF"], runs=2)  # doctest: +SKIP
    """
    if metric not in METRICS:
        raise ValueError(f"metric is one of {', '.join(METRICS)}, got {metric!r}.")
    found, missing = find_methods(COMPARE_METHODS if methods is None else methods)
    problem = problem or make_problem(data, target, **reading)
    plan = (nested if tune else procedure1)([problem], found, runs=runs, seed=seed)
    started = time.time()
    with tempfile.TemporaryDirectory() as temporary:
        store = RunStore(folder if folder is not None else temporary)
        rows = run_plan(
            plan, store, jobs=jobs, time_limit=time_limit, progress=progress, retry=retry
        )
    config = common_config(seed, jobs, time_limit, started, time.time())
    config |= {
        "metric": metric,
        "runs": runs,
        "procedure": "nested" if tune else "holdout",
        "target": target or "",
        "left_out": list(problem.left_out),
        "data": str(data) if isinstance(data, str | os.PathLike) else "in memory",
        "reading": {name: list(v) if isinstance(v, tuple) else v for name, v in reading.items()},
    }
    return StudyResult(
        "compare",
        frame_of(rows),
        problem_records([problem]),
        method_records(found),
        tuple(missing),
        config,
    )


__all__ = ["COMPARE_METHODS", "compare", "find_methods", "list_methods", "make_problem"]
