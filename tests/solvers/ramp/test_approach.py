"""Newton steps on the ramp program: lower at every step, and on to a certified local optimum."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.problems.ramp import RampProgram
from lincent.solvers.ramp import convex_concave
from lincent.solvers.ramp.approach import TUNING, _NearLocal, approach, worthwhile
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows
from lincent.sources.signed_rows import SignedRows
from lincent.sources.sparse import SparseSource
from support.degenerate import program_of
from support.ramp_problems import start_of, value


def overlapping(seed, m=3000, n=8, whole=False):
    """Classes that overlap much, so that many rows lie beyond the wrong center."""
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
    assert worthwhile(program)
    rng = np.random.default_rng(0)
    found = convex_concave.solve(program, start, "auto", Controls(), rng, 100)
    assert found.status is Status.OPTIMAL
    assert found.model.relative_gap <= 1e-9
    assert all(
        after <= before for before, after in zip(found.history, found.history[1:], strict=False)
    )
    again = convex_concave.solve(program, found.beta, "auto", Controls(), rng, 100)
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
    lengths = sorted([0.0, *TUNING.shorter, 1.0, *TUNING.longer])
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
    assert near._room(step) == pytest.approx(3.0)
    assert near.move(step, program.rows.dot(step)) <= 3.0


def test_where_steps_do_not_pay_the_first_model_is_minimized():
    program = overlapping(0)
    m, n = program.shape
    assert worthwhile(program)
    assert not worthwhile(overlapping(0, m=300))
    assert not worthwhile(replace(program, rows=DenseRows(np.ones((m, 65)))))
    assert not worthwhile(replace(program, costs=np.where(np.arange(m) == 3, np.inf, 1.0)))
    rows = SignedRows(SparseSource(sp.csr_array(program.rows.dense())), np.ones(m), np.zeros(n))
    assert not worthwhile(replace(program, rows=rows))


@pytest.mark.parametrize(("lengths", "bands"), [
    ([0.0] * 9, [32, 64, 128, 256, 512]),  # until more rows would tell no more
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
