"""The unit of a study: one method with one setting, fitted on one split of one data set.

A cell is described by plain values; its key is a hash of all that decides the outcome. A row is the
cell with its scores, its times and what went wrong, if anything.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from lincent.paper.study import splits
from lincent.paper.study.methods import Method
from lincent.paper.study.metrics import METRICS, score
from lincent.paper.study.problem import Problem

OK, FAILED, TIMEOUT, DIED, SKIPPED = "ok", "failed", "timeout", "died", "skipped"
INNER_FOLDS = 5


@dataclass(frozen=True)
class Cell:
    """What is run.

    Attributes
    ----------
    procedure : {"holdout", "folds", "nested"}
        A stratified split, one of the stratified folds, or a split with selection inside its
        training part.
    dataset, digest : str
        Name and fingerprint of the data.
    method, settings, params : str
        Code, the estimator's settings, and the value of the grid, as JSON text.
    split : int
    seed : int
    """

    procedure: str
    dataset: str
    digest: str
    method: str
    settings: str
    params: str
    split: int
    seed: int

    @property
    def key(self) -> str:
        """A hash of all fields: equal cells are the same work."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]


def make_cell(
    problem: Problem,
    method: Method,
    procedure: str,
    split: int,
    seed: int,
    params: dict[str, Any] | None = None,
) -> Cell:
    """Describe one piece of work."""
    return Cell(
        procedure,
        problem.name,
        problem.digest,
        method.code,
        settings_of(method.estimator),
        json.dumps(params or {}, sort_keys=True, default=repr),
        split,
        seed,
    )


def settings_of(estimator: BaseEstimator) -> str:
    """Return class and parameters of an estimator as JSON text, the defaults left out."""
    try:
        default = type(estimator)().get_params(deep=False)
    except TypeError:  # a parameter without a default
        default = {}
    given = {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in default or repr(default[name]) != repr(value)
    }
    kind = f"{type(estimator).__module__}.{type(estimator).__qualname__}"
    return json.dumps({"class": kind, "params": given}, sort_keys=True, default=repr)


def empty_row(cell: Cell, status: str, error: str) -> dict[str, Any]:
    """Return the row of a cell that has no scores."""
    row = {"key": cell.key, **asdict(cell), "status": status, "error": error, "warnings": ""}
    row |= {f"{part}_{name}": float("nan") for part in ("train", "test") for name in METRICS}
    row |= {"chosen": "", "n_train": 0, "n_test": 0, "gap": float("nan")}
    return row | {"fit_seconds": float("nan"), "score_seconds": float("nan")}


def run_cell(cell: Cell, problem: Problem, method: Method) -> dict[str, Any]:
    """Fit and score one cell; a failure becomes a row with its reason."""
    row = empty_row(cell, OK, "")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            row |= _measure(cell, problem, method)
        except Exception as error:  # a method that fails is a marked cell, whatever it raises
            row |= {"status": FAILED, "error": f"{type(error).__name__}: {error}"}
    row["warnings"] = _first_of_each(caught)
    return row


def _measure(cell: Cell, problem: Problem, method: Method) -> dict[str, Any]:
    train, test = _split(cell, problem)
    y_train, y_test = problem.y[train], problem.y[test]
    estimator = _seeded(clone(method.estimator), splits.seed_of(cell.seed, cell.split))
    estimator.set_params(**json.loads(cell.params))
    if cell.procedure == "nested":
        groups = None if problem.groups is None else problem.groups[train]
        model = _selection(estimator, problem, method, y_train, groups, cell)
        X_train, X_test = problem.rows(train), problem.rows(test)
        extra = {} if groups is None else {"groups": groups}
    else:
        preparation = problem.preparation().fit(problem.rows(train))
        X_train, X_test = (preparation.transform(problem.rows(part)) for part in (train, test))
        model, extra = estimator, {}
    start = time.perf_counter()
    model.fit(X_train, y_train, **extra)
    fitted = time.perf_counter()
    chosen = _chosen(model)
    model = getattr(model, "best_estimator_", model)
    parts = {
        "train": score(model, X_train, y_train, method.paper_scoring),
        "test": score(model, X_test, y_test, method.paper_scoring),
    }
    row: dict[str, Any] = {
        f"{part}_{name}": value for part, values in parts.items() for name, value in values.items()
    }
    return row | {
        "chosen": chosen,
        "n_train": len(train),
        "n_test": len(test),
        "gap": relative_gap(model),
        "fit_seconds": fitted - start,
        "score_seconds": time.perf_counter() - fitted,
    }


def _split(cell: Cell, problem: Problem) -> splits.Indices:
    if cell.procedure == "folds":
        return splits.folds(problem.y, cell.split, seed=cell.seed, groups=problem.groups)
    if problem.splitter is not None:
        return splits.drawn(
            problem.splitter, problem.y, cell.split, seed=cell.seed, groups=problem.groups
        )
    return splits.holdout(problem.y, cell.split, seed=cell.seed, groups=problem.groups)


def _seeded(estimator: Any, state: int) -> Any:
    if estimator.get_params(deep=False).get("random_state", 0) is None:
        estimator.set_params(random_state=state)
    return estimator


def _selection(
    estimator: Any,
    problem: Problem,
    method: Method,
    y: np.ndarray,
    groups: np.ndarray | None,
    cell: Cell,
) -> Any:
    """Return a search over the grid that sees the training part only, preparation included."""
    from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, StratifiedKFold

    model = Pipeline([("preparation", problem.preparation()), ("method", estimator)])
    if not method.grid:
        return model if groups is None else _IgnoreGroups(model)
    grid = [{f"method__{name}": [v] for name, v in point.items()} for point in method.grid]
    least = int(np.unique(y, return_counts=True)[1].min())
    state = splits.seed_of(cell.seed, cell.split)
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    inner = kind(max(2, min(INNER_FOLDS, least)), shuffle=True, random_state=state)
    # A grid value without a solution scores NaN and is not chosen.
    return GridSearchCV(model, grid, scoring="balanced_accuracy", cv=inner)


class _IgnoreGroups:
    """A model without selection takes no groups."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any, groups: Any) -> Any:
        return self.model.fit(X, y)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


def relative_gap(model: Any) -> float:
    """Return the duality gap relative to the objective, the largest where there are several.

    NaN for a model without a certificate.
    """
    model = model[-1] if isinstance(model, Pipeline) else model
    gap = np.asarray(getattr(model, "duality_gap_", np.nan), dtype=float)
    objective = np.asarray(getattr(model, "objective_", 1.0), dtype=float)
    if gap.size == 0 or np.isnan(gap).all():
        return float("nan")
    return float(np.nanmax(gap) / max(1.0, np.abs(objective).max(initial=0.0)))


def _chosen(model: Any) -> str:
    best = getattr(model, "best_params_", None)
    if best is None:
        return ""
    short = {name.removeprefix("method__"): value for name, value in best.items()}
    return json.dumps(short, sort_keys=True, default=repr)


def _first_of_each(caught: list[warnings.WarningMessage]) -> str:
    seen: dict[str, list[str]] = {}
    for item in caught:
        seen.setdefault(item.category.__name__, []).append(str(item.message).splitlines()[0])
    return "; ".join(f"{name} ×{len(texts)}: {texts[0][:200]}" for name, texts in seen.items())
