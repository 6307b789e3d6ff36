"""Probabilities on the projected line, by one-dimensional calibration.

A score is turned into the probability of the positive class by one of two increasing functions of
it, fitted to scores of rows that the direction has not seen:

sigmoid    p = 1 / (1 + exp(-(a u + b))), by weighted maximum likelihood with the targets of Platt
           (1999), (W+ + 1)/(W+ + 2) and 1/(W- + 2), which keep a and b finite on separable rows
isotonic   the increasing step function nearest in weighted squares, joined by straight lines

u is the score in units of the distance between the projected centers, so that the lines of
different folds, whose directions may differ in length, have the same unit.

Folds are dealt by row values, not by row numbers: the distinct rows of each class, in the order
of their keys, go to the folds in turn.  Repetitions of a row stay in one fold, so a weight of two
is still the same as a repeated row, and no permutation of the data changes the result.  A class
with a single kind of row cannot do without it: that row is in every training part, and its score is
the one it has in the whole.

Pairs of classes (one-vs-one) are coupled as Wu, Lin and Weng (2004, second method) do: with r_ij
the probability of i among {i, j}, minimize over p, sum p = 1, sum_ij (r_ji p_i - r_ij p_j)^2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from scipy.special import expit

from lincent.passes.row_hash import row_keys

METHODS = ("sigmoid", "isotonic")
FOLDS = 5
NEWTON_STEPS = 100
SMALLEST = 1e-12
PAIR_FLOOR = 1e-7


class Calibrator(Protocol):
    """From a score to the probability of the positive class."""

    def probability(self, score: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Sigmoid:
    """p = 1 / (1 + exp(-(slope u + offset))) with u = score / unit."""

    slope: float
    offset: float
    unit: float

    def probability(self, score: np.ndarray) -> np.ndarray:
        return np.asarray(expit(self.slope * (score / self.unit) + self.offset))


@dataclass(frozen=True)
class Steps:
    """Straight lines between (at, probability) pairs, constant outside; at in units of ``unit``."""

    at: np.ndarray
    height: np.ndarray
    unit: float

    def probability(self, score: np.ndarray) -> np.ndarray:
        return np.interp(score / self.unit, self.at, self.height)


def fit_calibrator(
    method: str, u: np.ndarray, positive: np.ndarray, weight: np.ndarray, unit: float
) -> Calibrator:
    """The calibrator ``method`` for scores u (in centers' distances) of unseen rows."""
    if method == "sigmoid":
        slope, offset = _platt(u, positive, weight)
        return Sigmoid(slope, offset, unit)
    # Imported here: it takes longer to import than the rest of this package.
    from sklearn.isotonic import IsotonicRegression

    steps = IsotonicRegression(out_of_bounds="clip", y_min=0.0, y_max=1.0)
    steps.fit(u, positive.astype(np.float64), sample_weight=weight)
    return Steps(
        np.asarray(steps.X_thresholds_, dtype=np.float64),
        np.asarray(steps.y_thresholds_, dtype=np.float64),
        unit,
    )


def _platt(u: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Slope and offset by Newton's method with halved steps; the problem is convex."""
    plus, minus = float(weight[positive].sum()), float(weight[~positive].sum())
    target = np.where(positive, (plus + 1) / (plus + 2), 1 / (minus + 2))
    point = np.array([0.0, np.log((plus + 1) / (minus + 1))])
    design = np.stack([u, np.ones_like(u)], axis=1)

    def loss(at: np.ndarray) -> float:
        z = design @ at
        return float(weight @ (np.logaddexp(0.0, z) - target * z))

    value = loss(point)
    for _ in range(NEWTON_STEPS):
        p = expit(design @ point)
        slope = design.T @ (weight * (p - target))
        curve = (design * (weight * p * (1 - p))[:, None]).T @ design
        curve += SMALLEST * np.trace(curve) * np.eye(2)
        step = np.linalg.solve(curve, slope)
        if float(slope @ step) <= SMALLEST * (1.0 + abs(value)):
            break
        length = 1.0
        while (ahead := loss(point - length * step)) > value and length > SMALLEST:
            length /= 2
        point, value = point - length * step, min(ahead, value)
    return float(point[0]), float(point[1])


def deal(X: Any, sign: np.ndarray, weight: np.ndarray) -> Iterator[np.ndarray]:
    """Masks of the rows of each fold; rows of weight zero and single kinds are in none."""
    keys = row_keys(X)
    fold = np.full(len(sign), -1)
    folds = FOLDS
    for side in (-1.0, 1.0):
        rows = np.flatnonzero((sign == side) & (weight > 0))
        kinds, place = np.unique(keys[rows], return_inverse=True)
        if len(kinds) > 1:
            fold[rows] = place.reshape(-1)
            folds = min(folds, len(kinds))
    fold[fold >= 0] %= folds
    for k in range(folds):
        if np.any(fold == k):
            yield fold == k


class Measured(Protocol):
    """A direction with a rule on its line and a unit."""

    @property
    def width(self) -> float: ...

    def score(self, X: Any) -> np.ndarray: ...


def held_out_scores(
    X: Any,
    sign: np.ndarray,
    weight: np.ndarray,
    whole: Sequence[Measured | None],
    fit: Callable[[np.ndarray], Sequence[Measured | None]],
) -> list[np.ndarray | None]:
    """Scores, in units of each direction, of rows that it has not seen.

    ``whole`` are directions fitted to all rows; ``fit`` fits the same to the rows of a mask.
    """
    u = [None if part is None else part.score(X) / part.width for part in whole]
    for held in deal(X, sign, weight):
        for scores, part in zip(u, fit(~held), strict=True):
            if scores is not None and part is not None:
                scores[held] = part.score(X[held]) / part.width
    return u


def couple(pairs: np.ndarray, n_classes: int) -> np.ndarray:
    """Class probabilities from pairs: column (i, j) is the probability of j among the two."""
    m = pairs.shape[0]
    r = np.zeros((m, n_classes, n_classes))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        p = np.clip(pairs[:, column], PAIR_FLOOR, 1 - PAIR_FLOOR)
        r[:, j, i], r[:, i, j] = p, 1 - p
    system = np.zeros((m, n_classes + 1, n_classes + 1))
    system[:, :-1, :-1] = -r.transpose(0, 2, 1) * r
    index = np.arange(n_classes)
    system[:, index, index] = (r**2).sum(axis=1)
    system[:, :-1, -1] = system[:, -1, :-1] = 1.0
    right = np.zeros((m, n_classes + 1, 1))
    right[:, -1] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :-1, 0], 0.0)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def combine_probabilities(columns: np.ndarray, n_classes: int, strategy: str) -> np.ndarray:
    """Per-task probabilities (one column each) to what ``predict_proba`` returns."""
    if n_classes == 2:
        return np.stack([1 - columns[:, 0], columns[:, 0]], axis=1)
    if strategy == "ovo":
        return couple(columns, n_classes)
    total = columns.sum(axis=1, keepdims=True)
    # Where every class is ruled out, none is preferred.
    even = np.full_like(columns, 1.0 / n_classes)
    return np.divide(columns, total, out=even, where=total > 0)
