"""The kernel form of equation LCC as a linear program over a kernel matrix.

With beta = sum_i alpha_i phi(x_i) every projection is a sum over the kernel matrix K:

    x_hat = sum_i alpha_i k(x, x_i),     C_hat = (weighted mean of the class's rows of K) . alpha

so the program is that of LCC with the rows of K in the place of the rows of X, and with the box
alpha_i in [-1, 1].  A row of weight w is w equal rows, whose coefficients act as their sum: its box
is [-w, w].  For the same reason equal rows are one column, and equal rows of one class one row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.estimators.kernels import KernelSource
from lincent.problems.centralization import Program, certify, difference_of, lcc_program
from lincent.problems.rounding import certify_with_rounding
from lincent.solvers.solution import Solution
from lincent.sources.hashing import distinct_rows
from lincent.sources.kernel import KernelMatrixRows

NEGLIGIBLE = (1e-6, 1e-8, 1e-10, 1e-12)


@dataclass(frozen=True)
class Kinds:
    """Which rows are equal: ``kind`` names the column of each row, ``pair`` its row."""

    columns: np.ndarray
    kind: np.ndarray
    rows: np.ndarray
    pair: np.ndarray

    @classmethod
    def of(cls, source: KernelSource, sign: np.ndarray) -> Kinds:
        if source.precomputed:
            columns = kind = np.arange(len(sign))
        else:
            columns, kind = distinct_rows(source.X)
        _, rows, pair = np.unique(2 * kind + (sign > 0), return_index=True, return_inverse=True)
        return cls(columns, kind, rows, pair.reshape(-1))


class Representer:
    """One two-class problem in the coefficients alpha."""

    def __init__(
        self, source: KernelSource, kinds: Kinds, sign: np.ndarray, weight: np.ndarray
    ) -> None:
        self.kinds, self.weight = kinds, weight
        self.side = sign[kinds.rows]
        self.K = source.matrix(kinds.rows, kinds.columns)
        share = np.bincount(kinds.pair, weights=weight)
        self.centers = np.stack([self._mean(share, -1.0), self._mean(share, 1.0)])
        self.box = np.asarray(np.bincount(kinds.kind, weights=weight), dtype=np.float64)

    def _mean(self, share: np.ndarray, side: float) -> np.ndarray:
        mine = np.where(self.side == side, share, 0.0)
        return np.asarray(mine @ self.K / mine.sum())

    @property
    def difference(self) -> np.ndarray:
        return difference_of(self.centers)

    @property
    def largest_margin(self) -> float:
        return float(np.abs(self.difference) @ self.box)

    def cost_of_kinds(self, cost: np.ndarray) -> np.ndarray:
        """The costs of equal rows of one class added up."""
        return np.bincount(self.kinds.pair, weights=cost)

    def program(self, costs: np.ndarray, margin: float) -> Program:
        """The linear program; it takes over the memory of the kernel matrix, so ask once."""
        self.K -= self.centers.mean(axis=0)
        self.K *= self.side[:, None]
        program = lcc_program(KernelMatrixRows(self.K), self.difference, costs, margin)
        return replace(program, lower=-self.box, upper=self.box)

    def projected(self, program: Program, alpha: np.ndarray) -> np.ndarray:
        """The training rows on the line."""
        line = self.side * program.rows.dot(alpha) + self.centers.mean(axis=0) @ alpha
        return np.asarray(line[self.kinds.pair])

    def spread(self, alpha: np.ndarray) -> np.ndarray:
        """A coefficient for each training row: equal rows share theirs by weight."""
        return np.asarray((alpha / self.box)[self.kinds.kind] * self.weight)


def without_negligible(program: Program, solution: Solution, tol: float) -> Solution:
    """Coefficients that do not matter set to exactly zero, with the certificate of what is left."""
    answer = solution.certificate
    bound = max(tol, answer.relative_gap)
    for threshold in NEGLIGIBLE:
        small = np.abs(answer.beta) <= threshold * program.upper
        if not np.any(small & (answer.beta != 0)):
            continue
        trial = certify(program, np.where(small, 0.0, answer.beta), answer.alpha, answer.t)
        if trial.relative_gap <= bound and np.all(trial.beta[small] == 0):
            proof = certify_with_rounding(program, trial, tol, scale=solution.scale)
            return replace(solution, certificate=proof)
    return solution
