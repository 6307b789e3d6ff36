"""What rounding leaves of a fit: the proof about the stored coefficients, and of their scores."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lincent.estimators.problem import TwoClass
from lincent.programs.centralization import Program
from lincent.programs.proof import proved
from lincent.solvers.solution import Solution

OFFSET_LOSS = 1e-6
"""Offsets up to 1e8 times the spread cost less than this of a score."""


def about_what_is_stored(
    problem: TwoClass, program: Program, solution: Solution, tol: float
) -> Solution:
    """The solution with the coefficients that are stored, and a certificate of those.

    Rows and centers are known up to rounding at their distance from the origin, which is more than
    at the size of the rows around their centers: the certificate accounts for both.
    """
    answer = solution.certificate
    answer = replace(answer, beta=problem.direction(answer.beta))
    if answer.unit == 1.0:
        scale = program.rows.column_scale() if solution.scale is None else solution.scale
        size = np.hypot(scale, np.abs(problem.means).max(axis=0))
        answer = proved(program, answer, tol, scale=size, data=problem.labeled())
    return replace(solution, certificate=answer)


def warn_of_offset(name: str, reach: float, width: float) -> None:
    """Say which precision is left where sums of the size ``reach`` make scores of ``width``."""
    lost = float(np.finfo(np.float64).eps) * float(reach)
    if lost > OFFSET_LOSS * width:
        left = lost / width if width > 0 else np.inf
        warnings.warn(
            f"X is so far from zero ({name}) that scores have an error of about {left:.1e} of the "
            "distance between the classes: subtract a typical row from X.",
            ConvergenceWarning,
            stacklevel=2,
        )
