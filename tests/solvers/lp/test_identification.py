"""Naming the rows on the kink and finishing in the null space: the optimum of HiGHS, certified."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.solvers.lp import highs, identification
from lincent.solvers.lp.working_set import WorkingSet
from lincent.solvers.solution import Controls, Status
from support.judge import assert_optimal
from support.programs import overlapping, program_of_rows


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(300, 20), (600, 60), (1500, 100)])
@pytest.mark.parametrize("options", [{}, {"dense": True}, {"weights": True}])
def test_it_is_the_optimum(shape, seed, options):
    program = overlapping(*shape, seed, **options)
    solution = identification.solve(program, Controls())
    assert solution.status is Status.OPTIMAL
    assert_optimal(program, solution)
    best = highs.solve(program, Controls()).certificate.objective
    assert solution.certificate.objective == pytest.approx(best, rel=1e-8, abs=1e-8)


def awkward(kind):
    rng = np.random.default_rng(5)
    X = np.where(rng.random((800, 40)) < 0.2, rng.random((800, 40)), 0.0)
    if kind == "one-hot":
        X = np.eye(8)[rng.integers(0, 8, (800, 5))].reshape(800, 40)
    sign = np.where(X @ rng.standard_normal(40) + 0.3 * rng.standard_normal(800) > 0, 1.0, -1.0)
    if kind == "duplicate columns":
        X[:, 10:20] = X[:, :10]
    elif kind == "constant columns":
        X[:, 3], X[:, 4] = 1.0, 0.0
    elif kind == "zero rows":
        X[::7] = 0.0
    elif kind == "repeated rows":
        X = X[rng.integers(0, 120, 800)]
    elif kind == "far rows":
        X[::100] *= 1000.0
    elif kind == "scales":
        X *= 10.0 ** rng.uniform(-3, 3, 40)
    return program_of_rows(sp.csr_array(X), sign)


KINDS = [
    "duplicate columns",
    "constant columns",
    "one-hot",
    "zero rows",
    "repeated rows",
    "far rows",
    "scales",
]


@pytest.mark.parametrize("kind", KINDS)
def test_awkward_data_is_certified_or_handed_on(kind):
    program = awkward(kind)
    solution = identification.solve(program, Controls())
    answer = solution.certificate
    best = highs.solve(program, Controls()).certificate
    # Whatever it claims is true: the bounds enclose the optimum.
    slack = 1e-9 * max(1.0, abs(best.objective))
    assert answer.dual_objective <= best.objective + slack
    assert answer.objective >= best.dual_objective - slack
    assert (solution.status is Status.OPTIMAL) == (solution.relative_gap <= 1e-9)
    if kind not in ("repeated rows", "far rows", "scales"):
        assert solution.status is Status.OPTIMAL


def test_pure_noise_is_handed_on_after_a_few_rounds():
    rng = np.random.default_rng(1)
    sign = np.where(rng.random(800) < 0.5, 1.0, -1.0)
    program = program_of_rows(rng.standard_normal((800, 40)), sign)
    lines = []
    solution = identification.solve(program, Controls(tell=lines.append))
    assert solution.status is Status.STALLED
    assert len(lines) <= 4


def test_separable_classes_are_handed_on_soon():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 40))
    X[:, 0] += np.where(X[:, 0] > 0, 5.0, -5.0)
    program = program_of_rows(X, np.where(X[:, 0] > 0, 1.0, -1.0))
    solution = identification.solve(program, Controls())
    assert solution.certificate.dual_objective <= solution.certificate.objective
    assert solution.status in (Status.OPTIMAL, Status.STALLED, Status.ITERATION_LIMIT)


def test_without_a_matrix_the_gap_is_certified_and_no_matrix_is_formed(monkeypatch):
    program = overlapping(2000, 100, 0)
    small = identification.Tuning(largest_matrix=50)

    def refuse(*args):
        raise AssertionError("a matrix was formed")

    monkeypatch.setattr(WorkingSet, "__init__", refuse)
    lines = []
    solution = identification.solve(program, Controls(max_iter=25, tell=lines.append), small)
    assert solution.status is Status.ITERATION_LIMIT
    assert 1e-9 < solution.relative_gap < 1e-1
    assert not any("null space" in line for line in lines)
    assert identification.solve(program, Controls(), small).relative_gap < 1e-3


def test_the_clock_and_the_step_limit_are_kept():
    program = overlapping(1500, 100, 1)
    late = identification.solve(program, Controls(deadline=0.0))
    assert late.status is Status.TIME_LIMIT
    short = identification.solve(program, Controls(max_iter=3))
    assert short.iterations <= 10_000
    assert short.certificate.dual_objective <= short.certificate.objective
