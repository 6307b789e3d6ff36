"""Solvers of the hinge-loss problems of the paper's baselines (support vector machines and kin).

``solve_hinge``    the soft-margin problems of ``problems.hinge``, by a primal-dual interior point
                   (Ferris and Munson 2002).  With dual weights a, surplus s and slack x (xi in the
                   papers) the optimality conditions are

    Pu = Z'a,    Zu - 1 + x - s = 0,    a s = 0,    (c - a) x = 0,    0 <= a <= c,   s, x >= 0,

                   and a Newton step needs one k x k system, P + Z' diag(1/D) Z with
                   D = s/a + x/(c - a): O(m k^2) an iteration, 10 to 30 iterations, and no m x m
                   matrix.  The certificate does not need a feasible iterate.

``solve_squared_hinge``    the squared hinges of ``problems.squared_hinge``, by a semismooth Newton
                   method (Mangasarian 2002).  With the active set (samples short of their target)
                   held fixed the problem is weighted least squares, and its minimizer is the next
                   iterate.  Once a full step leaves the active set unchanged the solution is exact,
                   usually after 5 to 10 steps.
"""

from __future__ import annotations

import numpy as np

from lincent.problems.arrays import Vector
from lincent.problems.centralization import Certificate
from lincent.problems.hinge import HingeProgram, SquaredHingeProgram
from lincent.solvers.cholesky import PositiveDefinite
from lincent.solvers.predictor_corrector import Move, predictor_corrector
from lincent.solvers.solution import Controls, Solution, Status


def solve_hinge(program: HingeProgram, controls: Controls) -> Solution:
    """Return the optimum, to a relative duality gap of ``tol`` unless ``max_iter`` ends it."""
    rows, quadratic = program.rows, program.quadratic.P
    inverse = PositiveDefinite(program.quadratic.penalized).solve
    m = rows.shape[0]
    u = np.zeros(rows.shape[1])
    P = np.concatenate([np.ones(m), np.full(m, 2.0)])  # s, x
    # a and c - a are kept both: the difference loses all digits near the cost.
    Z = np.concatenate([program.costs / 2, program.costs / 2])

    def certificate() -> Certificate:
        return program.certificate(u.copy(), Z[:m], inverse)

    def direction(R: Vector) -> Move:
        """Solve the Newton equations of the current iterate for Z dP + P dZ = R."""
        push = R / Z
        h = off_margin + push[:m] - push[m:]
        du = system.solve(off_stationary + rows.tdot(h / D))
        da = (h - rows.dot(du)) / D
        dZ = np.concatenate([da, -da])
        return du, push - stiffness * dZ, dZ

    best, iteration, status = certificate(), 0, Status.STALLED
    while best.relative_gap > controls.tol:
        if iteration == controls.max_iter:
            status = Status.ITERATION_LIMIT
            break
        stiffness = P / Z
        D = stiffness[:m] + stiffness[m:]
        off_margin = 1.0 - rows.dot(u) - P[m:] + P[:m]
        off_stationary = rows.tdot(Z[:m]) - quadratic @ u
        try:
            system = PositiveDefinite(quadratic + rows.gram(1.0 / D))
            (du, dP, dZ), length, _ = predictor_corrector(P, Z, direction, equal=True)
        except ArithmeticError:
            break
        u, P, Z = u + length * du, P + length * dP, Z + length * dZ
        iteration += 1
        now = certificate()
        if now.relative_gap < best.relative_gap:
            best = now
        elif not 1e-6 * controls.tol * best.objective < P @ Z:
            break  # at such complementarity a step that gains nothing is the last
    else:
        status = Status.OPTIMAL
    return Solution(status, best, iteration, "interior-point")


def solve_squared_hinge(program: SquaredHingeProgram, controls: Controls) -> Solution:
    """Return the optimum: Newton steps from zero until the active set no longer changes."""
    u = np.zeros(program.rows.shape[1])
    missed = program.missed(u)
    value = program.objective(u, missed)
    gradient, size = program.gradient(u, missed)
    iteration = 0
    # Below this relative gradient a step changes rounding only.
    while iteration < controls.max_iter and np.abs(gradient).max() > 1e-12 * size:
        iteration += 1
        active = missed > 0
        gram = program.rows.gram(np.where(active, program.weight, 0.0))
        step = PositiveDefinite(program.quadratic.P + 2 * gram).solve(-gradient)
        slope = float(gradient @ step)
        change = program.rows.dot(step)
        length = 1.0
        while True:
            trial, trial_missed = u + length * step, missed - length * change
            trial_value = program.objective(trial, trial_missed)
            enough = value + 1e-4 * length * slope  # Armijo's usual constant
            if trial_value <= enough or length < 2.0**-40:
                break
            length /= 2
        if not trial_value <= value:
            break
        settled = length == 1.0 and np.array_equal(active, trial_missed > 0)
        u, value = trial, trial_value
        missed = program.missed(u)
        gradient, size = program.gradient(u, missed)
        if settled:
            break
    inverse = PositiveDefinite(program.quadratic.penalized).solve
    certificate = program.certificate(u, missed, inverse)
    if certificate.relative_gap <= controls.tol:
        status = Status.OPTIMAL
    else:
        limit = iteration == controls.max_iter
        status = Status.ITERATION_LIMIT if limit else Status.STALLED
    return Solution(status, certificate, iteration, "newton")
