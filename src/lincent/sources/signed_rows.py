"""The signed rows y_i (x_i - l) of a whole data set: never formed, wherever X lives.

Every product is one with X and a correction of rank one, so a sparse X stays sparse and rows on a
device or a cluster stay there.  Signs, and vectors that come from products, live with the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lincent.problems.arrays import AllRows, Index, Matrix, Rows, Vector, Weigh
from lincent.sources.corrected import Corrected
from lincent.sources.place import HERE
from lincent.sources.protocol import Sample, Source
from lincent.sources.pulls import PullPoint, Pulls
from lincent.sources.rows import RowsBase

GRAM_BLOCK = 256
"""Rows of a Gram matrix that are corrected at a time: with many columns it fills the memory."""


class SignedRows(RowsBase):
    """Rows of a source with a sign each, around a center."""

    def __init__(self, source: Source, sign: Any, center: Vector) -> None:
        self.source, self.sign, self.center = source, sign, center
        self.shape, self.sparse, self.place = source.shape, source.sparse, source.place
        self.far = source.far or source.place is not HERE
        self.swept = source.swept

    @property
    def entries(self) -> int:
        return self.source.entries

    def measure(self, beta: Vector) -> Any:
        projected = self.source.measure(beta)
        projected -= float(self.center @ beta)
        projected *= self.sign
        return projected

    def sizes_there(self, ruler: Matrix) -> Any:
        return self.source.sizes(ruler, self.center)

    def gather(self, alpha: Any) -> Vector:
        signed = alpha * self.sign
        return self.source.gather(signed) - float(signed.sum()) * self.center

    def dot(self, beta: Vector) -> Vector:
        return np.asarray(self.place.fetch(self.measure(beta)))

    def tdot(self, alpha: Vector) -> Vector:
        return self.gather(self.place.send(alpha))

    def sweep(self, beta: Vector, weigh: Weigh) -> tuple[Vector, Vector]:
        return self.source.sweep(self.sign, self.center, beta, weigh)

    def gram(self, weight: Vector) -> Matrix:
        # sum w (x - l)(x - l)' = X'WX - u l' - l (u - w l)', block by block.
        u = self.source.combine(weight)
        v = u - float(weight.sum()) * self.center
        gram = self.source.gram(weight)
        for start in range(0, len(u), GRAM_BLOCK):
            part = slice(start, start + GRAM_BLOCK)
            gram[part] -= u[part, None] * self.center
            gram[part] -= self.center[part, None] * v
        return gram

    def outer(self, weight: Vector) -> Matrix:
        # y y' * [(X - 1 l') W (X - 1 l')'], by rank-one corrections again.
        v = self.source.project(weight * self.center)
        sign = self._sign_here()
        outer = self.source.outer(weight)
        outer -= v[:, None]
        outer -= v - float(weight @ self.center**2)
        outer *= sign
        outer *= sign[:, None]
        return outer

    def take(self, index: Index) -> Rows:
        return self.source.take(index, self.sign, self.center)

    def columns(self, index: Index) -> Rows:
        return self.source.columns(index, self._sign_here(), self.center)

    def single(self, index: Index | None) -> Rows | None:
        return self.source.single(index, self.sign, self.center)

    def materialize(self) -> Rows:
        return self if self.sparse else self.source.take_all(self.sign, self.center)

    def dense(self) -> Matrix:
        return (self.source.array() - self.center) * self._sign_here()[:, None]

    def factors(self) -> tuple[Any, Vector, Vector]:
        sign = self._sign_here()
        return self.source.signed(sign), sign, self.center

    def corrected(self) -> Corrected:
        return self.source.corrected(*self.factors())

    def column_scale(self) -> Vector:
        return self.source.column_scale(self.center)

    def all_rows(self, costs: Any, margin: float) -> AllRows:
        return self.source.all_rows(self, costs, margin)

    def pulls(self, costs: Any, points: Sequence[PullPoint]) -> list[Pulls]:
        """What all rows pull at some points of the regularized program: one read for all."""
        return self.source.pulls(self, costs, points)

    def draw(self, costs: Any, k: int, rng: np.random.Generator) -> Sample:
        """About k rows with their signs, and costs that let them stand for all."""
        return self.source.draw(self, costs, k, rng)

    def _sign_here(self) -> Vector:
        return np.asarray(self.place.fetch(self.sign))
