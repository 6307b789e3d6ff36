"""Sets of rows that are exchanged until one comes again."""

import numpy as np
import pytest

from lincent.problems.regularized import RegularizedProgram, certify
from lincent.solvers.newton import exchange
from lincent.solvers.newton.descent import descend
from lincent.solvers.newton.dual import Dual
from lincent.solvers.newton.hessian import Whole
from lincent.solvers.newton.oracle import Reader
from lincent.solvers.newton.start import first_step
from lincent.solvers.solution import Controls
from lincent.sources.dense import DenseRows


def separable(m, n, free=True, seed=0):
    """Classes that a direction tells apart, uneven costs."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, n))
    A += 0.5 * np.ones(n) / np.sqrt(n)
    sign = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    return RegularizedProgram(DenseRows(A), sign, rng.uniform(0.5, 2.0, m), -1.0, 3.0, free)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("shape", [(40, 200), (60, 150), (100, 400)])
def test_sets_end_at_the_optimum(shape, free):
    program = separable(*shape, free)
    found = first_step(Reader(program), Dual(program), Controls())
    assert certify(program, found.beta, found.t).relative_gap <= 1e-10
    wanted = descend(program, Whole(program), Controls(tol=1e-12)).certificate
    np.testing.assert_allclose(found.beta, wanted.beta, atol=1e-6)


def test_where_rows_are_beyond_the_lower_margin_it_is_not_the_way():
    program = separable(200, 90)
    assert exchange.parted(program, np.zeros(200), Dual(program))
    assert not exchange.parted(program, np.full(200, -2.0), Dual(program))


def test_it_does_not_end_above_where_it_began(monkeypatch):
    """Sets that are too few, or an optimum that the lower margin moves: the lowest point counts."""
    program, rng = separable(300, 20), np.random.default_rng(1)
    for sets in (1, 2, 40):
        monkeypatch.setattr(exchange, "TUNING", exchange.Tuning(sets=sets))
        beta = rng.standard_normal(20)
        found = exchange.exchanged(Reader(program), Dual(program), Controls(), beta, 0.3)
        best = descend(program, Whole(program), Controls(tol=1e-12)).certificate.objective
        assert best * (1 - 1e-9) <= found.objective < Reader(program).at(beta, 0.3).objective


def test_no_set_is_begun_after_the_deadline():
    program, steps = separable(100, 400), []

    class Counted(Dual):
        def step(self, point):
            steps.append(1)
            return super().step(point)

    exchange.exchanged(Reader(program), Counted(program), Controls(), np.zeros(400), 0.0)
    asked = len(steps)
    late = Controls(deadline=0.0)
    exchange.exchanged(Reader(program), Counted(program), late, np.zeros(400), 0.0)
    assert asked > 1
    assert len(steps) == asked + 1
