"""Samples that represent all rows, and how many rows they leave undecided."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.solvers.lp import interior_point, screening
from lincent.solvers.lp.screening import TUNING, Sample, undecided
from lincent.solvers.solution import Controls
from lincent.sources.dense import DenseRows
from support.degenerate import program_of
from support.judge import primal_value


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


def test_a_part_is_a_sample_of_the_sample():
    _, rows = sampled("noise")
    part = rows.subset(300, np.random.default_rng(1))
    assert part.program.shape[0] <= 300
    assert part.program.costs.sum() == pytest.approx(rows.program.costs.sum())
    assert rows.subset(10_000, np.random.default_rng(1)) is rows


def test_fewer_violating_rows_leave_fewer_undecided():
    doubts = [undecided(10_000, 10, 2000, below) for below in (0.0, 0.01, 0.25, 0.5)]
    assert doubts[0] == 30
    assert doubts[0] < doubts[1] < doubts[2] == doubts[3]


def test_repetitions_are_noticed():
    rng = np.random.default_rng(0)
    few = rng.standard_normal((20, 3))[rng.integers(0, 20, 500)]
    whole = program("noise", 500, 3)
    assert Sample(whole, DenseRows(few), whole.costs).repeats(rng)
    assert not Sample(whole, whole.rows, whole.costs).repeats(rng)


def test_undecided_rows_are_a_share_that_falls_with_the_root_of_the_sample():
    few = 3 * 10
    for sample_rows, below in ((4_000, 0.1), (16_000, 0.1), (16_000, 0.025)):
        share = TUNING.band * np.sqrt(below * 10 / sample_rows)
        assert undecided(10**6, 10, sample_rows, below) == int(share * 10**6) + few
    # Never more than all, however small the sample.
    assert undecided(1_000, 10, 5, 0.2) == 1_000 + few


def test_a_sample_costs_what_all_rows_cost_and_holds_the_large_ones():
    """Drawn by size as well, the few rows in the tails are in it."""
    whole = program("noise", 4_000, 6)
    A = whole.rows.dense().copy()
    A[:20] *= 200.0
    heavy = replace(whole, rows=DenseRows(A))
    rows = heavy.rows.all_rows(heavy.costs, heavy.margin).sized(np.eye(6))
    drawn, costs = rows.sample(400, np.random.default_rng(0))
    sizes = np.linalg.norm(drawn.dense(), axis=1)
    tails = np.linalg.norm(A[:20], axis=1)
    assert np.isin(np.round(tails, 6), np.round(sizes, 6)).mean() >= 0.9
    assert costs.sum() == pytest.approx(heavy.costs.sum(), rel=0.3)
    assert len(costs) <= 400


def test_an_optimum_of_a_sample_is_that_of_its_rows():
    whole, rows = sampled("noise")
    beta, steps = rows.optimum(Controls())
    best = interior_point.solve(whole, Controls()).certificate.objective
    value = primal_value(whole, whole.feasible(beta))
    assert best - 1e-9 <= value <= best + TUNING.tol * max(1.0, abs(best))
    assert 1 <= steps <= 20


def test_half_of_a_few_rows_distinct_is_not_many(monkeypatch):
    whole = program("noise", 400, 3)
    for copies, repeated in ((1, False), (2, True), (3, True)):
        A = np.repeat(np.random.default_rng(0).standard_normal((120, 3)), copies, axis=0)
        some = replace(whole, rows=DenseRows(A), costs=np.ones(len(A)))
        assert Sample(some, some.rows, some.costs).repeats(np.random.default_rng(1)) == repeated
    # Only so many are looked at.
    A = np.concatenate([np.zeros((30, 3)), np.random.default_rng(0).standard_normal((300, 3))])
    some = Sample(whole, DenseRows(A), np.ones(330))
    assert not some.repeats(np.random.default_rng(1))
    monkeypatch.setattr(screening, "TUNING", replace(TUNING, sketch_rows=30))
    assert some.repeats(np.random.default_rng(1))
