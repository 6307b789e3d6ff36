"""The fully quadratic centralization problem: a ramp loss on the projected line.

Equation FQCC of the paper, with a_i = y_i (x_i - l), d = C+ - C-, s = abs(sigma), c_i the cost of
row i, is

    minimize    -|d.beta| + sum_i c_i eps_i
    subject to  y_i (|x_i.beta - C+.beta| - |x_i.beta - C-.beta|) <= eps_i,   eps_i >= -s,
                -1 <= beta <= 1.

beta and -beta have the same value, so h = d.beta/2 >= 0 may be required.  On a line the difference
of the two distances is -2 clip(z_i, -h, h) with z_i = a_i.beta.  While d.beta < s no row can meet
the margin, all slacks are this difference, and the objective is linear along rays from zero.  So
away from beta = 0, where all rows coincide, a ray that reaches d.beta >= s
inside the box has its best point there: d.beta >= s is required, as in LCC.  Then, with the slacks
eliminated,

    F(beta) = -d.beta + sum_i c_i max(-s, min(d.beta, -2 z_i))                              (R)

is left: LCC's hinge with twice the slope, capped at the distance of the centers.  A row beyond the
wrong center costs no more for being further out.

Convex minus convex.  With p_i = -2 z_i and q = d.beta,

    max(-s, min(q, p)) = max(-s, p) - (p - q)_+ .

The second part is supported from below, at a point beta_k, by its slope there: with J the rows
with p_i > q, those beyond the wrong center,

    U_k(beta) = -d.beta + sum_i c_i max(-s, -2 a_i.beta) + sum_J c_i (2 a_i + d).beta       (U)

is never below F and equals it at beta_k.  Minimizing U_k is the centralization program (P) with
margin s/2, costs 2 c_i, the linear term g = -d + sum_J c_i (2 a_i + d), and offset -s sum_i c_i.
So F never rises from one minimizer to the next (the convex-concave procedure), and when J repeats
itself the point is a minimizer of its own U_k: no small step lowers F, a local optimum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import Mask, Rows, Vector
from lincent.problems.centralization import Program, lcc_program


@dataclass(frozen=True)
class RampProgram:
    """Problem (R) as data."""

    rows: Rows
    costs: Vector
    margin: float
    difference: Vector

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.rows.shape

    @property
    def hard(self) -> bool:
        """Whether some rows are hard constraints."""
        return bool(np.isinf(self.costs).any())

    def objective(self, beta: Vector, projected: Vector) -> float:
        """Compute F at a point with d.beta >= s; ``projected`` is ``rows.dot(beta)``."""
        reach = float(self.difference @ beta)
        loss = np.maximum(-self.margin, np.minimum(reach, -2.0 * projected))
        return -reach + float(self.costs @ loss)

    def beyond(self, beta: Vector, projected: Vector) -> Mask:
        """Return the rows J beyond the wrong center."""
        return np.asarray(-2.0 * projected > float(self.difference @ beta))

    def upper_model(self, beyond: Mask) -> Program:
        """Return (U): convex, above F, and equal to it at the point of J."""
        capped = np.where(beyond, self.costs, 0.0)
        linear = -self.difference
        if beyond.any():
            linear = 2.0 * self.rows.tdot(capped) + (float(capped.sum()) - 1.0) * self.difference
        # LCC with half the margin and twice the costs has the offset of (U).
        model = lcc_program(self.rows, self.difference, 2.0 * self.costs, self.margin / 2.0)
        return replace(model, linear=linear, separation=self.margin)
