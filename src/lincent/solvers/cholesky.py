"""Cholesky factorization of symmetric positive (semi)definite matrices.

The matrices of interior-point and Newton steps have entries of very different sizes and are often
singular up to rounding.  Two measures make their factorization safe (Nocedal and Wright, *Numerical
Optimization*, 2006, chapters 3.4 and 16):

    scaling    D M D with D = diag(M)^(-1/2) has a unit diagonal, so that a ridge of rounding size
               means the same in every variable;
    ridge      D M D + r I is factored, with r growing from attempt to attempt.

``PositiveDefinite`` removes the effect of the ridge again: conjugate gradients on M itself with the
factor as preconditioner.  Where M is well conditioned the first solution stands after one residual,
and each direction that the ridge has damped costs one more iteration.  ``BlockedCholesky`` factors
large matrices in place, in blocks small enough that signals and deadlines are seen in between.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import blas, lapack

from lincent.problems.arrays import Matrix, Vector
from lincent.solvers.conjugate_gradients import conjugate_gradients

TILE = 512
"""Columns factored at a time: BLAS is at full speed from about 256 on."""
DEPTH = 4096
"""Columns of the factor in one product: 20,000 x 512 x 4,096 takes about half a second."""


Product = Callable[[Vector], Vector] | None


class NotPositiveDefiniteError(ArithmeticError):
    """The matrix, ridge included, has a pivot that is not positive."""


def factor(matrix: Matrix, *, overwrite: bool = False) -> Matrix | None:
    """Return the factor of a symmetric matrix in its own precision, or None if there is none.

    The upper half of ``matrix`` (stored by rows) is read; its transpose is in the order of LAPACK,
    so that no copy is needed where it may be overwritten.
    """
    potrf = lapack.spotrf if matrix.dtype == np.float32 else lapack.dpotrf
    lower, failed = potrf(matrix.T, lower=1, clean=0, overwrite_a=int(overwrite))
    return None if failed else np.asarray(lower)


def factor_with_ridge(matrix: Matrix, first: float) -> tuple[Matrix, float]:
    """Return the factor of ``matrix`` and the ridge that it took, which is added to ``matrix``.

    The ridge, relative to the largest diagonal entry, is zero if that suffices, else ``first`` and
    ten times as much at each further attempt.
    """
    ridge = 0.0
    lower = factor(matrix)
    while lower is None:
        larger = max(10 * ridge, first)
        largest = float(matrix.diagonal().max())
        if not largest < np.inf:
            raise NotPositiveDefiniteError("the diagonal is not finite")
        matrix.flat[:: len(matrix) + 1] += (larger - ridge) * largest
        ridge = larger
        lower = factor(matrix)
    return lower, ridge


def solve(lower: Matrix, b: Vector) -> Vector:
    """Return x with L L' x = b in double precision; b may have several columns."""
    single = lower.dtype == np.float32
    potrs = lapack.spotrs if single else lapack.dpotrs
    x = potrs(lower, b.astype(np.float32) if single else b, lower=1)[0]
    return np.asarray(x, dtype=np.float64)


