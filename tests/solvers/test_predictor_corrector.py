"""Mehrotra's steps solve small linear and quadratic programs from a centered start."""

import numpy as np
import pytest

from lincent.solvers.predictor_corrector import predictor_corrector


@pytest.mark.parametrize(("equal", "correctors"), [(True, 0), (False, 0), (False, 2)])
def test_a_quadratic_with_bounds(equal, correctors):
    # minimize x'Hx / 2 - b.x over x >= 0:  Hx - b = z,  x z = 0.
    rng = np.random.default_rng(0)
    root = rng.normal(size=(8, 8))
    H, b = root @ root.T + np.eye(8), rng.normal(size=8)
    x, z = np.ones(8), np.ones(8)
    for _ in range(40):
        rest = b + z - H @ x

        def direction(R, x=x, z=z, rest=rest):
            dx = np.linalg.solve(H + np.diag(z / x), rest + R / x)
            return None, dx, (R - z * dx) / x

        (_, dx, dz), primal, dual = predictor_corrector(
            x, z, direction, equal=equal, correctors=correctors
        )
        assert 0 < primal <= 1
        assert 0 < dual <= 1
        assert primal == dual or not equal
        x, z = x + primal * dx, z + dual * dz
        assert np.all(x > 0)
        assert np.all(z > 0)
        if x @ z < 1e-12:
            break
    assert x @ z < 1e-12
    if equal:  # else primal and dual of different lengths leave the linear equations open
        np.testing.assert_allclose(H @ x - b, z, atol=1e-9)


def test_a_step_that_is_not_finite_is_refused():
    def direction(R):
        return None, np.full(2, np.nan), R

    with pytest.raises(ArithmeticError, match="finite"), np.errstate(all="ignore"):
        predictor_corrector(np.ones(2), np.ones(2), direction)
