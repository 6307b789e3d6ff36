"""Exact rounds from good and bad starts: the bound is valid at every stage, the end is optimal."""

import numpy as np
import pytest

from lincent.passes.dense import DenseRows
from lincent.programs.centralization import lcc_program
from lincent.solvers.lp import interior_point, rounds, smoothing
from lincent.solvers.solution import Controls, Status
from support.judge import assert_optimal, dual_value


def heavy_program(seed=0, m=4000, n=5):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, m)
    X = rng.standard_normal((m, n))
    X[:, 0] += y
    X[: m // 200] *= 60.0
    sign = np.where(y > 0, 1.0, -1.0)
    low, high = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    rows = DenseRows((X - (low + high) / 2) * sign[:, None])
    return lcc_program(rows, high - low, np.full(m, 2.0), 0.01)


def search(program, beta, band, controls=None):
    whole = program.rows.all_rows(program.costs, program.margin)
    near = smoothing.look(program, whole, program.feasible(beta), band)
    return rounds.Rounds(program, whole, near, controls or Controls())


@pytest.mark.parametrize("away", [0.001, 0.05, 1.0])
def test_the_optimum_from_near_and_from_far(away, monkeypatch):
    monkeypatch.setattr(rounds, "TUNING", rounds.Tuning(guessed_rounds=60))
    program = heavy_program()
    optimum = interior_point.solve(program, Controls()).certificate
    rng = np.random.default_rng(1)
    start = optimum.beta + away * np.abs(optimum.beta).max() * rng.standard_normal(5)
    solution = search(program, start, 300).run(0)
    assert solution.status is Status.OPTIMAL
    assert_optimal(program, solution)
    assert solution.certificate.objective == pytest.approx(optimum.objective, rel=1e-9)


def test_rounds_that_are_cut_short_still_bound_the_optimum(monkeypatch):
    monkeypatch.setattr(rounds, "TUNING", rounds.Tuning(guessed_rounds=1))
    program = heavy_program(1)
    optimum = interior_point.solve(program, Controls()).certificate
    solution = search(program, np.full(5, 0.01), 50).run(0)
    answer = solution.certificate
    assert solution.status is Status.ITERATION_LIMIT
    assert answer.dual_objective <= optimum.objective + 1e-9 * abs(optimum.objective)
    assert answer.objective >= optimum.objective - 1e-9 * abs(optimum.objective)
    assert answer.dual_objective == pytest.approx(
        dual_value(program, np.asarray(answer.alpha), answer.t), rel=1e-9
    )


def test_a_search_that_gets_nowhere_ends_as_stalled(monkeypatch):
    """The band is widened, and in the end another solver is to go on."""
    monkeypatch.setattr(rounds, "TUNING", rounds.Tuning(guessed_rounds=60))
    program = heavy_program(2)
    stuck = search(program, np.full(5, 0.001), 200)
    widened = []
    monkeypatch.setattr(stuck, "_widen", widened.append)
    monkeypatch.setattr(stuck, "_relative_gap", lambda: 0.5)
    solution = stuck.run(0)
    assert solution.status is Status.STALLED
    assert len(widened) >= rounds.TUNING.most_widenings
