"""Newton steps of the regularized problem where active samples are fewer than features.

A full step from (beta, t), with gradient g = beta - A'alpha and sum_i y_i alpha_i = e, ends where

    beta+ = beta - g + A_J'delta,      delta_i = -(c_i / width) (change of z_i),   i in J,

J being the active samples (between the margins).  With the change of z put in, and
sum_i y_i alpha_i = 0,

    (A_J A_J' + diag(width / c)) delta - y_J shift = A_J g,        y_J.delta = -e,

a system as large as J: with few samples it is far less than H, which is as large as the features
(Chapelle 2007).  Products of samples with each other are kept, since most active ones stay active.
"""

from __future__ import annotations

import numpy as np

from lincent.problems.arrays import Index, Matrix, Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers import cholesky
from lincent.solvers.newton.evaluation import Evaluation


class Dual:
    """Exact steps by the products of samples with each other; ``outer`` is A A', if known."""

    def __init__(self, program: RegularizedProgram, outer: Matrix | None = None) -> None:
        m = program.shape[0]
        self.program, self.coarse = program, False
        self._place = np.full(m, -1)
        """Where each sample is among those whose products are known."""
        self._index: Index = np.empty(0, dtype=np.intp)
        self._outer: Matrix = np.empty((0, 0))
        if outer is not None:
            self._place = self._index = np.arange(m)
            self._outer = outer

    def step(self, point: Evaluation) -> tuple[Vector, float]:
        """Return the step in beta and the one in t."""
        program, index = self.program, np.flatnonzero(point.active)
        if not index.size:
            return -point.gradient, 0.0
        self._learn(index[self._place[index] < 0])
        at = self._place[index]
        M: Matrix = self._outer[at][:, at]
        M.flat[:: len(M) + 1] += program.width / program.costs[index]
        factor = cholesky.factor(M, overwrite=True)
        # It fails where samples are so large that what tells them apart is rounding.
        self.coarse = factor is None
        if factor is None:
            return -point.gradient, 0.0
        sign, rows = program.sign[index], program.rows.take(index).dense()
        solved = cholesky.solve(factor, np.column_stack([rows @ point.gradient, sign]))
        delta, shift = solved[:, 0], 0.0
        if program.free:
            turned = solved[:, 1]
            shift = -(point.slope + float(sign @ delta)) / float(sign @ turned)
            delta = delta + shift * turned
        return delta @ rows - point.gradient, shift

    def learn(self, before: Evaluation, after: Evaluation, short: bool) -> None:
        """Do nothing: every step starts from the curvature at its own point."""

    def _learn(self, index: Index) -> None:
        """Compute the products of samples that have not been active before."""
        if not index.size:
            return
        old = len(self._index)
        self._place[index] = old + np.arange(len(index))
        rows = self.program.rows.take(index).dense()
        outer = np.empty((old + len(index), old + len(index)))
        outer[:old, :old] = self._outer
        outer[old:, old:] = rows @ rows.T
        if old:
            outer[:old, old:] = self.program.rows.take(self._index).dense() @ rows.T
            outer[old:, :old] = outer[:old, old:].T
        self._index = np.concatenate([self._index, index])
        self._outer = outer
