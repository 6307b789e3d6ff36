"""The gap of a certificate, and the size of columns."""

import numpy as np
import pytest

from lincent.problems.arrays import root_mean
from lincent.problems.centralization import Certificate


def certificate(objective, dual, **more):
    return Certificate(np.zeros(1), np.zeros(1), 0.0, objective, dual, **more)


def test_rounding_belongs_to_the_gap():
    assert certificate(-3.0, -5.0, rounding=0.5).gap == 2.5
    # A bound above the value is rounding, and proves no more than a gap of it.
    assert certificate(1.0, 1.5, rounding=1e-9).gap == 1e-9


@pytest.mark.parametrize(
    ("objective", "unit", "relative"), [(10.0, 1.0, 0.1), (0.1, 1.0, 1.0), (0.1, 1e-3, 10.0)]
)
def test_the_gap_is_relative_to_the_objective_but_not_below_the_unit(objective, unit, relative):
    found = certificate(objective, objective - 1.0, unit=unit)
    assert found.relative_gap == pytest.approx(relative)


@pytest.mark.parametrize("objective", [np.inf, np.nan])
def test_a_point_without_a_value_proves_nothing(objective):
    assert certificate(objective, 0.0).relative_gap == np.inf


def test_columns_of_zeros_have_the_size_one():
    np.testing.assert_allclose(root_mean(np.array([0.0, 4.0, 36.0]), 4), [1.0, 1.0, 3.0])
    np.testing.assert_allclose(root_mean(np.zeros(2), 0), [1.0, 1.0])


def test_the_size_of_columns_from_their_squares():
    np.testing.assert_array_equal(root_mean(np.array([4.0, 0.0]), 1), [2.0, 1.0])
    np.testing.assert_array_equal(root_mean(np.array([4.0, 64.0]), 4), [1.0, 4.0])
    np.testing.assert_array_equal(root_mean(np.array([9.0]), 0), [3.0])


def test_a_small_objective_counts_as_one_unless_told_otherwise():
    assert certificate(0.5, 0.25).relative_gap == 0.25
