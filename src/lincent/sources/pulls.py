"""What all rows pull at a point of the regularized program: sums, from one read.

With z_i = a_i.beta - y_i t, u_i = clip((hi - z_i) / (hi - lo), 0, 1), alpha_i = c_i u_i, and
D_i = c_i / (hi - lo) for rows between the margins and 0 for the others (see programs.regularized),

    down, up  sum alpha_i of each class                      combined   sum alpha_i a_i
    squares  sum alpha_i u_i  beyond  sum c_i (v_i - u_i), v_i the pull before it is capped at 1
    gram  sum D_i a_i a_i'    along  sum D_i y_i a_i         curvature  sum D_i

say everything about objective, gradient, Hessian and dual bound.  Each is a sum over rows, so rows
in blocks add theirs, and nothing as long as the data leaves its place.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np

from lincent.problems.arrays import Matrix, Rows, Vector
from lincent.sources.place import Place

COMPACT_SHARE = 0.85
"""With a smaller share of rows between the margins, these are gathered for the Gram matrix."""


@dataclass(frozen=True)
class PullPoint:
    """Where to look from, and the margins."""

    beta: Vector
    t: float
    low: float
    high: float


@dataclass(frozen=True)
class Pulls:
    """The sums above."""

    down: float
    up: float
    squares: float
    beyond: float
    combined: Vector
    gram: Matrix
    along: Vector
    curvature: float

    @classmethod
    def joined(cls, parts: list[Pulls]) -> Pulls:
        """Those of several blocks."""
        sums: list[Any] = [sum(getattr(part, f.name) for part in parts) for f in fields(cls)]
        return cls(*sums)

    @classmethod
    def joined_each(cls, parts: list[list[Pulls]]) -> list[Pulls]:
        """The same for several points: one list of each block."""
        return [cls.joined(list(same)) for same in zip(*parts, strict=True)]


class PullingRows(Protocol):
    """Signed rows with signs of their own."""

    sign: Any

    place: Place

    def measure(self, beta: Vector) -> Any: ...

    def gather(self, alpha: Any) -> Vector: ...

    def gram(self, weight: Any) -> Matrix: ...

    def take(self, index: Any) -> Rows: ...


def pulls_of(rows: PullingRows, cost: Any, at: PullPoint) -> Pulls:
    """The sums over rows in one place; ``cost`` is a number, or an array there."""
    place, sign, width = rows.place, rows.sign, at.high - at.low
    v = rows.measure(at.beta)
    v *= -1.0
    v += at.high
    if at.t:
        v += at.t * sign
    v *= 1.0 / width
    v = v.clip(0.0, None)
    u = v.clip(None, 1.0)
    v -= u
    beyond = float((v * cost).sum())
    alpha = u * cost
    inside = (u > 0.0) & (u < 1.0)
    D = place.where(inside, cost) * (1.0 / width)
    return Pulls(
        down=float((alpha * (sign < 0)).sum()),
        up=float((alpha * (sign > 0)).sum()),
        squares=float((alpha * u).sum()),
        beyond=beyond,
        combined=rows.gather(alpha),
        gram=_gram(rows, inside, D),
        along=rows.gather(D * sign),
        curvature=float(D.sum()),
    )


def _gram(rows: PullingRows, inside: Any, D: Any) -> Matrix:
    if rows.place.fast_reads or rows.place.count(inside) > COMPACT_SHARE * len(inside):
        return rows.gram(D)
    index = rows.place.nonzero(inside)
    return rows.take(index).gram(np.asarray(D[index]))


@dataclass(frozen=True)
class SideCosts:
    """One cost per row, as weight times what a unit of it costs on each side; formed when asked."""

    weight: Vector
    low: float
    high: float

    def scaled(self, scale: float) -> SideCosts:
        return SideCosts(self.weight, self.low * scale, self.high * scale)

    def on(self, place: Place, sign: Any) -> Any:
        """The costs where the signs are."""
        cost = place.where(sign > 0, self.high) + place.where(sign < 0, self.low)
        return cost if self.weight.strides == (0,) else cost * place.send(self.weight)
