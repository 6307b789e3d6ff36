"""What the figures draw: the direction before really does not separate, and all of it is plain."""

import json

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from lincent.paper.study import load_problem
from lincent.paper.study.figures import (
    chosen_widths,
    direction_without_contrast,
    example_plot_data,
    separation,
    shape_plot_data,
)

pandas = pytest.importorskip("pandas")


def test_before_does_not_separate_and_after_does():
    drawn = example_plot_data()
    X, own = np.array(drawn["X"]), np.array(drawn["codes"]) == 1
    before, after = (roc_auc_score(own, X @ np.array(drawn[k])) for k in ("before", "beta"))
    assert max(before, 1 - before) < 0.75
    assert drawn["auc_before"] == pytest.approx(max(before, 1 - before), abs=1e-3)
    assert after == drawn["auc_after"] == 1.0
    # The mirrored solution is no "before" either: the lines must differ by more than a sign.
    beta = np.array(drawn["beta"]) / np.linalg.norm(drawn["beta"])
    assert abs(beta @ np.array(drawn["before"])) < 0.75
    assert json.loads(json.dumps(drawn)) == drawn


def test_along_the_direction_the_centers_fall_together():
    centers = np.array([[4.0, 5.0], [-7.0, -1.0]])
    direction = direction_without_contrast(centers)
    assert np.ptp(centers @ direction) == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    assert separation(np.array([1.0, 2, 3]), np.array([True, False, False])) == 1.0


def test_shapes_are_scored_on_a_grid():
    problem = load_problem("circles")
    problem = type(problem)("Circles", problem.X, problem.y)
    drawn = shape_plot_data([problem], {"Circles": 1.0})["Circles"]
    assert np.array(drawn["scores"]).shape == (len(drawn["grid"][1]), len(drawn["grid"][0]))
    assert len(drawn["X"]) == len(drawn["codes"]) == 400
    assert drawn["right"] > 0.99
    assert json.loads(json.dumps(drawn)) == drawn
    assert shape_plot_data([problem], {}) == {}


def test_the_width_chosen_most_often_and_of_equals_the_widest():
    def row(gamma, dataset="Jain", procedure="nested"):
        chosen = json.dumps({"gamma": gamma})
        return {
            "procedure": procedure, "method": "KernelLCC-box", "dataset": dataset, "chosen": chosen
        }  # fmt: skip

    rows = [row(4.0), row(4.0), row(1.0), row(16.0, procedure="holdout")]
    assert chosen_widths(pandas.DataFrame(rows)) == {"Jain": 4.0}
    assert chosen_widths(pandas.DataFrame([row(4.0), row(1.0)])) == {"Jain": 1.0}
