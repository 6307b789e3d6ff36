"""Folds in blocks are weights of zero."""

import numpy as np

from lincent.sources.dask.folds import FoldWeights


def test_a_row_is_trained_on_or_held_out():
    numbers = np.array([0, 1, 2, 1, -1])
    weight = np.array([0.5, 2.0, 1.0, 0.0, 3.0])
    left = FoldWeights(weight, numbers, 1, held=False).among(None, np.zeros(5), weight)
    held = FoldWeights(weight, numbers, 1, held=True).among(None, np.zeros(5), weight)
    np.testing.assert_array_equal(left > 0, [True, False, True, False, True])
    np.testing.assert_array_equal(left + held, weight)
