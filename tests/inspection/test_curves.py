"""Numbers behind the figures of a report."""

import numpy as np
from sklearn.metrics import roc_auc_score

from lincent.inspection import curves


def test_thresholds_count_predictions_and_right_ones():
    probability = np.array([0.05, 0.2, 0.5, 0.5, 0.9, 0.99])
    positive = np.array([False, True, False, True, True, True])
    table = curves.threshold_table(probability, positive)
    counts = {entry["at"]: (entry["called"], entry["found"]) for entry in table}
    assert counts[0.05] == (6, 4)  # from the threshold on, itself included
    assert counts[0.5] == (4, 3)
    assert counts[0.95] == (1, 1)


def test_curves_over_all_thresholds():
    values = np.array([3.0, 2.0, 2.0, 1.0, 0.0])
    positive = np.array([True, True, False, True, False])
    found = curves.threshold_curves(values, positive)
    assert found["roc"][0] == [0.0, 0.0]
    assert found["roc"][-1] == [1.0, 1.0]
    area = np.trapezoid(*np.array(found["roc"]).T[::-1])
    assert np.isclose(area, roc_auc_score(positive, values))
    assert found["precision_recall"][0] == [round(1 / 3, 6), 1.0]
    assert found["precision_recall"][-1] == [1.0, 0.6]


def test_curves_of_one_class_are_finite():
    found = curves.threshold_curves(np.arange(4.0), np.zeros(4, dtype=bool))
    assert np.isfinite(np.concatenate([np.ravel(points) for points in found.values()])).all()
