"""The crossover reaches the optimal vertex, wherever it starts."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.solvers.lp import highs
from lincent.solvers.lp.simplex import PENALTY, Tableau, crossover, independent_rows
from lincent.solvers.solution import Controls, Solution, Status
from support.degenerate import degenerate_program, program_of
from support.optimality import assert_optimal

TOL = 1e-9


def random_weight(program, seed):
    m, n = program.shape
    return 10.0 ** np.random.default_rng(seed).uniform(-3, 3, m + 2 * n + 1)


def cross(program, weight, most):
    return crossover(program, np.zeros(program.shape[1]), weight, most)


def normal_program(m=80, n=6, seed=0):
    rng = np.random.default_rng(seed)
    sign = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    X = rng.standard_normal((m, n)) + 0.5 * np.outer(sign, rng.standard_normal(n))
    return program_of(X, sign)


@pytest.mark.parametrize("seed", range(10))
def test_any_start_leads_to_the_optimum(seed):
    program = normal_program(seed=seed)
    answer = cross(program, random_weight(program, seed), most=300)
    assert answer is not None
    assert_optimal(program, Solution(Status.OPTIMAL, answer, 1, "crossover"))
    reference = highs.solve(program, Controls(tol=TOL)).certificate
    assert answer.objective == pytest.approx(reference.objective, rel=1e-8)


def test_the_answer_is_a_vertex():
    program = normal_program()
    answer = cross(program, random_weight(program, 1), most=300)
    z = program.rows.dot(answer.beta) - program.margin
    met = np.count_nonzero(np.abs(z) < 1e-12) + np.count_nonzero(np.abs(answer.beta) == 1.0)
    met += abs(program.difference @ answer.beta - program.separation) < 1e-12
    assert met >= program.shape[1]


def test_degenerate_programs_from_a_random_start():
    """Ties, collinear columns and margins at the limit do not make the pivots cycle."""
    reached = tried = 0
    for seed in range(300):
        program = degenerate_program(seed)
        if program is None or program.infeasible:
            continue
        tried += 1
        with np.errstate(all="ignore"):
            answer = cross(program, random_weight(program, seed), most=500)
        reached += answer is not None and answer.relative_gap <= TOL
    assert reached >= 0.97 * tried


def test_too_few_pivots_give_nothing():
    program = normal_program()
    assert cross(program, random_weight(program, 2), most=1) is None


def test_the_tableau_stays_the_tableau_of_its_basis():
    """After many rank-one changes it is still E inv(B), the residuals and the multipliers."""
    program = normal_program(n=5)
    tableau = Tableau(program, random_weight(program, 3))
    first = tableau.basis.copy()
    assert tableau.descend(300)
    assert np.any(first != tableau.basis)
    inverse = np.linalg.inv(tableau.hinges[tableau.basis])
    np.testing.assert_allclose(tableau.T[:-1, :-1], tableau.hinges @ inverse, atol=1e-9)
    beyond = (tableau.side < 0) & (tableau.T[:-1, -1] != 0)
    beyond[tableau.basis] = False
    rest = program.linear - np.where(beyond, tableau.costs, 0.0) @ tableau.hinges
    np.testing.assert_allclose(tableau.T[-1, :-1], rest @ inverse, atol=1e-7)


def test_a_box_that_binds():
    program = normal_program()
    tight = 0.5 * np.abs(cross(program, random_weight(program, 4), most=300).beta).max()
    n = program.shape[1]
    boxed = replace(program, lower=-tight * np.ones(n), upper=tight * np.ones(n))
    answer = cross(boxed, random_weight(boxed, 5), most=300)
    assert np.abs(answer.beta).max() == pytest.approx(tight)
    reference = highs.solve(boxed, Controls(tol=TOL)).certificate
    assert answer.objective == pytest.approx(reference.objective, rel=1e-8)


def test_columns_that_say_nothing_get_no_coefficient():
    """A vertex would have them at the box."""
    rng = np.random.default_rng(0)
    sign = np.where(rng.random(60) < 0.4, 1.0, -1.0)
    X = rng.standard_normal((60, 3)) + 0.5 * sign[:, None]
    alone = cross(program_of(X, sign), random_weight(program_of(X, sign), 0), most=300)
    program = program_of(np.column_stack([X, np.full(60, 0.3), X[:, 0]]), sign)
    answer = cross(program, random_weight(program, 0), most=300)
    assert answer.relative_gap <= TOL
    assert abs(answer.beta[3]) < 1e-12
    # The two equal columns share what one of them has alone.
    np.testing.assert_allclose(answer.beta[[0, 4]], alone.beta[0] / 2, rtol=1e-6)


def boxed_program(seed=0, **shape):
    """A box that is not around zero, and costs that differ."""
    program = normal_program(seed=seed, **shape)
    rng = np.random.default_rng(seed)
    return replace(
        program,
        lower=program.lower * rng.uniform(0.5, 1.5, program.shape[1]),
        upper=program.upper * rng.uniform(0.5, 1.5, program.shape[1]),
        costs=program.costs * rng.uniform(0.5, 1.5, program.shape[0]),
        separation=2.0 * program.margin,
    )


def assert_tableau(tableau):
    """What the head of the file says of T, from the hinges alone."""
    program, T, basis = tableau.program, tableau.T, tableau.basis
    n = program.shape[1]
    hinges, bends = tableau.hinges, tableau.limits.copy()
    inverse = np.linalg.inv(hinges[basis])
    beta = inverse @ bends[basis]
    np.testing.assert_allclose(T[:-1, :n], hinges @ inverse, atol=1e-8)
    np.testing.assert_allclose(T[:-1, n], hinges @ beta - bends, atol=1e-6)
    off = np.setdiff1d(np.arange(len(hinges)), basis)
    assert np.all(tableau.side[off] * T[off, n] >= -1e-9)
    beyond = np.where(tableau.side < 0, tableau.costs, 0.0)
    beyond[basis] = 0.0
    slopes = (program.linear - beyond @ hinges) @ inverse
    np.testing.assert_allclose(T[-1, :n], slopes, rtol=1e-6, atol=1e-6 * np.abs(slopes).max())
    objective = program.linear @ beta + beyond @ (bends - hinges @ beta)
    assert T[-1, n] == pytest.approx(objective, rel=1e-5, abs=1e-5)
    return objective


def test_a_new_tableau_is_that_of_its_hinges():
    program = boxed_program()
    m, n = program.shape
    unit = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])
    tableau = Tableau(program, random_weight(program, 0), unit)
    A, d = program.rows.dense(), program.difference
    hinges = np.vstack([A, np.diag(unit), -np.diag(unit), d])
    np.testing.assert_array_equal(tableau.hinges, hinges)
    limits = [np.full(m, program.margin), unit * program.lower, -unit * program.upper]
    np.testing.assert_allclose(
        tableau.limits, np.concatenate([*limits, [program.separation]]), atol=1e-12
    )
    # A bound costs more than the largest gradient; the separation more than all bounds.
    steepest = (np.abs(program.linear) + program.costs @ np.abs(A)) / unit
    np.testing.assert_allclose(tableau.costs[m : m + n], PENALTY * steepest, atol=1e-12)
    np.testing.assert_allclose(tableau.costs[m + n : -1], PENALTY * steepest, atol=1e-12)
    most = PENALTY * steepest.sum() / np.abs(d / unit).max()
    assert tableau.costs[-1] == pytest.approx(most)
    assert_tableau(tableau)


def test_the_first_basis_is_of_the_heaviest_hinges():
    """In the units of the rows: a side counts as one whatever its column is measured in."""
    program = boxed_program(n=4)
    m, n = program.shape
    for unit in (np.ones(4), np.array([1e-3, 1.0, 10.0, 1e3])):
        chosen = np.array([3, 40, m + 1, m + n + 2])
        weight = np.ones(m + 2 * n + 1)
        weight[chosen] = 1e20
        tableau = Tableau(program, weight, unit)
        assert sorted(tableau.basis) == sorted(chosen)
    weighted = np.random.default_rng(0).normal(size=(9, 3)) * np.array([[1.0], [9.0], [1e4]] * 3)
    rows = independent_rows(weighted.copy())
    assert len(set(rows)) == 3
    assert np.linalg.matrix_rank(weighted[rows]) == 3
    assert set(rows) <= {2, 5, 8}


@pytest.mark.parametrize("seed", range(4))
def test_every_pivot_descends_and_keeps_the_tableau(seed):
    program = boxed_program(seed)
    tableau = Tableau(program, random_weight(program, seed))
    last = assert_tableau(tableau)
    for count in range(1, 200):
        if tableau.descend(0):  # the one pivot that it may make is not needed
            break
        assert tableau.pivots == count
        assert len(set(tableau.basis)) == program.shape[1]
        last, before = assert_tableau(tableau), last
        assert last <= before + 1e-7 * abs(before)
    multiplier, cost = tableau.T[-1, :-1], tableau.costs[tableau.basis]
    assert np.all(multiplier >= -1e-9 * cost)
    assert np.all(multiplier <= cost * (1 + 1e-9))
    best = highs.solve(program, Controls(tol=TOL)).certificate.objective
    assert last + program.offset == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("nearest", [2, 64])  # few hinges are sorted first, or all
@pytest.mark.parametrize("seed", range(6))
def test_a_line_is_followed_to_its_lowest_point(seed, nearest, monkeypatch):
    """Among all points of the line none is lower, however many hinges are passed."""
    monkeypatch.setattr("lincent.solvers.lp.simplex.NEAREST", nearest)
    program = boxed_program(seed, m=300)
    tableau = Tableau(program, random_weight(program, seed))
    n, basis, T = program.shape[1], tableau.basis.copy(), tableau.T.copy()
    tableau.descend(0)
    place = int(np.flatnonzero(basis != tableau.basis)[0])
    # Along the line all hinges move at their rates; those of the basis but one stay.
    rate, start = T[:-1, place], T[:-1, n]
    slope = program.linear @ np.linalg.inv(tableau.hinges[basis])[:, place]

    def penalized(length):
        return length * slope + tableau.costs @ np.maximum(-start - length * rate, 0.0)

    entered = tableau.basis[place]
    length = -start[entered] / rate[entered]
    here = penalized(length)
    for share in (0.0, 0.9, 0.99, 1.01, 1.1, 2.0):
        assert here <= penalized(share * length) + 1e-6 * abs(here)


def test_so_many_pivots_and_none_from_the_optimum():
    counts = []
    for seed in range(6):
        program = boxed_program(seed)
        tableau = Tableau(program, random_weight(program, seed))
        assert tableau.descend(300)
        counts.append(tableau.pivots)
        weight = np.full(len(tableau.costs), 1e-6)
        weight[tableau.basis] = 1e6
        again = Tableau(program, weight)
        assert sorted(again.basis) == sorted(tableau.basis)
        assert again.descend(0)
        assert again.pivots == 0
    assert np.mean(counts) <= 17


@pytest.mark.parametrize("fresh", [False, True])
def test_another_margin_moves_the_vertex_and_not_the_rates(fresh):
    program = boxed_program(2)
    other = replace(program, margin=3.0 * program.margin, separation=2.5 * program.margin)
    tableau = Tableau(program, random_weight(program, 2))
    assert tableau.descend(300)
    assert tableau.aim(other, fresh=fresh)
    assert tableau.program is other
    assert tableau.limits[0] == other.margin
    assert_tableau(tableau)
    assert tableau.descend(300)
    best = highs.solve(other, Controls(tol=TOL)).certificate
    assert tableau.certificate(np.zeros(6)).objective == pytest.approx(best.objective, rel=1e-8)


def test_a_vertex_is_certified_without_penalty():
    for seed in range(5):
        program = boxed_program(seed)
        found = cross(program, random_weight(program, seed), most=300)
        assert found.relative_gap <= 1e-13
        best = highs.solve(program, Controls(tol=TOL)).certificate
        np.testing.assert_allclose(found.beta, best.beta, atol=1e-9)
        np.testing.assert_allclose(found.alpha, best.alpha, atol=1e-8)
        assert found.t == pytest.approx(best.t, abs=1e-8)
        at_box = (best.beta == program.lower) | (best.beta == program.upper)
        np.testing.assert_array_equal(found.beta[at_box], best.beta[at_box])


def test_a_singular_basis_has_no_tableau():
    program = boxed_program(0)
    tableau = Tableau(program, random_weight(program, 0))
    tableau.basis = np.zeros(program.shape[1], dtype=np.intp)
    assert not tableau._form()


def test_a_vertex_in_which_many_rows_meet_is_reached():
    """One-hot columns: many rows tie."""
    rng = np.random.default_rng(3)
    levels = rng.integers(0, 4, (400, 3))
    X = np.concatenate([levels[:, [k]] == np.arange(4) for k in range(3)], axis=1).astype(float)
    sign = np.where(rng.random(400) < 0.5, 1.0, -1.0)
    program = program_of(X, sign, C=1.0)
    answer = crossover(program, np.zeros(12), random_weight(program, 0), 500)
    assert_optimal(program, Solution(Status.OPTIMAL, answer, 1, "crossover"))
    assert np.abs(answer.beta).max() < 0.5  # near the start, not at the box
