"""Kernel functions, and the problems of KernelLCC over a kernel matrix.

With beta = sum_i alpha_i phi(x_i) every projection is a sum over the kernel matrix K:

    x_hat = sum_i alpha_i k(x, x_i),     C_hat = (weighted mean of the class's rows of K) . alpha

so the problem (``Representer``) is that of LCC with the rows of K in the place of the samples, and
with the box constraints alpha_i in [-1, 1].  A sample of weight w is w equal samples, whose
coefficients act as their sum, in [-w, w].  For the same reason equal samples are one column of K,
and equal samples of one class one row.

With an L1 term on the coefficients (``SparseRepresenter``) the problem is

    minimize over alpha, t    |alpha|_1 + sum_i c_i phi(y_i (sum_j alpha_j k(x_i, x_j) - t))

with the loss phi of ``problems.regularized``.  The optimum with box constraints uses nearly every
sample; the L1 term leaves most coefficients at exactly zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from lincent.features.similarity import device_similarity, similarity, similarity_sums
from lincent.problems.centralization import Program, certify, difference_of, lcc_program
from lincent.problems.regularized import RegularizedProgram
from lincent.problems.rounding import certify_with_rounding
from lincent.solvers.newton import column_generation, lasso
from lincent.solvers.solution import Controls, Solution
from lincent.sources.dense import DenseRows, origin_of, some_rows
from lincent.sources.hashing import distinct_rows
from lincent.sources.kernel import KernelColumns, KernelMatrixRows
from lincent.sources.source import Kind, kind_of, namespace_of

KERNELS = ("rbf", "linear", "poly", "sigmoid", "laplacian", "precomputed")
BLOCK_BYTES = 2**25
_PARAMETERS = {
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "poly": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
    "linear": (),
}


def kernel_gamma(gamma: Any, n_features: int, variance: float) -> float:
    """Return gamma as a number, for X with this variance over all entries."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / n_features
    return 1.0 / (n_features * variance) if variance > 0 else 1.0


@dataclass(frozen=True)
class KernelFunction:
    """The kernel k(X, Y) as a float64 matrix."""

    name: Any
    gamma: float
    degree: float
    coef0: float

    def __call__(self, X: Any, Y: Any) -> np.ndarray:
        if callable(self.name):
            return self._called(X, Y)
        if self.name == "precomputed":  # X is rows of the kernel matrix, Y indices of columns
            return np.asarray(X[:, Y], dtype=np.float64)
        if kind_of(X) is Kind.DEVICE:
            return self._on_device(X, Y)
        from sklearn.metrics.pairwise import pairwise_kernels  # late: it is slow to import

        values = {name: getattr(self, name) for name in _PARAMETERS[self.name]}
        X, Y = (_double(A) for A in (X, Y))
        if self.name == "rbf" and kind_of(X) is kind_of(Y) is Kind.DENSE:
            return similarity(X, Y, self.gamma)
        return np.asarray(pairwise_kernels(X, Y, metric=self.name, **values), dtype=np.float64)

    def _on_device(self, X: Any, Y: np.ndarray) -> Any:
        """Return the kernel between samples on a device and a few samples on the host."""
        place = namespace_of(X)
        xp, Y = place.xp, np.asarray(Y, dtype=np.float64)
        if self.name == "rbf":
            return device_similarity(X, Y, self.gamma, place)
        if self.name == "laplacian":
            columns = [xp.sum(xp.abs(X - place.send(row)), axis=1) for row in Y]
            return xp.exp(-self.gamma * xp.stack(columns, axis=1))
        product = X @ place.send(Y.T)
        if self.name == "linear":
            return product
        product = self.gamma * product + self.coef0
        return product**self.degree if self.name == "poly" else xp.tanh(product)

    def _called(self, X: Any, Y: Any) -> np.ndarray:
        matrix = np.array(self.name(X, Y), dtype=np.float64)
        if matrix.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"The kernel function returned an array of shape {matrix.shape} for {X.shape[0]} "
                f"and {Y.shape[0]} rows; it must return shape {(X.shape[0], Y.shape[0])}."
            )
        if not np.all(np.isfinite(matrix)):
            raise ValueError("The kernel function returned values that are not finite.")
        return matrix