class PositiveDefinite:
    """A factored matrix, solved for as many right-hand sides as needed, with refinement.

    A row and column of zeros is a variable on which nothing depends: it solves to zero.  With
    ``full`` such a matrix is refused.  ``exact`` is the relative residual that is asked for.  Where
    ``matrix`` has the digits of single precision alone, its factor is in single precision as well,
    and ``multiply`` is the product with the matrix that is meant.
    """

    def __init__(
        self, matrix: Matrix, *, full: bool = False, exact: float = 1e-14, multiply: Product = None
    ) -> None:
        self._multiply, self.exact, self.products = multiply or matrix.__matmul__, exact, 0
        diagonal = matrix.diagonal()
        if not np.all(np.isfinite(diagonal)) or np.any(diagonal <= 0):
            if full or not np.all(np.isfinite(diagonal)):
                raise NotPositiveDefiniteError("the diagonal is not positive")
            diagonal = np.where(diagonal > 0, diagonal, 1.0)
        self.scale = 1.0 / np.sqrt(diagonal)
        # Above rounding, below what refinement cannot undo.
        # With more the factor says nothing of the matrix.
        for ridge in (1e-6, 1e-5, 1e-4) if multiply else (1e-12, 1e-9, 1e-6):
            scaled: Matrix = np.empty_like(matrix, np.float32 if multiply else np.float64)
            np.multiply(matrix, self.scale, out=scaled, casting="same_kind")
            scaled *= self.scale[:, None]
            scaled.flat[:: len(self.scale) + 1] = 1.0 + ridge
            lower = factor(scaled, overwrite=True)
            if lower is not None:
                self.lower = lower
                return
        raise NotPositiveDefiniteError("the matrix is not positive semidefinite")

    def solve(self, b: Vector) -> Vector:
        """Return x with matrix @ x = b; b may have several columns."""
        if b.ndim == 2:
            return np.stack([self.solve(column) for column in b.T], axis=1)
        x = self._solve_scaled(b)
        residual = b - self.multiply(x)
        small, large = residual * self.scale, b * self.scale
        if small @ small <= self.exact**2 * (large @ large):
            return x
        goal = self.exact**2 * abs(float(b @ x))
        # Collinear columns take one iteration each; a dozen are seldom needed.
        return conjugate_gradients(
            self.multiply,
            residual,
            self._solve_scaled,
            lambda _, size: not size > goal,
            max_iter=12,
            x=x,
        )

    def multiply(self, x: Vector) -> Vector:
        """Return the product with the matrix that is meant, and count it."""
        self.products += 1
        return self._multiply(x)

    def _solve_scaled(self, b: Vector) -> Vector:
        return self.scale * solve(self.lower, b * self.scale)


class BlockedCholesky:
    """The factor of a large matrix, scaled to unit diagonal, plus ``ridge``.

    Only the lower half of ``matrix`` is read, and all of it is overwritten.  One LAPACK call on a
    matrix of order 20,000 takes a minute that nothing can interrupt; here each call works on at
    most ``TILE`` columns and ``DEPTH`` columns of the factor so far, well below a second.
    """

    def __init__(self, matrix: Matrix, ridge: float) -> None:
        n = len(matrix)
        diagonal = matrix.diagonal().copy()
        diagonal[diagonal <= 0] = 1.0  # nothing depends on such a variable: it solves to zero
        self.scale = 1.0 / np.sqrt(diagonal)
        for start in range(0, n, TILE):
            block = slice(start, start + TILE)
            matrix[block] *= self.scale[block, None]
            matrix[block] *= self.scale
        matrix.flat[:: n + 1] = 1.0 + ridge
        self.upper: Matrix = matrix.T
        for start in range(0, n, TILE):
            stop = min(start + TILE, n)
            for left in range(0, start, DEPTH):
                right = min(left + DEPTH, start)
                matrix[start:, start:stop] -= (
                    matrix[start:, left:right] @ matrix[start:stop, left:right].T
                )
            corner, failed = lapack.dpotrf(matrix[start:stop, start:stop], lower=1)
            if failed:
                raise NotPositiveDefiniteError("the matrix is not positive definite")
            matrix[start:stop, start:stop] = corner
            if stop < n:
                below = blas.dtrsm(1.0, corner, matrix[stop:, start:stop].T, lower=1)
                matrix[stop:, start:stop] = below.T

    def solve(self, b: Vector | Matrix) -> Matrix:
        """Return x with (matrix + ridge) x = b; several columns are solved a tile at a time."""
        scale = self.scale if b.ndim == 1 else self.scale[:, None]
        x = np.multiply(b, scale, order="F")
        if b.ndim == 1:
            return np.asarray(lapack.dpotrs(self.upper, x, lower=0)[0] * scale)
        for start in range(0, x.shape[1], TILE):
            block = slice(start, start + TILE)
            x[:, block] = lapack.dpotrs(self.upper, x[:, block], lower=0, overwrite_b=1)[0]
        x *= scale
        return x
