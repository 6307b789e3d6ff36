"""The scores of one fitted model on one set of rows, all of them stored with every run.

    paper_auc           what the paper prints: hard_auc; for DEL the mean over its two regressions
                        of the AUC of their signs
    hard_auc            the AUC of the predicted labels: (sensitivity + specificity) / 2
    score_auc           the AUC of the decision function or probability: the order, not the cut
    balanced_accuracy   mean over classes of the share found; equals hard_auc for two classes
    accuracy            share of right labels
    mcc                 Matthews correlation coefficient

With more than two classes both AUCs are the mean of one class against the rest. All are computed
from one confusion matrix and one ranking: a study scores tens of thousands of small models, and
scikit-learn's functions, which agree, cost more than most of the fits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

METRICS = ("paper_auc", "hard_auc", "score_auc", "balanced_accuracy", "accuracy", "mcc")
TITLES = {
    "paper_auc": "hard-label AUC as in the paper",
    "hard_auc": "hard-label AUC",
    "score_auc": "score AUC",
    "balanced_accuracy": "balanced accuracy",
    "accuracy": "accuracy",
    "mcc": "Matthews correlation",
}


def confusion(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return counts, true classes as rows, predicted ones as columns, classes sorted."""
    labels, codes = np.unique(np.concatenate([y, predicted]), return_inverse=True)
    k = len(labels)
    pairs = codes[: len(y)] * k + codes[len(y) :]
    return np.bincount(pairs, minlength=k * k).reshape(k, k)


def label_auc(counts: np.ndarray) -> float:
    """Return the AUC of hard labels, averaged over the classes that are present.

    Examples
    --------
    >>> import numpy as np
    >>> from lincent.paper.study.metrics import confusion, label_auc
    >>> label_auc(confusion(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])))
    0.75
    """
    true, hits = counts.sum(axis=1), np.diag(counts)
    present = true > 0
    if present.sum() < 2:
        return float("nan")
    others = counts.sum() - true
    rejected = others - (counts.sum(axis=0) - hits)
    return float(np.mean((hits[present] / true[present] + rejected[present] / others[present]) / 2))


def share_found(counts: np.ndarray) -> float:
    """Return the balanced accuracy."""
    true = counts.sum(axis=1)
    present = true > 0
    return float(np.mean(np.diag(counts)[present] / true[present]))


def matthews(counts: np.ndarray) -> float:
    """Return the Matthews correlation, 0 where it is not defined."""
    n, hits = float(counts.sum()), float(np.trace(counts))
    true, found = counts.sum(axis=1).astype(float), counts.sum(axis=0).astype(float)
    product = (n * n - found @ found) * (n * n - true @ true)
    return float((hits * n - found @ true) / np.sqrt(product)) if product > 0 else 0.0


def rank_auc(own: np.ndarray, scores: np.ndarray) -> float:
    """Return the probability that a row of the class has the higher score, ties half."""
    positive = int(own.sum())
    negative = len(own) - positive
    if positive == 0 or negative == 0:
        return float("nan")
    above = rankdata(scores)[own].sum() - positive * (positive + 1) / 2
    return float(above / (positive * negative))


def score_auc(y: np.ndarray, scores: np.ndarray | None, classes: np.ndarray) -> float:
    """Return the AUC of continuous scores, NaN where there are none or one class only."""
    if scores is None or not np.isfinite(scores).all():
        return float("nan")
    if scores.ndim == 1:
        return rank_auc(y == classes[1], scores)
    parts = np.array([rank_auc(y == label, scores[:, k]) for k, label in enumerate(classes)])
    return float(np.mean(parts[np.isfinite(parts)])) if np.isfinite(parts).any() else float("nan")


def scores_of(model: Any, X: Any) -> np.ndarray | None:
    """Return the continuous scores of a model: one column per class, or one for two classes.

    With more than two classes probabilities come first: each says how likely a class is against all
    others, which is what its AUC judges, while the scores of a rule for all classes at once are
    comparable within a row only.
    """
    names = ["decision_function", "predict_proba"]
    for name in names if len(model.classes_) == 2 else reversed(names):
        if hasattr(model, name):
            scores = np.asarray(getattr(model, name)(X), dtype=float)
            if scores.ndim == 2 and scores.shape[1] == 2 and len(model.classes_) == 2:
                return np.asarray(scores[:, 1] - scores[:, 0])
            fits = scores.ndim == 1 or scores.shape[1] == len(model.classes_)
            return scores if fits else None  # one-vs-one scores are not per class
    return None


def score(model: Any, X: Any, y: np.ndarray, paper_scoring: Any = None) -> dict[str, float]:
    """Return all metrics of a fitted model.

    Parameters
    ----------
    model : fitted classifier
    X, y : rows and labels
    paper_scoring : callable or None
        ``paper_scoring(model, X, y)`` where the paper scores a method its own way.
    """
    y = np.asarray(y)
    counts = confusion(y, np.asarray(model.predict(X)))
    hard = label_auc(counts)
    return {
        "paper_auc": hard if paper_scoring is None else float(paper_scoring(model, X, y)),
        "hard_auc": hard,
        "score_auc": score_auc(y, scores_of(model, X), np.asarray(model.classes_)),
        "balanced_accuracy": share_found(counts),
        "accuracy": float(np.trace(counts) / counts.sum()),
        "mcc": matthews(counts),
    }
