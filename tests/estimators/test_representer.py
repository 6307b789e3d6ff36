"""The kernel form as a program: equal rows are one, and the boxes are their weights."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from lincent.estimators.kernel import KernelFunction, KernelSource, Representer


def problem(weight=None):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(10, 2)), 2, axis=0)
    sign = np.where(np.arange(20) % 4 < 2, 1.0, -1.0)
    sign[1] = -1.0  # the same row in both classes
    source = KernelSource.of(X, KernelFunction("rbf", 0.5, 3, 0))
    weight = np.ones(20) if weight is None else weight
    return Representer(source, sign, weight), X, sign, weight


def test_equal_rows_are_one_column_and_equal_rows_of_a_class_one_row():
    form, *_ = problem()
    assert form.K.shape == (11, 10)
    np.testing.assert_array_equal(form.box, np.full(10, 2.0))


@pytest.mark.parametrize("weighted", [False, True])
def test_projections_and_centers_are_those_of_all_rows(weighted):
    weight = np.random.default_rng(1).uniform(0.5, 2, 20) if weighted else None
    form, X, sign, weight = problem(weight)
    K = rbf_kernel(X, gamma=0.5)
    alpha = np.random.default_rng(2).normal(size=10) * form.box
    every = form.sample_coef(alpha)
    np.testing.assert_allclose(np.bincount(form.column, weights=every), alpha)
    line = K @ every
    low, high = (np.average(line[sign == s], weights=weight[sign == s]) for s in (-1, 1))
    assert form.difference @ alpha == pytest.approx(high - low)
    assert form.largest_margin == pytest.approx(np.abs(form.difference) @ form.box)
    cost = 2.0 * weight
    program = form.program(form.costs(cost, 1.0), 0.01)
    np.testing.assert_allclose(form.projected(program, alpha), line)
    slack = np.maximum(0.01 - sign * (line - (low + high) / 2), 0)
    found = program.linear @ alpha + program.costs @ np.maximum(0.01 - program.rows.dot(alpha), 0)
    assert found == pytest.approx(low - high + cost @ slack)
    np.testing.assert_array_equal(program.upper, form.box)


def test_a_precomputed_kernel_has_no_equal_rows():
    K = np.ones((4, 4))
    source = KernelSource.of(K, KernelFunction("precomputed", 1.0, 3, 0))
    form = Representer(source, np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4))
    assert len(form.columns) == len(form.rows) == 4
