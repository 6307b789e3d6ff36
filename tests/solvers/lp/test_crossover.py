"""The crossover reaches the optimal vertex, wherever it starts."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.solvers.lp import highs
from lincent.solvers.lp.crossover import Tableau, crossover
from lincent.solvers.solution import Controls, Solution, Status
from support.degenerate import degenerate_program, program_of
from support.judge import assert_optimal

TOL = 1e-9


def random_stiffness(program, seed):
    m, n = program.shape
    return 10.0 ** np.random.default_rng(seed).uniform(-3, 3, m + 2 * n + 1)


def cross(program, stiffness, most):
    return crossover(program, np.zeros(program.shape[1]), stiffness, most)


def normal_program(m=80, n=6, seed=0):
    rng = np.random.default_rng(seed)
    sign = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    X = rng.standard_normal((m, n)) + 0.5 * np.outer(sign, rng.standard_normal(n))
    return program_of(X, sign)


@pytest.mark.parametrize("seed", range(10))
def test_any_start_leads_to_the_optimum(seed):
    program = normal_program(seed=seed)
    answer = cross(program, random_stiffness(program, seed), most=300)
    assert answer is not None
    assert_optimal(program, Solution(Status.OPTIMAL, answer, 1, "crossover"))
    reference = highs.solve(program, Controls(tol=TOL)).certificate
    assert answer.objective == pytest.approx(reference.objective, rel=1e-8)


def test_the_answer_is_a_vertex():
    program = normal_program()
    answer = cross(program, random_stiffness(program, 1), most=300)
    z = program.rows.dot(answer.beta) - program.margin
    met = np.count_nonzero(np.abs(z) < 1e-12) + np.count_nonzero(np.abs(answer.beta) == 1.0)
    met += abs(program.difference @ answer.beta - program.separation) < 1e-12
    assert met >= program.shape[1]


def test_degenerate_programs_from_a_random_start():
    """Ties, collinear columns and margins at the limit do not make the exchanges go in circles."""
    reached = tried = 0
    for seed in range(300):
        program = degenerate_program(seed)
        if program is None or program.infeasible:
            continue
        tried += 1
        with np.errstate(all="ignore"):
            answer = cross(program, random_stiffness(program, seed), most=500)
        reached += answer is not None and answer.relative_gap <= TOL
    assert reached >= 0.97 * tried


def test_too_few_exchanges_give_nothing():
    program = normal_program()
    assert cross(program, random_stiffness(program, 2), most=1) is None


def test_the_tableau_stays_the_tableau_of_its_basis():
    """After many rank-one changes it is still E inv(B), the residuals and the multipliers."""
    program = normal_program(n=5)
    tableau = Tableau(program, random_stiffness(program, 3))
    first = tableau.basis.copy()
    assert tableau.descend(300)
    assert np.any(first != tableau.basis)
    inverse = np.linalg.inv(tableau.hinges[tableau.basis])
    np.testing.assert_allclose(tableau.T[:-1, :-1], tableau.hinges @ inverse, atol=1e-9)
    beyond = (tableau.side < 0) & (tableau.T[:-1, -1] != 0)
    beyond[tableau.basis] = False
    rest = program.linear - np.where(beyond, tableau.costs, 0.0) @ tableau.hinges
    np.testing.assert_allclose(tableau.T[-1, :-1], rest @ inverse, atol=1e-7)


def test_a_box_that_binds():
    program = normal_program()
    tight = 0.5 * np.abs(cross(program, random_stiffness(program, 4), most=300).beta).max()
    n = program.shape[1]
    boxed = replace(program, lower=-tight * np.ones(n), upper=tight * np.ones(n))
    answer = cross(boxed, random_stiffness(boxed, 5), most=300)
    assert np.abs(answer.beta).max() == pytest.approx(tight)
    reference = highs.solve(boxed, Controls(tol=TOL)).certificate
    assert answer.objective == pytest.approx(reference.objective, rel=1e-8)


def test_columns_that_say_nothing_get_no_coefficient():
    """A vertex would have them at the box."""
    rng = np.random.default_rng(0)
    sign = np.where(rng.random(60) < 0.4, 1.0, -1.0)
    X = rng.standard_normal((60, 3)) + 0.5 * sign[:, None]
    alone = cross(program_of(X, sign), random_stiffness(program_of(X, sign), 0), most=300)
    program = program_of(np.column_stack([X, np.full(60, 0.3), X[:, 0]]), sign)
    answer = cross(program, random_stiffness(program, 0), most=300)
    assert answer.relative_gap <= TOL
    assert abs(answer.beta[3]) < 1e-12
    # The two equal columns share what one of them has alone.
    np.testing.assert_allclose(answer.beta[[0, 4]], alone.beta[0] / 2, rtol=1e-6)
