"""Newton steps of the regularized problem where active samples are fewer than features.

A full step from (beta, t), with gradient g = beta - A'alpha and sum_i y_i alpha_i = e, ends where

    beta+ = beta - g + A_J'delta,      delta_i = -(c_i / width) (change of z_i),   i in J,

J being the active samples (between the margins).  With the change of z put in, and
sum_i y_i alpha_i = 0,

    (A_J A_J' + diag(width / c)) delta - y_J shift = A_J g,        y_J.delta = -e,

a system as large as J: with few samples it is far less than H, which is as large as the features
(Chapelle 2007).  Products of samples with each other are kept, since most active ones stay active,
in single precision where that is far more than the diagonal needs.

A factor M of one active set serves the next ones: with the samples P that came, K_P their products
with those of the set, and E the unit vectors of samples that left, whose delta must be zero,

    [ M            K_P'  E ] [ delta   ]   [ right   ]
    [ K_P, E'      M_P,  0 ] [ delta_P ] = [ right_P ]

costs one solve with the factor for each sample that came or left.
"""

from __future__ import annotations

import numpy as np

from lincent.problems.arrays import Index, Matrix, Rows, Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers import cholesky
from lincent.solvers.newton.evaluation import Evaluation, Mask
from lincent.sources.dense import DenseRows, Float32Rows

CHANGED = 0.12
"""Samples that came or left, as a share of a set, up to which its factor serves."""


class Dual:
    """Exact steps by the products of samples with each other; ``outer`` is A A', if known."""

    def __init__(self, program: RegularizedProgram, outer: Matrix | None = None) -> None:
        m = program.shape[0]
        self.program, self.coarse = program, False
        self._place = np.full(m, -1)
        """Where each sample is among those whose products are known."""
        self._index: Index = np.empty(0, dtype=np.intp)
        self._outer: Matrix = np.empty((0, 0))
        self._base: Index = np.empty(0, dtype=np.intp)
        """The samples whose system is factored."""
        self._factor: Matrix = np.empty((0, 0))
        if outer is not None:
            self._place = self._index = np.arange(m)
            self._outer = outer

    def step(self, point: Evaluation) -> tuple[Vector, float]:
        return self.step_at(point, point.active)

    def step_at(self, point: Evaluation, active: Mask) -> tuple[Vector, float]:
        """Return the step for this active set."""
        program, index = self.program, np.flatnonzero(active)
        if not index.size:
            return -point.gradient, 0.0
        self._learn(index[self._place[index] < 0])
        came = np.setdiff1d(index, self._base, assume_unique=True)
        left = np.flatnonzero(~active[self._base])
        if len(came) + len(left) > CHANGED * len(index):
            factor = cholesky.factor(self._system(index), overwrite=True)
            # It fails where samples are so large that what tells them apart is rounding.
            self.coarse = factor is None
            self._base = index[:0] if factor is None else index
            if factor is None:
                return -point.gradient, 0.0
            self._factor = factor
            came, left = came[:0], left[:0]
        index = np.concatenate([self._base, came])
        sign = program.sign[index]
        most = self._outer.dtype == np.float32 and 2 * len(index) > len(active)
        rows = program.rows if most else self._some(index)
        moved = rows.dot(point.gradient)
        right = np.column_stack([moved[index] if most else moved, sign])
        solved = self._solve(right, came, left)
        delta, shift = solved[:, 0], 0.0
        if program.free:
            turned = solved[:, 1]
            shift = -(point.slope + float(sign @ delta)) / float(sign @ turned)
            delta = delta + shift * turned
        if most:
            whole = np.zeros(len(active))
            whole[index] = delta
            delta = whole
        return rows.tdot(delta) - point.gradient, shift

    def learn(self, before: Evaluation, after: Evaluation, short: bool) -> None:
        """Do nothing: every step starts from the curvature at its own point."""

    def _some(self, index: Index) -> Rows:
        """Return these samples, in double precision where that counts."""
        rows = self.program.rows.take(index)
        return rows if self._outer.dtype == np.float32 else DenseRows(rows.dense())

    def _system(self, index: Index) -> Matrix:
        at = self._place[index]
        M: Matrix = self._outer[at][:, at]
        M.flat[:: len(M) + 1] += self.program.width / self.program.costs[index]
        return M

    def _solve(self, right: Matrix, came: Index, left: Index) -> Matrix:
        """Return the solutions for the samples of the factor and those that came."""
        base, more = len(self._base), len(came) + len(left)
        if not more:
            return cholesky.solve(self._factor, right)
        across = np.zeros((base, more))
        across[:, : len(came)] = self._outer[self._place[came]][:, self._place[self._base]].T
        across[left, len(came) + np.arange(len(left))] = 1.0
        first = cholesky.solve(self._factor, np.hstack([right[:base], across]))
        small = np.zeros((more, more))
        small[: len(came), : len(came)] = self._system(came)
        small -= across.T @ first[:, 2:]
        rest = np.zeros((more, 2))
        rest[: len(came)] = right[base:]
        border = np.linalg.solve(small, rest - across.T @ first[:, :2])
        whole = np.empty((base + len(came), 2))
        whole[:base] = first[:, :2] - first[:, 2:] @ border
        whole[base:] = border[: len(came)]
        whole[left] = 0.0
        return whole

    def _learn(self, index: Index) -> None:
        """Compute the products of samples that have not been active before."""
        if not index.size:
            return
        if not self._index.size and self._single_suffices():
            self._outer = self._outer.astype(np.float32)
        old = len(self._index)
        self._place[index] = old + np.arange(len(index))
        self._index = np.concatenate([self._index, index])
        rows = self._array(index)
        outer = np.empty((len(self._index), len(self._index)), dtype=rows.dtype)
        outer[:old, :old] = self._outer
        outer[old:, old:] = rows @ rows.T
        if old:
            outer[:old, old:] = self._array(self._index[:old]) @ rows.T
            outer[old:, :old] = outer[:old, old:].T
        self._outer = outer

    def _array(self, index: Index) -> Matrix:
        rows = self._some(index)
        if not isinstance(rows, Float32Rows):
            return rows.dense()
        rows.array *= rows.sign.astype(np.float32)[:, None]  # of rows that were taken: a copy
        return np.asarray(rows.array, dtype=self._outer.dtype)

    def _single_suffices(self) -> bool:
        """Return whether single precision, 1e-7 of the largest eigenvalue of A A' (three power
        iterations), loses less than a hundredth of the diagonal.
        """
        rows = self.program.rows
        if not isinstance(rows, Float32Rows):
            return False
        vector, size = np.ones(rows.shape[0]), 0.0
        for _ in range(3):
            turned = rows.dot(rows.tdot(vector / float(np.linalg.norm(vector))))
            size, vector = float(np.linalg.norm(turned)), turned
        return 1e-7 * size <= 0.01 * self.program.width / float(self.program.costs.max())
