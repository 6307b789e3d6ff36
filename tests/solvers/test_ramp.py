"""The ramp problem: descent to certified local optima by models, Newton steps and pivots."""

import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from lincent import FQCC
from lincent.problems.ramp import RampProgram
from lincent.solvers import ramp
from lincent.solvers.lp import dispatch
from lincent.solvers.ramp import LONGER, SHORTER, _NearLocal, approach, is_applicable, walk
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows
from lincent.sources.rows import SignedRows
from lincent.sources.sparse import SparseSource
from support.constants import set_constants
from support.degenerate import program_of
from support.ramp_problems import feasible_points, random_problem, start_of, value


def descend(program, start):
    rng = np.random.default_rng(0)
    return ramp.solve(program, start, "auto", Controls(), rng, 100)


@pytest.mark.parametrize("seed", range(12))
def test_descent_is_monotone_and_ends_at_a_local_optimum(seed):
    program, *_ = random_problem(seed)
    found = descend(program, start_of(program))
    assert found.status is Status.OPTIMAL
    assert np.all(np.diff(found.history) <= 0)
    assert value(program, found.beta) == found.objective
    rng = np.random.default_rng(seed)
    model = program.upper_model(np.zeros(program.shape[0], dtype=bool))
    size = np.abs(found.beta).max()
    for _ in range(200):
        near = found.beta + 1e-7 * size * rng.normal(size=found.beta.shape)
        near = model.feasible(near)
        assert value(program, near) >= found.objective - 1e-9


def test_steps_are_limited():
    program, *_ = random_problem(3)
    start = next(feasible_points(program, 1))
    found = ramp.solve(program, start, "auto", Controls(), np.random.default_rng(0), 1)
    assert found.steps == 1
    assert found.status is Status.ITERATION_LIMIT


def test_time_is_limited():
    program, *_ = random_problem(3)
    start = next(feasible_points(program, 1))
    late = Controls(deadline=time.monotonic() - 1)
    rng = np.random.default_rng(0)
    assert ramp.solve(program, start, "auto", late, rng, 9).status is Status.TIME_LIMIT


