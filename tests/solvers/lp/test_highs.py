"""The reference: both orientations, the vertex it names, and where its presolve loses digits."""

import time
from dataclasses import replace

import numpy as np
import pytest

from lincent import KernelLCC
from lincent.problems.centralization import certify
from lincent.solvers.lp import highs
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows
from support.degenerate import program_of
from support.optimality import assert_optimal, dual_value, primal_value, violations
from support.programs import overlapping


def test_what_falls_short_with_presolve_is_tried_without(monkeypatch):
    """A linear kernel of two columns far from zero: a hundred columns of rank two."""
    rng = np.random.RandomState(42)
    X, y = rng.normal(loc=100, size=(100, 2)), rng.randint(low=0, high=2, size=100)
    attempt, tried = highs._attempt, []

    def watched(program, controls, *, presolve):
        found = attempt(program, controls, presolve=presolve)
        tried.append(presolve)
        if not presolve:
            return found
        # Whether presolve really loses the last digits here depends on the processor.
        m, n = program.shape
        nothing = certify(program, np.zeros(n), np.zeros(m), 0.0)
        return replace(found, status=Status.STALLED, certificate=nothing)

    monkeypatch.setattr(highs, "_attempt", watched)
    model = KernelLCC(
        kernel="linear", norm="linf", class_weight=None, solver="highs", random_state=0
    ).fit(X, y)
    assert tried == [True, False]
    assert model.duality_gap_ <= 1e-9


def mixed(m, n, seed=0, hard=False):
    """A box that is not around zero, costs that differ, a separation of its own."""
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(m) % 2, 1.0, -1.0)
    apart = 3.0 if hard else 0.4
    program = program_of(rng.normal(size=(m, n)) + apart * sign[:, None], sign, rng.random(m) + 0.5)
    costs = np.where(np.arange(m) < 3, np.inf, program.costs) if hard else program.costs
    return replace(
        program, lower=program.lower - 0.3, upper=program.upper + 0.1, costs=costs,
        separation=3.0 * program.margin, offset=0.7,
    )  # fmt: skip


OPTIONS = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}


@pytest.mark.parametrize("shape", [(40, 4), (8, 20)])
@pytest.mark.parametrize("seed", range(3))
def test_both_orientations_name_the_same_optimum(shape, seed):
    program = mixed(*shape, seed)
    for orientation in (highs._by_sample, highs._by_feature):
        result = orientation(program, OPTIONS)
        assert result.status == 0
        m, n = program.shape
        by_sample = orientation is highs._by_sample
        beta = result.x[:n] if by_sample else -result.eqlin.marginals
        weights = -result.ineqlin.marginals if by_sample else result.x
        alpha, t = weights[:m], weights[m]
        assert violations(program, beta) <= 1e-7
        assert np.all((alpha >= -1e-9) & (alpha <= program.costs + 1e-9))
        gap = primal_value(program, beta) - dual_value(program, alpha, t)
        assert abs(gap) <= 1e-6


@pytest.mark.parametrize("shape", [(40, 4), (8, 20)])
def test_its_answer_is_carried_to_the_vertex(shape):
    for seed in range(3):
        program = mixed(*shape, seed)
        found = highs.solve(program, Controls())
        assert found.status is Status.OPTIMAL
        assert found.iterations >= 1
        assert_optimal(program, found, tol=1e-12)
        # From a point that is off by what HiGHS tolerates.
        answer, rng = found.certificate, np.random.default_rng(seed)
        inside = np.minimum(answer.beta - program.lower, program.upper - answer.beta) > 1e-6
        beta = answer.beta + 1e-8 * inside * rng.normal(size=shape[1])
        alpha = np.clip(answer.alpha + 1e-8 * rng.normal(size=shape[0]), 0.0, program.costs)
        sharp = highs._sharpen(program, beta, alpha, answer.t)
        assert sharp.relative_gap <= 1e-12
        # From one that is no vertex it is the point itself, or something better.
        rough = highs._sharpen(program, 0.5 * answer.beta, 0.5 * answer.alpha, 0.0)
        assert rough.gap <= certify(program, 0.5 * answer.beta, 0.5 * answer.alpha, 0.0).gap


@pytest.mark.parametrize("n", [6, 50])
def test_sparse_rows_are_handed_over_as_they_are(n):
    program = overlapping(40, n, 2)
    dense = overlapping(40, n, 2, dense=True)
    found, wanted = highs.solve(program, Controls()), highs.solve(dense, Controls())
    assert found.certificate.objective == pytest.approx(wanted.certificate.objective, rel=1e-9)


def test_hard_rows_are_constraints():
    program = mixed(40, 4, hard=True)
    found = highs.solve(program, Controls(tol=1e-7))
    assert np.all(program.rows.dot(found.certificate.beta)[:3] >= program.margin * (1 - 1e-6))
    soft = replace(program, costs=np.where(np.isinf(program.costs), 1e6, program.costs))
    wanted = highs.solve(soft, Controls()).certificate
    assert found.certificate.objective == pytest.approx(wanted.objective, rel=1e-7)
    A = program.rows.dense().copy()
    A[0] = -A[1]  # cannot both be above the margin
    nowhere = replace(program, rows=DenseRows(A))
    lost = highs.solve(nowhere, Controls())
    assert lost.status is Status.INFEASIBLE
    assert lost.iterations == 1


def test_an_infeasible_program_is_named_in_both_orientations():
    for shape in ((40, 4), (8, 20)):
        program = mixed(*shape)
        found = highs.solve(replace(program, separation=2 * program.largest_separation), Controls())
        assert found.status is Status.INFEASIBLE
        assert found.certificate.objective == np.inf


def test_the_better_of_two_attempts_is_kept(monkeypatch):
    program = mixed(40, 4)
    best = highs.solve(program, Controls())
    worse = replace(
        best, status=Status.STALLED, certificate=replace(best.certificate, rounding=1.0)
    )
    for first, second, wanted in ((worse, best, best), (worse, worse, worse), (best, worse, best)):
        answers = iter((first, second))
        monkeypatch.setattr(highs, "_attempt", lambda *_, presolve, a=answers: next(a))
        assert highs.solve(program, Controls()) is wanted


def test_the_clock_is_handed_over(monkeypatch):
    asked = []
    real = highs._by_feature
    monkeypatch.setattr(
        highs,
        "_by_feature",
        lambda program, options: asked.append(options) or real(program, options),
    )
    program = mixed(40, 4)
    highs.solve(program, Controls())
    highs.solve(program, Controls(deadline=0.0))
    highs.solve(program, Controls(deadline=time.monotonic() + 100.0))
    limits = [options.get("time_limit") for options in asked]
    assert limits[:2] == [None, 0.01]
    assert 90.0 < limits[2] <= 100.0


def test_pivots_that_do_not_end_are_given_up():
    rng = np.random.default_rng(3)
    base = rng.standard_normal((28, 200))
    X = np.repeat(base, 20, axis=0) * 10.0 ** rng.uniform(-3, 5, 200)
    y = np.where(np.repeat(base[:, 0], 20) + rng.standard_normal(560) > 0, 1.0, -1.0)
    program = program_of(X, y, C=1.0)
    assert highs.solve(program, Controls()).iterations <= 20 * (560 + 200)
