"""Newton steps on the smoothed program: they descend, and a step that overshoots is cut back."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.passes.dense import DenseRows
from lincent.programs.centralization import lcc_program
from lincent.solvers.lp import interior_point, smoothing
from lincent.solvers.solution import Controls, silent
from support.degenerate import program_of
from support.judge import primal_value


@pytest.fixture
def program():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 3000)
    X = rng.standard_t(3, (3000, 6))
    X[:, :2] += y[:, None]
    sign = np.where(y > 0, 1.0, -1.0)
    low, high = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    rows = DenseRows((X - (low + high) / 2) * sign[:, None])
    return lcc_program(rows, high - low, np.full(3000, 2.0), 0.01)


def approach(program, beta, band, steps=5):
    whole = program.rows.all_rows(program.costs, program.margin)
    near = smoothing.look(program, whole, program.feasible(beta), band)
    rng = np.random.default_rng(0)
    closer, taken = smoothing.approach(program, whole, near, 60, steps, rng, silent)
    return near, closer, taken


def test_steps_come_near_the_optimum(program):
    optimum = interior_point.solve(program, Controls()).certificate
    rng = np.random.default_rng(1)
    start = optimum.beta * (1 + 0.1 * rng.standard_normal(6))
    near, closer, taken = approach(program, start, 1500)
    assert 1 <= taken <= 5
    assert closer.objective == pytest.approx(primal_value(program, closer.beta), rel=1e-12)
    before = near.objective - optimum.objective
    assert closer.objective - optimum.objective < 0.1 * before


def test_a_step_that_overshoots_is_cut_back(program, monkeypatch):
    """However bad the aim, the objective does not rise."""
    monkeypatch.setattr(
        smoothing, "newton_step", lambda program, view, width, rng: program.farthest_point
    )
    near, closer, _ = approach(program, np.full(6, 0.002), 1500, steps=2)
    assert closer.objective <= near.objective


def test_losses_between_two_points_are_those_of_the_points_between(program):
    whole = program.rows.all_rows(program.costs, program.margin)
    a, b = np.full(6, 0.001), np.linspace(-0.01, 0.02, 6)
    lengths = np.array([0.0, 0.3, 1.0])
    along = whole.look(a, 0).along(whole.look(b, 0), lengths)
    there = [whole.look(a + t * (b - a), 0).loss for t in lengths]
    np.testing.assert_allclose(along, there, rtol=1e-12)


def test_where_beta_only_grows_steps_go_beyond_their_end(monkeypatch):
    """Separable classes, from a point that is a thousand times too short."""
    rng = np.random.default_rng(1)
    sign = np.where(np.arange(2000) % 2, 1.0, -1.0)
    X = rng.standard_normal((2000, 5))
    X[:, 0] = sign * (2.0 + np.abs(X[:, 0]))
    program = program_of(X, sign, margin=1e-4)
    start = interior_point.solve(program, Controls()).certificate.beta / 1000

    def growth():
        near, closer, _ = approach(program, start, 1000, steps=8)
        assert closer.objective == pytest.approx(primal_value(program, closer.beta), rel=1e-9)
        return (closer.objective - program.offset) / (near.objective - program.offset)

    grown = growth()
    monkeypatch.setattr(smoothing, "TUNING", replace(smoothing.TUNING, further=()))
    assert grown > max(30.0, 3.0 * growth())
