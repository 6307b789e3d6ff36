"""The kernel form with few rows in use: an L1 term on the coefficients.

    minimize over alpha, t    |alpha|_1 + sum_i c_i phi(y_i (sum_j alpha_j k(x_i, x_j) - t))

with the loss phi of ``problems.regularized``.  Unlike the paper's box on the coefficients, whose
optimum uses nearly every row, the L1 term leaves most of them at exactly zero.  Equal rows are one
column, and equal rows of one class one row.
"""

from __future__ import annotations

import numpy as np

from lincent.estimators.kernels import KernelSource
from lincent.estimators.representer import Kinds
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton import column_generation, lasso
from lincent.solvers.solution import Controls, Solution
from lincent.sources.dense import DenseRows
from lincent.sources.kernel import KernelColumns

MARGINS = (-1.0, 3.0)
"""Those of RegularizedLCC.  Others of the same ratio scale the coefficients and nothing else."""
FORMED_ROWS = 2500
"""Rows up to which the kernel matrix (50 MB) is formed at once.  On noisy classes that is a fifth
faster at 1,800 rows; priced columns take half the time at 3,500 where classes are apart."""


class FewRows:
    """One two-class problem in the coefficients alpha, to be solved for few of them."""

    def __init__(self, source: KernelSource, sign: np.ndarray, cost: np.ndarray) -> None:
        self.kinds = kinds = Kinds.of(source, sign)
        self.side = sign[kinds.rows]
        self.count = len(sign)
        costs = np.asarray(np.bincount(kinds.pair, weights=cost), dtype=np.float64)
        self.formed = max(len(kinds.rows), len(kinds.columns)) <= FORMED_ROWS
        self.rows: DenseRows | KernelColumns
        if self.formed:
            matrix = source.matrix(kinds.rows, kinds.columns)
            matrix *= self.side[:, None]
            self.rows = DenseRows(matrix)
        else:
            self.rows = KernelColumns(
                lambda rows, columns: source.matrix(kinds.rows[rows], kinds.columns[columns]),
                self.side,
                len(kinds.columns),
                lambda rows, columns, w: source.sums(kinds.rows[rows], kinds.columns[columns], w),
            )
        self.program = RegularizedProgram(self.rows, self.side, costs, *MARGINS)

    def solve(self, controls: Controls, rng: np.random.Generator) -> Solution:
        """The certified optimum."""
        if isinstance(self.rows, KernelColumns):
            return column_generation.solve(self.program, self.rows, controls, rng)
        return lasso.solve_path(self.program, (1.0,), controls, rng)[0]

    def projected(self, alpha: np.ndarray) -> np.ndarray:
        """The training rows on the line."""
        return np.asarray((self.side * self.rows.dot(alpha))[self.kinds.pair])

    def spread(self, alpha: np.ndarray) -> np.ndarray:
        """A coefficient for each training row: of equal rows the first has it all."""
        whole = np.zeros(self.count)
        whole[self.kinds.columns] = alpha
        return whole
