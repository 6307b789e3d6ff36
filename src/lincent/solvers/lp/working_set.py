"""Some of the hinges of a program as one matrix, with its normal matrix factored.

The hinges of (P) are its rows, the lower and the upper sides of the box and the gap, numbered in
this order:

    i < m  row a_i at s      m + j  unit_j at lo_j      m + n + j  -unit_j at -hi_j      last  d

Each has a multiplier between 0 and ``top`` (the cost of a row, else infinite), and the dual asks
for  sum_i multiplier_i hinge_i = g.  A working set is M, the hinges near the vertex: some rows and
sides, and the gap.  ``solve`` applies inv(M'M), of which one n x n factor is held.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lincent.passes.source import Kind, kind_of
from lincent.programs.arrays import Matrix, Vector
from lincent.programs.centralization import Program
from lincent.solvers.blocked_cholesky import BlockedCholesky, NotPositiveError

Index = NDArray[np.intp]
RIDGES = (1e-13, 1e-11, 1e-9)
"""Relative ridges to try: dependent columns need one, and refinement takes its effect out."""
GRAM_COLUMNS = 512
"""Columns of the normal matrix formed at a time: a sparse product larger than that is memory."""


class Hinges:
    """All hinges: their right-hand sides, and the largest multiplier of each."""

    def __init__(self, program: Program) -> None:
        m, n = program.shape
        self.m, self.n, self.program = m, n, program
        self.at = np.concatenate(
            [
                np.full(m, program.margin),
                program.lower,
                -program.upper,
                [program.separation],
            ]
        )
        self.top = np.concatenate([program.costs, np.full(2 * n + 1, np.inf)])

    def rest(self, dual: Vector) -> Vector:
        """What the multipliers miss of the dual's equation, one number per column."""
        m, n, program = self.m, self.n, self.program
        rest = program.linear - program.rows.tdot(dual[:m]) - dual[-1] * program.difference
        return np.asarray(rest - dual[m : m + n] + dual[m + n : -1])

    def columns(self, chosen: Index) -> Matrix:
        """These hinges (rows and sides) as the columns of one array."""
        m, n = self.m, self.n
        rows, sides = chosen[chosen < m], chosen[chosen >= m] - m
        out = np.zeros((n, len(chosen)), order="F")
        if len(rows):
            out[:, chosen < m] = self.program.rows.take(rows).dense().T
        out[sides % n, np.flatnonzero(chosen >= m)] = np.where(sides < n, 1.0, -1.0)
        return out


class WorkingSet:
    """The hinges ``index`` (rows, then sides, then the gap) and inv(M'M)."""

    def __init__(self, hinges: Hinges, rows: Index, sides: Index) -> None:
        m, n, program = hinges.m, hinges.n, hinges.program
        self.index = np.concatenate([rows, sides, [m + 2 * n]])
        self.rows = len(rows)
        self.S, self.y, self.l = program.rows.take(rows).factors()
        self.d = program.difference
        self.column = (sides - m) % n
        self.sign = np.where(sides < m + n, 1.0, -1.0)
        self.shape = (len(self.index), n)
        for ridge in RIDGES:
            try:
                self.factor = BlockedCholesky(self._normal(), ridge)
                return
            except NotPositiveError:
                continue
        raise NotPositiveError

    def dot(self, V: Matrix | Vector) -> Matrix:
        """M V for one or several columns."""
        signs = self.y if V.ndim == 1 else self.y[:, None]
        rows = self.S @ V - signs * (self.l @ V)
        sides = self.sign if V.ndim == 1 else self.sign[:, None]
        return np.concatenate(
            [
                rows,
                sides * V[self.column],
                np.atleast_1d(self.d @ V)[None] if V.ndim > 1 else [self.d @ V],
            ]
        )

    def tdot(self, U: Matrix | Vector) -> Matrix:
        """M' U for one or several columns."""
        rows, sides = U[: self.rows], U[self.rows : -1]
        out = self.S.T @ rows - np.multiply.outer(self.l, self.y @ rows)
        out += np.multiply.outer(self.d, U[-1])
        np.add.at(out, self.column, (self.sign if U.ndim == 1 else self.sign[:, None]) * sides)
        return np.asarray(out)

    def solve(self, b: Matrix | Vector) -> Matrix:
        """inv(M'M) b."""
        return self.factor.solve(b)

    def _normal(self) -> Matrix:
        """M'M (its lower half), formed a few columns at a time: one n x n array in all."""
        n, S, y, l, d = self.shape[1], self.S, self.y, self.l, self.d
        sum_y, square = S.T @ y, float(y @ y)
        # (S - y l')'(S - y l') + d d': the product of the sparse part and a change of rank three.
        left = np.stack([l, sum_y - square * l, -d], axis=1)
        right = np.stack([sum_y, l, d])
        out = np.empty((n, n))
        sparse = kind_of(S) is Kind.SPARSE
        turned = sp.csr_array(S.T) if sparse else S.T
        for start in range(0, n, GRAM_COLUMNS):
            part, upto = slice(start, start + GRAM_COLUMNS), min(start + GRAM_COLUMNS, n)
            block = turned[part] @ S[:, :upto]
            out[part, :upto] = block.toarray() if sparse else block
            out[part, :upto] -= left[part] @ right[:, :upto]
        np.add.at(out.reshape(-1), self.column * (n + 1), 1.0)
        return out