def _double(A: Any) -> Any:
    A = A if A.dtype == np.float64 else A.astype(np.float64)
    if kind_of(A) is Kind.SPARSE and A.indices.dtype != np.int32 and max(A.nnz, *A.shape) < 2**31:
        # Some of scikit-learn's kernels accept 32-bit indices only.
        parts = (A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32))
        return sp.csr_matrix(parts, shape=A.shape)
    return A


@dataclass(frozen=True)
class ChosenRows:
    """Some samples of a remote data set, by their indices in it."""

    index: np.ndarray
    rows: Any

    def __getitem__(self, index: np.ndarray) -> Any:
        order = np.argsort(self.index)
        return self.rows[order[np.searchsorted(self.index, index, sorter=order)]]


@dataclass(frozen=True)
class KernelSource:
    """Training samples and the kernel between them; ``index`` is their position in the data."""

    X: Any
    index: np.ndarray
    kernel: KernelFunction
    origin: np.ndarray | None = None
    """For the linear kernel: <x - origin, x_j> differs from <x, x_j> by a constant in each column,
    to which the problem is invariant, and is more precise where X is far from zero."""

    @classmethod
    def of(cls, X: Any, kernel: KernelFunction) -> KernelSource:
        linear = kernel.name == "linear" and kind_of(X) is Kind.DENSE
        origin = origin_of(X[some_rows(len(X))]) if linear else None
        return cls(X, np.arange(X.shape[0]), kernel, origin)

    def shift(self, alpha: np.ndarray) -> float:
        """Return the difference of projections with and without the origin."""
        return 0.0 if self.origin is None else float((self.X @ self.origin) @ alpha)

    @property
    def precomputed(self) -> bool:
        return isinstance(self.kernel.name, str) and self.kernel.name == "precomputed"

    def __getitem__(self, rows: Any) -> KernelSource:
        X = self.X if self.precomputed else self.X[rows]
        return KernelSource(X, self.index[rows], self.kernel, self.origin)

    def matrix(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the kernel between these samples as a new array."""
        if self.precomputed:
            chosen = np.ix_(self.index[rows], self.index[columns])
            return np.array(self.X[chosen], dtype=np.float64, order="C")
        matrix = np.empty((len(rows), len(columns)))
        Y = self.X[columns]
        for part in blocks(len(rows), len(columns), least=8):
            some = self.X[rows[part]]
            matrix[part] = self.kernel(some if self.origin is None else some - self.origin, Y)
        return matrix

    def sums(self, rows: np.ndarray, columns: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return w.matrix(rows, columns), without forming the matrix."""
        if self.kernel.name == "rbf" and kind_of(self.X) is Kind.DENSE:
            X, points = (np.asarray(self.X[i], dtype=np.float64) for i in (columns, rows))
            return similarity_sums(X, points, self.kernel.gamma, w)
        sums = np.empty(len(columns))
        for part in blocks(len(columns), len(rows)):
            sums[part] = w @ self.matrix(rows, columns[part])
        return sums


def blocks(rows: int, columns: int, least: int = 1) -> Iterator[slice]:
    """Yield at least so many slices of the samples, with small blocks of the kernel matrix."""
    step = min(BLOCK_BYTES // (8 * max(1, columns)), -(-rows // least))
    step = max(1, step)
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


@dataclass(frozen=True)
class DistinctSamples:
    """The distinct samples as columns, those of each class as rows of the kernel matrix.

    ``column`` and ``row`` are the indices of the column and row of each sample.
    """

    columns: np.ndarray
    column: np.ndarray
    rows: np.ndarray
    row: np.ndarray

    @classmethod
    def of(cls, source: KernelSource, sign: np.ndarray) -> DistinctSamples:
        if source.precomputed:
            columns = column = np.arange(len(sign))
        else:
            columns, column = distinct_rows(source.X)
        _, rows, row = np.unique(2 * column + (sign > 0), return_index=True, return_inverse=True)
        return cls(columns, column, rows, row.reshape(-1))


class Representer:
    """A binary subproblem in the coefficients alpha, with box constraints."""

    def __init__(
        self, source: KernelSource, distinct: DistinctSamples, sign: np.ndarray, weight: np.ndarray
    ) -> None:
        self.distinct, self.weight = distinct, weight
        self.side = sign[distinct.rows]
        self.K = source.matrix(distinct.rows, distinct.columns)
        row_weight = np.bincount(distinct.row, weights=weight)
        sides = [np.where(self.side == side, row_weight, 0.0) for side in (-1.0, 1.0)]
        self.centers = np.stack([side @ self.K / side.sum() for side in sides])
        self.box = np.asarray(np.bincount(distinct.column, weights=weight), dtype=np.float64)

    @property
    def difference(self) -> np.ndarray:
        return difference_of(self.centers)

    @property
    def largest_margin(self) -> float:
        return float(np.abs(self.difference) @ self.box)

    def summed_costs(self, cost: np.ndarray) -> np.ndarray:
        """Return the sum of the costs of equal samples of one class."""
        return np.bincount(self.distinct.row, weights=cost)

    def program(self, costs: np.ndarray, margin: float) -> Program:
        """Return the linear program; it overwrites the kernel matrix, so call it once."""
        self.K -= self.centers.mean(axis=0)
        self.K *= self.side[:, None]
        program = lcc_program(KernelMatrixRows(self.K), self.difference, costs, margin)
        return replace(program, lower=-self.box, upper=self.box)

    def projected(self, program: Program, alpha: np.ndarray) -> np.ndarray:
        """Return the projected training samples."""
        line = self.side * program.rows.dot(alpha) + self.centers.mean(axis=0) @ alpha
        return np.asarray(line[self.distinct.row])

    def sample_coef(self, alpha: np.ndarray) -> np.ndarray:
        """Return a coefficient for each training sample: equal ones share theirs by weight."""
        return np.asarray((alpha / self.box)[self.distinct.column] * self.weight)


def drop_negligible(program: Program, solution: Solution, tol: float) -> Solution:
    """Set negligible coefficients to zero, and certify the rest."""
    answer = solution.certificate
    bound = max(tol, answer.relative_gap)
    for threshold in (1e-6, 1e-8, 1e-10, 1e-12):
        small = np.abs(answer.beta) <= threshold * program.upper
        if not np.any(small & (answer.beta != 0)):
            continue
        trial = certify(program, np.where(small, 0.0, answer.beta), answer.alpha, answer.t)
        if trial.relative_gap <= bound and np.all(trial.beta[small] == 0):
            proof = certify_with_rounding(program, trial, tol, scale=solution.scale)
            return replace(solution, certificate=proof)
    return solution


FORMED_ROWS = 2500
"""Samples up to which the kernel matrix (50 MB) is formed at once.  On noisy classes that is a
fifth faster at 1,800; generating columns takes half the time at 3,500 on separable classes."""


class SparseRepresenter:
    """A binary subproblem in the coefficients alpha, with an L1 term."""

    def __init__(self, source: KernelSource, sign: np.ndarray, cost: np.ndarray) -> None:
        self.distinct = distinct = DistinctSamples.of(source, sign)
        self.side = sign[distinct.rows]
        self.count = len(sign)
        costs = np.asarray(np.bincount(distinct.row, weights=cost), dtype=np.float64)
        self.formed = max(len(distinct.rows), len(distinct.columns)) <= FORMED_ROWS
        self.rows: DenseRows | KernelColumns
        if self.formed:
            matrix = source.matrix(distinct.rows, distinct.columns)
            matrix *= self.side[:, None]
            self.rows = DenseRows(matrix)
        else:
            self.rows = KernelColumns(
                lambda rows, columns: source.matrix(distinct.rows[rows], distinct.columns[columns]),
                self.side,
                len(distinct.columns),
                lambda rows, columns, w: source.sums(
                    distinct.rows[rows], distinct.columns[columns], w
                ),
            )
        # The margins of RegularizedLCC; others of the same ratio only scale the coefficients.
        self.program = RegularizedProgram(self.rows, self.side, costs, -1.0, 3.0)

    def solve(self, controls: Controls, rng: np.random.Generator) -> Solution:
        """Return the certified optimum."""
        if isinstance(self.rows, KernelColumns):
            return column_generation.solve(self.program, self.rows, controls, rng)
        return lasso.solve_path(self.program, (1.0,), controls, rng)[0]

    def projected(self, alpha: np.ndarray) -> np.ndarray:
        """Return the projected training samples."""
        return np.asarray((self.side * self.rows.dot(alpha))[self.distinct.row])

    def sample_coef(self, alpha: np.ndarray) -> np.ndarray:
        """Return a coefficient for each training sample: of equal ones the first has it all."""
        coef = np.zeros(self.count)
        coef[self.distinct.columns] = alpha
        return coef
