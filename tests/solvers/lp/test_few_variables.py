"""Programs in few variables against HiGHS, by interior point and by exchanges."""

import numpy as np
import pytest
from scipy.optimize import linprog

from lincent.solvers.lp.few_variables import maximize
from lincent.solvers.lp.few_variables_vertex import Vertex
from lincent.solvers.solution import Controls


def random_program(seed, rows=40, k=6):
    """N, bounds around a feasible zero with some infinite ones, and prices of the rows."""
    rng = np.random.default_rng(seed)
    N = np.linalg.qr(rng.standard_normal((rows, k)))[0]
    value = rng.uniform(0.0, 1.0, rows)
    high = value + rng.uniform(0.0, 1.0, rows)
    high[rng.random(rows) < 0.2] = np.inf
    return N, value, high, rng.standard_normal(rows)


def reference(N, value, high, gain):
    found = linprog(
        -(N.T @ gain),
        A_ub=np.vstack([-N, N[np.isfinite(high)]]),
        b_ub=np.concatenate([value, (high - value)[np.isfinite(high)]]),
        bounds=[(None, None)] * N.shape[1],
        method="highs",
    )
    return None if found.status == 3 else -found.fun


@pytest.mark.parametrize("seed", range(12))
def test_the_interior_point_and_the_exchanges_find_the_optimum(seed):
    N, value, high, gain = random_program(seed)
    best = reference(N, value, high, gain)
    assert best is not None  # a program that says something
    found = maximize(N, -value, high - value, N.T @ gain, 1e-11, Controls())
    moved = value + N @ found.w
    assert gain @ (N @ found.w) == pytest.approx(best, abs=1e-7)
    assert np.all(moved >= -1e-8)
    assert np.all(moved <= high + 1e-8)
    np.testing.assert_allclose(N.T @ (gain + found.multipliers), 0.0, atol=1e-7)
    unit = float(np.abs(found.multipliers).max())
    # From a rough guess: the rows ranked by nothing but their number.
    vertex = Vertex(N, value, high, gain, np.linspace(1.0, 2.0, len(N)), unit)
    assert vertex.descend(500, Controls())
    assert vertex.refresh()
    assert gain @ (vertex.value - value) == pytest.approx(best, abs=1e-8)
    assert np.all(vertex.value >= -1e-9)
    assert np.all(vertex.value <= high + 1e-9)
    p = vertex.multipliers()
    at_high = np.isfinite(high) & (vertex.value > high / 2)
    assert np.all(np.where(at_high, -p, p) >= -1e-7 * unit)


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_join_give_the_optimum_of_the_larger_program(seed):
    N, value, high, gain = random_program(seed, rows=40, k=8)
    rng = np.random.default_rng(seed)
    count = 3
    columns = 0.3 * rng.standard_normal((len(N), count))
    joined = np.block([[N, columns], [np.zeros((count, 8)), np.eye(count)]])
    at = np.array([0.0, 1.0, 0.0])
    top, more = np.ones(count), rng.standard_normal(count)
    whole = (np.concatenate(pair) for pair in ((value, at), (high, top), (gain, more)))
    all_value, all_high, all_gain = whole
    best = reference(joined, all_value, all_high, all_gain)
    vertex = Vertex(N, value, high, gain, np.ones(len(N)), 10.0)
    assert vertex.descend(500, Controls())
    vertex.join(columns, at, top, more)
    assert vertex.descend(500, Controls())
    assert all_gain @ (vertex.value - all_value) == pytest.approx(best, abs=1e-7)


def test_the_clock_ends_the_exchanges():
    N, value, high, gain = random_program(0, rows=400, k=60)
    vertex = Vertex(N, value, high, gain, np.ones(len(N)), 10.0)
    assert not vertex.descend(10_000, Controls(deadline=0.0))
    assert vertex.exchanges < 20
