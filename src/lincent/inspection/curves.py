"""The curves behind a report, as plain numbers: ROC, precision and recall, reliability, line."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.estimators.validation import plain

POINTS = 100
BINS = 30
TENTHS = 10
CUTS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def two_class_curves(values: np.ndarray, positive: np.ndarray) -> dict[str, list[list[float]]]:
    """ROC as (false positive rate, true positive rate), and (recall, precision)."""
    order = np.argsort(-values, kind="stable")
    hits = positive[order]
    ends = np.flatnonzero(np.r_[np.diff(values[order]) != 0, True])
    found, taken = np.cumsum(hits)[ends], ends + 1
    m, n = max(1, int(hits.sum())), max(1, int((~hits).sum()))
    roc = np.column_stack([np.r_[0, (taken - found) / n], np.r_[0, found / m]])
    pr = np.column_stack([found / m, found / taken])
    return {"roc": _thinned(roc), "precision_recall": _thinned(pr)}


def _thinned(points: np.ndarray) -> list[list[float]]:
    """At most POINTS of the points, both ends among them."""
    if len(points) > POINTS:
        points = points[np.unique(np.linspace(0, len(points) - 1, POINTS).round().astype(int))]
    return [[round(float(x), 6), round(float(y), 6)] for x, y in points]


def reliability(chance: np.ndarray, positive: np.ndarray) -> list[dict[str, float]]:
    """Predicted and observed share of the positive class by tenths of probability."""
    bins = np.minimum((chance * TENTHS).astype(int), TENTHS - 1)
    return [
        {
            "from": k / TENTHS,
            "to": (k + 1) / TENTHS,
            "rows": int((bins == k).sum()),
            "predicted": float(chance[bins == k].mean()),
            "observed": float(positive[bins == k].mean()),
        }
        for k in range(TENTHS)
        if (bins == k).any()
    ]


def cuts(chance: np.ndarray, positive: np.ndarray) -> list[dict[str, float]]:
    """What is called positive, and rightly so, from each of some probabilities on."""
    return [
        {
            "at": at,
            "called": int((chance >= at).sum()),
            "found": int((positive & (chance >= at)).sum()),
        }
        for at in CUTS
    ]


def line_histogram(scores: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> dict[str, Any]:
    """Rows of each class along the score, in units of the distance between the class means."""
    unit = line_unit(scores, codes)
    place = scores / unit
    low, high = np.quantile(place, [0.002, 0.998])
    edges = np.linspace(min(low, -0.05), max(high, 0.05), BINS + 1)
    inside = np.clip(place, edges[0], edges[-1])
    return {
        "unit": unit,
        "edges": [round(float(edge), 4) for edge in edges],
        "counts": {
            str(plain(label)): np.histogram(inside[codes == k], edges)[0].tolist()
            for k, label in enumerate(classes)
        },
    }


def score_unit(scores: np.ndarray, codes: np.ndarray) -> float:
    """The distance between the classes on the score; the mean over those of more than two."""
    if scores.ndim == 1:
        return line_unit(scores, codes)
    each = [line_unit(column, (codes == k).astype(np.intp)) for k, column in enumerate(scores.T)]
    return float(np.mean(each))


def line_unit(scores: np.ndarray, codes: np.ndarray) -> float:
    """The distance between the mean scores of two classes."""
    if not (codes == 0).any() or not (codes == 1).any():
        return 1.0
    apart = abs(float(scores[codes == 1].mean() - scores[codes == 0].mean()))
    return apart if apart > 0 else 1.0
