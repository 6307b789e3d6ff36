"""Weighted statistics of columns; sample weights are frequency weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

SAMPLE_ROWS = 10_000
"""Quantiles, knots and landmarks are computed from at most so many unique rows."""
EVEN = 0.01
"""A class whose share of a sample is off by less, by rounding, keeps its weights."""

LARGEST = 1e152
"""Sums of squares of numbers up to here do not overflow, and down to its inverse do not vanish."""
HEAVIEST = 1e30
"""Largest weight, and its inverse the least: candidates are compared in single precision."""


@dataclass(frozen=True)
class Columns:
    """Mean, standard deviation (1 if it is zero), minimum and maximum of each column."""

    mean: np.ndarray
    deviation: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def of_zero_and_one(self) -> np.ndarray:
        """The columns that hold only 0 and 1.

        Between 0 and 1 no square is above its root, so the variance is at most p (1 - p), where p
        is the mean; it is that much only if all squares are their own roots.
        """
        least = self.mean * (1.0 - self.mean) - 1e-9
        return (self.low == 0.0) & (self.high == 1.0) & (self.deviation**2 >= least)


def check_weights(sample_weight: Any, n_samples: int) -> np.ndarray:
    """Return one finite, nonnegative weight per row, not all zero."""
    if sample_weight is None:
        return np.ones(n_samples)
    if np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight has masked entries: give one number per row.")
    rows = np.empty(n_samples)
    weight = np.asarray(
        _check_sample_weight(
            sample_weight, rows, dtype=np.float64, ensure_non_negative=True, copy=True
        )
    )
    if not 1 / HEAVIEST <= weight.max() <= HEAVIEST:
        raise ValueError(
            f"The largest sample weight is {weight.max():g}, where sums overflow or vanish: divide "
            "the weights by their mean."
        )
    return weight


def shares_of_classes(kinds: Sequence[int], weights: Sequence[float], count: int) -> list[int]:
    """Return how many unique rows of each class make a sample of about ``count``.

    All of them where there are no more.  Else each class has its share by weight, and at least a
    twentieth of the sample, as far as it has the rows.
    """
    if sum(kinds) <= count:
        return list(kinds)
    total = sum(weights)
    return [
        min(there, max(round(count * weight / total), count // 20))
        for there, weight in zip(kinds, weights, strict=True)
    ]


def poststratified(codes: np.ndarray, weight: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return weights of the same sum whose totals by class are in the ratio of ``totals``.

    A sample that has more of a rare class than the population then has its class frequencies.
    """
    own = np.bincount(codes, weight, len(totals))
    ratio = totals * (own > 0) / np.where(own > 0, own, 1.0)
    factor = ratio * own.sum() / (ratio @ own)
    factor[np.abs(factor - 1.0) < EVEN] = 1.0
    # Rounded: sums in another order must not show.
    return np.asarray(weight * factor.astype(np.float32).astype(np.float64)[codes])


def merged(
    rows: np.ndarray, keys: np.ndarray, codes: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return index and total weight of each unique row, ordered by hash.

    Sums over rows that are merged first are the same to the last digit for a weight of two and for
    a repeated row, and in whatever order the rows come.
    """
    rows = rows[weight[rows] > 0]
    order = rows[np.lexsort((codes[rows], keys[rows]))]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(codes[order]) != 0) | (keys[order][1:] != keys[order][:-1])
    return order[new], np.add.reduceat(weight[order], np.flatnonzero(new))


def quantiles(values: np.ndarray, weight: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the smallest values at which the fractions of the total weight are reached."""
    order = np.argsort(values, kind="stable")
    reach = np.cumsum(weight[order])
    # A share that is reached exactly but for rounding counts as reached.
    spots = np.searchsorted(reach, shares * reach[-1] * (1 - 1e-12))
    return np.asarray(values[order][np.minimum(spots, len(values) - 1)], dtype=np.float64)


def median(values: np.ndarray, weight: np.ndarray) -> float:
    """Return the weighted median, without sorting where all weights are equal."""
    if np.all(weight == weight[0]):
        place = (len(values) + 1) // 2 - 1
        return float(np.partition(values, place)[place])
    return float(quantiles(values, weight, np.array([0.5]))[0])


def check_magnitude(X: np.ndarray, names: Sequence[str] | None = None) -> None:
    """Raise an error that names a cell whose square would overflow or vanish in sums."""
    if X.size == 0:
        return
    sizes = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
    beyond = np.flatnonzero((sizes > LARGEST) | ((sizes > 0) & (sizes < 1 / LARGEST)))
    for column in beyond[:1].tolist():
        row = int(np.argmax(np.abs(X[:, column])))
        name = f"column {column}" if names is None else f"the column {names[column]!r}"
        large = f"beyond {LARGEST:g} overflow"
        why = large if sizes[column] > LARGEST else f"below {1 / LARGEST:g} vanish"
        raise ValueError(
            f"Row {row} (from 0) has {X[row, column]:.3g} in {name}: squares of numbers {why}; "
            "correct the cell, or divide the column by its size."
        )


def mean_and_deviation(X: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each column; 1 for a constant column."""
    share = weight / weight.sum()
    mean = share @ X
    deviation = np.empty(X.shape[1])
    for j in range(X.shape[1]):  # column by column: no second array of the size of X
        difference = X[:, j] - mean[j]
        deviation[j] = np.sqrt(share @ (difference * difference))
    rounding = 1e-12 * np.maximum(np.abs(mean), 1e-300)
    return mean, np.where(deviation > rounding, deviation, 1.0)
