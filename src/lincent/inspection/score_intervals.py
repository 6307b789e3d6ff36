"""Scores with their intervals and what always answering with the larger class would have.

accuracy             Wilson's interval for a share
balanced accuracy    the mean of the recalls r_k, each a share of n_k rows: its variance is
                     sum r_k (1 - r_k) / n_k / K^2, with the shares drawn a little to the middle
                     (Agresti and Coull), so that 0 errors in few rows are not certainty
roc_auc              DeLong's variance (two classes)
f1, mcc              the middle 95 % of 400 resamples of the rows of each class

These are for rows that one model has not seen.  Rows held out in k folds are each judged by a rule
fitted to the other folds; these rules share rows, and the model that is handed on is yet another.
The variance of such a figure is that of a fold times 1/k + 1/(k - 1), not 1/k (Nadeau and Bengio
2003): ``1 + k / (k - 1)`` times as large, 2.25 for five folds.  So intervals are those of as many
times fewer rows, which ``share`` says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

Z = 1.959963984540054
RESAMPLES = 400


@dataclass(frozen=True)
class Score:
    """A figure between its bounds, and the same figure of a rule that looks at nothing."""

    name: str
    value: float
    low: float
    high: float
    baseline: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "mcc": "Matthews correlation",
    "roc_auc": "area under the ROC curve",
}
CUT_METRICS = ("balanced_accuracy", "accuracy", "f1", "mcc")
"""Figures that a cut can be chosen by."""


def confusion(truth: np.ndarray, answers: np.ndarray, count: int) -> np.ndarray:
    """Rows by true class (down) and answer (across), both as codes."""
    return np.bincount(truth * count + answers, minlength=count * count).reshape(count, count)


def value_of(name: str, table: np.ndarray, positive: int = 1) -> float:
    """A figure from the confusion table; F1 is that of the positive class."""
    total, right = table.sum(), np.trace(table)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if name == "accuracy":
        return float(right / total)
    if name == "balanced_accuracy":
        present = rows > 0
        return float((np.diag(table)[present] / rows[present]).mean())
    if name == "f1":
        both = rows[positive] + columns[positive]
        return float(2 * table[positive, positive] / both) if both else 0.0
    over = total * right - rows @ columns
    under = np.sqrt(float(total**2 - columns @ columns)) * np.sqrt(float(total**2 - rows @ rows))
    return float(over / under) if under else 0.0


def hard_scores(
    truth: np.ndarray,
    answers: np.ndarray,
    count: int,
    positive: int,
    first: str,
    share: float = 1.0,
) -> list[Score]:
    """Accuracy and balanced accuracy, and ``first`` before them where it is another figure."""
    table = confusion(truth, answers, count)
    names = dict.fromkeys([first, "balanced_accuracy", "accuracy"])
    return [_hard_score(name, table, positive, share) for name in names]


def _hard_score(name: str, table: np.ndarray, positive: int, share: float) -> Score:
    rows = table.sum(axis=1)
    value = value_of(name, table, positive)
    nothing = np.zeros_like(table)
    nothing[:, rows.argmax()] = rows
    baseline = value_of(name, nothing, positive)
    if name == "accuracy":
        low, high = wilson(value, share * table.sum())
    elif name == "balanced_accuracy":
        present = rows > 0
        count = share * rows[present] + Z**2
        found = (share * np.diag(table)[present] + Z**2 / 2) / count
        variance = (found * (1 - found) / count).sum() / present.sum() ** 2
        half = Z * np.sqrt(variance)
        low, high = max(0.0, value - half), min(1.0, value + half)
    else:
        low, high = _resampled(lambda t: value_of(name, t, positive), table, share)
    return Score(name, value, float(low), float(high), baseline)


def wilson(share: float, rows: float) -> tuple[float, float]:
    """Wilson's 95 % interval for a share of so many rows."""
    weight = 1 + Z**2 / rows
    middle = (share + Z**2 / (2 * rows)) / weight
    half = Z / weight * np.sqrt(share * (1 - share) / rows + Z**2 / (4 * rows**2))
    return float(middle - half), float(middle + half)


def _resampled(
    figure: Callable[[np.ndarray], float], table: np.ndarray, share: float
) -> tuple[float, float]:
    """The middle 95 % over resamples: each class's row of the table is a multinomial draw."""
    rng = np.random.default_rng(0)
    rows = table.sum(axis=1)
    chances = table / np.maximum(rows, 1)[:, None]
    drawn = np.ceil(share * rows).astype(int)
    values = [
        figure(np.array([rng.multinomial(n, p) if n else np.zeros(len(table), int)
                         for n, p in zip(drawn, chances, strict=True)]))
        for _ in range(RESAMPLES)
    ]  # fmt: skip
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def area_score(scores: np.ndarray, positive: np.ndarray, share: float = 1.0) -> Score:
    """The area under the ROC curve of two classes, with DeLong's interval."""
    plus, minus = scores[positive], scores[~positive]
    m, n = len(plus), len(minus)
    ranks = rankdata(np.concatenate([plus, minus]))
    above = (ranks[:m] - rankdata(plus)) / n
    below = 1 - (ranks[m:] - rankdata(minus)) / m
    area = float(above.mean())
    variance = (above.var(ddof=1) / m if m > 1 else 0.25) + (
        below.var(ddof=1) / n if n > 1 else 0.25
    )
    half = Z * float(np.sqrt(variance / share))
    return Score("roc_auc", area, max(0.0, area - half), min(1.0, area + half), 0.5)
