"""Evaluation of held-out predictions: metrics with intervals, curves, suspected label errors.

accuracy             Wilson's interval of a proportion
balanced accuracy    the mean of the recalls r_k, each a proportion of n_k rows: its variance is
                     sum r_k (1 - r_k) / n_k / K^2, with the proportions drawn a little to the
                     middle (Agresti and Coull), so that 0 errors in few rows are not certainty
roc_auc              DeLong's variance (two classes)
f1, mcc              the middle 95 % of 400 resamples of the rows of each class

These hold for rows that one model has not seen.  Out-of-fold rows are each scored by a model that
was fitted to the other folds; these models share rows, and the final model is yet another.  The
variance of such a metric is that of a fold times 1/k + 1/(k - 1), not 1/k (Nadeau and Bengio 2003):
``1 + k / (k - 1)`` times as large, 2.25 for five folds.  So intervals are those of as many times
fewer rows: ``HeldOut.effective`` is the fraction.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import precision_recall_curve, roc_curve

from lincent.estimators.validation import plain
from lincent.inspection.thresholds import DecisionThreshold, positive_code, toward
from lincent.model_selection.metrics import confusion_matrix, label_score
from lincent.tables.infer import PreparedTable

Z = 1.959963984540054
N_RESAMPLES = 400
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
MAX_SUSPECTS = 10
MAX_VALUES = 12  # of a suspected row
MAX_POINTS = 100  # of a curve
N_BINS = 30  # of a histogram
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class HeldOut:
    """Predictions for rows by models that were fitted without them.

    Attributes
    ----------
    rows : ndarray of int
        Positions of the rows in the table.
    labels : ndarray
        True classes.
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Decision values.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        ProbabilityMixin, where the classifier has them.
    folds : ndarray of int
        Fold of each row; a threshold is chosen on the other folds.
    how : str
        Where the predictions come from, in words.
    effective : float
        Fraction of the rows that intervals are computed for, less than 1 for out-of-fold rows.
    """

    rows: np.ndarray
    labels: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray | None
    folds: np.ndarray
    how: str
    effective: float = 1.0


def evaluate(
    held: HeldOut,
    classes: np.ndarray,
    predicted: np.ndarray,
    positive: Any = None,
    metric: str = "balanced_accuracy",
    threshold: DecisionThreshold | None = None,
) -> dict[str, Any]:
    """Return metrics with intervals and baselines, the confusion matrix, curves of two classes.

    Parameters
    ----------
    held : HeldOut
        Held-out predictions.
    classes : ndarray of shape (n_classes,)
        Sorted labels.
    predicted : ndarray of int
        Predicted class codes.
    positive : label, default=None
        The positive class of two; the second one if None.
    metric : str, default="balanced_accuracy"
        The metric that comes first.
    threshold : DecisionThreshold, default=None
        The threshold behind ``predicted``; None is the classifier's own.
    """
    codes = np.searchsorted(classes, held.labels)
    side = positive_code(classes, positive)
    confusion = confusion_matrix(codes, predicted, len(classes))
    names = dict.fromkeys([metric, "balanced_accuracy", "accuracy"])
    scores = [label_metric(name, confusion, side, held.effective) for name in names]
    result: dict[str, Any] = {"how": held.how, "rows": len(codes), "metric": metric}
    if len(classes) == 2:
        values = toward(side, held.scores, None)
        is_positive, called = codes == side, predicted == side
        result["at_threshold"] = {
            "found": int(np.count_nonzero(is_positive & called)),
            "rows": int(np.count_nonzero(is_positive)),
            "called": int(np.count_nonzero(called)),
        }
        scores.append(auc_metric(values, is_positive, held.effective))
        histogram = score_histogram(held.scores, codes, classes)
        histogram["threshold"] = (
            0.0
            if threshold is None
            else threshold.on_score(classes, held.scores, held.probabilities) / histogram["scale"]
        )
        result["curves"] = threshold_curves(values, is_positive) | {"histogram": histogram}
        if held.probabilities is not None:
            probability = held.probabilities[:, side]
            result["curves"]["calibration"] = calibration_bins(probability, is_positive)
            result["curves"]["thresholds"] = threshold_table(probability, is_positive)
    return result | {
        "score_quantiles": score_quantiles(held, classes),
        "positive": plain(classes[side]),
        "scores": scores,
        "confusion": confusion.tolist(),
        "largest_class": str(plain(classes[np.bincount(codes).argmax()])),
    }


def label_metric(
    name: str, confusion: np.ndarray, positive: int = 1, effective: float = 1.0
) -> dict[str, Any]:
    """Return a metric of predicted labels with its interval and the majority-class baseline."""
    rows = confusion.sum(axis=1)
    value = label_score(name, confusion, positive)
    constant = np.zeros_like(confusion)
    constant[:, rows.argmax()] = rows
    if name == "accuracy":
        low, high = wilson_interval(value, effective * confusion.sum())
    elif name == "balanced_accuracy":
        present = rows > 0
        count = effective * rows[present] + Z**2
        recall = (effective * np.diag(confusion)[present] + Z**2 / 2) / count
        half = Z * np.sqrt((recall * (1 - recall) / count).sum()) / present.sum()
        low, high = max(0.0, value - half), min(1.0, value + half)
    else:  # resample each row of the confusion matrix
        rng = np.random.default_rng(0)
        probabilities = confusion / np.maximum(rows, 1)[:, None]
        drawn = np.ceil(effective * rows).astype(int)
        values = [
            label_score(
                name,
                np.array([rng.multinomial(n, p) if n else np.zeros(len(rows), int)
                          for n, p in zip(drawn, probabilities, strict=True)]),
                positive,
            )
            for _ in range(N_RESAMPLES)
        ]  # fmt: skip
        low, high = np.quantile(values, [0.025, 0.975])
    return _metric(name, value, low, high, label_score(name, constant, positive))


def wilson_interval(proportion: float, rows: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a proportion."""
    weight = 1 + Z**2 / rows
    middle = (proportion + Z**2 / (2 * rows)) / weight
    half = Z / weight * np.sqrt(proportion * (1 - proportion) / rows + Z**2 / (4 * rows**2))
    return float(middle - half), float(middle + half)


