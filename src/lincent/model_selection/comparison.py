"""Compare methods on a user's own table: the same splits for all of them, one table of results."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_X_y

from lincent.estimators.validation import check_classes
from lincent.model_selection.experiment import METRICS, Problem, plan_runs
from lincent.model_selection.methods import BINARY_ONLY, Method, find_method
from lincent.model_selection.runner import ExperimentResult, Progress, run_experiment
from lincent.tables.infer import ColumnOptions, independent_fraction, infer_schema
from lincent.tables.read import DEFAULT_READ, ReadOptions, read_table

DEFAULT_METHODS = (
    "LCC", "LCC-1SV", "RegularizedLCCCV", "StructuredLCCCV", "AutoLCC", "KernelLCC", "LDA", "SVM",
    "DLS", "SMP", "WSV", "TSV", "DEL", "LogReg", "LogReg-bal", "LinearSVC", "LinearSVC-bal",
    "sk-LDA", "sk-LDA-bal", "SVC-RBF", "HistGB", "RandomForest",
)  # fmt: skip
"""Methods of `compare` by default; those that are not installed are reported as missing."""


def make_problem(
    data: Any, target: str | None = None, *, reading: ReadOptions = DEFAULT_READ, **overrides: Any
) -> Problem:
    """Return a problem from a file, a DataFrame or an (X, y) pair.

    Parameters
    ----------
    data : path, str, DataFrame, (X, y) or Problem
        The samples with their classes.
    target : str, default=None
        Column with the classes; the last one if None.
    reading : ReadOptions
        How the file is written, where that is not to be inferred.
    **overrides
        ``drop``, ``ids``, ``keep``, ``roles``, ``dates``, ``group``: override the schema
        inference.

    Returns
    -------
    Problem
        Ready to be split.

    Raises
    ------
    TableError
        Names file, row and column.
    """
    options = ColumnOptions(**overrides)
    if isinstance(data, Problem):
        return data
    if isinstance(data, tuple) and len(data) == 2:
        if target is not None or options != ColumnOptions():
            raise ValueError(
                "data is a pair (X, y), which has no target and no names of columns: give a "
                "DataFrame, or leave these options out."
            )
        X, y = check_X_y(*data, ensure_all_finite="allow-nan")
        check_classes(np.unique(y))
        return Problem("data", X.astype(float), y.astype(str))
    what = str(data) if isinstance(data, str | os.PathLike) else "data"
    table = read_table(data, reading)
    notes: tuple[str, ...] = ()
    if target is None:
        target = str(table.data.column_names[-1])
        notes = (f"the target is {target!r}, the last column (--target names another).",)
    prepared = infer_schema(table, target, options, least=4)
    path = Path("stdin" if what == "-" else what)
    groups = prepared.groups
    if groups is None and independent_fraction(prepared.frame, prepared.hashes) < 1:
        groups = prepared.hashes  # copies stay on one side of a split
    return Problem(
        name=path.name.split(".")[0] or path.name,
        X=prepared.frame,
        y=prepared.labels if prepared.labels.dtype.kind in "UO" else prepared.labels.astype(str),
        groups=groups,
        schema=prepared.schema,
        notes=(*notes, *prepared.warnings),
        roles=prepared.roles,
        reading=reading,
        title=f"{path.name}, target {prepared.schema.target}",
        origin=path.name,
    )


def find_methods(methods: Iterable[Any]) -> tuple[list[Method], list[tuple[str, str]]]:
    """Return the methods that can be made, and (name, reason) of those that cannot."""
    available: list[Method] = []
    missing: list[tuple[str, str]] = []
    for method in methods:
        try:
            available.append(find_method(method))
        except ImportError as error:
            missing.append((str(method), str(error)))
    codes = [method.code for method in available]
    double = {code for code in codes if codes.count(code) > 1}
    if double:
        raise ValueError(f"The method name {sorted(double)[0]!r} is given twice.")
    return available, missing


def check_methods(
    metric: str, methods: Iterable[Any] | None
) -> tuple[list[Method], list[tuple[str, str]]]:
    """Return `find_methods`, the default ones for None; an unknown metric is an error."""
    if metric not in METRICS:
        raise ValueError(f"metric (--metric) is one of {', '.join(METRICS)}, got {metric!r}.")
    return find_methods(DEFAULT_METHODS if methods is None else methods)


def compare(
    data: Any,
    target: str | None = None,
    *,
    methods: Iterable[Any] | None = None,
    metric: str = "balanced_accuracy",
    n_splits: int = 20,
    tune: bool = False,
    n_jobs: int = 1,
    random_state: int = 0,
    time_limit: float = 60.0,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    retry: bool = False,
    problem: Problem | None = None,
    **reading: Any,
) -> ExperimentResult:
    """Compare methods on a table.

    Parameters
    ----------
    data : path, str, DataFrame, (X, y) or Problem
        A CSV, Parquet or Arrow file, or data in memory.
    target : str
        Column with the classes.
    methods : iterable or None
        Codes of `list_methods`, estimators, (name, estimator) pairs or `Method` objects; None for
        the usual ones.
    metric : str
        The score that decides; all are stored.
    n_splits : int
        Number of stratified 70/30 splits.
    tune : bool
        Choose the hyperparameters of each method inside the training part (nested
        cross-validation).
    n_jobs : int
        Number of worker processes; -1 is one for each core.
    random_state : int
        Seed of the splits.
    time_limit : float
        Seconds for one fit.
    folder : path or None
        Where the table of results is kept, and resumed; None keeps nothing.
    progress : callable or None
        Called with (runs done, runs in all, last row).
    retry : bool
        Repeat runs of an earlier call in the same folder that failed or were stopped.
    problem : Problem or None
        The same data, where it was read before.
    **reading
        ``reading``, ``group``, ``drop``, ``ids``, ``keep``, ``roles``, ``dates``: see
        `make_problem`.

    Returns
    -------
    ExperimentResult
        The table of results with its settings; `lincent.report.comparison` makes a report of it.

    Examples
    --------
    >>> from lincent.model_selection import compare
    >>> result = compare("wines.csv", methods=["LCC", "SVC-RBF"], n_splits=2)  # doctest: +SKIP
    """
    available, missing = check_methods(metric, methods)
    problem = problem or make_problem(data, target, **reading)
    n_classes = len(np.unique(problem.y))
    for method in [m for m in available if n_classes > 2 and m.code in BINARY_ONLY]:
        available.remove(method)
        missing.append((method.code, f"is for two classes; this table has {n_classes}"))
    procedure = "nested" if tune else "holdout"
    plan = plan_runs([problem], available, procedure, n_splits=n_splits, random_state=random_state)
    options = {k: list(v) if isinstance(v, tuple) else v for k, v in reading.items() if v}
    options.pop("reading", None)
    config: dict[str, Any] = {
        "metric": metric,
        "runs": n_splits,
        "procedure": procedure,
        "target": target or ("" if problem.schema is None else problem.schema.target),
        "data": str(data) if isinstance(data, str | os.PathLike) else "in memory",
        "options": options,
        "roles": problem.roles,
    }
    if problem.schema is not None:
        config["reading"] = {k: v for k, v in asdict(problem.reading).items() if v is not None}
    return run_experiment(
        "compare",
        plan,
        config,
        missing,
        random_state=random_state,
        n_jobs=n_jobs,
        time_limit=time_limit,
        folder=folder,
        progress=progress,
        retry=retry,
    )
