"""Sums over all rows at a point of a regularized problem: objective, gradient, Hessian and bound.

Both forms of ``problems.joint`` have losses phi(z) of some directions z = f.direction of the scores
f = (x, 1).rules of a row: s e_k of a separate classifier k, e_c - e_k of the joint form
(``LossStructure``); a binary problem is one separate classifier.  With u the dual weight at z, w
the weight of the row and c the cost of the direction,

    loss   sum w c phi(z)       flow  sum w c u       squares  sum w c u^2
    combined  sum w c u (x, 1)             gram  sum w c [curved] (x, 1)(x, 1)' / (hi - lo)

by direction (``gram`` by pair of opposite directions, which have the same curvature).  The factors
that make multipliers feasible are one for each direction.

Each is a sum over rows, so blocks of rows add theirs, and vectors as long as the data stay in the
namespace of the rows.

A Gram matrix costs as many products for a row as it has entries.  From step to step few rows start
or stop being curved: where the matrix of a point ``before`` is known, the difference is computed,
over those rows.  It is used for a step only: a fraction of the rows, the same at every point, gives
it as well.  Its last row, ``bend``, costs no more than a gradient and is that of all rows;
``curvature`` has the covariance of the fraction around the mean of all.  So an inexact Newton step
still leaves no flow into the intercepts, on which the dual bound depends most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from lincent.problems.arrays import Matrix, Vector
from lincent.problems.joint import feasible
from lincent.sources.array_namespace import HOST, ArrayNamespace

Codes = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class SideCosts:
    """One cost per row, as weight times the cost per weight of each class; formed when needed."""

    weight: Vector
    low: float
    high: float

    def scaled(self, scale: float) -> SideCosts:
        """Return scale times the costs."""
        return SideCosts(self.weight, self.low * scale, self.high * scale)

    def on(self, namespace: ArrayNamespace, sign: Any) -> Any:
        """Return the costs in the namespace of the signs."""
        cost = namespace.where(sign > 0, self.high) + namespace.where(sign < 0, self.low)
        return cost if self.weight.strides == (0,) else cost * namespace.send(self.weight)


@dataclass(frozen=True)
class JointPoint:
    """Classifiers, intercepts in the last row, and the fraction of rows for the Gram matrices.

    ``before`` are classifiers whose Gram matrices are known: only the difference to them is formed.
    """

    rules: Matrix
    share: float = 1.0
    before: Matrix | None = None

    def times(self, matrix: Matrix) -> JointPoint:
        """Return the point with a matrix times its classifiers."""
        before = None if self.before is None else matrix @ self.before
        return replace(self, rules=matrix @ self.rules, before=before)


@dataclass(frozen=True)
class LossStructure:
    """Losses of a multiclass problem: class, direction in the scores and cost per weight of each.

    ``edge`` numbers the pairs of opposite directions.
    """

    classes: Codes
    direction: Matrix
    cost: Vector
    edge: Codes
    low: float
    high: float
    ridge: float
    free: bool = True
    """Whether intercepts are free, or fixed at zero."""

    @classmethod
    def of_two(cls, cost: Vector, low: float, high: float, *, free: bool = True) -> LossStructure:
        """Return the structure of one classifier for two classes, with these costs per weight."""
        side = np.array([[-1.0], [1.0]])
        return cls(np.arange(2), side, cost, np.zeros(2, dtype=np.intp), low, high, 1.0, free)

    @classmethod
    def native(cls, cost: Vector, low: float, high: float) -> LossStructure:
        """Return the joint structure: the cost of a class is divided over its directions."""
        n = len(cost)
        own, other = (part.reshape(-1) for part in np.divmod(np.arange(n * n), n))
        own, other = own[own != other], other[own != other]
        direction = np.eye(n)[own] - np.eye(n)[other]
        pairs = np.minimum(own, other) * n + np.maximum(own, other)
        edge = np.unique(pairs, return_inverse=True)[1].reshape(-1)
        return cls(own, direction, cost[own] / (n - 1), edge, low, high, 2.0)

    @property
    def width(self) -> float:
        """hi - lo."""
        return self.high - self.low

    @property
    def rules(self) -> int:
        """The number of classifiers."""
        return int(self.direction.shape[1])

    @property
    def edges(self) -> Matrix:
        """The direction of each pair of opposite directions."""
        _, first = np.unique(self.edge, return_index=True)
        return np.asarray(self.direction[first])

    def factors(self, flow: Vector) -> Vector:
        """Return factors in [0, 1] on the multipliers of each direction that balance all flows."""
        if not self.free:
            return np.ones_like(flow)
        if self.rules == 1:
            return np.asarray(flow.min() / np.maximum(flow, 1e-300))
        other = np.argmin(self.direction, axis=1)
        table = np.zeros((self.rules, self.rules))
        table[self.classes, other] = flow
        return np.asarray(feasible(table)[self.classes, other])


@dataclass(frozen=True)
class JointSums:
    """The sums at a point; those of several blocks are added field by field."""

    loss: Vector
    squares: Vector
    combined: Matrix
    bend: Matrix
    gram: Matrix

    @property
    def flow(self) -> Vector:
        """The sum of w c u by direction."""
        return self.combined[:, -1]

    @property
    def curvature(self) -> Matrix:
        """The Gram matrices, with size and mean of all rows."""
        out = self.gram.copy()
        for gram, bend in zip(out, self.bend, strict=True):
            weight = float(gram[-1, -1])
            if weight > 0.0:
                gram -= np.outer(gram[-1], gram[-1] / weight)
                gram *= bend[-1] / weight
                gram += np.outer(bend, bend / bend[-1])
        return out


JointReader = Callable[[list[JointPoint]], list[JointSums]]
"""A pass over all samples that computes the sums at some points."""


def in_basis(read: JointReader, basis: Matrix) -> JointReader:
    """Return a reader of the sums over rows x @ basis, from one over the rows x."""
    whole = block_diag(basis, 1.0)  # beside the intercept

    def read_in_basis(points: list[JointPoint]) -> list[JointSums]:
        return [
            JointSums(
                at.loss, at.squares, at.combined @ whole, at.bend @ whole, whole.T @ at.gram @ whole
            )
            for at in read([at.times(whole) for at in points])
        ]

    return read_in_basis


def joint_sums(
    X: Any,
    codes: Any,
    weight: Any,
    losses: LossStructure,
    point: JointPoint,
    namespace: ArrayNamespace = HOST,
    center: Any = None,
) -> JointSums:
    """Compute the sums over the rows X, less a center, in one namespace."""
    n, count, send = int(X.shape[1]) + 1, len(losses.cost), namespace.send
    edges = int(losses.edge.max()) + 1
    loss, squares = np.zeros(count), np.zeros(count)
    combined, bend, gram = np.zeros((count, n)), np.zeros((edges, n)), np.zeros((edges, n, n))
    for code in np.unique(losses.classes):
        rows, mine = namespace.nonzero(codes == int(code)), np.flatnonzero(losses.classes == code)
        if not len(rows):
            continue
        some, ones = X[rows], namespace.empty((len(rows),))
        ones[:] = 1.0
        if center is not None:
            some -= center
        curved: Any = 0.0
        for rules in (point.rules,) if point.before is None else (point.before, point.rules):
            own = send(rules @ losses.direction[mine].T)
            short = losses.high - (some @ own[:-1] + own[-1])
            inside = (short > 0.0) & (short < losses.width)
            known, curved = curved, namespace.where(inside, 1.0)
        u = (short / losses.width).clip(0.0, 1.0)
        cost = weight[rows][:, None] * send(losses.cost[mine])
        alpha, bent, changed = cost * u, cost * curved, curved - known
        # Products with a row of ones: libraries of devices are slow to add up few long columns.
        totals = namespace.beside([alpha * (short - losses.width / 2 * u), alpha * u, alpha, bent])
        sums = namespace.fetch(ones @ totals).reshape(4, -1)
        loss[mine], squares[mine], combined[mine, -1] = sums[:3]
        combined[mine, :-1] = namespace.fetch(alpha.T @ some)
        np.add.at(bend[:, -1], losses.edge[mine], sums[3])
        np.add.at(bend[:, :-1], losses.edge[mine], namespace.fetch(bent.T @ some))
        times = 1.0
        if point.share < 1.0:
            # A fraction of the rows, at least the first, evenly spread without a period.
            taken = np.arange(len(rows)) * ((5**0.5 - 1) / 2) % 1.0 < point.share
            changed, times = changed * send(taken[:, None]), len(rows) / np.count_nonzero(taken)
        for k, edge in enumerate(losses.edge[mine]):
            inside = namespace.nonzero(changed[:, k])
            if not len(inside):
                continue
            sign, root, scaled = changed[inside, k], (times * cost[inside, k]) ** 0.5, some[inside]
            scaled *= root[:, None]
            # The product of one array with itself is half the work.
            signed = scaled if point.before is None else scaled * sign[:, None]
            gram[edge, :-1, :-1] += namespace.fetch(signed.T @ scaled)
            border = namespace.fetch((sign * root) @ scaled)
            gram[edge, -1, :-1] += border
            gram[edge, :-1, -1] += border
            gram[edge, -1, -1] += float((sign * root) @ root)
    return JointSums(loss, squares, combined, bend / losses.width, gram / losses.width)
