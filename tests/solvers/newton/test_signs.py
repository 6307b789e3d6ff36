"""A quadratic with absolute values."""

import numpy as np
import pytest

from lincent.solvers.newton.signs import minimize


@pytest.mark.parametrize("seed", range(20))
def test_subproblem_meets_its_optimality_conditions(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    rank = int(rng.integers(1, 2 * n + 1))
    A = rng.standard_normal((rank, n))
    G = A.T @ A + 1e-6 * np.eye(n)
    b = 3 * rng.standard_normal(n)
    x = minimize(G, b, rng.standard_normal(n) * (rng.random(n) < 0.5))
    slope = G @ x + b
    used = x != 0
    np.testing.assert_allclose(slope[used], -np.sign(x[used]), atol=1e-6)
    assert np.all(np.abs(slope[~used]) <= 1 + 1e-6)


def test_without_a_slope_above_one_all_stay_zero():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((9, 6))
    b = rng.uniform(-1, 1, 6)
    np.testing.assert_array_equal(minimize(A.T @ A + np.eye(6), b, np.zeros(6)), np.zeros(6))


def test_the_start_does_not_decide_the_end():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((20, 8))
    G, b = A.T @ A, 5 * rng.standard_normal(8)
    ends = [minimize(G, b, start) for start in (np.zeros(8), np.full(8, 10.0), np.full(8, -10.0))]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-9)
