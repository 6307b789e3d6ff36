"""Programs in few variables against HiGHS, by interior point and by exchanges."""

import numpy as np
import pytest

from lincent.solvers.lp.few_variables import maximize
from lincent.solvers.lp.few_variables_vertex import Vertex
from lincent.solvers.solution import Controls
from support.few_variables import random_program, reference


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
