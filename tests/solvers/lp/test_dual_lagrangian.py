"""The augmented Lagrangian of the dual: bounds that hold, and columns that end free."""

import numpy as np
import pytest

from lincent.solvers.lp import highs
from lincent.solvers.lp.dual_lagrangian import identify, start
from lincent.solvers.solution import Controls
from support.programs import wide

MANY = Controls(tol=1e-6, max_iter=5_000)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_it_comes_near_the_optimum_and_names_the_free_columns(dense, seed):
    program = wide(120, 400, seed, dense=dense)
    best = highs.solve(program, Controls()).certificate
    point = identify(program, start(program), -1.0, 0, MANY)
    assert point.best.relative_gap < 1e-3
    assert point.best.dual_objective <= best.objective + 1e-9
    assert point.best.objective >= best.dual_objective - 1e-9
    inside = np.flatnonzero(np.abs(best.beta) < 1.0 - 1e-7)
    # HiGHS ends at a vertex; what is inside there is among what was named.
    assert np.isin(inside, point.free).mean() > 0.9


def test_few_spare_columns_end_the_rounds():
    program = wide(120, 400, 0)
    point = identify(program, start(program), 0.5, 1000, MANY)
    assert 0 < point.spare <= 0.5 * point.between
    more = identify(program, point, 0.1, 1000, MANY)
    assert more.spare < 0.5 * more.between


def test_places_let_rows_join_once():
    point = start(wide(30, 80, 1))
    point.places(np.array([7, 3]))
    point.x[:-1] = [0.3, 0.7]
    places = point.places(np.array([7, 12, 3]))
    assert point.rows[places].tolist() == [7, 12, 3]
    assert point.alpha(30)[[3, 7, 12]].tolist() == [0.3, 0.7, 0.0]


def test_the_clock_and_the_step_limit_are_kept():
    program = wide(120, 400, 2)
    late = identify(program, start(program), -1.0, 0, Controls(deadline=0.0))
    assert (late.rounds, late.steps) == (1, 0)
    assert identify(program, start(program), -1.0, 0, Controls(max_iter=7)).steps <= 7
