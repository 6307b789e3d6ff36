"""Optimality conditions of a claimed solution, computed from the problem alone."""

import numpy as np


def violations(program, beta):
    """Return how far a point is outside the box and, as a fraction of the gap, below it."""
    outside = np.maximum(program.lower - beta, beta - program.upper).max(initial=0.0)
    rounding = 1e-13 * (np.abs(program.difference) @ np.abs(beta))
    below = program.separation - program.difference @ beta - rounding
    return max(outside, below / program.separation, 0.0)


def primal_value(program, beta):
    missed = np.maximum(program.margin - program.rows.dense() @ beta, 0.0)
    soft = np.isfinite(program.costs)
    assert missed[~soft].max(initial=0.0) <= 1e-8 * (1 + np.abs(program.rows.dense()).max())
    return program.offset + program.linear @ beta + program.costs[soft] @ missed[soft]


def dual_value(program, alpha, t):
    """Return the minimum of the Lagrangian over the box, written out."""
    rest = program.linear - alpha @ program.rows.dense() - t * program.difference
    corner = np.where(rest > 0, program.lower, program.upper)
    return program.offset + program.margin * alpha.sum() + program.separation * t + rest @ corner


def complementarity(program, beta, alpha, t):
    """Return the products that vanish at an optimum; they are nonnegative and sum to the gap."""
    beyond = program.rows.dense() @ beta - program.margin
    rest = program.linear - alpha @ program.rows.dense() - t * program.difference
    soft = np.isfinite(program.costs)
    slack = np.where(soft, program.costs, 0.0) - np.where(soft, alpha, 0.0)
    return np.concatenate(
        [
            alpha * np.where(soft, np.maximum(beyond, 0.0), beyond),
            slack * np.maximum(-beyond, 0.0),
            [t * (program.difference @ beta - program.separation)],
            np.maximum(rest, 0.0) * (beta - program.lower),
            np.maximum(-rest, 0.0) * (program.upper - beta),
        ]
    )


def assert_optimal(program, solution, tol=1e-9):
    """Assert primal and dual feasibility, true values, a closed gap and complementarity."""
    answer = solution.certificate
    size = max(1.0, abs(answer.objective))
    rounding = 1e-12 * (size + program.costs[np.isfinite(program.costs)].sum() * program.margin)
    # A multiplier that is rounded to a double moves the bound by as much as its row is long; and a
    # sum of m products, in any order, may be off by m roundings.
    reach = np.maximum(np.abs(program.lower), np.abs(program.upper))
    sizes = float(answer.alpha @ np.abs(program.rows.dense()) @ reach)
    rounding += (len(answer.alpha) + 2) * 2.0**-53 * sizes
    assert violations(program, answer.beta) <= 1e-9
    assert np.all(answer.alpha >= 0)
    assert np.all(answer.alpha <= program.costs * (1 + 1e-12))
    assert answer.t >= 0
    primal = primal_value(program, answer.beta)
    dual = dual_value(program, answer.alpha, answer.t)
    np.testing.assert_allclose(answer.objective, primal, rtol=1e-11, atol=rounding)
    # A bound may rest on multipliers with more digits than the doubles that are returned.
    np.testing.assert_allclose(answer.dual_objective, dual, atol=tol * size + rounding)
    assert solution.relative_gap <= tol
    assert primal - dual <= tol * size + rounding
    products = complementarity(program, answer.beta, answer.alpha, answer.t)
    assert products.max(initial=0.0) <= tol * size + rounding
