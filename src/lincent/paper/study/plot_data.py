"""Data of the two-dimensional figures, computed when the study runs: a report only draws it.

    example   the paper's worked example: its samples, the direction, and one that does not
              separate, for the histograms before and after
    shapes    the kernel test: the samples of each shape and the score of KernelLCC on a grid

All of it is plain numbers, stored as JSON beside the table of results.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from lincent.model_selection.experiment import Problem
from lincent.model_selection.metrics import weighted_auc

RESOLUTION = 70
DIGITS = 5


def example_plot_data() -> dict[str, Any]:
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
    auc = weighted_auc(np.asarray(own), np.asarray(line))
    return max(auc, 1 - auc)


def shape_plot_data(shapes: list[Problem], widths: dict[str, float]) -> dict[str, Any]:
    """Fit KernelLCC on all samples of each shape at the width chosen for it, and score a grid."""
    from lincent.estimators.kernel import KernelLCC
    from lincent.inspection import BoundaryDisplay

    data = {}
    for problem in shapes:
        if problem.name in widths:
            X = problem.preparation().fit_transform(problem.X)
            model = KernelLCC(kernel="rbf", gamma=widths[problem.name]).fit(X, problem.y)
            drawn = BoundaryDisplay.computed(model, X, problem.y, resolution=RESOLUTION)
            data[problem.name] = {
                "X": _plain(X),
                "codes": drawn.codes.tolist(),
                "classes": [str(label) for label in model.classes_],
                "grid": [_plain(axis) for axis in drawn.grid],
                "scores": _plain(drawn.scores),
                "gamma": widths[problem.name],
                "right": float(np.mean(model.predict(X) == problem.y)),
            }
    return data


def chosen_widths(frame: Any) -> dict[str, float]:
    """Return the gamma that selection inside the training parts chose most often on each shape.

    Of equally frequent ones the widest kernel (the smallest gamma) is taken.
    """
    nested = (frame["procedure"] == "nested") & (frame["method"] == "KernelLCC")
    votes = frame[nested & (frame["chosen"] != "")]
    gammas = votes["chosen"].map(lambda chosen: float(json.loads(chosen)["gamma"]))
    return {
        str(name): float(values.mode().min()) for name, values in gammas.groupby(votes["dataset"])
    }


def _plain(values: Any, digits: int = DIGITS) -> Any:
    """Return numbers as nested lists, short enough to be read: a drawing needs no more digits."""
    values = np.asarray(values, dtype=float)
    if values.ndim > 1:
        return [_plain(row, digits) for row in values]
    return [float(f"{value:.{digits}g}") for value in values]
