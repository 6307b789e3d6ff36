"""Generated rows give the optimum of all of them."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.solvers.lp import highs, row_generation
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
