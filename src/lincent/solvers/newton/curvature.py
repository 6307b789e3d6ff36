"""Newton steps of the regularized problem, from its second derivative.

With D_i = c_i / (hi - lo) for active samples (between the margins) and 0 for the others,
v = sum_i D_i y_i a_i and s = sum_i D_i, the second derivative of (P) in (beta, t) is

    [ I + A' D A    -v ]
    [    -v'         s ]

and a step solves it against the gradient (g, e).  Eliminating t (if it is free and s > 0),

    H step = -(g + v e / s),    H = I + A' D A - v v' / s,    shift = (v.step - e) / s.

``Exact``      H formed and factored.  From step to step few samples become active or inactive, so
               A'DA is updated by those; with hundreds of features they are taken into the last
               factor (``ChangedFactor``), and where active samples are few the step comes from
               their products with each other (``dual``).
``Sampled``    H of a subsample, corrected by the gradients seen so far (limited-memory BFGS, Byrd
               et al. 2016): forming H costs n per entry, and this does it for few samples.
``Truncated``  H only multiplied (truncated Newton, Nocedal and Wright, chapter 7.1), for problems
               large in both directions.
``TruncatedFirst``    Truncated while its products are few beside the cost of forming H, then Exact.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

import numpy as np
from scipy.linalg import blas

from lincent.problems.arrays import Index, Matrix, Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers import cholesky
from lincent.solvers.conjugate_gradients import conjugate_gradients
from lincent.solvers.newton.dual import Dual
from lincent.solvers.newton.evaluation import Evaluation, Mask
from lincent.sources.dense import DenseRows
from lincent.sources.rows import RowsBase

# What a step may cost; measured on the shapes of ``benchmarks/regularized_times.py``.
POOR = 0.1
"""Close to the solution the last truncated step is the one that leaves more than this share of the
gradient."""
COMPACT_SHARE = 0.85
"""With a smaller share of active samples, these are gathered before they are used."""
CG_SHARE = 0.1
"""The residual that conjugate gradients may leave far from the solution."""
FIRST_SHARE = 1e-3
"""The residual of the first step, from which all others begin."""
LIGHT_SHARE = 0.15
"""Products with all samples, per feature, after which exact steps follow: 30 to 100 are enough
at 5,000 x 1,000 where features hardly depend on each other; an exact step costs more."""
CHANGED_ORDER = 300
"""From this order on samples that change are taken into the last factor,"""
CHANGED_SHARE = 0.3
"""while no more than this many, per feature, have changed since it was computed."""
BLOCK_ROWS = 2048
"""Rows of a block from which a Gram matrix is added up: no second array of all rows."""
SINGLE_ORDER = 300
"""From this order on a Hessian of single precision is factored in it: 0.4 of the time at 2,000,
if the least pivot (of a unit diagonal) is above 0.01."""


class Curvature(Protocol):
    """Where to go from a point."""

    @property
    def coarse(self) -> bool:
        """Whether samples in single precision no longer tell where to go."""

    def step(self, point: Evaluation) -> tuple[Vector, float]:
        """Return the step in beta and the one in t."""

    def learn(self, before: Evaluation, after: Evaluation, short: bool) -> None:
        """Note a step that was taken from one point to the other, cut short or not."""


def diagonal_of(program: RegularizedProgram, active: Mask) -> Vector:
    """Return D: the curvature that each sample contributes."""
    return np.where(active, program.costs / program.width, 0.0)


class SelectedColumns(DenseRows):
    """Some columns of signed rows, contiguous in memory, so that others can replace them."""

    swept = False
    sweep = RowsBase.sweep

    def __init__(self, columns: Matrix) -> None:
        """``columns`` has the columns as its rows."""
        super().__init__(columns.T)
        self.by_column = columns

    def gram(self, weight: Vector) -> Matrix:
        root, total = np.sqrt(weight), np.zeros((self.shape[1], self.shape[1]))
        for start in range(0, self.shape[0], BLOCK_ROWS):
            part = slice(start, start + BLOCK_ROWS)
            scaled = self.by_column[:, part] * root[part]
            total += scaled @ scaled.T
        return total

    def cross(self, weight: Vector, index: Index) -> Matrix:
        """Return ``gram``, of these columns with all."""
        used, array = np.flatnonzero(weight), self.by_column
        if len(used) < len(weight) / 2:
            array, weight = array.take(used, axis=1), weight[used]
        return np.asarray(array @ (array[index] * weight).T)

    def take(self, index: Index) -> SelectedColumns:
        return SelectedColumns(self.by_column.take(index, axis=1))

    def dense(self) -> Matrix:
        return np.ascontiguousarray(self.array)


class ThresholdTerm:
    """The part of the second derivative that comes from a free threshold: v and s."""

    def __init__(self, v: Vector, total: float) -> None:
        self.v, self.total = v, total
        self.active = total > 0.0

    @classmethod
    def of(cls, program: RegularizedProgram, D: Vector) -> ThresholdTerm:
        total = float(D.sum()) if program.free else 0.0
        return cls(program.rows.tdot(D * program.sign) if total > 0.0 else np.empty(0), total)

    def gradient(self, gradient: Vector, slope: float) -> Vector:
        return gradient + self.v * (slope / self.total) if self.active else gradient

    def shift(self, step: Vector, slope: float) -> float:
        return (float(self.v @ step) - slope) / self.total if self.active else 0.0


class FactoredHessian:
    """H factored.  The matrix ``gram`` = A'DA is overwritten.

    ``rough`` says that ``gram`` is of single precision, which will do for the factor as well where
    pivots allow it; ``coarse`` that it does not even tell whether H is definite.
    """

    def __init__(self, threshold: ThresholdTerm, gram: Matrix, *, rough: bool = False) -> None:
        H = np.ascontiguousarray(gram)  # BLAS changes it in place
        self.threshold = threshold
        if threshold.active and len(H):  # the upper half is all that is read of H
            blas.dsyr(-1.0 / threshold.total, threshold.v, a=H.T, lower=1, overwrite_a=1)
        H.flat[:: H.shape[0] + 1] += 1.0
        # Features of very different scales would spoil the factor: scale to unit diagonal.
        self.scale = 1.0 / np.sqrt(np.maximum(H.diagonal(), 1.0))
        H *= self.scale
        H *= self.scale[:, None]
        self.coarse = False
        rough = rough and len(H) >= SINGLE_ORDER
        if rough:
            single = cholesky.factor(H.astype(np.float32), overwrite=True)
            if single is not None and float(single.diagonal().min()) > 0.01:
                self.lower = single
                return
        # Rounding can leave H slightly indefinite: in the centering, or in a rough Gram matrix.
        self.lower, ridge = cholesky.factor_with_ridge(H, 1e-6 if rough else 1e-14)
        self.coarse = rough and ridge > 0.0

    def solve(self, gradient: Vector, slope: float) -> tuple[Vector, float]:
        """Return the step for this curvature, exact up to the precision of the factor."""
        if not gradient.size:  # samples without extent have no features left
            return gradient, self.threshold.shift(gradient, slope)
        b = self.threshold.gradient(gradient, slope)
        step = -(cholesky.solve(self.lower, b * self.scale) * self.scale)
        return step, self.threshold.shift(step, slope)

    def solve_many(self, right: Matrix, last: Vector) -> tuple[Matrix, Vector]:
        """Solve for several right sides: columns of ``right`` for beta, ``last`` for t."""
        t = self.threshold
        b = right + np.outer(t.v, last / t.total) if t.active else right
        x = cholesky.solve(self.lower, b * self.scale[:, None]) * self.scale[:, None]
        return x, (t.v @ x + last) / t.total if t.active else np.zeros(len(last))


class ChangedFactor:
    """Steps by a factored Hessian M after some samples became active or inactive (Woodbury).

    With â_i = (a_i, -y_i) (or a_i alone, where t is fixed) the second derivative in (beta, t) is

        M + U' S U,    U the rows â_i,  S = diag(+D_i for newly active, -D_i for newly inactive)

    and with Z = M^-1 U' the step is x = x0 - Z (S^-1 + U Z)^-1 U x0, x0 the step by M alone.  A
    sample costs one solve with the factor, once; a new factor costs as much as a third of n of
    them, and the matrix that it is computed from.
    """

    def __init__(self, program: RegularizedProgram, base: FactoredHessian) -> None:
        n = program.shape[1]
        self.program, self.base = program, base
        self.count = 0
        self._place = np.full(program.shape[0], -1)
        """Where each sample is among those solved for."""
        self._rows: Matrix = np.empty((0, n))
        self._turns: Vector = np.empty(0)
        self._solved: Matrix = np.empty((n, 0))
        self._shifts: Vector = np.empty(0)
        self._between: Matrix = np.empty((0, 0))

    def new(self, index: Index) -> Index:
        """Return those of the samples that would have to be solved for."""
        return index[self._place[index] < 0]

    def step(
        self, index: Index, sign: Vector, gradient: Vector, slope: float
    ) -> tuple[Vector, float]:
        """Return the step where these have changed; ``sign`` is +1 for active ones, else -1."""
        step, shift = self.base.solve(gradient, slope)
        if not index.size:
            return step, shift
        self._learn(self.new(index))
        at = self._place[index]
        small = self._between[np.ix_(at, at)]
        small.flat[:: len(at) + 1] += self.program.width / (self.program.costs[index] * sign)
        whole = np.zeros(self.count)
        whole[at] = np.linalg.solve(small, self._rows[at] @ step + self._turns[at] * shift)
        return step - self._solved @ whole, shift - float(self._shifts @ whole)

    def _learn(self, index: Index) -> None:
        """Solve for samples that have not changed before."""
        if not index.size:
            return
        rows = self.program.rows.take(index).dense()
        turns = -self.program.sign[index] if self.base.threshold.active else np.zeros(len(index))
        solved, shifts = self.base.solve_many(rows.T, turns)
        self._place[index] = self.count + np.arange(len(index))
        old, self.count = self.count, self.count + len(index)
        self._rows = np.vstack([self._rows, rows])
        self._turns = np.append(self._turns, turns)
        self._solved = np.hstack([self._solved, solved])
        self._shifts = np.append(self._shifts, shifts)
        between = np.empty((self.count, self.count))
        between[:old, :old] = self._between
        between[:, old:] = self._rows @ solved + np.outer(self._turns, shifts)
        between[old:, :old] = between[:old, old:].T
        self._between = between


class Exact:
    """Exact Newton steps."""

    def __init__(self, program: RegularizedProgram, *, rough: bool = False) -> None:
        self.program, self.rough = program, rough
        self.active: Mask | None = None
        self.gram: Matrix = np.empty((0, 0))
        self.v: Vector = np.empty(0)
        self.total = 0.0
        self.factor: FactoredHessian | None = None
        self.changed: ChangedFactor | None = None
        self.dual = Dual(program)

    def with_costs(self, program: RegularizedProgram, ratio: float) -> None:
        """Go on with the same samples at costs that are ``ratio`` times those before."""
        self.program, self.dual = program, Dual(program)
        self.gram, self.v = self.gram * ratio, self.v * ratio
        self.total *= ratio
        self.factor = self.changed = None

    def replace_columns(self, old: Exact, rows: SelectedColumns, new: Index) -> None:
        """Begin where another left off whose program had other columns at these places."""
        if old.active is None:
            return
        n, before = rows.shape[1], len(old.gram)
        self.active, self.total = old.active, old.total
        D = diagonal_of(self.program, old.active)
        self.gram = np.empty((n, n))
        self.gram[:before, :before] = old.gram
        self.gram[:, new] = cross = rows.cross(D, new)
        self.gram[new] = cross.T
        self.v = rows.tdot(D * self.program.sign)

    def at(self, active: Mask) -> tuple[Matrix, Vector, float]:
        """Return A'DA, v and s for this active set."""
        self._update(active)
        return self.gram, self.v, self.total

    def factored(self, active: Mask) -> FactoredHessian:
        """Return the factored Hessian for this active set."""
        if self._update(active) or self.factor is None:
            term = ThresholdTerm(self.v, self.total if self.program.free else 0.0)
            self.factor = FactoredHessian(term, self.gram.copy(), rough=self.rough)
            if self.program.shape[1] >= CHANGED_ORDER:
                self.changed = ChangedFactor(self.program, self.factor)
        return self.factor

    @property
    def coarse(self) -> bool:
        return self.dual.coarse or (self.factor is not None and self.factor.coarse)

    def _update(self, active: Mask) -> bool:
        """Update A'DA, v and s by the samples that changed, or compute them if those are many."""
        count = int(np.count_nonzero(active))
        if self.active is not None:
            changed = np.flatnonzero(active != self.active)
            if not changed.size:
                return False
            if changed.size < count:
                entered = active[changed]
                self._add(changed[entered], 1.0)
                self._add(changed[~entered], -1.0)
                self.active = active
                return True
        self.active = active
        program, n = self.program, self.program.shape[1]
        if count >= COMPACT_SHARE * active.size:
            D = diagonal_of(program, active)
            self.gram, self.total = program.rows.gram(D), float(D.sum())
            if program.free:
                self.v = program.rows.tdot(D * program.sign)
            return True
        self.gram, self.v, self.total = np.zeros((n, n)), np.zeros(n), 0.0
        self._add(np.flatnonzero(active), 1.0)
        return True

    def _add(self, index: Index, way: float) -> None:
        """Add samples that become active (1) or subtract those that become inactive (-1)."""
        positive = self.program.sign[index] > 0
        # By class where they are many: a class often has one cost, which a Gram matrix can use.
        for part in (index[positive], index[~positive]) if index.size > 1000 else (index,):
            if not part.size:
                continue
            rows = self.program.rows.take(part)
            weight = self.program.costs[part] / self.program.width
            gram = rows.gram(weight)
            gram *= way
            self.gram += gram
            self.total += way * float(weight.sum())
            if self.program.free:
                self.v += rows.tdot(weight * self.program.sign[part] * way)

    def step(self, point: Evaluation) -> tuple[Vector, float]:
        active, n = point.active, self.program.shape[1]
        if n >= CHANGED_ORDER:
            if self.changed is not None and self.active is not None and np.any(active):
                index = np.flatnonzero(active != self.active)
                more = len(self.changed.new(index))
                if self.changed.count + more <= CHANGED_SHARE * n:
                    sign = np.where(active[index], 1.0, -1.0)
                    return self.changed.step(index, sign, point.gradient, point.slope)
            # Products of so few with each other are less work than a matrix of the features.
            if np.count_nonzero(active) <= 0.75 * n:
                return self.dual.step(point)
        return self.factored(active).solve(point.gradient, point.slope)

    def learn(self, before: Evaluation, after: Evaluation, short: bool) -> None:
        """Do nothing: every step starts from the curvature at its own point."""