def auc_metric(scores: np.ndarray, positive: np.ndarray, effective: float = 1.0) -> dict[str, Any]:
    """Return the area under the ROC curve of two classes with DeLong's interval."""
    plus, minus = scores[positive], scores[~positive]
    m, n = len(plus), len(minus)
    ranks = rankdata(np.concatenate([plus, minus]))
    above = (ranks[:m] - rankdata(plus)) / n
    below = 1 - (ranks[m:] - rankdata(minus)) / m
    area = float(above.mean())
    variance = (above.var(ddof=1) / m if m > 1 else 0.25) + (
        below.var(ddof=1) / n if n > 1 else 0.25
    )
    half = Z * float(np.sqrt(variance / effective))
    return _metric("roc_auc", area, max(0.0, area - half), min(1.0, area + half), 0.5)


def _metric(name: str, value: float, low: float, high: float, baseline: float) -> dict[str, Any]:
    numbers = {"value": value, "low": low, "high": high, "baseline": baseline}
    return {"name": name, **{key: float(number) for key, number in numbers.items()}}


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


def score_quantiles(held: HeldOut, classes: np.ndarray) -> list[dict[str, Any]]:
    """Return center and quantiles of both sides of each score, normalized by their distance."""
    codes = np.searchsorted(classes, held.labels)
    columns = held.scores[:, None] if held.scores.ndim == 1 else held.scores
    result = []
    for k, column in enumerate(columns.T):
        side = 1 if len(classes) == 2 else k
        is_side = (codes == side).astype(np.intp)
        positions = column / class_distance(column, is_side)
        sides = {}
        for code, name in enumerate(("negative", "positive")):
            own = positions[is_side == code]
            sides[name] = {
                "classes": [plain(c) for j, c in enumerate(classes) if (j == side) == code],
                "center": float(own.mean()) if len(own) else 0.0,
                "quantiles": [float(q) for q in np.quantile(own, QUANTILES)] if len(own) else [],
            }
        result.append(sides)
    return result


def suspected_label_errors(
    held: HeldOut, classes: np.ndarray, table: PreparedTable
) -> list[dict[str, Any]]:
    """Return the rows farthest on the wrong side, with their values; rows count from 1."""
    codes = np.searchsorted(classes, held.labels)
    if held.scores.ndim == 1:
        distance = np.where(codes == 1, -held.scores, held.scores)
        distance = distance / class_distance(held.scores, codes)
    else:
        samples = np.arange(len(codes))
        others = held.scores.copy()
        others[samples, codes] = -np.inf
        distance = others.max(axis=1) - held.scores[samples, codes]
    names = [*table.schema.ids, *table.schema.names][:MAX_VALUES]
    suspects = []
    for k in np.argsort(-distance, kind="stable")[:MAX_SUSPECTS]:
        if not distance[k] > 0:
            break
        row = int(held.rows[k])
        cells = {name: table.table.data.column(name)[row].as_py() for name in names}
        suspects.append(
            {
                "row": table.table.row(row),
                "label": plain(held.labels[k]),
                "distance": float(distance[k]),
                "values": {
                    name: "" if cell is None else str(cell)[:80] for name, cell in cells.items()
                },
            }
        )
    return suspects


def evaluation_warnings(
    held: HeldOut,
    classes: np.ndarray,
    evaluation: dict[str, Any],
    threshold: DecisionThreshold | None,
) -> list[str]:
    """Return what a reader of the evaluation should keep in mind."""
    messages = []
    if held.probabilities is not None and held.scores.ndim == 1:
        if threshold is not None:
            messages.append(
                f"The class is {threshold.positive} from a {threshold.scale} of {threshold.at:.3g} "
                f"on ({threshold.by}), so it is not always the likelier one."
            )
        else:
            probability = held.probabilities[:, 1]
            differ = int(((held.scores > 0) != (probability > 0.5)).sum())
            if differ:
                at = probability[np.abs(held.scores).argmin()]
                messages.append(
                    f"The class changes where the probability of {plain(classes[1])} is about "
                    f"{at:.2f}, not 0.5, since both classes count the same; "
                    f"{100 * differ / len(held.scores):.1f} % of the held-out rows lie between "
                    "(--threshold 0.5 moves the threshold)."
                )
    first = evaluation["scores"][0]
    if first["low"] <= first["baseline"]:
        messages.append(
            f"On held-out rows the model cannot be told from always predicting "
            f"{evaluation['largest_class']}: its interval reaches down to {first['low']:.3f}."
        )
    least = min(sum(row) for row in evaluation["confusion"])
    if least < 20:
        messages.append(f"The smallest class has {least} held-out rows: its rates are rough.")
    return messages
