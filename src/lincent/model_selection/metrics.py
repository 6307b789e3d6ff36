"""Classification metrics for inner loops.

They agree with ``sklearn.metrics`` and skip its input checks, which take longer than many of the
fits that are scored here (0.02 ms instead of 2 to 4 ms a call).  Outside inner loops use
``sklearn.metrics``.  Labels are class codes 0, 1, ...; sample weights are frequency weights.

Metrics of predicted labels are functions of the confusion matrix, so a matrix that was counted
anywhere (in blocks, on a cluster) is enough.
"""

from __future__ import annotations

import numpy as np

TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "mcc": "Matthews correlation",
    "roc_auc": "area under the ROC curve",
    "log_loss": "log loss (less is better)",
    "brier": "Brier score (less is better)",
}


def confusion_matrix(
    codes: np.ndarray, predicted: np.ndarray, n_classes: int, weight: np.ndarray | None = None
) -> np.ndarray:
    """Return the weight of each true class (rows) that is predicted as each class (columns)."""
    pairs = np.asarray(codes, dtype=np.intp) * n_classes + predicted
    return np.bincount(pairs, weight, n_classes * n_classes).reshape(n_classes, n_classes)


def balanced_accuracy(
    codes: np.ndarray, predicted: np.ndarray, n_classes: int, weight: np.ndarray | None = None
) -> float:
    """Return the mean recall over the classes that have a sample of positive weight."""
    return label_score("balanced_accuracy", confusion_matrix(codes, predicted, n_classes, weight))


def label_score(name: str, confusion: np.ndarray, positive: int = 1) -> float:
    """Return a metric of predicted labels from their confusion matrix.

    Parameters
    ----------
    name : {"accuracy", "balanced_accuracy", "f1", "mcc", "label_auc"}
        "f1" is that of the class ``positive``; "label_auc" is the area under the ROC curve of the
        predicted labels, (sensitivity + specificity) / 2, averaged over one-vs-rest problems.
    confusion : ndarray of shape (n_classes, n_classes)
        True classes as rows, predicted classes as columns.
    positive : int, default=1
        Code of the positive class.
    """
    total, hits = float(confusion.sum()), np.diag(confusion).astype(float)
    true, predicted = confusion.sum(axis=1).astype(float), confusion.sum(axis=0).astype(float)
    present = true > 0
    if name == "accuracy":
        return float(hits.sum() / total)
    if name == "balanced_accuracy":
        return float(np.mean(hits[present] / true[present]))
    if name == "f1":
        both = true[positive] + predicted[positive]
        return float(2 * hits[positive] / both) if both else 0.0
    if name == "label_auc":
        if present.sum() < 2:
            return float("nan")
        others = total - true
        specificity = (others - predicted + hits)[present] / others[present]
        return float(np.mean((hits[present] / true[present] + specificity) / 2))
    if name != "mcc":
        raise ValueError(f"{name!r} is no metric of predicted labels.")
    covariance = hits.sum() * total - predicted @ true
    scale = np.sqrt(total**2 - predicted @ predicted) * np.sqrt(total**2 - true @ true)
    return float(covariance / scale) if scale else 0.0


def weighted_auc(
    positive: np.ndarray, scores: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return the area under the ROC curve, ties counting half; NaN where a class is missing."""
    _, rank = np.unique(scores, return_inverse=True)
    weight = np.ones(len(rank)) if weight is None else weight
    above = np.bincount(rank, weights=weight * positive)
    below = np.bincount(rank, weights=weight * ~positive)
    pairs = float(above.sum()) * float(below.sum())
    smaller = np.cumsum(below) - below
    return float(above @ (smaller + below / 2)) / pairs if pairs else float("nan")


def one_vs_rest_auc(
    codes: np.ndarray, scores: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return the AUC of decision values: a vector for two classes, a column per class for more.

    With more than two classes it is the mean over the classes that are present; NaN where none has
    an AUC or a score is not finite.
    """
    if not np.isfinite(scores).all():
        return float("nan")
    if scores.ndim == 1:
        return weighted_auc(codes == 1, scores, weight)
    columns = enumerate(scores.T)
    each = np.array([weighted_auc(codes == k, column, weight) for k, column in columns])
    return float(np.nanmean(each)) if np.isfinite(each).any() else float("nan")
