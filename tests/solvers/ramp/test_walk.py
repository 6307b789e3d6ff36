"""The walk over the vertices of the ramp program."""

from dataclasses import replace

import numpy as np
import pytest

from lincent import FQCC
from lincent.problems.ramp import RampProgram
from lincent.solvers.lp import choose
from lincent.solvers.ramp import convex_concave
from lincent.solvers.ramp import walk as module
from lincent.solvers.ramp.walk import walk
from lincent.solvers.solution import Controls, Status
from support.degenerate import program_of


def noisy(seed, m=600, n=8):
    """Classes that overlap much: many rows lie beyond the wrong center."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(m, n))
    sign = np.where(X[:, 0] + 2 * rng.standard_normal(m) > 0, 1.0, -1.0)
    lcc = program_of(X, sign)
    start = choose.solve(lcc, "auto", Controls(), rng).certificate.beta
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
    small = replace(module.TUNING, least_rows=least, rows_per_column=4)
    monkeypatch.setattr(module, "TUNING", small)
    # From Newton steps nothing would be left to walk.
    monkeypatch.setattr(convex_concave, "worthwhile", lambda program: False)
    program, start = noisy(seed)
    first = convex_concave.solve(program, start, "auto", Controls(), np.random.default_rng(0), 1)
    found = walk(program, first.beta, program.rows.dot(first.beta), Controls())
    assert found is not None
    certificate, beyond = found
    projected = program.rows.dot(certificate.beta)
    value = program.objective(certificate.beta, projected)
    assert value <= first.objective
    assert certificate.relative_gap <= 1e-9
    np.testing.assert_array_equal(beyond, program.beyond(certificate.beta, projected))
    assert lower_nearby(program, certificate.beta, value, seed) <= 1e-9 * abs(value)


def test_a_descent_on_noise_takes_a_few_steps_and_not_a_model_for_each_set_of_rows():
    for seed in range(5):
        program, start = noisy(seed, m=2000, n=12)
        rng = np.random.default_rng(0)
        found = convex_concave.solve(program, start, "auto", Controls(), rng, 100)
        assert found.status is Status.OPTIMAL
        assert found.steps <= 4
        assert np.all(np.diff(found.history) <= 0)


def test_a_walk_out_of_time_leaves_its_model_to_a_solver_and_one_too_wide_is_not_begun(monkeypatch):
    program, start = noisy(0)
    late = Controls(deadline=0.0)
    assert walk(program, start, program.rows.dot(start), late) is None
    monkeypatch.setattr(module, "TUNING", replace(module.TUNING, most_columns=3))
    assert walk(program, start, program.rows.dot(start), Controls()) is None


def test_repeated_rows_cost_what_their_weight_says():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, size=(60, 4)).astype(float)
    y = (X[:, 0] + rng.integers(0, 3, 60) > 2).astype(int)
    again = rng.integers(0, 60, 600)
    counted = np.bincount(again, minlength=60).astype(float)
    repeated = FQCC().fit(X[again], y[again])
    weighted = FQCC().fit(X, y, sample_weight=counted)
    assert repeated.objective_ == pytest.approx(weighted.objective_, rel=1e-8)
