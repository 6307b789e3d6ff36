"""Naming the free columns and finishing in the null space: the optimum of HiGHS, certified."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.solvers.lp import dual_identification, highs
from lincent.solvers.lp.dual_identification import Tuning
from lincent.solvers.lp.working_set import WorkingSet
from lincent.solvers.solution import Controls, Status
from support.judge import assert_optimal
from support.programs import program_of_rows, wide


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(60, 200), (150, 150), (200, 900)])
@pytest.mark.parametrize("options", [{}, {"dense": True}, {"noise": True}])
def test_it_is_the_optimum(shape, seed, options):
    program = wide(*shape, seed, **options)
    solution = dual_identification.solve(program, Controls())
    assert solution.status is Status.OPTIMAL
    assert_optimal(program, solution)
    best = highs.solve(program, Controls()).certificate.objective
    assert solution.certificate.objective == pytest.approx(best, rel=1e-8)


def awkward(kind):
    rng = np.random.default_rng(5)
    X = np.where(rng.random((150, 400)) < 0.05, rng.random((150, 400)), 0.0)
    if kind == "binary":
        X = (X > 0).astype(float)
    sign = np.where(X @ rng.standard_normal(400) + 0.3 * rng.standard_normal(150) > 0, 1.0, -1.0)
    if kind == "duplicate columns":
        X[:, 200:] = X[:, :200]
    elif kind == "empty columns":
        X[:, ::3] = 0.0
    elif kind == "zero rows":
        X[::7] = 0.0
    elif kind == "repeated rows":
        X = X[rng.integers(0, 60, 150)]
    elif kind == "scales":
        X *= 10.0 ** rng.uniform(-3, 3, 400)
    return program_of_rows(sp.csr_array(X), sign)


KINDS = ["binary", "duplicate columns", "empty columns", "zero rows", "repeated rows", "scales"]


@pytest.mark.parametrize("kind", KINDS)
def test_awkward_data_is_certified_or_handed_on(kind):
    program = awkward(kind)
    solution = dual_identification.solve(program, Controls())
    answer, best = solution.certificate, highs.solve(program, Controls()).certificate
    # Whatever it claims is true: the bounds enclose the optimum.
    slack = 1e-9 * max(1.0, abs(best.objective))
    assert answer.dual_objective <= best.objective + slack
    assert answer.objective >= best.dual_objective - slack
    assert (solution.status is Status.OPTIMAL) == (solution.relative_gap <= 1e-9)
    assert solution.relative_gap < 1e-2


def test_without_a_matrix_the_gap_is_certified_and_no_matrix_is_formed(monkeypatch):
    def refuse(*args):
        raise AssertionError("a matrix was formed")

    monkeypatch.setattr(WorkingSet, "__init__", refuse)
    program = wide(150, 600, 0, noise=True)
    solution = dual_identification.solve(program, Controls(), Tuning(largest_matrix=0))
    assert solution.certificate.dual_objective <= solution.certificate.objective
    assert solution.relative_gap < 1e-3


def test_the_clock_and_the_step_limit_are_kept():
    program = wide(150, 600, 1)
    late = dual_identification.solve(program, Controls(deadline=0.0))
    assert late.status is Status.TIME_LIMIT
    short = dual_identification.solve(program, Controls(max_iter=1))
    assert short.certificate.dual_objective <= short.certificate.objective


def test_classes_that_overlap_are_handed_on_soon():
    rng = np.random.default_rng(0)
    sign = np.where(rng.random(800) < 0.5, 1.0, -1.0)
    X = sp.random_array((800, 60), density=0.3, rng=rng, format="csr")
    lines = []
    solution = dual_identification.solve(program_of_rows(X, sign), Controls(tell=lines.append))
    assert solution.status is Status.STALLED
    assert len(lines) <= 4
    assert solution.certificate.dual_objective <= solution.certificate.objective


def small_face():
    """0/1 columns, the optimum a face of few dimensions: columns are sums of others."""
    rng = np.random.default_rng(3)
    X = (rng.random((300, 900)) < 0.03).astype(float)
    X[:, 860:] = X[:, :40] + X[:, 40:80]
    return program_of_rows(sp.csr_array(X), np.where(X @ rng.standard_normal(900) > 0, 1.0, -1.0))


@pytest.mark.parametrize("most_face", [300, 0])
def test_a_small_face_is_finished_in_the_null_space_and_a_large_one_by_rows(monkeypatch, most_face):
    asked = []
    by_rows = dual_identification._by_rows
    monkeypatch.setattr(dual_identification, "_by_rows", lambda *a: asked.append(1) or by_rows(*a))
    program = small_face()
    tuning = Tuning(spare=(0.0,), most_spare=0, face_spare=10.0, most_face=most_face)
    solution = dual_identification.solve(program, Controls(), tuning)
    assert bool(asked) == (most_face == 0)
    assert solution.status is Status.OPTIMAL
    assert_optimal(program, solution)
