"""The Newton step of a quadratic model, clipped to the box constraints and the separation.

    minimize over x     gradient.(x - b) + (x - b)'H(x - b) / 2
    subject to          lower <= x <= upper,   d.x >= separation

Coordinates at a bound whose gradient points out of the box are fixed, the others take the
unconstrained step, and what leaves the box is projected onto it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.problems.arrays import Matrix, Vector
from lincent.problems.centralization import Program
from lincent.solvers.cholesky import NotPositiveDefiniteError, PositiveDefinite


@dataclass(frozen=True)
class Tuning:
    """What a step trades; measured on the tall shapes of ``benchmarks/workloads.py``."""

    at_the_box: float = 1e-9  # a coordinate this near to the box, as a share of its width, is at it
    exact: float = 1e-10  # relative residual of the solve: the next step corrects the rest


TUNING = Tuning()


def model_minimum(program: Program, beta: Vector, gradient: Vector, H: Matrix) -> Vector | None:
    """Return the feasible point nearest to the minimum of the model; None where H is singular.

    Coordinates that press against a bound are held there; the others are clipped.
    """
    rounding = TUNING.at_the_box * (program.upper - program.lower)
    at_low = (beta <= program.lower + rounding) & (gradient > 0)
    at_high = (beta >= program.upper - rounding) & (gradient < 0)
    free = np.flatnonzero(~(at_low | at_high))
    if len(free) == 0:
        return beta
    part = H if len(free) == len(beta) else H[np.ix_(free, free)]
    try:
        solve = PositiveDefinite(part, full=True, exact=TUNING.exact).solve
    except NotPositiveDefiniteError:
        return None
    step = -solve(gradient[free])
    d = program.difference[free]
    reach = float(program.difference @ beta) + float(d @ step)
    if reach < program.separation:
        along = solve(d)
        step += along * ((program.separation - reach) / float(d @ along))
    new = beta.copy()
    new[free] += step
    return program.feasible(new) if np.isfinite(new).all() else None
