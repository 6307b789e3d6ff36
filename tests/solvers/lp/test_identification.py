"""Naming the rows on the kink and finishing in the null space: the optimum of HiGHS, certified."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.problems.arrays import Certificate
from lincent.solvers.lp import highs, identification
from lincent.solvers.lp.augmented_lagrangian import Identified
from lincent.solvers.lp.working_set import WorkingSet
from lincent.solvers.solution import Controls, Solution, Status
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


def test_naming_pays_from_so_many_columns_and_rows_per_column_on():
    assert identification.worthwhile(3200, 400, False)
    assert not identification.worthwhile(3199, 400, False)
    assert not identification.worthwhile(9999, 399, False)
    assert identification.worthwhile(2000, 500, True)
    assert not identification.worthwhile(1999, 500, True)
    assert not identification.worthwhile(9999, 499, True)


def near_by(program, gap, steps=7, rng=None):
    """A point that was named with such a gap."""
    m, n = program.shape
    rng = np.random.default_rng(0) if rng is None else rng
    low, high = np.zeros(n), np.zeros(n)
    low[:2], high[-1:] = 0.3, 0.2
    beta = rng.uniform(-0.5, 0.5, n)
    beta[:4], beta[-3:] = [-1.0, -0.95, -0.965, -0.955], [0.955, 0.965, 1.0]
    alpha = program.costs * np.clip(rng.uniform(-0.5, 1.5, m), 0.0, 1.0)
    missed, t = rng.standard_normal(m), 0.7
    best = Certificate(beta, alpha, t, 1.0, 1.0 - gap)
    return Identified(beta, missed, alpha, low, high, t, 2.0, steps, 1, 0, best)


@pytest.mark.parametrize(
    ("gap", "matrix", "late", "steps", "finished", "status"),
    [
        (1.9e-2, 20, False, 7, True, Status.OPTIMAL),
        (2.1e-2, 20, False, 7, False, Status.STALLED),
        (1e-12, 20, False, 7, False, Status.OPTIMAL),
        (1.9e-2, 19, False, 7, False, Status.STALLED),
        (1.9e-2, 20, True, 7, False, Status.TIME_LIMIT),
        (2.1e-2, 20, False, 500, False, Status.ITERATION_LIMIT),
        (2.1e-2, 20, False, 0, False, Status.STALLED),
        (1.9e-2, 20, False, 0, True, Status.OPTIMAL),
    ],
)
def test_what_is_named_is_finished_where_it_is_near(
    gap, matrix, late, steps, finished, status, monkeypatch
):
    program = overlapping(300, 20, 0)
    near = near_by(program, gap, steps)
    asked = []

    def finish(hinges, start, controls):
        asked.append(start)
        return Solution(Status.OPTIMAL, start.best, start.steps, "")

    def identify(program, controls, enough):
        assert enough == (pytest.approx(1.08 * 20) if matrix >= 20 else 0.0)
        return near

    monkeypatch.setattr(identification, "identify", identify)
    monkeypatch.setattr(identification, "finish", finish)
    controls = Controls(deadline=0.0 if late else np.inf, max_iter=500)
    tuning = identification.Tuning(largest_matrix=matrix)
    found = identification.solve(program, controls, tuning)
    assert bool(asked) == finished
    assert found.status is status
    assert found.iterations == max(steps, 1)
    assert found.certificate is near.best
    assert found.solver == "identification"


@pytest.mark.parametrize(
    ("m", "spare", "between"), [(90, 5, 0), (90, 0, 0), (90, 0, 40), (25, 5, 0)]
)
def test_a_start_has_the_rows_most_in_doubt_and_the_sides_that_are_near(m, spare, between):
    program = overlapping(m, 20, 1)
    near = near_by(program, 1e-3)
    near.between = between
    tuning = identification.Tuning(spare=0.1, least_spare=spare)
    start = identification.working_start(program, near, tuning)
    count = min(m, max(20 + max(2, spare) - 3, between - 3))
    rows = np.sort(np.argsort(near.doubt(program.costs))[:count])
    # Sides with a multiplier, or within a fiftieth of the box, here 0.04.
    sides = [0, 1, 2, 20 + 18, 20 + 19]
    np.testing.assert_array_equal(start.chosen, [*rows, *(m + np.array(sides)), m + 40])
    share = near.alpha / program.costs
    alpha = np.where(share > 0.5, program.costs, 0.0)
    alpha[rows] = near.alpha[rows]
    assert np.any(np.abs(share - 0.5) < 0.5)
    box = np.concatenate([near.low, near.high])
    np.testing.assert_array_equal(start.dual, [*alpha, *box, near.t])
    assert (start.best, start.steps) == (near.best, near.steps)
