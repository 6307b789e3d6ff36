"""A point near the optimum of a sample, by Newton steps where they settle."""

import numpy as np
import pytest

from lincent.passes.dense import DenseRows
from lincent.solvers.lp import interior_point, sample
from lincent.solvers.lp.sample import Sample, in_doubt
from lincent.solvers.solution import Controls
from support.degenerate import program_of


def program(kind, m=1500, n=8):
    rng = np.random.default_rng(5)
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    X = rng.standard_normal((m, n))
    if kind == "overlapping":
        X[:, :2] += 0.5 * y[:, None]
    elif kind == "noise":
        X[:, 0] += 0.05 * y
    elif kind == "separable":
        X[:, 0] = y * (1.0 + np.abs(X[:, 0]))
    return program_of(X, y)


def sampled(kind):
    whole = program(kind)
    return whole, Sample(whole, whole.rows, whole.costs)


@pytest.mark.parametrize("kind", ["overlapping", "noise", "separable"])
def test_newton_steps_come_as_near_as_chance_allows(kind, monkeypatch):
    whole, rows = sampled(kind)
    best = interior_point.solve(whole, Controls()).certificate.objective
    # What the optimum of one half of the rows costs on the whole is chance.
    half = Sample(whole, whole.rows.take(np.arange(750)), 2 * whole.costs[:750])
    other = whole.feasible(half.optimum(Controls())[0])
    chance = whole.primal(other, whole.rows.dot(other)) - best
    monkeypatch.setattr(Sample, "optimum", lambda self, controls: pytest.fail("not needed"))
    beta, steps = rows.near_optimum(Controls(), np.random.default_rng(0))
    value = whole.primal(beta, whole.rows.dot(beta))
    assert 1 <= steps <= sample.TUNING.steps
    assert value - best <= max(2 * chance, 0.02 * abs(best))


def test_where_the_steps_do_not_settle_the_sample_is_solved(monkeypatch):
    whole, rows = sampled("overlapping")
    monkeypatch.setattr(sample, "approach", lambda program, all_rows, near, *rest: (near, 0))
    beta, _ = rows.near_optimum(Controls(), np.random.default_rng(0))
    best = interior_point.solve(whole, Controls()).certificate.objective
    assert whole.primal(beta, whole.rows.dot(beta)) <= best + 2e-3 * abs(best)


def test_a_part_is_a_sample_of_the_sample():
    _, rows = sampled("noise")
    part = rows.part(300, np.random.default_rng(1))
    assert part.program.shape[0] <= 300
    assert part.program.costs.sum() == pytest.approx(rows.program.costs.sum())
    assert rows.part(10_000, np.random.default_rng(1)) is rows


def test_fewer_rows_below_the_kink_leave_fewer_in_doubt():
    doubts = [in_doubt(10_000, 10, 2000, below) for below in (0.0, 0.01, 0.25, 0.5)]
    assert doubts[0] == 30
    assert doubts[0] < doubts[1] < doubts[2] == doubts[3]


def test_repetitions_are_noticed():
    rng = np.random.default_rng(0)
    few = rng.standard_normal((20, 3))[rng.integers(0, 20, 500)]
    whole = program("noise", 500, 3)
    assert Sample(whole, DenseRows(few), whole.costs).repeats(rng)
    assert not Sample(whole, whole.rows, whole.costs).repeats(rng)
