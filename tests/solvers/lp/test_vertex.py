"""From a point near the optimum to the vertex itself."""

import numpy as np
import pytest

from lincent.solvers.lp import dispatch, vertex
from lincent.solvers.solution import Controls
from support.degenerate import program_of


def solved(seed=0, m=60, n=5):
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(m) % 2, 1.0, -1.0)
    program = program_of(rng.normal(size=(m, n)) + 0.3 * sign[:, None], sign)
    return program, dispatch.solve(program, "highs", Controls(), rng).certificate


def active(program, answer):
    on = np.abs(program.rows.dot(answer.beta) - program.margin) < 1e-9
    free = (answer.beta > program.lower + 1e-9) & (answer.beta < program.upper - 1e-9)
    touches = abs(program.difference @ answer.beta - program.separation) < 1e-9
    return on, free, bool(touches)


def test_the_right_guess_gives_all_digits():
    for seed in range(5):
        program, answer = solved(seed)
        on, free, touches = active(program, answer)
        rng = np.random.default_rng(seed)
        beta = answer.beta + 1e-4 * free * rng.normal(size=len(free))
        alpha = np.clip(answer.alpha + 1e-4 * on * rng.normal(size=len(on)), 0, program.costs)
        found = vertex.to_vertex(program, beta, alpha, answer.t, on, free, touches)
        assert found.relative_gap <= 1e-12
        np.testing.assert_allclose(found.beta, answer.beta, atol=1e-9)


def test_a_wrong_guess_is_judged_by_its_gap():
    program, answer = solved()
    on, free, touches = active(program, answer)
    wrong = np.roll(on, 1)
    found = vertex.to_vertex(program, answer.beta, answer.alpha, answer.t, wrong, free, touches)
    assert found.relative_gap > 1e-6
    assert found.dual_objective <= answer.objective + 1e-9


def test_a_system_that_is_too_large_is_not_tried(monkeypatch):
    program, answer = solved()
    monkeypatch.setattr(vertex, "LARGEST_SYSTEM", 3)
    arguments = (program, answer.beta, answer.alpha, answer.t, *active(program, answer))
    assert vertex.to_vertex(*arguments) is None


def scaled_matrix(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-6, 6, (rows, 1)) * 10.0 ** rng.uniform(-6, 6, columns)
    return rng.normal(size=(rows, columns)) * scale


@pytest.mark.parametrize("shape", [(6, 6), (4, 7), (7, 4), (1, 3)])
def test_corrections_solve_both_systems_whatever_the_units(shape):
    """Where a solution exists; one empty row and column are no equations at all."""
    block = np.zeros((shape[0] + 1, shape[1] + 1))
    block[:-1, :-1] = scaled_matrix(*shape)
    rng = np.random.default_rng(1)
    columns = 1.0 / np.abs(block).max(axis=0, initial=1e-300)
    rows = 1.0 / np.abs(block).max(axis=1, initial=1e-300)
    columns[-1] = rows[-1] = 0.0
    primal = block @ (rng.normal(size=shape[1] + 1) * columns)
    dual = block.T @ (rng.normal(size=shape[0] + 1) * rows)
    for part in (block[:-1, :-1], block):
        m, n = part.shape
        x, y = vertex._corrections(part, primal[:m], dual[:n])
        np.testing.assert_allclose(part @ x, primal[:m], rtol=1e-8, atol=1e-300)
        np.testing.assert_allclose(part.T @ y, dual[:n], rtol=1e-8, atol=1e-300)
    assert (x[-1], y[-1]) == (0.0, 0.0)


