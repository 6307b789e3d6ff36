"""Every solver on every problem of the library."""

import numpy as np
import pytest

from lincent.solvers.lp import choose, highs, screening
from lincent.solvers.solution import Controls, Status
from support.degenerate import degenerate_program
from support.judge import assert_optimal
from support.problems import PROBLEMS, tiled

FEASIBLE = [problem for problem in PROBLEMS if not problem.infeasible]
INFEASIBLE = [problem for problem in PROBLEMS if problem.infeasible]
SOFT = [problem for problem in FEASIBLE if not problem.program.hard]


def named(problem):
    return problem.name


def check(problem, solution):
    assert_optimal(problem.program, solution)
    found = solution.certificate
    np.testing.assert_allclose(found.objective, problem.optimum, rtol=1e-9, atol=1e-9)
    if problem.beta is not None:
        np.testing.assert_allclose(found.beta, problem.beta, atol=1e-7)


@pytest.mark.parametrize("solver", choose.SOLVERS)
@pytest.mark.parametrize("problem", FEASIBLE, ids=named)
def test_optimum(problem, solver):
    solution = choose.solve(problem.program, solver, Controls(), np.random.default_rng(0))
    assert solution.status is Status.OPTIMAL
    check(problem, solution)


@pytest.mark.parametrize("solver", choose.SOLVERS)
@pytest.mark.parametrize("problem", INFEASIBLE, ids=named)
def test_infeasible_is_never_certified(problem, solver):
    solution = choose.solve(problem.program, solver, Controls(), np.random.default_rng(0))
    assert solution.status is Status.INFEASIBLE
    assert solution.certificate.objective == np.inf
    assert solution.relative_gap == np.inf


@pytest.mark.parametrize("problem", SOFT, ids=named)
def test_screening_on_many_copies(problem):
    """Thousands of tied rows: the band cannot be told from the rest by distance alone."""
    many = tiled(problem, 5000 // problem.program.shape[0] + 1)
    solution = choose.solve(many.program, "auto", Controls(), np.random.default_rng(0))
    assert screening.worthwhile(*many.program.shape)
    check(many, solution)


# One point is left but for columns that d does not see; a vertex whose multipliers, in doubles,
# leave a gap on columns of scale 1e7; a coordinate that rounding took off the box.
@pytest.mark.parametrize("seed", [2515, 2956, 8950, 2728, 4249, 6356, 7015, 2833])
def test_programs_that_once_went_to_highs(seed):
    program = degenerate_program(seed)
    solution = choose.solve(program, "auto", Controls(), np.random.default_rng(0))
    assert solution.status is Status.OPTIMAL
    assert solution.solver != highs.NAME
    assert solution.relative_gap <= Controls().tol
    assert_optimal(program, solution)
