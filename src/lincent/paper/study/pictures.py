"""What the figures in the plane draw, computed when the study runs: a report only draws it.

    example   the paper's worked example: its rows, the direction found, and one that does not
              separate, for the histograms before and after
    shapes    the kernel test: the rows of each shape and the score of KernelLCC on a grid

Everything is plain numbers, so that it is stored beside the table of runs and read back as it was.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from lincent.paper.study.metrics import rank_auc
from lincent.paper.study.problem import Problem

RESOLUTION = 70
DIGITS = 5


def example_picture() -> dict[str, Any]:
    """Fit the worked example.

    The paper does not say which direction its "before" histogram shows. Here it is the one at right
    angles to the line between the class centers, along which both centers fall on one point: the
    worst place an optimization can start from.
    """
    from lincent.estimators.linear import LCC
    from lincent.paper.datasets import make_paper_example

    X, y = make_paper_example(random_state=0)
    model = LCC().fit(X, y)
    before = direction_without_contrast(model.centers_)
    return {
        "X": _plain(X),
        "codes": (y == model.classes_[1]).astype(int).tolist(),
        "classes": [str(label) for label in model.classes_],
        "beta": _plain(model.coef_[0], 17),
        "centers": _plain(model.centers_, 17),
        "threshold": -float(model.intercept_[0]),
        "before": _plain(before, 17),
        "auc_before": separation(X @ before, y == model.classes_[1]),
        "auc_after": separation(X @ model.coef_[0], y == model.classes_[1]),
        "objective": float(model.objective_),
        "duality_gap": float(model.duality_gap_),
        "wrong": int((model.predict(X) != y).sum()),
    }


def direction_without_contrast(centers: np.ndarray) -> np.ndarray:
    """Return the unit direction in the plane at right angles to the difference of the centers."""
    first, second = centers[1] - centers[0]
    return np.array([-second, first]) / np.hypot(first, second)


def separation(line: np.ndarray, own: np.ndarray) -> float:
    """Return the AUC of a line in whichever direction it is read: 0.5 is none, 1 is complete."""
    auc = rank_auc(np.asarray(own), np.asarray(line))
    return max(auc, 1 - auc)


def shape_pictures(shapes: list[Problem], widths: dict[str, float]) -> dict[str, Any]:
    """Fit KernelLCC on all rows of each shape at the width chosen for it, and score a grid."""
    from lincent.estimators.kernel import KernelLCC
    from lincent.inspection import BoundaryDisplay

    found = {}
    for problem in shapes:
        if problem.name not in widths:
            continue
        X = problem.preparation().fit_transform(problem.X)
        model = KernelLCC(kernel="rbf", gamma=widths[problem.name]).fit(X, problem.y)
        drawn = BoundaryDisplay.computed(model, X, problem.y, resolution=RESOLUTION)
        found[problem.name] = {
            "X": _plain(X),
            "codes": drawn.codes.tolist(),
            "classes": [str(label) for label in model.classes_],
            "grid": [_plain(axis) for axis in drawn.grid],
            "scores": _plain(drawn.scores),
            "gamma": widths[problem.name],
            "right": float(np.mean(model.predict(X) == problem.y)),
        }
    return found


def chosen_widths(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the width that selection inside the training parts took most often on each shape.

    Of equally frequent ones the widest kernel (the smallest gamma) is taken.
    """
    votes: dict[str, list[float]] = {}
    for row in rows:
        if row["procedure"] == "nested" and row["method"] == "KernelLCC" and row["chosen"]:
            votes.setdefault(row["dataset"], []).append(json.loads(row["chosen"])["gamma"])
    found = {}
    for dataset, values in votes.items():
        gammas, counts = np.unique(values, return_counts=True)
        found[dataset] = float(gammas[counts.argmax()])
    return found


def _plain(values: Any, digits: int = DIGITS) -> Any:
    """Return numbers as nested lists, short enough to be read: a drawing needs no more digits."""
    values = np.asarray(values, dtype=float)
    if values.ndim > 1:
        return [_plain(part, digits) for part in values]
    return [float(f"{value:.{digits}g}") for value in values]
