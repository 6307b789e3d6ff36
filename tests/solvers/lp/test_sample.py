"""Samples that represent all rows, and how many rows they leave undecided."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.solvers.lp import interior_point, screening
from lincent.solvers.lp.interior_point import discriminant_start
from lincent.solvers.lp.screening import Sample, undecided
from lincent.solvers.solution import Controls
from lincent.sources.dense import DenseRows
from support.constants import set_constants
from support.degenerate import program_of
from support.optimality import primal_value


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
        share = screening.BAND * np.sqrt(below * 10 / sample_rows)
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
    assert best - 1e-9 <= value <= best + screening.TOL * max(1.0, abs(best))
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
    set_constants(monkeypatch, screening, sketch_rows=30)
    assert some.repeats(np.random.default_rng(1))


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
    assert 1 <= steps <= 12
    assert value - best <= max(2 * chance, 0.02 * abs(best))


def test_where_the_steps_do_not_settle_the_sample_is_solved(monkeypatch):
    whole, rows = sampled("overlapping")
    monkeypatch.setattr(screening, "approach", lambda program, all_rows, near, *rest: (near, 0))
    beta, _ = rows.near_optimum(Controls(), np.random.default_rng(0))
    best = interior_point.solve(whole, Controls()).certificate.objective
    assert whole.primal(beta, whole.rows.dot(beta)) <= best + 2e-3 * abs(best)


@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_the_discriminant_is_the_best_of_some_points_of_its_direction(shift):
    whole = program("overlapping", 400, 5)
    whole = replace(whole, lower=whole.lower + shift, upper=whole.upper + shift)
    A, costs = whole.rows.dense(), whole.costs
    ridge = np.diag(1e-2 * costs.sum() * whole.rows.column_scale() ** 2)
    direction = np.linalg.solve(A.T @ (costs[:, None] * A) + ridge, whole.difference)
    middle, half = (whole.lower + whole.upper) / 2, (whole.upper - whole.lower) / 2
    direction *= 0.9 / np.abs(direction / half).max()
    points = [middle + length * direction for length in 10.0 ** -np.arange(0.0, 6.5, 0.5)]
    best = min(points, key=lambda beta: primal_value(whole, beta))
    start, missed = discriminant_start(whole, whole.rows.column_scale())
    np.testing.assert_allclose(start, best, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(missed, whole.margin - A @ start, atol=1e-12)


def test_columns_without_an_entry_are_left_to_the_interior_point():
    whole = program("noise", 400, 5)
    empty = replace(whole, rows=DenseRows(whole.rows.dense() * np.nan))
    with pytest.raises(ArithmeticError):
        discriminant_start(empty, np.ones(5))


def test_a_band_that_is_as_small_as_asked_needs_no_interior_point(monkeypatch):
    whole, rows = sampled("overlapping")
    few = []

    def approach(program, all_rows, near, wanted, *rest):
        few.append((near.band, wanted))
        return replace(near, band=wanted), 5

    monkeypatch.setattr(screening, "approach", approach)
    monkeypatch.setattr(Sample, "optimum", lambda self, controls: pytest.fail("not needed"))
    beta, steps = rows.near_optimum(Controls(), np.random.default_rng(0))
    m, n = whole.shape
    start = discriminant_start(whole, whole.rows.column_scale())[0]
    start = whole.feasible(start)
    missed = whole.rows.dot(start) < whole.margin
    below = whole.costs[missed].sum() / whole.costs.sum()
    assert few == [(m // 2, undecided(m, n, m, below))]
    np.testing.assert_array_equal(beta, start)
    assert steps == 5
