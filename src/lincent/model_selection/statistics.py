"""Tests of differences between methods, and summaries of a table of results.

    wilcoxon        paired signed-rank test, as in the paper; zero rule and method are in `TEST`
    holm            p values corrected for several comparisons
    rank_biserial   effect size of the signed-rank test, -1 to 1
    interval        mean paired difference with its 95 % interval. Splits of one data set overlap,
                    so the variance is multiplied by (1/R + n_test/n_train) (Nadeau and Bengio
                    2003); with 1/R alone the interval is far too short

The corrected interval decides what the reports call real.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

ALPHA = 0.05
TEST = {
    "test": "paired Wilcoxon signed-rank, two-sided",
    "zero_rule": "wilcox (zero differences are dropped; all zero: p = 1)",
    "method": "normal approximation, no continuity correction",
    "alpha": str(ALPHA),
}


def _differences(a: Any, b: Any) -> np.ndarray:
    """Return the nonzero differences, rounded so that equal ones tie."""
    difference = np.round(np.asarray(a, dtype=float) - np.asarray(b, dtype=float), 12)
    return difference[np.isfinite(difference) & (difference != 0)]


def wilcoxon(a: Any, b: Any) -> float:
    """Return the p value of the paired signed-rank test.

    Examples
    --------
    >>> from lincent.model_selection.statistics import wilcoxon
    >>> wilcoxon([1, 2, 3], [1, 2, 3])
    1.0
    """
    difference = _differences(a, b)
    if len(difference) == 0:
        return 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few splits; the paper's test is this approximation
        return float(stats.wilcoxon(difference, method="approx").pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted by Holm's step-down procedure.

    Examples
    --------
    >>> from lincent.model_selection.statistics import holm
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    steps = (len(p) - np.arange(len(p))) * p[order]
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps)) if len(p) else steps
    return [float(value) for value in adjusted]


def rank_biserial(a: Any, b: Any) -> float:
    """Return the matched-pairs rank-biserial correlation: 1 if a is always above b."""
    difference = _differences(a, b)
    if len(difference) == 0:
        return 0.0
    ranks = stats.rankdata(np.abs(difference))
    return float(ranks @ np.sign(difference) / ranks.sum())


class Interval(NamedTuple):
    """A mean difference with its interval and the p value that belongs to it."""

    mean: float
    low: float
    high: float
    p: float


def interval(difference: Any, test_to_train: float = 0.0) -> Interval:
    """Return the mean of paired differences and its 95 % interval.

    Parameters
    ----------
    difference : array-like
        One value per split.
    test_to_train : float
        n_test / n_train of the splits of one data set, for the correction; 0 for independent
        values.
    """
    values = np.asarray(difference, dtype=float)
    values = values[np.isfinite(values)]
    n = len(values)
    if n == 0:
        return Interval(np.nan, np.nan, np.nan, np.nan)
    mean = float(values.mean())
    if n == 1:
        return Interval(mean, -np.inf, np.inf, 1.0)
    if np.ptp(values) == 0:
        return Interval(mean, mean, mean, float(mean == 0))
    error = float(values.std(ddof=1) * np.sqrt(1 / n + test_to_train))
    low, high = stats.t.interval(1 - ALPHA, n - 1, mean, error)
    return Interval(mean, float(low), float(high), float(2 * stats.t.sf(abs(mean) / error, n - 1)))


# ---------------------------------------------------------------------- from a table of results


def select(frame: Any, procedure: str = "holdout", dataset: str | None = None) -> Any:
    """Return the runs of a procedure at the hyperparameters of the estimators."""
    rows = frame[(frame["procedure"] == procedure) & (frame["params"] == "{}")]
    return rows if dataset is None else rows[rows["dataset"] == dataset]


def pivot(frame: Any, dataset: str, column: str, procedure: str = "holdout") -> Any:
    """Return one column as a table of splits by methods, NaN where a run has no score."""
    rows = select(frame, procedure, dataset)
    return rows[rows["status"] == "ok"].pivot(index="split", columns="method", values=column)


def means(frame: Any, column: str, procedure: str = "holdout") -> Any:
    """Return data sets by methods, the mean over splits; NaN where no split has a score."""
    rows = select(frame, procedure)
    return rows[rows["status"] == "ok"].pivot_table(
        index="dataset", columns="method", values=column, aggfunc="mean"
    )


def summarize(frame: Any, dataset: str, column: str, procedure: str = "holdout") -> Any:
    """Return one row per method, best first, methods without a score last.

    The columns: method, mean and sd of the score, runs (with a score), failed (number of runs),
    reason (of the first failure), seconds (median of a fit).
    """
    import pandas

    lines = []
    for method, rows in select(frame, procedure, dataset).groupby("method", sort=False):
        good, bad = rows[rows["status"] == "ok"], rows[rows["status"] != "ok"]
        scores = good[column][np.isfinite(good[column])]
        reason = "" if bad.empty else f"{bad['status'].iloc[0]}: {bad['error'].iloc[0]}"
        moments = (scores.mean(), scores.std(ddof=1), len(scores))
        lines.append((str(method), *moments, len(bad), reason, good["fit_seconds"].median()))
    names = ["method", "mean", "sd", "runs", "failed", "reason", "seconds"]
    return pandas.DataFrame(lines, columns=names).sort_values(
        "mean", ascending=False, kind="stable", ignore_index=True
    )


def compare_pairs(
    frame: Any, dataset: str, reference: str, column: str, procedure: str = "holdout"
) -> Any:
    """Compare a reference with every other method, split by split; one row per method.

    The columns: method; mean, low and high of the reference minus the method; p of the corrected t
    test, p_holm; wilcoxon and wilcoxon_holm, p values of the signed-rank test; effect, the
    rank-biserial correlation; wins, ties and losses of the reference; real, whether p_holm < 0.05.
    """
    import pandas

    table = pivot(frame, dataset, column, procedure)
    good = select(frame, procedure, dataset)
    good = good[good["status"] == "ok"]
    ratio = float((good["n_test"] / good["n_train"]).mean())
    lines = []
    for method in table.columns.drop(reference) if reference in table else ():
        both = table[[reference, method]].dropna()
        if both.empty:
            continue
        a, b = both[reference].to_numpy(), both[method].to_numpy()
        gap = interval(a - b, ratio)
        counts = (int((a > b).sum()), int((a == b).sum()), int((a < b).sum()))
        tests = (gap.p, wilcoxon(a, b), rank_biserial(a, b))
        lines.append((str(method), gap.mean, gap.low, gap.high, *tests, *counts))
    names = ["method", "mean", "low", "high", "p", "wilcoxon", "effect", "wins", "ties", "losses"]
    pairs = pandas.DataFrame(lines, columns=names)
    pairs["p_holm"], pairs["wilcoxon_holm"] = holm(pairs["p"]), holm(pairs["wilcoxon"])
    return pairs.assign(real=(pairs["p_holm"] < ALPHA).astype(bool))
