"""The factored curvature: in which precision, and for several right sides."""

import numpy as np
import pytest

from lincent.solvers.newton import factor
from lincent.solvers.newton.factor import Factored, Threshold


@pytest.mark.parametrize("dependent", [False, True])
def test_single_precision_is_used_where_its_pivots_allow_it(dependent):
    rng = np.random.default_rng(0)
    n = factor.TUNING.single_order
    A = rng.standard_normal((2 * n, n))
    if dependent:
        A[:, -1] = A[:, 0] + 1e-4 * A[:, -1]
    gram, threshold = A.T @ A, Threshold(A[0] * 0.1, 50.0)
    rough = Factored(threshold, 1e3 * gram, rough=True)
    exact = Factored(threshold, 1e3 * gram)
    assert rough.factor.dtype == (np.float64 if dependent else np.float32)
    assert exact.factor.dtype == np.float64
    gradient = rng.standard_normal(n)
    (one, shift), (other, wanted) = (H.solve(gradient, 0.3) for H in (rough, exact))
    np.testing.assert_allclose(one, other, atol=1e-3 * np.abs(other).max())
    assert shift == pytest.approx(wanted, rel=1e-3)
    assert not rough.coarse


def test_a_rough_matrix_that_is_not_definite_is_coarse_and_still_gives_a_way_down():
    rng = np.random.default_rng(1)
    n = factor.TUNING.single_order
    A = rng.standard_normal((n, 5)).astype(np.float32)
    gram = np.asarray(A @ A.T, dtype=np.float64) * 1e9  # of rank 5 but for rounding
    assert np.linalg.eigvalsh(gram).min() < -1.0
    rough = Factored(Threshold(np.empty(0), 0.0), gram.copy(), rough=True)
    assert rough.coarse
    gradient = rng.standard_normal(n)
    assert rough.solve(gradient, 0.0)[0] @ gradient < 0.0


@pytest.mark.parametrize("total", [0.0, 20.0])
def test_many_right_sides_at_once_are_each_by_itself(total):
    rng = np.random.default_rng(2)
    A = rng.standard_normal((40, 6))
    H = Factored(Threshold(A[0] if total else np.empty(0), total), A.T @ A)
    right, last = rng.standard_normal((6, 3)), rng.standard_normal(3) * (total > 0)
    found, shifts = H.solve_many(right, last)
    for k in range(3):
        step, shift = H.solve(-right[:, k], -last[k])
        np.testing.assert_allclose(found[:, k], step, rtol=1e-10)
        assert shifts[k] == pytest.approx(shift, abs=1e-12)
