"""The table of a cross-validated search, and the choice made from it."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from lincent.estimators.validation import check_positive

SELECTIONS = ("best", "one-standard-error")
BALANCED = "balanced_accuracy"


@dataclass(frozen=True)
class Candidate:
    """One point of the grid."""

    C: float
    margin: float
    discriminator: str


@dataclass(frozen=True)
class Found:
    """What a search has found: one row per fold, one column per point.

    A point whose solve the time limit cut short, or that was not begun, is late in that fold.
    Points are compared on the same folds: those that finished the most.  So a fold that was cut
    short does not take the points that others finished out of the choice.
    """

    scores: np.ndarray
    gaps: np.ndarray
    late: np.ndarray

    @cached_property
    def done(self) -> np.ndarray:
        """What can be compared: what was finished; where nothing was, what has a score."""
        scored = np.isfinite(self.scores)
        return ~self.late if np.any(scored & ~self.late) or not self.late.any() else scored

    @cached_property
    def folds(self) -> np.ndarray:
        """The folds on which points are compared."""
        count = self.done.sum(axis=1)
        return np.asarray(count == count.max())

    @cached_property
    def points(self) -> np.ndarray:
        """The points that are compared."""
        return np.asarray(self.done[self.folds].all(axis=0))

    @property
    def infeasible(self) -> np.ndarray:
        """The points that some fold has found to have no solution."""
        return np.asarray((np.isnan(self.scores) & ~self.late).any(axis=0))

    def warn(self, tol: float, time_limit: float | None) -> None:
        """One sentence on what falls short."""
        total = self.scores.shape[1]
        if self.late.any():
            finished = int((~self.late[self.folds]).all(axis=0).sum())
            warnings.warn(
                f"time_limit={time_limit} s ended the search: {finished} of {total} candidates "
                f"were finished{self._where(finished)}. Give a larger time_limit or fewer "
                "candidates.",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif short := int((self.gaps.max(axis=0) > tol).sum()):
            warn_uncertified(f"{short} of {total} points of the search are not certified")

    def _where(self, finished: int) -> str:
        if finished:
            folds = f"{self.folds.sum()} of {len(self.folds)} folds"
            return f", in {folds}, and the choice is the best of these"
        begun = "the best of those begun" if self.points.any() else "the largest margin"
        return f", and the choice is {begun}"


def warn_uncertified(what: str) -> None:
    """Say that some points fell short."""
    warnings.warn(
        f"{what} to tol: give a larger time_limit or max_iter, or a larger tol.",
        ConvergenceWarning,
        stacklevel=3,
    )


def check_grid(name: str, values: Any, *, infinite: bool = False) -> np.ndarray:
    """One or more positive numbers."""
    grid = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if grid.ndim != 1 or grid.size == 0:
        raise ValueError(f"{name}={values!r} is not usable: give a list of numbers above 0.")
    for value in grid.tolist():
        check_positive(name, value, infinite=infinite)
    return grid


def takes_weights(scorer: Any) -> bool:
    """Whether a scorer can be given sample weights."""
    return "sample_weight" in inspect.signature(scorer).parameters


class _WithoutProbabilities(ClassifierMixin, BaseEstimator):
    """A fitted classifier of two classes that has no predict_proba."""

    classes_ = np.arange(2)

    def predict(self, X: Any) -> np.ndarray:
        return np.arange(len(X)) % 2

    def decision_function(self, X: Any) -> np.ndarray:
        return self.predict(X) - 0.5


def asks_probabilities(scorer: Any) -> bool:
    """Whether a scorer can do nothing without predict_proba."""
    try:
        scorer(_WithoutProbabilities(), np.zeros((4, 1)), np.arange(4) % 2)
    except AttributeError as error:
        return "predict_proba" in str(error)
    except Exception:  # a scorer of its user's, which wants rows of theirs
        return False
    return False


def tabulate(grid: list[Candidate], relative: bool, found: Found) -> dict[str, Any]:
    """``cv_results_`` from what was found; means are over the folds that are compared."""
    values = {
        "C": [candidate.C for candidate in grid],
        "relative_margin" if relative else "margin": [candidate.margin for candidate in grid],
        "discriminator": [candidate.discriminator for candidate in grid],
    }
    results: dict[str, Any] = {f"param_{name}": np.array(v) for name, v in values.items()}
    results["params"] = [
        dict(zip(values, point, strict=True)) for point in zip(*values.values(), strict=True)
    ]
    for fold, line in enumerate(found.scores):
        results[f"split{fold}_test_score"] = line
    compared = np.where(found.points, found.scores[found.folds], np.nan)
    mean = compared.mean(axis=0)
    results["mean_test_score"] = mean
    results["std_test_score"] = compared.std(axis=0)
    low = np.where(np.isnan(mean), -np.inf, mean)
    results["rank_test_score"] = 1 + np.array([int((low > value).sum()) for value in low])
    results["feasible"] = ~found.infeasible
    results["relative_gap"] = found.gaps[found.folds].max(axis=0)
    return results


def best_candidate(
    grid: list[Candidate],
    results: dict[str, Any],
    usable: np.ndarray,
    n_splits: int,
    selection: str,
) -> int:
    """The index of the chosen point; ties go to the first, which has the smaller margin.

    Where no point was scored in time it is the largest margin: the one next to known.
    """
    usable = usable & results["feasible"]
    mean = results["mean_test_score"]
    mean = np.where(usable & np.isfinite(mean), mean, -np.inf)
    if not np.any(usable):
        raise ValueError(
            "No margin of the grid is feasible in every fold: give smaller margins, or "
            "relative=True, and check that the class centers differ."
        )
    if not np.any(np.isfinite(mean)):
        return max(np.flatnonzero(usable).tolist(), key=lambda k: grid[k].margin)
    best = int(np.argmax(mean))
    if selection == "best":
        return best
    # The standard error of a mean of n folds: their deviation (n - 1) over the root of n.
    error = results["std_test_score"][best] / np.sqrt(max(n_splits - 1, 1))
    same = [(c.C, c.discriminator) == (grid[best].C, grid[best].discriminator) for c in grid]
    return max(np.flatnonzero((mean >= mean[best] - error) & same).tolist())