def test_where_no_newton_step_leads_lower_the_first_model_is_minimized(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((2000, 20))
    lcc = program_of(X, np.where(X[:, 0] + rng.standard_normal(2000) > 0, 1.0, -1.0))
    program = RampProgram(lcc.rows, lcc.costs, lcc.margin, lcc.difference)
    start = dispatch.solve(lcc, "auto", Controls(), rng).certificate.beta
    monkeypatch.setattr(ramp, "approach", lambda program, start, controls: start)
    minimized, plain = [], ramp._minimum
    monkeypatch.setattr(ramp, "_minimum", lambda *given: minimized.append(1) or plain(*given))
    found = ramp.solve(program, start, "auto", Controls(), rng, 100)
    assert minimized
    assert found.status is Status.OPTIMAL


def test_a_first_model_has_one_minimizer_whatever_its_start(monkeypatch):
    monkeypatch.setattr(ramp, "is_applicable", lambda program: False)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((2000, 20))
    sign = np.where(X[:, 0] + rng.standard_normal(2000) > 0, 1.0, -1.0)
    lcc = program_of(X, sign)
    program = RampProgram(lcc.rows, lcc.costs, lcc.margin, lcc.difference)
    start = dispatch.solve(lcc, "auto", Controls(), rng).certificate.beta
    cold = ramp.solve(program, start, "auto", Controls(), rng, 1)
    used = []
    solve_near = ramp.screening.solve

    def watched(*args, **named):
        used.append(named)
        return solve_near(*args, **named)

    monkeypatch.setattr(ramp.screening, "solve", watched)
    set_constants(monkeypatch, ramp, near_above=1000)
    near = ramp.solve(program, start, "auto", Controls(), rng, 1)
    assert used
    np.testing.assert_allclose(near.history, cold.history, rtol=1e-8)


def overlapping(seed, m=3000, n=8, whole=False):
    """Classes that overlap much, so that many samples lie beyond the wrong center."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(m, n))
    X = np.round(X) if whole else X
    sign = np.where(X[:, 0] + 2 * rng.standard_normal(m) > 0, 1.0, -1.0)
    lcc = program_of(X, sign)
    return RampProgram(lcc.rows, lcc.costs, lcc.margin, lcc.difference)


def beyond_at(program, beta):
    return program.beyond(beta, program.rows.dot(beta))


@pytest.mark.parametrize("whole", [False, True], ids=["real", "whole numbers"])
@pytest.mark.parametrize("seed", range(4))
def test_steps_lower_the_objective_and_stay_feasible(seed, whole):
    program = overlapping(seed, whole=whole)
    start = start_of(program)
    found = approach(program, start, Controls())
    assert value(program, found) <= value(program, start)
    assert np.all(np.abs(found) <= 1.0)
    assert program.difference @ found >= program.margin * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_procedure_goes_on_to_a_certified_local_optimum(seed):
    """The point found minimizes its own model, and nothing was lost on the way."""
    program = overlapping(seed)
    start = start_of(program)
    assert is_applicable(program)
    rng = np.random.default_rng(0)
    found = ramp.solve(program, start, "auto", Controls(), rng, 100)
    assert found.status is Status.OPTIMAL
    assert found.model.relative_gap <= 1e-9
    assert all(
        after <= before for before, after in zip(found.history, found.history[1:], strict=False)
    )
    again = ramp.solve(program, found.beta, "auto", Controls(), rng, 100)
    assert again.objective <= found.objective
    # The certified vertex is the point that is returned, not one above it.
    model = program.upper_model(beyond_at(program, found.beta))
    reached = model.primal(found.beta, program.rows.dot(found.beta))
    assert reached - found.model.dual_objective <= 1e-9 * abs(reached)


@pytest.mark.parametrize("seed", range(4))
def test_a_step_goes_as_far_as_the_objective_falls(seed):
    """Beyond the minimizer of the model, but not out of the box."""
    program = overlapping(seed)
    rng = np.random.default_rng(seed)
    start = start_of(program)
    step = 0.1 * np.linalg.norm(start) * rng.standard_normal(len(start))
    near = _NearLocal(program, start)
    length = near.move(step, program.rows.dot(step))
    lengths = sorted([0.0, *SHORTER, 1.0, *LONGER])
    points = [start + k * step for k in lengths]
    inside = [
        np.all(np.abs(point) <= 1.0) and program.difference @ point >= program.margin
        for point in points
    ]
    values = [
        value(program, point) if ok else np.inf for point, ok in zip(points, inside, strict=True)
    ]
    place = lengths.index(length)
    assert value(program, near.beta) == pytest.approx(values[place], rel=1e-12)
    assert values[place] == min(values[max(0, place - 1) : place + 2])


def test_a_step_ends_at_the_box():
    program = overlapping(0)
    near = _NearLocal(program, start_of(program))
    step = np.zeros(program.shape[1])
    step[0] = (1.0 - near.beta[0]) / 3.0
    assert near._limit(step) == pytest.approx(3.0)
    assert near.move(step, program.rows.dot(step)) <= 3.0


def test_where_steps_do_not_pay_the_first_model_is_minimized():
    program = overlapping(0)
    m, n = program.shape
    assert is_applicable(program)
    assert not is_applicable(overlapping(0, m=300))
    assert not is_applicable(replace(program, rows=DenseRows(np.ones((m, 65)))))
    assert not is_applicable(replace(program, costs=np.where(np.arange(m) == 3, np.inf, 1.0)))
    rows = SignedRows(SparseSource(sp.csr_array(program.rows.dense())), np.ones(m), np.zeros(n))
    assert not is_applicable(replace(program, rows=rows))


@pytest.mark.parametrize(("lengths", "bands"), [
    ([0.0] * 9, [32, 64, 128, 256, 512]),  # until more samples would tell no more
    ([1.0, 0.0, 1.0, 1.0, 1.0], [32, 16, 32]),  # and no narrower one is tried again
])  # fmt: skip
def test_a_band_that_leads_nowhere_grows_and_two_flat_steps_are_the_last(
    lengths, bands, monkeypatch
):
    program, tried = overlapping(0), []

    def step(self, band):
        tried.append(band)
        return lengths[len(tried) - 1], 0.0

    monkeypatch.setattr(_NearLocal, "step", step)
    start = start_of(program)
    np.testing.assert_array_equal(approach(program, start, Controls()), start)
    assert tried == bands


def noisy(seed, m=600, n=8):
    """Classes that overlap much: many samples lie beyond the wrong center."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(m, n))
    sign = np.where(X[:, 0] + 2 * rng.standard_normal(m) > 0, 1.0, -1.0)
    lcc = program_of(X, sign)
    start = dispatch.solve(lcc, "auto", Controls(), rng).certificate.beta
    return RampProgram(lcc.rows, lcc.costs, lcc.margin, lcc.difference), start


def lower_nearby(program, beta, value, seed):
    """How far F falls on small steps in many directions, inside the box and with d.beta >= s."""
    rng = np.random.default_rng(seed)
    model = program.upper_model(np.zeros(program.shape[0], dtype=bool))
    size = 1e-7 * np.abs(beta).max()
    steps = size * np.vstack([rng.standard_normal((200, len(beta))), np.eye(len(beta)), beta])
    values = []
    for step in np.vstack([steps, -steps]):
        point = model.feasible(beta + step)
        values.append(program.objective(point, program.rows.dot(point)))
    return value - min(values)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("least", [40, 400], ids=["bands", "one band"])
def test_the_walk_ends_at_a_certified_local_optimum_below_its_start(seed, least, monkeypatch):
    set_constants(monkeypatch, ramp, least_band=least, band=4)
    # From Newton steps nothing would be left to walk.
    monkeypatch.setattr(ramp, "is_applicable", lambda program: False)
    program, start = noisy(seed)
    first = ramp.solve(program, start, "auto", Controls(), np.random.default_rng(0), 1)
    found = walk(program, first.beta, program.rows.dot(first.beta), Controls())
    assert found is not None
    certificate, beyond = found
    projected = program.rows.dot(certificate.beta)
    value = program.objective(certificate.beta, projected)
    assert value <= first.objective
    assert certificate.relative_gap <= 1e-9
    np.testing.assert_array_equal(beyond, program.beyond(certificate.beta, projected))
    assert lower_nearby(program, certificate.beta, value, seed) <= 1e-9 * abs(value)


def test_descent_on_noise_takes_a_few_steps_not_a_model_for_each_active_set():
    for seed in range(5):
        program, start = noisy(seed, m=2000, n=12)
        rng = np.random.default_rng(0)
        found = ramp.solve(program, start, "auto", Controls(), rng, 100)
        assert found.status is Status.OPTIMAL
        assert found.steps <= 4
        assert np.all(np.diff(found.history) <= 0)


def test_walks_end_in_time_and_are_not_begun_with_many_features(monkeypatch):
    program, start = noisy(0)
    late = Controls(deadline=0.0)
    assert walk(program, start, program.rows.dot(start), late) is None
    set_constants(monkeypatch, ramp, walk_features=3)
    assert walk(program, start, program.rows.dot(start), Controls()) is None


def test_duplicated_samples_are_weighted_samples():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, size=(60, 4)).astype(float)
    y = (X[:, 0] + rng.integers(0, 3, 60) > 2).astype(int)
    again = rng.integers(0, 60, 600)
    counted = np.bincount(again, minlength=60).astype(float)
    repeated = FQCC().fit(X[again], y[again])
    weighted = FQCC().fit(X, y, sample_weight=counted)
    assert repeated.objective_ == pytest.approx(weighted.objective_, rel=1e-8)
