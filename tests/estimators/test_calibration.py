"""Folds for out-of-fold scores, and data without any."""

import numpy as np
import pytest

from lincent import AdditiveLCC
from lincent.model_selection.folds import calibration_folds


def test_folds_are_stratified():
    rng = np.random.default_rng(0)
    X, codes, weight = rng.normal(size=(103, 5)), rng.integers(0, 3, 103), np.ones(103)
    weight[:3] = 0.0
    fold = calibration_folds(X, codes, weight)
    np.testing.assert_array_equal(fold >= 0, weight > 0)
    assert fold.max() == 4
    for code in range(3):
        sizes = np.bincount(fold[(codes == code) & (fold >= 0)], minlength=5)
        assert sizes.max() - sizes.min() <= 1


def test_too_few_different_rows_are_named():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 15, axis=0)
    with pytest.raises(ValueError, match="at least 2 different rows"):
        AdditiveLCC(probability="sigmoid").fit(X, np.repeat([0, 1], 15))
