"""Newton steps where fewer rows are between the margins than there are columns.

A full step from (beta, t), with gradient g = beta - A'alpha and sum_i y_i alpha_i = e, ends where

    beta+ = beta - g + A_J'delta,      delta_i = -(c_i / width) (change of z_i),   i in J,

J being the rows between the margins.  With the change of z put in, and sum_i y_i alpha_i = 0,

    (A_J A_J' + diag(width / c)) delta - y_J shift = A_J g,        y_J.delta = -e,

a system as large as J: with few rows it is far less than H, which is as large as the columns.
Products of rows with each other are kept, since most rows between the margins stay there.  They are
of single precision where that is far more than the diagonal needs.

A factor M of one set serves the next ones: with the rows P that came, K_P their products with those
of the set, and E the unit vectors of rows that left, whose delta must be zero,

    [ M            K_P'  E ] [ delta   ]   [ right   ]
    [ K_P, E'      M_P,  0 ] [ delta_P ] = [ right_P ]

costs one solve with the factor for each row that came or left.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from lincent.problems.arrays import Index, Matrix, Rows, Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton.oracle import Inside, Reading
from lincent.sources.dense import DenseRows, Float32Rows

SINGLE = 1e-7
"""What single precision may lose, as a share of the largest eigenvalue of A A',"""
ENOUGH = 0.01
"""and which share of the diagonal that may be."""
POWERS = 3
CHANGED = 0.12
"""Rows that came or left, as a share of a set, up to which its factor serves."""


class Dual:
    """Exact steps by the products of rows with each other; ``outer`` is A A', if it is known."""

    def __init__(self, program: RegularizedProgram, outer: Matrix | None = None) -> None:
        m = program.shape[0]
        self.program, self.coarse = program, False
        self._place = np.full(m, -1)
        """Where each row is among those that are known."""
        self._known: Index = np.empty(0, dtype=np.intp)
        self._outer: Matrix = np.empty((0, 0))
        self._base: Index = np.empty(0, dtype=np.intp)
        """The rows whose system is factored."""
        self._factor: Matrix = np.empty((0, 0))
        if outer is not None:
            self._place = self._known = np.arange(m)
            self._outer = outer

    def step(self, point: Reading) -> tuple[Vector, float]:
        return self.step_at(point, point.inside)

    def step_at(self, point: Reading, inside: Inside) -> tuple[Vector, float]:
        """The step where these rows count as curved."""
        program, index = self.program, np.flatnonzero(inside)
        if not index.size:
            return -point.gradient, 0.0
        self._learn(index[self._place[index] < 0])
        came = np.setdiff1d(index, self._base, assume_unique=True)
        left = np.flatnonzero(~inside[self._base])
        if len(came) + len(left) > CHANGED * len(index):
            if not self._factored(index):
                return -point.gradient, 0.0
            came, left = came[:0], left[:0]
        index = np.concatenate([self._base, came])
        sign = program.sign[index]
        most = self._outer.dtype == np.float32 and 2 * len(index) > len(inside)
        rows = program.rows if most else self._some(index)
        moved = rows.dot(point.gradient)
        right = np.column_stack([moved[index] if most else moved, sign])
        found = self._solved(right.astype(self._outer.dtype), came, left)
        delta, shift = found[:, 0].astype(np.float64), 0.0
        if program.free:
            turned = found[:, 1].astype(np.float64)
            shift = -(point.slope + float(sign @ delta)) / float(sign @ turned)
            delta = delta + shift * turned
        if most:
            whole = np.zeros(len(inside))
            whole[index] = delta
            delta = whole
        return rows.tdot(delta) - point.gradient, shift

    def _some(self, index: Index) -> Rows:
        """These rows, with twice as many digits as those of single precision where that counts."""
        rows = self.program.rows.take(index)
        return rows if self._outer.dtype == np.float32 else DenseRows(rows.dense())

    def _system(self, index: Index) -> Matrix:
        at = self._place[index]
        M: Matrix = self._outer[at][:, at]
        M.flat[:: len(M) + 1] += self.program.width / self.program.costs[index]
        return M

    def _factored(self, index: Index) -> bool:
        M = self._system(index)
        factor = lapack.spotrf if M.dtype == np.float32 else lapack.dpotrf
        self._factor, failed = factor(M.T, lower=1, clean=0, overwrite_a=1)
        # It fails where rows are so large that what tells them apart is rounding.
        self.coarse = bool(failed)
        self._base = index[:0] if failed else index
        return not failed

    def _solved(self, right: Matrix, came: Index, left: Index) -> Matrix:
        """The solutions for the rows of the factor and those that came."""
        solve = lapack.spotrs if right.dtype == np.float32 else lapack.dpotrs
        base, more = len(self._base), len(came) + len(left)
        if not more:
            return np.asarray(solve(self._factor, right, lower=1)[0])
        across = np.zeros((base, more), dtype=right.dtype)
        across[:, : len(came)] = self._outer[self._place[came]][:, self._place[self._base]].T
        across[left, len(came) + np.arange(len(left))] = 1.0
        first = solve(self._factor, np.hstack([right[:base], across]), lower=1)[0]
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
        """Products of rows that have not been between the margins before."""
        if not index.size:
            return
        if not self._known.size and self._single_will_do():
            self._outer = self._outer.astype(np.float32)
        old = len(self._known)
        self._place[index] = old + np.arange(len(index))
        self._known = np.concatenate([self._known, index])
        rows = self._array(index)
        outer = np.empty((len(self._known), len(self._known)), dtype=rows.dtype)
        outer[:old, :old] = self._outer
        outer[old:, old:] = rows @ rows.T
        if old:
            outer[:old, old:] = self._array(self._known[:old]) @ rows.T
            outer[old:, :old] = outer[:old, old:].T
        self._outer = outer

    def _array(self, index: Index) -> Matrix:
        rows = self._some(index)
        if not isinstance(rows, Float32Rows):
            return rows.dense()
        rows.array *= rows.sign.astype(np.float32)[:, None]  # of rows that were taken: a copy
        return np.asarray(rows.array, dtype=self._outer.dtype)

    def _single_will_do(self) -> bool:
        rows = self.program.rows
        if not isinstance(rows, Float32Rows):
            return False
        way, size = np.ones(rows.shape[0]), 0.0
        for _ in range(POWERS):
            turned = rows.dot(rows.tdot(way / float(np.linalg.norm(way))))
            size, way = float(np.linalg.norm(turned)), turned
        least = self.program.width / float(self.program.costs.max())
        return SINGLE * size <= ENOUGH * least

    def learn(self, before: Reading, after: Reading, short: bool) -> None:
        """Every step starts from the curvature at its own point."""
