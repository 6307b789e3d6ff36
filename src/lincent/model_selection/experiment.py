"""Experiments as data: data sets, splits, planned runs, and the measurement of one run.

A `Run` is one method with one hyperparameter candidate on one split of one data set. It consists of
plain values, and its key is a hash of all of them: equal runs are the same work. `measure` fits and
scores a run and returns one row of the table of results.

    holdout   a stratified split, 30 % for testing; hyperparameters as given
    folds     one of ten stratified folds; hyperparameters as given
    nested    the split of holdout; hyperparameters selected by cross-validation inside its training
              part

A split depends on the seed and its number alone, so all methods see the same samples, and more
splits can be added later. Samples of one group stay on one side. Everything that is learned from
data (imputation, categories, scale) is learned on the training part.

The scores of every run, on its training and on its test part:

    paper_auc           what the paper prints: hard_auc, except for a method with its own scoring
    hard_auc            AUC of the predicted labels, (sensitivity + specificity) / 2
    score_auc           AUC of the decision function or probability
    balanced_accuracy, accuracy, mcc

With more than two classes both AUCs are the mean of one class against the rest.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent.model_selection.methods import Method, describe_estimator, find_method
from lincent.model_selection.metrics import confusion_matrix, label_score, one_vs_rest_auc
from lincent.tables.encoder import TableEncoder
from lincent.tables.read import DEFAULT_READ, ReadOptions
from lincent.tables.schema import Schema

METRICS = {
    "paper_auc": "hard-label AUC as in the paper",
    "hard_auc": "hard-label AUC",
    "score_auc": "score AUC",
    "balanced_accuracy": "balanced accuracy",
    "accuracy": "accuracy",
    "mcc": "Matthews correlation",
}
"""Names of the stored scores, with their titles."""
N_FOLDS = 10
TEST_FRACTION = 0.3

Split = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Problem:
    """A classification data set, ready to be split.

    Parameters
    ----------
    name : str
        Short name for tables.
    X : ndarray or DataFrame of shape (n_samples, n_features)
        The samples; a data frame needs a schema, see `make_problem`.
    y : ndarray of shape (n_samples,)
        Class names.
    title : str, default=''
        Full name for reports.
    groups : ndarray of shape (n_samples,), default=None
        Samples of one group stay on one side of every split.
    schema : Schema, default=None
        The columns of a table; an array has none.
    notes : tuple of str, default=()
        Warnings for the report: dropped columns, possible target leakage.
    roles : dict of str to str
        How each column of a table is used.
    reading : ReadOptions
        How the file is written, where that was not inferred.
    origin, licence : str, default=''
        Where the data is from, and its licence.
    digest : str, default=''
        Hash of the values; computed unless given.
    splitter : splitter, default=None
        Replaces the stratified splits, by ``split(X, y, groups)``; it has the parameters
        ``n_splits`` and ``random_state``.
    """

    name: str
    X: Any
    y: np.ndarray
    title: str = ""
    groups: np.ndarray | None = None
    schema: Schema | None = None
    notes: tuple[str, ...] = ()
    roles: dict[str, str] = field(default_factory=dict, compare=False)
    reading: ReadOptions = DEFAULT_READ
    origin: str = ""
    licence: str = ""
    digest: str = field(default="", compare=False)
    splitter: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.schema is None and hasattr(self.X, "columns"):
            raise TypeError(
                "X is an array; a DataFrame becomes a problem by make_problem(frame, y)."
            )
        if not self.digest:
            object.__setattr__(self, "digest", _digest(self.X, self.y, self.groups))

    def preparation(self) -> Any:
        """Return the transformer from samples to numbers, not fitted.

        A table is encoded by its schema; an array is imputed where values are missing, loses the
        features that are constant in the training part, and is standardized.

        Returns
        -------
        transformer
            The steps before a classifier.
        """
        if self.schema is not None:
            return TableEncoder()
        steps: list[Any] = [VarianceThreshold(), StandardScaler()]
        if np.isnan(self.X).any():
            steps.insert(0, SimpleImputer(strategy="median", keep_empty_features=True))
        return make_pipeline(*steps)

    def folds(self, n_splits: int, seed: int) -> Any:
        """Return the splitter of stratified folds that keep groups together.

        Parameters
        ----------
        n_splits : int
            Number of folds.
        seed : int
            Seed of the shuffle.

        Returns
        -------
        splitter
            Of scikit-learn.
        """
        kind = StratifiedKFold if self.groups is None else StratifiedGroupKFold
        return kind(n_splits, shuffle=True, random_state=seed)

    def split(self, number: int, procedure: str = "holdout", random_state: int = 0) -> Split:
        """Return the training and the test indices of one split.

        Parameters
        ----------
        number : int
            Number of the split.
        procedure : str, default="holdout"
            As in `plan_runs`.
        random_state : int, default=0
            Seed of all splits.

        Returns
        -------
        tuple of two ndarrays
            Positions of the training samples and of the test samples.

        Examples
        --------
        >>> import numpy as np
        >>> from lincent.model_selection import Problem
        >>> problem = Problem("noise", np.zeros((20, 1)), np.repeat(["a", "b"], 10))
        >>> train, test = problem.split(0)
        >>> len(train), len(test)
        (14, 6)
        """
        X, y, groups = np.zeros((len(self.y), 1)), self.y, self.groups
        seed = split_seed(random_state, 0 if procedure == "folds" else number)
        if procedure == "folds":
            splits: list[Split] = list(self.folds(N_FOLDS, seed).split(X, y, groups))
            return splits[number]
        if self.splitter is not None:
            splitter = clone(self.splitter).set_params(n_splits=1, random_state=seed)
            [only] = splitter.split(X, y, groups)
            return only[0], only[1]
        if groups is None:
            shuffle = StratifiedShuffleSplit(1, test_size=TEST_FRACTION, random_state=seed)
            train, test = next(shuffle.split(X, y))
            return np.sort(train), np.sort(test)
        # Some stratified group folds are joined to the test part; every class is on both sides.
        n_folds = min(10, len(np.unique(groups)))
        n_test = max(1, round(TEST_FRACTION * n_folds))
        for attempt in range(50):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a rare class is checked below
                tests = [
                    test for _, test in self.folds(n_folds, seed + attempt).split(X, y, groups)
                ]
            in_test = np.zeros(len(y), dtype=bool)
            in_test[np.concatenate(tests[:n_test])] = True
            if set(y[in_test]) == set(y[~in_test]):
                return np.flatnonzero(~in_test), np.flatnonzero(in_test)
        raise ValueError(
            "No split by group has every class on both sides, in 50 attempts: too few groups hold "
            "the rarest class."
        )

    def rows(self, index: np.ndarray) -> Any:
        """Return the samples of these indices.

        Parameters
        ----------
        index : ndarray
            Positions of samples.

        Returns
        -------
        ndarray or DataFrame
            Rows of X.
        """
        return self.X.iloc[index] if hasattr(self.X, "iloc") else self.X[index]

    def describe(self) -> dict[str, Any]:
        """Return what a report shows of the data set.

        Returns
        -------
        dict
            Names, sizes, class counts, notes, origin and digest, as plain values.
        """
        names = ("name", "title", "origin", "licence", "digest")
        return {name: getattr(self, name) for name in names} | {
            "rows": int(self.X.shape[0]),
            "columns": int(self.X.shape[1]),
            "classes": dict(sorted(Counter(map(str, self.y)).items())),
            "notes": list(self.notes),
            "grouped": self.groups is not None,
            "categories": [] if self.schema is None else list(self.schema.categorical),
        }


def _digest(X: Any, y: Any, groups: Any) -> str:
    """Return a hash of the values and of the names of columns."""
    if hasattr(X, "columns"):
        from pandas.util import hash_pandas_object

        X = [*map(str, X.columns), hash_pandas_object(X, index=False).to_numpy()]
    else:
        X = np.ascontiguousarray(X, dtype=float)
    groups = None if groups is None else np.asarray(groups).astype(str)
    return str(joblib.hash((X, np.asarray(y).astype(str), groups)))[:16]


@dataclass(frozen=True)
class Run:
    """One method on one split of one data set.

    Parameters
    ----------
    procedure : {"holdout", "folds", "nested"} or another name for a holdout split
        How the data is split and the hyperparameters are chosen.
    dataset, digest : str
        Name and hash of the data.
    method, settings, params : str
        Code of the method, its estimator and the hyperparameter candidate, as JSON.
    split, seed : int
        Number of the split, and the seed of all splits.
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
        """Hash of all fields."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Plan:
    """The runs of an experiment, in order; plans are joined with ``+``.

    Parameters
    ----------
    runs : tuple of Run
        One for each fit.
    problems : dict of str to Problem
        The data sets by digest.
    methods : dict of str to Method
        The methods by code.
    """

    runs: tuple[Run, ...] = ()
    problems: dict[str, Problem] = field(default_factory=dict)
    methods: dict[str, Method] = field(default_factory=dict)

    def __add__(self, other: Plan) -> Plan:
        return Plan(
            tuple(dict.fromkeys(self.runs + other.runs)),
            self.problems | other.problems,
            self.methods | other.methods,
        )


def plan_runs(
    problems: Iterable[Problem],
    methods: Iterable[Any],
    procedure: str = "holdout",
    *,
    n_splits: int = 100,
    every: int = 0,
    random_state: int = 0,
) -> Plan:
    """Plan the runs of several methods on the same splits of several data sets.

    Parameters
    ----------
    problems : iterable of Problem
        The data sets.
    methods : iterable of str, estimator, (name, estimator) or Method
        See `find_method`.
    procedure : {"holdout", "folds", "nested"}, default="holdout"
        How the data is split and the hyperparameters are chosen; another name is a holdout split
        under that name.
    n_splits : int, default=100
        Number of splits; at most 10 folds.
    every : int, default=0
        0 takes the hyperparameters of the estimators. Otherwise every so many values of each grid
        are run, the middle one among them.
    random_state : int, default=0
        Seed of the splits.

    Returns
    -------
    Plan
        The runs, split by split: an experiment that is stopped has all methods on fewer splits.
    """
    if n_splits < 1:
        raise ValueError(f"n_splits (--runs) is a number of splits, 1 or more, got {n_splits}.")
    if procedure == "folds" and n_splits > N_FOLDS:
        raise ValueError(f"There are {N_FOLDS} folds, n_splits={n_splits} are too many.")
    problems, methods = list(problems), [find_method(method) for method in methods]
    described = []
    for method in methods:
        offset = (len(method.grid) // 2) % every if every else 0
        candidates: Any = (method.grid[offset::every] if every else ()) or ({},)
        texts = [json.dumps(params, sort_keys=True, default=repr) for params in candidates]
        described.append((method.code, describe_estimator(method.estimator), texts))
    runs = (
        Run(procedure, problem.name, problem.digest, code, settings, params, split, random_state)
        for problem in problems
        for split in range(n_splits)
        for code, settings, texts in described
        for params in texts
    )
    return Plan(
        tuple(runs),
        {problem.digest: problem for problem in problems},
        {method.code: method for method in methods},
    )


def split_seed(random_state: int, number: int) -> int:
    """Return the seed of one split."""
    return int(np.random.SeedSequence([random_state, number]).generate_state(1)[0] % (2**31))


def empty_row(run: Run, status: str = "ok", error: str = "") -> dict[str, Any]:
    """Return the row of a run without scores.

    The status is ok, failed, timeout, died or skipped.
    """
    row = {"key": run.key, **asdict(run), "status": status, "error": error, "warnings": ""}
    row |= {"chosen": "", "n_train": 0, "n_test": 0}
    scores = (f"{part}_{name}" for part in ("train", "test") for name in METRICS)
    return row | dict.fromkeys((*scores, "gap", "fit_seconds", "score_seconds"), float("nan"))


def measure(run: Run, problem: Problem, method: Method) -> dict[str, Any]:
    """Fit and score one run; an exception becomes a row with its reason."""
    row = empty_row(run)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            row |= _fit_and_score(run, problem, method)
        except Exception as error:  # whatever a method raises is its result
            row |= {"status": "failed", "error": f"{type(error).__name__}: {error}"}
    counts = Counter(f"{one.category.__name__}: {str(one.message)[:200]}" for one in caught)
    row["warnings"] = "; ".join(f"{text} (×{count})" for text, count in counts.most_common(5))
    return row


def _fit_and_score(run: Run, problem: Problem, method: Method) -> dict[str, Any]:
    train, test = problem.split(run.split, run.procedure, run.seed)
    X_train, X_test = problem.rows(train), problem.rows(test)
    codes = np.unique(problem.y, return_inverse=True)[1]  # not all packages take names
    y_train, y_test = codes[train], codes[test]
    seed = split_seed(run.seed, run.split)
    model = clone(method.estimator)
    if model.get_params(deep=False).get("random_state", 0) is None:
        model.set_params(random_state=seed)
    model.set_params(**json.loads(run.params))
    fit_params = {}
    if run.procedure == "nested":
        model = Pipeline([("preparation", problem.preparation()), ("method", model)])
        if method.grid:
            grid = [{f"method__{name}": [v] for name, v in point.items()} for point in method.grid]
            smallest = int(np.unique(y_train, return_counts=True)[1].min())
            inner = problem.folds(max(2, min(5, smallest)), seed)
            # A candidate without a solution scores NaN and is not selected.
            model = GridSearchCV(model, grid, scoring="balanced_accuracy", cv=inner)
            if problem.groups is not None:
                fit_params["groups"] = problem.groups[train]
    else:
        prepare = problem.preparation().fit(X_train)
        X_train, X_test = prepare.transform(X_train), prepare.transform(X_test)
    start = time.perf_counter()
    model.fit(X_train, y_train, **fit_params)
    fitted = time.perf_counter()
    chosen = ""
    if isinstance(model, GridSearchCV):
        best = {k.removeprefix("method__"): v for k, v in model.best_params_.items()}
        chosen = json.dumps(best, sort_keys=True, default=repr)
    model = getattr(model, "best_estimator_", model)
    row: dict[str, Any] = {}
    for part, X, y in (("train", X_train, y_train), ("test", X_test, y_test)):
        scores = score_model(model, X, y, method.paper_scoring)
        row |= {f"{part}_{name}": value for name, value in scores.items()}
    return row | {
        "chosen": chosen,
        "n_train": len(train),
        "n_test": len(test),
        "gap": relative_gap(model),
        "fit_seconds": fitted - start,
        "score_seconds": time.perf_counter() - fitted,
    }


def score_model(model: Any, X: Any, y: np.ndarray, paper_scoring: Any = None) -> dict[str, float]:
    """Return all `METRICS` of a fitted model.

    Parameters
    ----------
    model : fitted classifier
    X, y : samples and their classes
    paper_scoring : callable, default=None
        ``paper_scoring(model, X, y)`` is the score "paper_auc".
    """
    predicted, classes = np.ravel(model.predict(X)), np.asarray(model.classes_)
    labels, codes = np.unique(np.concatenate([y, predicted]), return_inverse=True)
    confusion = confusion_matrix(codes[: len(y)], codes[len(y) :], len(labels))
    scores = {
        name: label_score(name, confusion) for name in ("balanced_accuracy", "accuracy", "mcc")
    }
    hard, ranking = label_score("label_auc", confusion), decision_values(model, X)
    of_class = y[:, None] == classes
    truth = np.where(of_class.any(axis=1), of_class.argmax(axis=1), -1)
    return scores | {
        "paper_auc": hard if paper_scoring is None else float(paper_scoring(model, X, y)),
        "hard_auc": hard,
        "score_auc": float("nan") if ranking is None else one_vs_rest_auc(truth, ranking),
    }


def decision_values(model: Any, X: Any) -> np.ndarray | None:
    """Return the continuous scores of a model: a vector for two classes, else a column per class.

    With more than two classes probabilities come first: decision values of a joint model are
    comparable within a sample only. None where there are neither, or one value per pair of classes.
    """
    names = ["decision_function", "predict_proba"]
    for name in names if len(model.classes_) == 2 else reversed(names):
        if hasattr(model, name):
            scores = np.asarray(getattr(model, name)(X), dtype=float)
            if scores.ndim == 2 and scores.shape[1] == 2 and len(model.classes_) == 2:
                return np.asarray(scores[:, 1] - scores[:, 0])
            return scores if scores.ndim == 1 or scores.shape[1] == len(model.classes_) else None
    return None


def relative_gap(model: Any) -> float:
    """Return the largest relative duality gap of a fitted model, NaN without a certificate."""
    model = model[-1] if isinstance(model, Pipeline) else model
    return float(np.max(getattr(model, "duality_gap_", np.nan)))
