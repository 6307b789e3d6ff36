"""Kernel functions by name, and a data set seen through one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from lincent.estimators.validation import check_choice, check_positive
from lincent.features.similarity import entry_variance, near_there, similarity, similarity_sums
from lincent.sources.dense import origin_of, some_rows
from lincent.sources.source import Kind, kind_of, namespace_of

KERNELS = ("rbf", "linear", "poly", "sigmoid", "laplacian", "precomputed")
BLOCK_BYTES = 2**25
PARTS = 8
"""A kernel matrix is made in this many parts or more: each passes through temporary arrays."""
_PARAMETERS = {
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "poly": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
    "linear": (),
}


def check_kernel(kernel: Any, gamma: Any, degree: Any, coef0: Any) -> None:
    """Raise a sentence for any unusable kernel parameter."""
    if not callable(kernel):
        check_choice("kernel", kernel, KERNELS)
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale", "auto"))
    else:
        check_positive("gamma", gamma)
    check_positive("degree", degree)
    if not np.isscalar(coef0) or isinstance(coef0, str) or not np.isfinite(coef0):
        raise ValueError(f"coef0={coef0!r} is not usable: give a finite number.")


def kernel_width(gamma: Any, X: Any, weight: np.ndarray) -> float:
    """gamma as a number; "scale" is 1 / (n_features * variance of X), repeated rows repeated."""
    return width_of(gamma, X.shape[1], entry_variance(X, weight) if gamma == "scale" else 0.0)


def width_of(gamma: Any, columns: int, variance: float) -> float:
    """gamma as a number, for X of so many columns and this variance."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / columns
    return 1.0 / (columns * variance) if variance > 0 else 1.0


@dataclass(frozen=True)
class KernelFunction:
    """k(X, Y) as a float64 matrix."""

    name: Any
    gamma: float
    degree: float
    coef0: float

    def __call__(self, X: Any, Y: Any) -> np.ndarray:
        if callable(self.name):
            return self._called(X, Y)
        if self.name == "precomputed":  # X is rows of the kernel matrix, Y names columns
            return np.asarray(X[:, Y], dtype=np.float64)
        if kind_of(X) is Kind.DEVICE:
            return self._there(X, Y)
        from sklearn.metrics.pairwise import pairwise_kernels  # late: it is slow to import

        values = {name: getattr(self, name) for name in _PARAMETERS[self.name]}
        X, Y = (_double(A) for A in (X, Y))
        if self.name == "rbf" and kind_of(X) is kind_of(Y) is Kind.DENSE:
            return similarity(X, Y, self.gamma)
        return np.asarray(pairwise_kernels(X, Y, metric=self.name, **values), dtype=np.float64)

    def _there(self, X: Any, Y: np.ndarray) -> Any:
        """The same for rows on a device and few rows that are not."""
        place = namespace_of(X)
        xp, Y = place.xp, np.asarray(Y, dtype=np.float64)
        if self.name == "rbf":
            return near_there(X, Y, self.gamma, place)
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
        # Some of scikit-learn's kernels know 32-bit indices only.
        parts = (A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32))
        return sp.csr_matrix(parts, shape=A.shape)
    return A


@dataclass(frozen=True)
class ChosenRows:
    """Some rows of a data set that is elsewhere, known by their places in it."""

    index: np.ndarray
    rows: Any

    def __getitem__(self, places: np.ndarray) -> Any:
        order = np.argsort(self.index)
        return self.rows[order[np.searchsorted(self.index, places, sorter=order)]]


@dataclass(frozen=True)
class KernelSource:
    """Training rows and the kernel between them; ``index`` is their place in the training set."""

    X: Any
    index: np.ndarray
    kernel: KernelFunction
    origin: np.ndarray | None = None
    """For the linear kernel: <x - origin, x_j> differs from <x, x_j> by a constant in each column,
    which the program does not see, and has all its digits where X is far from zero."""

    @classmethod
    def of(cls, X: Any, kernel: KernelFunction) -> KernelSource:
        linear = kernel.name == "linear" and kind_of(X) is Kind.DENSE
        origin = origin_of(X[some_rows(len(X))]) if linear else None
        return cls(X, np.arange(X.shape[0]), kernel, origin)

    def shift(self, alpha: np.ndarray) -> float:
        """From the line seen from the origin to the line of the kernel; alpha of all rows."""
        return 0.0 if self.origin is None else float((self.X @ self.origin) @ alpha)

    @property
    def precomputed(self) -> bool:
        return isinstance(self.kernel.name, str) and self.kernel.name == "precomputed"

    def __getitem__(self, rows: Any) -> KernelSource:
        X = self.X if self.precomputed else self.X[rows]
        return KernelSource(X, self.index[rows], self.kernel, self.origin)

    def matrix(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """A new array of the kernel between these rows and those."""
        if self.precomputed:
            chosen = np.ix_(self.index[rows], self.index[columns])
            return np.array(self.X[chosen], dtype=np.float64, order="C")
        matrix = np.empty((len(rows), len(columns)))
        Y = self.X[columns]
        for part in blocks(len(rows), len(columns), least=PARTS):
            some = self.X[rows[part]]
            matrix[part] = self.kernel(some if self.origin is None else some - self.origin, Y)
        return matrix

    def sums(self, rows: np.ndarray, columns: np.ndarray, w: np.ndarray) -> np.ndarray:
        """w.matrix(rows, columns), which is never there as a whole."""
        if self.kernel.name == "rbf" and kind_of(self.X) is Kind.DENSE:
            X, points = (np.asarray(self.X[i], dtype=np.float64) for i in (columns, rows))
            return similarity_sums(X, points, self.kernel.gamma, w)
        sums = np.empty(len(columns))
        for part in blocks(len(columns), len(rows)):
            sums[part] = w @ self.matrix(rows, columns[part])
        return sums


def blocks(rows: int, columns: int, least: int = 1) -> Iterator[slice]:
    """At least so many slices of the rows, such that a block of the kernel matrix stays small."""
    step = min(BLOCK_BYTES // (8 * max(1, columns)), -(-rows // least))
    step = max(1, step)
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))
