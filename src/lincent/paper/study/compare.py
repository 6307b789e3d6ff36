"""The study of the paper on one's own table."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from lincent.paper.study.methods import Method, find_method, list_methods
from lincent.paper.study.metrics import METRICS
from lincent.paper.study.problem import Problem, load_problem
from lincent.paper.study.procedures import nested, procedure1
from lincent.paper.study.results import StudyResult, run_study
from lincent.paper.study.runner import Progress
from lincent.tables import AS_FOUND, Reading, TableError, Understood, Wishes, read_table, understand
from lincent.tables.as_code import estimator_code

LEAST_ROWS_PER_CLASS = 4

COMPARE_METHODS = (
    "LCC",
    "LCC-1SV",
    "RegularizedLCCCV",
    "StructuredLCCCV",
    "AutoLCC",
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
FOR_TWO_CLASSES = ("sk-LDA-bal",)
"""Methods whose settings have a length that belongs to two classes."""


def make_problem(
    data: Any,
    target: str | None = None,
    *,
    reading: Reading = AS_FOUND,
    skip_bad_columns: bool | None = None,
    **wishes: Any,
) -> Problem:
    """Return a problem from a file, a data set of the paper, a DataFrame or an (X, y) pair.

    Parameters
    ----------
    data : path, str, DataFrame, (X, y) or Problem
        What to learn from.
    target : str
        Column with the classes.
    reading : Reading
        How the file is written, where that is not to be found out.
    skip_bad_columns : bool
        Accepted for one more release; columns that cannot be used are always left out.
    **wishes
        ``drop``, ``keep``, ``roles``, ``dates``, ``text``, ``group`` of `lincent.tables.Wishes`.

    Returns
    -------
    Problem
        Ready to be split.

    Raises
    ------
    TableError
        One sentence with file, row and column.
    """
    if skip_bad_columns is not None:
        warnings.warn(
            "skip_bad_columns has no effect any more: such columns are always left out. It goes "
            "with the next release.",
            FutureWarning,
            stacklevel=2,
        )
    if isinstance(data, Problem):
        return data
    if isinstance(data, tuple) and len(data) == 2:
        return Problem("data", np.asarray(data[0], dtype=float), np.asarray(data[1]).astype(str))
    if isinstance(data, str) and not Path(data).exists() and not Path(data).suffix and data != "-":
        return _named(data, target)
    what = str(data) if isinstance(data, str | os.PathLike) else "data"
    table = read_table(data, reading)
    known = understand(table, _needed(target, what), Wishes(**wishes), least=LEAST_ROWS_PER_CLASS)
    return table_problem(known, what)


def table_problem(known: Understood, what: str) -> Problem:
    """A judged table as a problem; ``what`` is its path."""
    path = Path("stdin" if what == "-" else what)
    return Problem(
        name=path.name.split(".")[0] or path.name,
        X=known.frame,
        y=known.labels.astype(str),
        groups=known.groups,
        schema=known.schema,
        notes=known.remarks,
        left_out=known.left_out,
        roles=known.roles,
        reading=known.table.reading,
        title=f"{path.name}, target {known.schema.target}",
        origin=path.name,
    )


def _needed(target: str | None, what: str) -> str:
    if target is None:
        raise TableError(f"{what}: say which column holds the classes (--target COLUMN).")
    return target


def _named(name: str, target: str | None) -> Problem:
    from lincent.paper.datasets import DatasetNotFoundError

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


def check_plan(
    metric: str, methods: Iterable[Any] | None
) -> tuple[list[Method], list[tuple[str, str]]]:
    """The methods to run and those that cannot be had; refuses what is not known."""
    if metric not in METRICS:
        raise ValueError(f"metric (--metric) is one of {', '.join(METRICS)}, got {metric!r}.")
    return find_methods(COMPARE_METHODS if methods is None else methods)


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
        A CSV, Parquet or Arrow file, a name of `lincent.paper.datasets`, or data in memory.
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
        ``reading``, ``group``, ``drop``, ``keep``, ``roles``, ``dates``, ``text``: see
        `make_problem`.

    Returns
    -------
    StudyResult

    Examples
    --------
    >>> from lincent.paper.study import compare
    >>> result = compare("circles", methods=["LCC", "SVC-RBF"], runs=2)  # doctest: +SKIP
    """
    found, missing = check_plan(metric, methods)
    problem = problem or make_problem(data, target, **reading)
    classes = len(np.unique(problem.y))
    for method in [m for m in found if classes > 2 and m.code in FOR_TWO_CLASSES]:
        found.remove(method)
        missing.append((method.code, f"is for two classes; this table has {classes}"))
    plan = (nested if tune else procedure1)([problem], found, runs=runs, seed=seed)
    config: dict[str, Any] = {
        "metric": metric,
        "runs": runs,
        "procedure": "nested" if tune else "holdout",
        "target": target or "",
        "data": str(data) if isinstance(data, str | os.PathLike) else "in memory",
        "wishes": {k: list(v) if isinstance(v, tuple) else v for k, v in reading.items() if v},
        "roles": problem.roles,
        "preparation": estimator_code(problem.preparation()),
    }
    config["wishes"].pop("reading", None)
    if problem.schema is not None:
        config |= {"schema": problem.schema.to_json(), "reading": asdict(problem.reading)}
    return run_study(
        "compare",
        plan,
        config,
        missing,
        seed=seed,
        jobs=jobs,
        time_limit=time_limit,
        folder=folder,
        progress=progress,
        retry=retry,
    )


__all__ = ["COMPARE_METHODS", "compare", "find_methods", "list_methods", "make_problem"]
