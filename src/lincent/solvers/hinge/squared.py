"""The squared hinges of ``programs.squared_hinge`` by a semismooth Newton method.

With the rows that miss their target (t_i > z_i.u) held fixed the program is a weighted
least-squares problem, and its minimizer is the next iterate.  A line search makes the method safe;
when a full step leaves the set of missing rows unchanged the answer is exact, usually after 5 to 10
steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.problems.squared_hinge import SquaredHingeProgram
from lincent.solvers.linear_system import PositiveDefinite
from lincent.solvers.solution import Controls, Solution, Status

NAME = "newton"


@dataclass(frozen=True)
class Tuning:
    """When a Newton step is taken, and when it is the last: rounding sets all three."""

    flat: float = 1e-12  # relative gradient: beyond it a step changes rounding only
    sufficient: float = 1e-4  # of the descent that the slope promises (Armijo's usual constant)
    shortest: float = 2.0**-40  # step beyond which the value differs by rounding only


TUNING = Tuning()


def solve(program: SquaredHingeProgram, controls: Controls) -> Solution:
    """Newton steps from zero until the missing rows no longer change."""
    u = np.zeros(program.rows.shape[1])
    missed = program.missed(u)
    value = program.objective(u, missed)
    gradient, size = program.gradient(u, missed)
    iteration = 0
    while iteration < controls.max_iter and np.abs(gradient).max() > TUNING.flat * size:
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
            enough = value + TUNING.sufficient * length * slope
            if trial_value <= enough or length < TUNING.shortest:
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
    found = program.certificate(u, missed, inverse)
    if found.relative_gap <= controls.tol:
        status = Status.OPTIMAL
    else:
        limit = iteration == controls.max_iter
        status = Status.ITERATION_LIMIT if limit else Status.STALLED
    return Solution(status, found, iteration, NAME)
