"""Is a difference real, and how large is it.

    wilcoxon        paired signed-rank test; zero rule and method fixed, see `TEST`
    holm            p values for several comparisons at once
    rank_biserial   effect size of the signed-rank test: rank sum for minus against, -1 to 1
    interval        mean paired difference and its 95 % interval. Splits of one data set overlap,
                    so the variance is multiplied by (1/R + n_test/n_train) (Nadeau and Bengio
                    2003); with 1/R alone the interval is far too short
    friedman        do the methods differ over several data sets; Nemenyi says which pairs do

The corrected interval decides what the reports call real; the signed-rank test is the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

ALPHA = 0.05
TEST = {
    "test": "paired Wilcoxon signed-rank, two-sided",
    "zero_rule": "wilcox (zero differences are dropped; all zero: p = 1)",
    "method": "normal approximation, no continuity correction",
    "alpha": str(ALPHA),
}


def wilcoxon(a: Any, b: Any) -> float:
    """Return the p value of the paired signed-rank test.

    Examples
    --------
    >>> from lincent.paper.study.statistics import wilcoxon
    >>> wilcoxon([1, 2, 3], [1, 2, 3])
    1.0
    """
    difference = np.round(np.asarray(a, dtype=float) - np.asarray(b, dtype=float), 12)
    difference = difference[np.isfinite(difference) & (difference != 0)]
    if len(difference) == 0:
        return 1.0
    # The normal approximation written out: scipy renamed and retuned its option more than once.
    ranks = stats.rankdata(np.abs(difference))
    n = len(difference)
    positive = ranks[difference > 0].sum()
    _, ties = np.unique(ranks, return_counts=True)
    variance = n * (n + 1) * (2 * n + 1) / 24 - (ties**3 - ties).sum() / 48
    z = (positive - n * (n + 1) / 4) / np.sqrt(variance)
    return float(min(1.0, 2 * stats.norm.sf(abs(z))))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted by Holm's step-down rule.

    Examples
    --------
    >>> from lincent.paper.study.statistics import holm
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    steps = (len(p) - np.arange(len(p))) * p[order]
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps)) if len(p) else steps
    return [float(value) for value in adjusted]


def rank_biserial(a: Any, b: Any) -> float:
    """Return the matched-pairs rank-biserial correlation: 1 if a is always above b."""
    difference = np.round(np.asarray(a, dtype=float) - np.asarray(b, dtype=float), 12)
    difference = difference[np.isfinite(difference) & (difference != 0)]
    if len(difference) == 0:
        return 0.0
    ranks = stats.rankdata(np.abs(difference))
    return float((ranks[difference > 0].sum() - ranks[difference < 0].sum()) / ranks.sum())


@dataclass(frozen=True)
class Interval:
    """A mean difference with its interval and the p value that belongs to it."""

    mean: float
    low: float
    high: float
    p: float

    @property
    def real(self) -> bool:
        """Whether zero is outside."""
        return self.low > 0 or self.high < 0


def interval(
    difference: Any, test_to_train: float | None = None, level: float = 1 - ALPHA
) -> Interval:
    """Return the mean of paired differences and its interval.

    Parameters
    ----------
    difference : array-like
        One value per split.
    test_to_train : float or None
        n_test / n_train of the splits of one data set, for the correction; None for independent
        values.
    level : float
    """
    values = np.asarray(difference, dtype=float)
    values = values[np.isfinite(values)]
    n = len(values)
    if n == 0:
        return Interval(np.nan, np.nan, np.nan, np.nan)
    mean = float(values.mean())
    if n == 1 or np.ptp(values) == 0:
        certain = n > 1
        return (
            Interval(mean, mean, mean, float(mean == 0))
            if certain
            else Interval(mean, -np.inf, np.inf, 1.0)
        )
    error = float(values.std(ddof=1) * np.sqrt(1 / n + (test_to_train or 0.0)))
    reach = float(stats.t.ppf(0.5 + level / 2, n - 1)) * error
    p = float(2 * stats.t.sf(abs(mean) / error, n - 1))
    return Interval(mean, mean - reach, mean + reach, p)


def standard_error(values: Any) -> float:
    """Return the standard error of a mean, NaN for fewer than two values."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def ranks_from_one(values: Any, decimals: int = 10) -> np.ndarray:
    """Return ranks per row, 1 for the largest, ties shared.

    Examples
    --------
    >>> from lincent.paper.study.statistics import ranks_from_one
    >>> ranks_from_one([[90.0, 80.0, 90.0]]).tolist()
    [[1.5, 3.0, 1.5]]
    """
    rows = np.round(np.atleast_2d(np.asarray(values, dtype=float)), decimals)
    return np.asarray(stats.rankdata(-rows, axis=1))


@dataclass(frozen=True)
class Friedman:
    """Friedman test over data sets with Nemenyi's critical difference.

    ``nemenyi`` is a square DataFrame of p values; ``ranks`` are mean ranks from 1.
    """

    statistic: float
    p: float
    ranks: dict[str, float]
    critical_difference: float
    nemenyi: Any
    n_sets: int


def friedman(scores: Any) -> Friedman | None:
    """Test whether methods differ over data sets.

    Parameters
    ----------
    scores : DataFrame
        Data sets as rows, methods as columns; higher is better. Rows with gaps are left out.

    Returns
    -------
    Friedman or None
        None with fewer than three data sets or methods.
    """
    complete = scores.dropna(axis=0)
    n, k = complete.shape
    if n < 3 or k < 3:
        return None
    values = np.round(complete.to_numpy(dtype=float), 10)
    if np.ptp(values, axis=1).max() == 0:
        statistic, p = 0.0, 1.0
    else:
        statistic, p = (float(v) for v in stats.friedmanchisquare(*values.T))
    ranks = stats.rankdata(-values, axis=1).mean(axis=0)
    # studentized range for infinite degrees of freedom; a million is the same to six digits
    q = float(stats.studentized_range.ppf(1 - ALPHA, k, 1e6)) / np.sqrt(2)
    return Friedman(
        statistic,
        p,
        {str(name): float(rank) for name, rank in zip(complete.columns, ranks, strict=True)},
        float(q * np.sqrt(k * (k + 1) / (6 * n))),
        _nemenyi(complete),
        n,
    )


def _nemenyi(scores: Any) -> Any:
    try:
        from scikit_posthocs import posthoc_nemenyi_friedman
    except ImportError as error:
        raise ImportError('Nemenyi needs scikit-posthocs: pip install "lincent[app]".') from error
    table = posthoc_nemenyi_friedman(scores.to_numpy(dtype=float))
    table.index = table.columns = [str(name) for name in scores.columns]
    return table
