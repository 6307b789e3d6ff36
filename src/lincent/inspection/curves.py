"""The curves of a report as plain numbers: ROC, precision-recall, calibration, score histogram."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

from lincent.estimators.validation import plain

MAX_POINTS = 100
N_BINS = 30
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def threshold_curves(values: np.ndarray, positive: np.ndarray) -> dict[str, list[list[float]]]:
    """Return (false positive rate, true positive rate) and (recall, precision) by threshold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class may be missing in given data
        false_rate, true_rate, _ = roc_curve(positive, values, drop_intermediate=False)
        precision, recall, _ = precision_recall_curve(positive, values)
    # From the largest threshold on, without scikit-learn's end point (0, 1).
    pairs = np.column_stack([recall, precision])[-2::-1]
    return {
        "roc": _thinned(np.column_stack([false_rate, true_rate])),
        "precision_recall": _thinned(pairs),
    }


def _thinned(points: np.ndarray) -> list[list[float]]:
    """Return at most ``MAX_POINTS`` of the points, both ends among them."""
    if len(points) > MAX_POINTS:
        points = points[np.unique(np.linspace(0, len(points) - 1, MAX_POINTS).round().astype(int))]
    return [[round(float(x), 6), round(float(y), 6)] for x, y in np.nan_to_num(points)]


def calibration_bins(probability: np.ndarray, positive: np.ndarray) -> list[dict[str, float]]:
    """Return predicted and observed frequency of the positive class by tenths of probability."""
    bins = np.minimum((probability * 10).astype(int), 9)
    return [
        {
            "from": k / 10,
            "to": (k + 1) / 10,
            "rows": int((bins == k).sum()),
            "predicted": float(probability[bins == k].mean()),
            "observed": float(positive[bins == k].mean()),
        }
        for k in np.unique(bins).tolist()
    ]


def threshold_table(probability: np.ndarray, positive: np.ndarray) -> list[dict[str, float]]:
    """Return positive predictions, and right ones among them, from each probability on."""
    return [
        {
            "at": at,
            "called": int((probability >= at).sum()),
            "found": int((positive & (probability >= at)).sum()),
        }
        for at in THRESHOLDS
    ]


def score_histogram(scores: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> dict[str, Any]:
    """Return the counts of each class along the normalized score."""
    scale = class_distance(scores, codes)
    positions = scores / scale
    low, high = np.quantile(positions, [0.002, 0.998])
    edges = np.linspace(min(low, -0.05), max(high, 0.05), N_BINS + 1)
    inside = np.clip(positions, edges[0], edges[-1])
    return {
        "scale": scale,
        "edges": [round(float(edge), 4) for edge in edges],
        "counts": {
            str(plain(label)): np.histogram(inside[codes == k], edges)[0].tolist()
            for k, label in enumerate(classes)
        },
    }


def score_scale(scores: np.ndarray, codes: np.ndarray) -> float:
    """Return the distance between the classes on the score; the mean over those of several."""
    if scores.ndim == 1:
        return class_distance(scores, codes)
    columns = enumerate(scores.T)
    return float(
        np.mean([class_distance(column, (codes == k).astype(np.intp)) for k, column in columns])
    )


def class_distance(scores: np.ndarray, codes: np.ndarray) -> float:
    """Return the distance between the mean scores of two classes, 1 where there is none."""
    if not (codes == 0).any() or not (codes == 1).any():
        return 1.0
    return abs(float(scores[codes == 1].mean() - scores[codes == 0].mean())) or 1.0