class Sampled:
    """Steps from the curvature of a subsample, corrected by the gradients seen on all samples.

    ``crowd`` is the number of features per active sample of the subsample.
    """

    coarse = False

    def __init__(self, curvature: FactoredHessian, crowd: float) -> None:
        self.H = curvature
        # The inverse curvature of few samples is too large in the mean (Wishart): shorter steps.
        crowd = min(0.5, crowd)
        self.relax = (1.0 - crowd) ** 2 / (1.0 + crowd)
        self.pairs: deque[tuple[Vector, Vector, float]] = deque(maxlen=8)

    def learn(self, before: Evaluation, after: Evaluation, short: bool) -> None:
        taken = np.append(after.beta - before.beta, after.t - before.t)
        change = np.append(after.gradient - before.gradient, after.slope - before.slope)
        product = float(taken @ change)
        if product > 0.0:
            self.pairs.append((taken, change, product))

    def step(self, point: Evaluation) -> tuple[Vector, float]:
        q = np.append(point.gradient, point.slope)
        used = []
        for taken, change, product in reversed(self.pairs):
            share = float(taken @ q) / product
            q -= share * change
            used.append(share)
        step, shift = self.H.solve(q[:-1], float(q[-1]))
        q = np.append(step, shift) * -self.relax
        for (taken, change, product), share in zip(self.pairs, reversed(used), strict=True):
            q += (share - float(change @ q) / product) * taken
        return -q[:-1], -float(q[-1])


