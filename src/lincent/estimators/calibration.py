"""Probabilities on a line: an increasing function of one score, and coupling of pairs.

isotonic   the increasing step function nearest in weighted squares to the classes of rows that the
           rule has not seen, joined by straight lines
sigmoid    p = 1 / (1 + exp(-(a u + b))); only model files of version 0.1.0 have it: today's sigmoid
           is that of ``softmax``, which agrees with the predicted classes

u is the score in units of the distance between the projected centers, so that the lines of
different folds, whose directions may differ in length, have the same unit.

Pairs of classes (one-vs-one) are coupled as Wu, Lin and Weng (2004, second method) do: with r_ij
the probability of i among {i, j}, minimize over p, sum p = 1, sum_ij (r_ji p_i - r_ij p_j)^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np
from scipy.special import expit

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


def fit_steps(u: np.ndarray, positive: np.ndarray, weight: np.ndarray, unit: float) -> Steps:
    """The steps for scores u (in units) of unseen rows."""
    # Imported here: it takes longer to import than the rest of this package.
    from sklearn.isotonic import IsotonicRegression

    steps = IsotonicRegression(out_of_bounds="clip", y_min=0.0, y_max=1.0)
    steps.fit(u, positive.astype(np.float64), sample_weight=weight)
    return Steps(
        np.asarray(steps.X_thresholds_, dtype=np.float64),
        np.asarray(steps.y_thresholds_, dtype=np.float64),
        unit,
    )


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
