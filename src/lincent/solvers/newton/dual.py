"""Newton steps where fewer rows are between the margins than there are columns.

A full step from (beta, t), with gradient g = beta - A'alpha and sum_i y_i alpha_i = e, ends where

    beta+ = beta - g + A_J'delta,      delta_i = -(c_i / width) (change of z_i),   i in J,

J being the rows between the margins.  With the change of z put in, and sum_i y_i alpha_i = 0,

    (A_J A_J' + diag(width / c)) delta - y_J shift = A_J g,        y_J.delta = -e,

a system as large as J: with few rows it is far less than H, which is as large as the columns.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from lincent.programs.arrays import Matrix, Vector
from lincent.programs.regularized import RegularizedProgram
from lincent.solvers.newton.oracle import Inside, Reading


class Dual:
    """Exact steps by the products of rows with each other; ``outer`` is A A', if it is known."""

    def __init__(self, program: RegularizedProgram, outer: Matrix | None = None) -> None:
        self.program, self.outer = program, outer
        self.coarse = False

    def step(self, point: Reading) -> tuple[Vector, float]:
        return self.step_at(point, point.inside)

    def step_at(self, point: Reading, inside: Inside) -> tuple[Vector, float]:
        """The step where these rows count as curved."""
        program, index = self.program, np.flatnonzero(inside)
        if not index.size:
            return -point.gradient, 0.0
        # Twice as many digits as rows of single precision have, or differences of them are lost.
        rows, sign = program.rows.take(index).dense(), program.sign[index]
        M = rows @ rows.T if self.outer is None else self.outer[np.ix_(index, index)]
        M.flat[:: len(M) + 1] += program.width / program.costs[index]
        right = np.column_stack([rows @ point.gradient, sign])
        _, found, failed = lapack.dposv(M, right, lower=1, overwrite_a=1)
        if failed:  # products of rows so large that what tells them apart is rounding
            self.coarse = True
            return -point.gradient, 0.0
        delta, shift = found[:, 0], 0.0
        if program.free:
            turned = found[:, 1]
            shift = -(point.slope + float(sign @ delta)) / float(sign @ turned)
            delta = delta + shift * turned
        return delta @ rows - point.gradient, shift

    def learn(self, before: Reading, after: Reading, short: bool) -> None:
        """Every step starts from the curvature at its own point."""
