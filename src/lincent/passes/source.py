"""How rows are read.

A pass is the only thing that knows where X lives.  It offers four verbs, each one read of the
data, and nothing else:

    project(v)     X v          one number per row
    combine(w)     X' w         one number per column (w may have several columns)
    gram(w)        X' diag(w) X, and outer(w) = X diag(w) X', for problems that are solved whole
    take(index)    the signed rows with these indices, small enough to hold

Solvers never see a pass.  They see signed rows a_i = y_i (x_i - l) through the operator below.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lincent.programs.arrays import (
    Matrix,
    Rows,
    Vector,
)

Index = NDArray[np.intp]
GRAM_BLOCK = 256


class Pass(Protocol):
    """One way of reading X."""

    shape: tuple[int, int]
    sparse: bool

    def project(self, v: Vector) -> Vector: ...

    def combine(self, w: Vector) -> Vector: ...

    def gram(self, w: Vector) -> Matrix: ...

    def outer(self, w: Vector) -> Matrix: ...

    def take(self, index: Index, sign: Vector, center: Vector) -> Rows: ...

    def array(self) -> Matrix: ...

    def signed(self, sign: Vector) -> Any: ...

    def column_scale(self, center: Vector) -> Vector: ...


class SignedRows:
    """The rows y_i (x_i - l) of a whole data set, read through a pass and never formed."""

    def __init__(self, source: Pass, sign: Vector, center: Vector) -> None:
        self.source = source
        self.sign = sign
        self.center = center
        self.shape = source.shape
        self.sparse = source.sparse

    def dot(self, beta: Vector) -> Vector:
        projected = self.source.project(beta)
        projected -= self.center @ beta
        projected *= self.sign
        return projected

    def tdot(self, alpha: Vector) -> Vector:
        signed = alpha * self.sign
        return self.source.combine(signed) - float(signed.sum()) * self.center

    def gram(self, weight: Vector) -> Matrix:
        # sum w (x - l)(x - l)' by rank-one corrections, so that a sparse X stays sparse; block by
        # block, because with many columns the matrix is the largest thing in memory.
        u = self.source.combine(weight)
        v = u - weight.sum() * self.center
        gram = self.source.gram(weight)
        for start in range(0, len(u), GRAM_BLOCK):
            part = slice(start, start + GRAM_BLOCK)
            gram[part] -= u[part, None] * self.center
            gram[part] -= self.center[part, None] * v
        return gram

    def outer(self, weight: Vector) -> Matrix:
        # y y' * [(X - 1 l') W (X - 1 l')'], by rank-one corrections again.
        v = self.source.project(weight * self.center)
        outer = self.source.outer(weight)
        outer -= v[:, None]
        outer -= v - float(weight @ self.center**2)
        outer *= self.sign
        outer *= self.sign[:, None]
        return outer

    def take(self, index: Index) -> Rows:
        return self.source.take(index, self.sign[index], self.center)

    def materialize(self) -> Rows:
        return self if self.sparse else self.take(np.arange(self.shape[0]))

    def dense(self) -> Matrix:
        return (self.source.array() - self.center) * self.sign[:, None]

    def factors(self) -> tuple[Any, Vector, Vector]:
        return self.source.signed(self.sign), self.sign, self.center

    def column_scale(self) -> Vector:
        return self.source.column_scale(self.center)


def signed_rows(source: Any, sign: Vector, center: Vector) -> Rows:
    """The signed rows of a pass; one on rows that live elsewhere has the signs already."""
    if hasattr(source, "signed_rows"):
        rows: Rows = source.signed_rows(center)
        return rows
    return SignedRows(source, sign, center)


def class_centers(source: Any, sign: Vector, weight: Vector) -> Matrix:
    """The weighted means of the two classes, negative first: one read."""
    if hasattr(source, "class_centers"):
        centers: Matrix = source.class_centers()
        return centers
    split = np.empty((2, len(sign)))
    np.multiply(weight, sign > 0, out=split[1])
    np.subtract(weight, split[1], out=split[0])
    totals = split.sum(axis=1)
    return np.ascontiguousarray((source.combine(split.T) / totals).T)
