"""What is said about a classifier on given rows: scores, the line, the rows at odds with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.app.model import score_rows
from lincent.estimators.problem import tasks
from lincent.estimators.validation import plain

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_IMPACTS = 10
BINS = 10


def scores_of(classifier: Any, rows: Any, labels: np.ndarray) -> dict[str, Any]:
    """Accuracy, balanced accuracy and the confusion matrix (true classes in rows)."""
    from sklearn.metrics import accuracy_score, confusion_matrix

    predicted = classifier.predict(rows)
    table = confusion_matrix(labels, predicted, labels=classifier.classes_)
    present = table.sum(axis=1) > 0
    recall = table.diagonal()[present] / table.sum(axis=1)[present]
    return {
        "rows": len(labels),
        "accuracy": float(accuracy_score(labels, predicted)),
        "balanced_accuracy": float(recall.mean()),
        "confusion": table.tolist(),
    }


def describe_line(classifier: Any, rows: Any, labels: np.ndarray) -> list[dict[str, Any]]:
    """For each two-class problem: quantiles of both sides on the line, centers and cut.

    Positions are measured from the cut, in units of the distance between the centers.
    """
    codes = np.searchsorted(classifier.classes_, labels)
    projected = np.asarray(classifier.transform(rows), dtype=np.float64)
    centers = classifier.centers_.reshape(-1, 2, classifier.n_features_in_)
    found = []
    for k, task in enumerate(tasks(len(classifier.classes_), classifier.multi_class)):
        low, high = (float(c) for c in centers[k] @ classifier.coef_[k])
        unit = (high - low) or 1.0
        cut = -float(classifier.intercept_[k])
        place = (projected[:, k] - cut) / unit
        taking = np.isin(codes, task.negative + task.positive)
        sides = {}
        for name, members in (("negative", task.negative), ("positive", task.positive)):
            part = place[taking & np.isin(codes, members)]
            sides[name] = {
                "classes": [plain(classifier.classes_[c]) for c in members],
                "center": ((low if name == "negative" else high) - cut) / unit,
                "quantiles": [float(q) for q in np.quantile(part, QUANTILES)] if len(part) else [],
            }
        found.append(sides)
    return found


def largest_impacts(
    classifier: Any, rows: Any, labels: np.ndarray, ids: list[list[Any]], names: Any
) -> list[dict[str, Any]]:
    """The rows most at odds with their label; row numbers count from 1."""
    impact = classifier.misclassification_impact(rows, labels)
    found = []
    for row in np.argsort(-impact, kind="stable")[:MOST_IMPACTS]:
        if not impact[row] > 0:
            break
        entry: dict[str, Any] = {"row": int(row) + 1, "label": plain(labels[row])}
        entry["impact"] = float(impact[row])
        entry |= {name: str(ids[k][row]) for k, name in enumerate(names)}
        found.append(entry)
    return found


def calibration(classifier: Any, rows: Any, labels: np.ndarray) -> list[dict[str, Any]]:
    """Predicted and observed share of ``classes_[1]`` by tenths of probability (two classes)."""
    if len(classifier.classes_) != 2 or not hasattr(classifier, "predict_proba"):
        return []
    columns = score_rows(classifier, rows)
    chance = columns[f"probability_{plain(classifier.classes_[1])}"]
    bins = np.minimum((chance * BINS).astype(int), BINS - 1)
    found = []
    for k in range(BINS):
        members = bins == k
        if members.any():
            found.append(
                {
                    "from": k / BINS,
                    "to": (k + 1) / BINS,
                    "rows": int(members.sum()),
                    "predicted": float(chance[members].mean()),
                    "observed": float((labels[members] == classifier.classes_[1]).mean()),
                }
            )
    return found
