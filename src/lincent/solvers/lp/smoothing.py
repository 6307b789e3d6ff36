"""Newton steps on the smoothed program: from a rough point to a good one for a few reads.

Within a distance w of the kink the hinge is replaced by a parabola.  Then the objective has a
gradient, to which every row contributes, and a Hessian, to which only the rows of the band
|a_i.beta - s| <= w contribute:

    alpha_i = c_i * clip((w - (a_i.beta - s)) / 2w, 0, 1)
    gradient = g - sum_i alpha_i a_i                     Hessian = sum_band c_i / (2w) a_i a_i'

One step from the optimum of a sample goes most of the way to the optimum of the whole (Le Cam's
one-step estimator), so w can shrink quickly.  Nothing here needs to be exact: the point is only
where the exact solve begins.
"""

from __future__ import annotations

import numpy as np

from lincent.programs.arrays import Vector, View
from lincent.programs.centralization import Program
from lincent.solvers.lp.normal_equations import (
    Factor,
    FactorizationError,
)

HESSIAN_ROWS = 50
"""Rows per column that make the Hessian good enough; a larger band is sampled."""

AT_THE_BOX = 1e-9
"""A coordinate this near to the box, as a share of its width, is at the box."""


def newton_step(
    program: Program, seen: View, width: float, rng: np.random.Generator
) -> Vector | None:
    """The next point, or None where the Hessian says nothing."""
    if not width > 0:
        return None
    combined, H = seen.smoothed(width, HESSIAN_ROWS * program.shape[1], rng)
    return _constrained_step(program, seen.beta, program.linear - combined, H)


def _constrained_step(
    program: Program, beta: Vector, gradient: Vector, H: np.ndarray
) -> Vector | None:
    """Newton's step with the coordinates held that press against the box."""
    rounding = AT_THE_BOX * (program.upper - program.lower)
    at_low = (beta <= program.lower + rounding) & (gradient > 0)
    at_high = (beta >= program.upper - rounding) & (gradient < 0)
    free = np.flatnonzero(~(at_low | at_high))
    if len(free) == 0:
        return None
    try:
        solve = Factor(H[np.ix_(free, free)]).solve
    except FactorizationError:
        return None
    step = -solve(gradient[free])
    d = program.difference[free]
    reach = float(program.difference @ beta) + float(d @ step)
    if reach < program.separation:
        along = solve(d)
        step += along * ((program.separation - reach) / float(d @ along))
    new = beta.copy()
    new[free] += step
    if not np.all(np.isfinite(new)):
        return None
    return program.feasible(new)