def test_a_singular_system_is_solved_by_least_squares_where_it_is_small(monkeypatch):
    block = np.random.default_rng(2).normal(size=(5, 5))
    block[4] = block[0] + 1e-15 * block[1]
    rest = block @ np.ones(5)
    x, y = vertex._corrections(block, rest, block.T @ np.ones(5))
    np.testing.assert_allclose(block @ x, rest, atol=1e-12)
    np.testing.assert_allclose(block.T @ y, block.T @ np.ones(5), atol=1e-12)
    assert max(np.abs(x).max(), np.abs(y).max()) < 10.0  # and not the inverse of rounding
    monkeypatch.setattr(vertex, "LEAST_SQUARES", 5)
    assert vertex._corrections(block, rest, rest) is not None
    monkeypatch.setattr(vertex, "LEAST_SQUARES", 4)
    assert vertex._corrections(block, rest, rest) is None
    regular = block + np.eye(5)
    assert vertex._corrections(regular, rest, rest) is not None


@pytest.mark.parametrize("touches", [False, True])
def test_a_vertex_meets_its_equations_and_leaves_the_rest(touches):
    program, _ = solved(0)
    n = program.shape[1]
    free = np.arange(n) > 0
    beta = program.feasible(np.full(n, 0.02))
    alpha = program.costs / 2
    on = np.zeros(len(alpha), dtype=bool)
    # Rows whose equations have a solution near by, so that nothing is cut off afterwards.
    distance = np.abs(program.rows.dot(beta) - program.margin)
    on[np.argsort(distance)[: n - 1 - touches]] = True
    found = vertex.to_vertex(program, beta, alpha, 5.0, on, free, touches)
    # What ``certify`` changes: a point outside the box, a multiplier beyond its bounds, and a point
    # that rounding leaves short of the separation, which this is not.
    assert np.abs(found.beta).max() < 1.0
    np.testing.assert_array_equal(found.beta[~free], beta[~free])
    np.testing.assert_allclose(program.rows.dot(found.beta)[on], program.margin, atol=1e-12)
    np.testing.assert_array_equal(found.alpha[~on], alpha[~on])
    if touches:
        assert program.difference @ found.beta == pytest.approx(program.separation, rel=1e-12)
    step = found.beta - beta
    assert np.linalg.matrix_rank(program.rows.dense()[on][:, free]) == np.count_nonzero(on)
    assert np.abs(step).max() > 1e-6


def test_multipliers_of_a_vertex_are_stationary_in_the_free_columns():
    for seed in range(4):
        program, answer = solved(seed)
        on, free, touches = active(program, answer)
        rng = np.random.default_rng(seed)
        wrong = np.clip(answer.alpha + 0.1 * on * rng.normal(size=len(on)), 0, program.costs)
        found = vertex.to_vertex(program, answer.beta, wrong, answer.t + touches, on, free, touches)
        rest = program.linear - program.rows.tdot(found.alpha) - found.t * program.difference
        np.testing.assert_allclose(rest[free], 0.0, atol=1e-10)


def test_a_guess_without_equations_is_judged_as_it_is():
    program, answer = solved()
    nothing, none = np.zeros(len(answer.alpha), dtype=bool), np.zeros(len(answer.beta), dtype=bool)
    on, free, _ = active(program, answer)
    for case in ((on, none, True), (nothing, free, False)):
        found = vertex.to_vertex(program, answer.beta, answer.alpha, answer.t, *case)
        np.testing.assert_array_equal(found.beta, answer.beta)
        assert found.objective == pytest.approx(answer.objective)
    # The separation alone is an equation.
    away = program.feasible(answer.beta * 1.5)
    met = vertex.to_vertex(program, away, answer.alpha, answer.t, nothing, free, True)
    assert program.difference @ met.beta == pytest.approx(program.separation, rel=1e-9)


def test_the_largest_system_is_still_solved(monkeypatch):
    program, answer = solved()
    on, free, touches = active(program, answer)
    size = (np.count_nonzero(on) + 1) * np.count_nonzero(free)
    for limit, tried in ((size, True), (size - 1, False)):
        monkeypatch.setattr(vertex, "LARGEST_SYSTEM", limit)
        arguments = (program, answer.beta, answer.alpha, answer.t, on, free, touches)
        assert (vertex.to_vertex(*arguments) is not None) == tried