class Truncated:
    """Truncated Newton steps: conjugate gradients, scaled by the size of the features."""

    coarse = False

    def __init__(self, program: RegularizedProgram) -> None:
        self.program = program
        self.squares = program.rows.column_scale() ** 2
        self.products = 0.0
        """Products so far, each by its share of the samples."""
        self.share = CG_SHARE
        self.limit = np.inf
        """Products after which a step is left as far as it is."""

    def step(self, point: Evaluation) -> tuple[Vector, float]:
        rows = self.program.rows
        D = diagonal_of(self.program, point.active)
        term = ThresholdTerm.of(self.program, D)
        share = float(np.count_nonzero(D)) / max(1, len(D))
        if not rows.sparse and share < COMPACT_SHARE:
            active = np.flatnonzero(D)  # the others have no part in any product
            rows, D = rows.take(active), D[active]
        else:
            share = 1.0
        diagonal = 1.0 + float(D.sum()) * self.squares
        right = -term.gradient(point.gradient, point.slope)
        # Near the solution the step is more exact, for fast final convergence.
        goal = min(self.share, float(np.sqrt(np.linalg.norm(point.gradient)))) ** 2
        goal *= float(right @ (right / diagonal))

        def multiply(x: Vector) -> Vector:
            self.products += share
            product = x + rows.tdot(D * rows.dot(x))
            return product - term.v * (float(term.v @ x) / term.total) if term.active else product

        def done(_: Vector, size: Any) -> bool:
            return bool(size <= goal or size == 0.0 or self.products > self.limit)

        x = conjugate_gradients(multiply, right, lambda r: r / diagonal, done, max_iter=200)
        return x, term.shift(x, point.slope)

    def learn(self, before: Evaluation, after: Evaluation, short: bool) -> None:
        """Do nothing: every step starts from the curvature at its own point."""


