"""What rounding leaves of a score is told."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lincent import LCC
from lincent.estimators.precision import OFFSET_LOSS, warn_of_offset
from support.labeled import noisy

EPS = float(np.finfo(np.float64).eps)


def test_the_error_is_that_of_the_sums():
    with pytest.warns(ConvergenceWarning, match=r"so far from zero \(a or b\) .* 2.2e-06 of"):
        warn_of_offset("a or b", 1e10, 1.0)
    with pytest.warns(ConvergenceWarning, match="error of about inf"):
        warn_of_offset("a or b", 1.0, 0.0)


def test_up_to_the_bound_nothing_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_offset("a or b", OFFSET_LOSS / EPS, 1.0)


def test_the_certificate_is_about_the_stored_coefficients():
    X, y = noisy()
    for offset in (0.0, 1e7):
        model = LCC().fit(X + offset, y)
        rows = X + offset
        low, high = (rows[y == k].mean(axis=0) for k in (0, 1))
        signed = np.where(y == 1, 1.0, -1.0)[:, None] * (rows - (low + high) / 2)
        slack = np.maximum(model.margin - signed @ model.coef_[0], 0.0) - model.margin
        stated = (low - high) @ model.coef_[0] + model.C * slack.sum()
        assert stated == pytest.approx(model.objective_, abs=1e-6 * abs(stated))
