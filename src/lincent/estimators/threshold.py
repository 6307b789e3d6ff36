"""Discriminators: the decision rules on the projected line, three in the paper.

All work on one number per sample, x_hat = x.beta, with class centers c- < c+ on that line.

distance   LCC-Dist: the nearer center wins, so the threshold is the midpoint (c- + c+)/2.
svm        LCC-1SV: a one-dimensional soft-margin SVM (lambda = 1) on x_hat scaled so that the
           centers are h = 10 apart.
nearest    LCC-1NN: the class of the nearest training sample wins.

Each gives a signed score that is positive for the positive class.  ``distance`` and ``svm`` are
thresholds, score = x_hat - threshold; ``nearest`` scores by the difference of the distances to the
nearest negative and the nearest positive sample.

A class importance k (see ``class_weight``) moves the threshold as a prior moves that of a
discriminant analysis: by v/(c+ - c-) * log(k+/k-), where v is the variance of x_hat within the
classes.

Other thresholds: that of RegularizedLCC is a variable of its problem (``linear.RegularizedFit``);
after the fit a metric or costs choose one in ``inspection.thresholds`` (command line), and AutoLCC
shifts its own in ``model_selection.selection.choose_threshold_shift``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DISCRIMINATORS = ("distance", "nearest", "svm")


@dataclass(frozen=True)
class Threshold:
    """A decision threshold: projections above it are positive."""

    at: float

    def score(self, projected: np.ndarray) -> np.ndarray:
        """Return signed scores, positive for the positive class."""
        return projected - self.at

    def shifted(self, by: float) -> Threshold:
        """Return the same rule for projections that are larger by this constant."""
        return Threshold(self.at + by)


@dataclass(frozen=True)
class Nearest:
    """The class of the nearest training sample on the line."""

    negative: np.ndarray
    positive: np.ndarray
    shift: float

    def score(self, projected: np.ndarray) -> np.ndarray:
        toward = _distance(projected, self.negative) - _distance(projected, self.positive)
        return toward - self.shift

    def shifted(self, by: float) -> Nearest:
        return Nearest(self.negative + by, self.positive + by, self.shift)


def _distance(projected: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the distance to the nearest of the sorted points."""
    right = np.searchsorted(points, projected)
    below = np.abs(projected - points[np.maximum(right - 1, 0)])
    above = np.abs(projected - points[np.minimum(right, len(points) - 1)])
    return np.minimum(below, above)


Discriminator = Threshold | Nearest
"""A decision rule on the projected line."""


@dataclass(frozen=True)
class Line:
    """The training samples on the projected line."""

    projected: np.ndarray
    sign: np.ndarray
    weight: np.ndarray
    centers: tuple[float, float]
    importance: tuple[float, float]

    @property
    def midpoint(self) -> float:
        return (self.centers[0] + self.centers[1]) / 2

    @property
    def shift(self) -> float:
        """The change of the threshold by the importances: negative if the positive is larger."""
        ratio = np.log(self.importance[1] / self.importance[0])
        if ratio == 0.0:
            return 0.0
        variance = 0.0
        for side, center in zip((-1.0, 1.0), self.centers, strict=True):
            rows = self.sign == side
            squares = (self.projected[rows] - center) ** 2
            variance += float(np.average(squares, weights=self.weight[rows])) / 2
        return -variance / (self.centers[1] - self.centers[0]) * float(ratio)


def fit_discriminator(name: str, line: Line) -> Discriminator:
    """Fit the discriminator ``name`` to the training samples on the line."""
    if name == "distance":
        return Threshold(line.midpoint + line.shift)
    counted = line.weight > 0
    if name == "nearest":
        negative = np.sort(line.projected[counted & (line.sign < 0)])
        positive = np.sort(line.projected[counted & (line.sign > 0)])
        return Nearest(negative, positive, line.shift)
    scale = 10.0 / (line.centers[1] - line.centers[0])
    factor = np.where(line.sign > 0, line.importance[1], line.importance[0])
    w, b = fit_svm_1d(
        (line.projected[counted] - line.midpoint) * scale,
        line.sign[counted],
        (line.weight * factor)[counted],
    )
    return Threshold(line.midpoint - b / (w * scale))


def fit_svm_1d(x: np.ndarray, sign: np.ndarray, costs: np.ndarray) -> tuple[float, float]:
    """Solve the soft-margin SVM in one dimension exactly.

        minimize over w, b     w^2/2 + sum_i costs_i (1 - y_i (w x_i + b))_+

    For fixed w the best b is a weighted quantile of y_i - w x_i; the slope of the remaining convex
    function of w follows from the multipliers there, and its zero is found by bisection.
    """
    positive_total = float(costs[sign > 0].sum())

    def best(w: float) -> tuple[float, float]:
        """Return the slope in w, and the best b (the middle of its interval)."""
        breakpoints = sign - w * x
        order = np.argsort(breakpoints, kind="stable")
        passed = np.cumsum(costs[order])
        position = int(np.searchsorted(passed, positive_total * (1 - 1e-12)))
        position = min(position, len(order) - 1)
        b = float(breakpoints[order[position]])
        if abs(passed[position] - positive_total) <= 1e-12 * passed[-1] and position + 1 < len(
            order
        ):
            b = (b + float(breakpoints[order[position + 1]])) / 2
        # Multipliers: full cost for margin violations; the active sample balances the sum.
        violated = sign[order] > 0
        violated[:position] = sign[order[:position]] < 0
        alpha = np.empty_like(costs)
        alpha[order] = np.where(violated, costs[order], 0.0)
        k = order[position]
        alpha[k] = 0.0
        alpha[k] = np.clip(-sign[k] * float(alpha @ sign), 0.0, costs[k])
        return w - float(alpha @ (sign * x)), b

    low, high = 0.0, 1.0
    while best(high)[0] < 0:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if best(middle)[0] < 0:
            low = middle
        else:
            high = middle
    w = (low + high) / 2
    return w, best(w)[1]