class TruncatedFirst:
    """Truncated steps while they are cheap, exact ones afterwards.

    Cheap they no longer are once their products have cost about what an exact step costs, where few
    samples are active (then the step comes from their products with each other), where one was cut
    short, or where, close to the solution, one does not bring the gradient down.
    """

    def __init__(self, program: RegularizedProgram) -> None:
        self.program, self.light = program, Truncated(program)
        self.exact = Exact(program, rough=True)
        # Of the first step 7 to 9 products are enough where features hardly depend on each other,
        # and 150 are not where they do.
        self.light.limit = 0.04 * program.shape[1]
        self.light.share = FIRST_SHARE
        self.cheap, self.close = True, False

    @property
    def coarse(self) -> bool:
        return self.exact.coarse

    def step(self, point: Evaluation) -> tuple[Vector, float]:
        if np.count_nonzero(point.active) < 0.33 * len(point.active):
            self.cheap = False
        if not self.cheap:
            return self.exact.step(point)
        step = self.light.step(point)
        if self.light.share == FIRST_SHARE:
            self.cheap = self.light.products <= self.light.limit
            self.light.share = CG_SHARE
            self.light.limit = LIGHT_SHARE * self.light.program.shape[1]
        return step

    def learn(self, before: Evaluation, after: Evaluation, short: bool) -> None:
        if not self.cheap:
            return
        self.light.products += 1  # a step reads the samples as well
        left, had = (float(np.linalg.norm(p.gradient)) for p in (after, before))
        poor = self.close and left > POOR * had
        self.cheap = not (short or poor or self.light.products > self.light.limit)
