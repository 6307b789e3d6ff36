"""Generated rows give the optimum of all of them."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.solvers.lp import choose, highs, row_generation
from lincent.solvers.lp.row_generation import Tuning
from lincent.solvers.solution import Controls, Status
from support.judge import assert_optimal
from support.programs import program_of_rows

SMALL = Tuning(first_rows=10)


def wide(m, n, seed, sparse=True):
    rng = np.random.default_rng(seed)
    X = sp.random_array((m, n), density=0.05, rng=rng, format="csr")
    sign = np.where(X @ rng.standard_normal(n) > 0, 1.0, -1.0)
    return program_of_rows(X if sparse else X.toarray(), sign)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(60, 200), (150, 150), (400, 30)])
@pytest.mark.parametrize("sparse", [True, False])
def test_it_is_the_optimum(shape, seed, sparse):
    program = wide(*shape, seed, sparse)
    solution = row_generation.solve(program, Controls(), SMALL)
    assert solution.status is Status.OPTIMAL
    assert_optimal(program, solution)
    best = highs.solve(program, Controls()).certificate.objective
    assert solution.certificate.objective == pytest.approx(best, rel=1e-8)


def test_few_rows_are_solved():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 30))
    sign = np.where(X[:, 0] > 0, 1.0, -1.0)
    X[:, 0] += sign
    lines = []
    solution = row_generation.solve(program_of_rows(X, sign), Controls(tell=lines.append), SMALL)
    assert solution.status is Status.OPTIMAL
    last = [line for line in lines if line.startswith("rows, round")][-1]
    assert int(last.split("gap")[1].split("rows")[0].split()[-1]) < 1000


def test_the_clock_is_kept():
    program = wide(150, 150, 0)
    solution = row_generation.solve(program, Controls(deadline=0.0), SMALL)
    assert solution.status is Status.TIME_LIMIT
    assert solution.certificate.dual_objective <= solution.certificate.objective


def far_apart(clusters, m=600, n=120, seed=0):
    """Two classes of clusters whose centers lie far apart in all columns."""
    rng = np.random.default_rng(seed)
    part = np.arange(m) % (2 * clusters)
    centers = rng.standard_normal((2 * clusters, n))
    X = centers[part] + 0.5 * rng.standard_normal((m, n))
    return X, np.where(part < clusters, 1.0, -1.0)


def auto(program):
    return choose.solve(program, "auto", Controls(), np.random.default_rng(0))


def test_a_corner_that_misses_no_row_is_the_optimum():
    program = program_of_rows(*far_apart(1))
    assert row_generation.missed_at_the_corner(program) == 0
    solution = auto(program)
    assert (solution.solver, solution.iterations) == (row_generation.NAME, 1)
    assert_optimal(program, solution)
    np.testing.assert_array_equal(solution.certificate.beta, np.sign(program.difference))


def test_few_rows_missed_at_the_corner_are_generated():
    X, sign = far_apart(1)
    X[:5] -= 1.5 * sign[:5, None] * np.sign(X[sign > 0].mean(axis=0) - X[sign < 0].mean(axis=0))
    program = program_of_rows(X, sign)
    assert 0 < row_generation.missed_at_the_corner(program) <= 24
    solution = auto(program)
    assert solution.solver == row_generation.NAME
    assert_optimal(program, solution)
    best = highs.solve(program, Controls()).certificate.objective
    assert solution.certificate.objective == pytest.approx(best, rel=1e-8)


def test_many_rows_missed_at_the_corner_are_left_to_other_solvers():
    rng = np.random.default_rng(0)
    X, sign = rng.standard_normal((600, 120)), np.where(rng.random(600) < 0.5, 1.0, -1.0)
    program = program_of_rows(X, sign)
    assert row_generation.missed_at_the_corner(program) > row_generation.CORNER_MISSED * 600
    assert auto(program).solver != row_generation.NAME
    ended = row_generation.from_the_corner(program, 1, Controls())
    assert ended.status is Status.STALLED
    assert ended.certificate.dual_objective <= ended.certificate.objective
