"""Cross-validated search: training folds, held-out samples, the loop over folds, its results.

Folds of data in memory (or on a device) are indices.  Dask blocks and batches stay in place: a fold
is a weight of zero for the samples of other folds, and held-out samples are scored in one pass over
the data for all models of a fold.  Metrics of predicted labels (accuracy, F1, ...) then follow from
confusion matrices; any other metric is computed here from one number per held-out sample, model and
binary problem.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lincent.estimators.problem import (
    DaskTraining,
    DeviceTraining,
    HostTraining,
    Training,
    predicted_codes,
)
from lincent.estimators.validation import plain
from lincent.model_selection.folds import (
    N_SPLITS,
    Split,
    fold_numbers,
    hash_assignment,
    make_folds,
    number_of_folds,
)
from lincent.model_selection.scoring import PrecomputedScores, RemoteSamples
from lincent.sources.hashing import HeldOutScores, row_hashes
from lincent.sources.landmarks import RowMapping
from lincent.sources.source import namespace_of

LABEL_METRICS = (
    "accuracy", "balanced_accuracy", "f1", "jaccard", "matthews", "precision", "recall",
)  # fmt: skip
"""How the names of metrics begin that depend on true and predicted labels alone."""
BLOCK_ROWS = 8192

ModelScore = Callable[[Any, Any, Any, dict[str, Any]], float]
"""The score of a fitted model, from samples, labels and further arguments of a scorer."""


@dataclass(frozen=True)
class LinearModels:
    """Several linear models on the same features, as a function from samples to decision values."""

    mapping: RowMapping | None
    coef: np.ndarray
    intercept: np.ndarray

    @property
    def width(self) -> int:
        return len(self.intercept)

    def __call__(self, X: Any) -> np.ndarray:
        scores, place = np.empty((X.shape[0], self.width)), namespace_of(X)
        coef = place.send(self.coef)
        for start in range(0, X.shape[0], BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            rows = place.doubles(X[block])
            features = rows if self.mapping is None else self.mapping(rows)
            scores[block] = np.asarray(place.fetch(features @ coef)) + self.intercept
        return scores


@dataclass(frozen=True)
class IndexFolds:
    """Folds of training data in memory or on a device.

    ``hashes`` are those of all samples, by which hash-based folds were made.
    """

    training: HostTraining | DeviceTraining
    splits: list[Split]
    hashes: np.ndarray

    @cached_property
    def compared(self) -> np.ndarray:
        """Whether candidates of an ensemble are compared on each sample."""
        codes = self.training.host_codes
        assignment = hash_assignment(self.hashes, codes, self.training.weight, N_SPLITS, 0)
        return assignment.scored(self.hashes, codes)

    def train(self, split: int) -> HostTraining | DeviceTraining:
        """Return the training part of a split."""
        return self.training.fold(self.splits[split][0])

    def score(
        self, split: int, models: Sequence[Any], score: ModelScore, weigh: bool, scoring: Any
    ) -> list[float]:
        """Return the score of each fitted model on the held-out samples."""
        test = self.splits[split][1]
        extra = {"sample_weight": self.training.weight[test]} if weigh else {}
        X, y = self.training.rows(test), self.training.classes[self.training.host_codes[test]]
        return [score(model, X, y, extra) for model in models]

    def decision_values(self, split: int, models: Sequence[LinearModels]) -> HeldOutScores:
        """Return the decision values of the held-out samples that are compared."""
        test = self.splits[split][1]
        test = test[self.compared[test]]
        X = self.training.rows(test)
        scores = np.concatenate([model(X) for model in models], axis=1)
        return HeldOutScores(
            test, self.training.host_codes[test], self.training.weight[test], scores
        )

    def partition(self, models: Sequence[Any]) -> list[tuple[Any, np.ndarray, np.ndarray]]:
        """Return (model, train, test) if every sample that counts is held out once; or nothing."""
        if len(models) < len(self.splits):
            return []
        test = np.concatenate([test for _, test in self.splits])
        once = self.training.weight > 0
        if np.any(np.bincount(test, minlength=len(once)) != once):
            return []
        return [(model, *split) for model, split in zip(models, self.splits, strict=True)]


@dataclass(frozen=True)
class DaskFolds:
    """Folds of training data in Dask blocks or batches."""

    training: DaskTraining
    splits: list[tuple[Any, int]]
    assignment: Any = None

    def train(self, split: int) -> DaskTraining:
        """Return the training part of a split, which must have samples of each class."""
        folds, fold = self.splits[split]
        part = self.training.with_features(folds.without(fold))
        missing = np.flatnonzero(part.totals == 0)
        if len(missing):
            raise ValueError(
                f"The training rows of fold {split + 1} have none of class "
                f"{plain(part.classes[missing[0]])!r}: use fewer folds, or a cv that keeps all "
                "classes."
            )
        return part

    def score(
        self, split: int, models: Sequence[Any], score: ModelScore, weigh: bool, scoring: Any
    ) -> list[float]:
        """Return the score of each fitted model on the held-out samples."""
        (folds, fold), classes = self.splits[split], self.training.classes
        decide = [model.decision_function for model in models]
        if not models:
            return []
        if isinstance(scoring, str) and scoring.startswith(LABEL_METRICS):
            scores = []
            for table in folds.confusion(fold, decide, predicted_codes):
                # Each pair of true and predicted class once, weighted by its count.
                true, predicted = np.nonzero(table)
                model = PrecomputedScores(classes, np.eye(len(classes))[predicted], predicted)
                extra = {"sample_weight": table[true, predicted]}
                scores.append(score(model, RemoteSamples(len(true)), classes[true], extra))
            return scores
        held = folds.decision_values(fold, decide)
        extra = {"sample_weight": held.weight} if weigh else {}
        samples, labels = RemoteSamples(len(held.codes)), classes[held.codes]
        return [
            score(PrecomputedScores(classes, line), samples, labels, extra) for line in held.scores
        ]

    def decision_values(self, split: int, models: Sequence[LinearModels]) -> HeldOutScores:
        """Return the decision values of the held-out samples that are compared."""
        folds, fold = self.splits[split]
        held = folds.decision_values(fold, models, self.assignment)
        return replace(held, scores=np.concatenate(held.scores, axis=1))

    def partition(self, models: Sequence[Any]) -> list[tuple[Any, np.ndarray, np.ndarray]]:
        """Return nothing: probabilities of fold models are for samples in memory."""
        return []


TrainingFolds = IndexFolds | DaskFolds


def make_training_folds(
    training: Training, cv: Any, n_repeats: int = 1, seed: int = 0, *, every_class: bool = False
) -> TrainingFolds:
    """Return folds of the training data: by default hash-based, each repeat with another hash.

    ``every_class``: fewer folds where a class has fewer distinct samples, so that each tests each
    class.  Of a class with very many samples about 100,000, chosen by hash, are compared.
    """
    numbers = fold_numbers(cv, training.shape[0])
    if isinstance(training, DaskTraining):
        from lincent.sources.dask.folds import TableFolds, hash_folds

        table = training.table
        count = N_SPLITS if numbers is not None else number_of_folds(cv, remote=True)
        repeats = range(seed, seed + (n_repeats if numbers is None else 1))
        how: Any = {"every_class": every_class}
        jobs: list[Any] = [partial(hash_folds, table, count, own, **how) for own in repeats]
        assignments = training.each(jobs, None)
        if numbers is not None:
            folds = [TableFolds.given(table, numbers)]
        else:
            folds = [TableFolds.hashed(table, assignment) for assignment in assignments]
        pairs = [(each, fold) for each in folds for fold in each.folds]
        if not pairs:
            raise ValueError("cv gives no folds: every row has the fold number -1.")
        return DaskFolds(training, pairs, assignments[0])
    X, codes, weight = training.X, training.host_codes, training.weight
    if hasattr(cv, "split") and numbers is None:
        cv = cv.split(X, training.classes[codes])
    hashes = row_hashes(X, seed)
    splits = make_folds(cv, X, codes, weight, n_repeats, seed, hashes, every_class=every_class)
    return IndexFolds(training, splits, hashes)


def search_folds(
    n_splits: int,
    evaluate: Callable[[int, Any], Any],
    run: Callable[[Sequence[Callable[[], Any]]], list[Any]],
    prune: Callable[[Any], Any] | None = None,
) -> list[Any]:
    """Evaluate the candidates on every fold.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    evaluate : callable
        ``evaluate(split, candidates)``; candidates is None for all of them.
    run : callable
        Runs jobs, in parallel where that pays.
    prune : callable, default=None
        From the result of the first fold to the candidates that are evaluated on the others.
    """
    if prune is None:
        return run([partial(evaluate, split, None) for split in range(n_splits)])
    results = run([partial(evaluate, 0, None)])
    if n_splits == 1:
        return results
    candidates = prune(results[0])
    return results + run([partial(evaluate, k, candidates) for k in range(1, n_splits)])


# Results.


def make_cv_results(
    params: list[dict[str, Any]], scores: np.ndarray, **columns: Any
) -> dict[str, Any]:
    """Return ``cv_results_`` as scikit-learn names it: one entry per candidate.

    ``scores`` become ``mean_test_score`` with its rank; NaN ranks last.
    """
    results: dict[str, Any] = {
        f"param_{name}": np.array([point[name] for point in params]) for name in params[0]
    }
    low = np.where(np.isnan(scores), -np.inf, scores)
    rank = 1 + np.array([int((low > value).sum()) for value in low])
    results |= {"params": params, "mean_test_score": scores, "rank_test_score": rank}
    return results | columns


def warn_uncertified(what: str) -> None:
    """Warn of solutions without a certificate to ``tol``."""
    warnings.warn(
        f"{what} to tol: scale the features, or give a larger time_limit, max_iter or tol.",
        ConvergenceWarning,
        stacklevel=3,
    )


def store_gaps(model: Any, gaps: Sequence[float], iterations: Sequence[int], what: str) -> None:
    """Set ``duality_gap_`` and ``n_iter_`` from those of all solutions; warn of large gaps."""
    gap = max(float(np.max(gaps)), 0.0)
    model.duality_gap_, model.n_iter_ = gap, max(1, sum(iterations))
    if not gap <= model.tol:
        warn_uncertified(f"{what} (worst relative duality gap {gap:.1e}) is not certified")


def check_grid(name: str, values: Any, *, infinite: bool = False) -> np.ndarray:
    """Return candidate values as an array of one or more positive numbers."""
    kind = "numbers above 0" if infinite else "finite numbers above 0"
    message = f"{name}={values!r} is not usable: give a list of {kind}."
    try:
        grid = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(message) from error
    usable = (grid > 0) & (grid < np.inf) | (infinite & (grid == np.inf))
    if grid.ndim != 1 or not grid.size or not usable.all():
        raise ValueError(message)
    return grid
