"""Both sides solve the same system, and the shape decides which is taken."""

import numpy as np
import pytest

from lincent.solvers.lp.normal_equations import TUNING, ColumnSide, RowSide, normal_equations
from support.degenerate import program_of

FEW_COLUMNS = TUNING.few_columns


def random_program(m, n, seed=0):
    rng = np.random.default_rng(seed)
    return program_of(rng.normal(size=(m, n)), np.where(np.arange(m) % 2, 1.0, -1.0))


@pytest.mark.parametrize("side", [ColumnSide, RowSide])
@pytest.mark.parametrize("shape", [(40, 7), (6, 30)])
def test_the_step_meets_both_equations(side, shape):
    program, rng = random_program(*shape), np.random.default_rng(1)
    m, n = shape
    D, theta = 10.0 ** rng.uniform(-4, 4, m), 10.0 ** rng.uniform(-4, 4, n)
    D_apart, h, h_apart, b = 3.0, rng.normal(size=m), 0.7, rng.normal(size=n)
    x, v, v_apart = side(program, D, D_apart, theta).step(h, h_apart, b)
    E = np.vstack([program.rows.dense(), program.difference])
    all_v = np.append(v, v_apart)
    np.testing.assert_allclose(
        all_v / np.append(D, D_apart), np.append(h, h_apart) - E @ x, atol=1e-6
    )
    size = np.abs(E.T) @ np.abs(all_v) + np.abs(theta * x) + np.abs(b)
    assert np.all(np.abs(E.T @ all_v - theta * x + b) <= 1e-6 * size)


@pytest.mark.parametrize(
    ("m", "n", "side"),
    [(200, 20, ColumnSide), (5, FEW_COLUMNS, ColumnSide), (5, FEW_COLUMNS + 1, RowSide)],
)
def test_the_smaller_side_is_factored(m, n, side):
    program = random_program(m, n)
    assert isinstance(normal_equations(program, np.ones(m), 1.0, np.ones(n)), side)
