"""Newton's method for several rules on the same rows.

Where the rules fall into few small problems, the Hessian of each is formed and factored; where few
rows of the native form bend, steps come from the pairs that do (``joint_pairs``).  Elsewhere it is
never formed: steps come from conjugate gradients, preconditioned by one matrix for each rule
of separate problems, and by their mean for all rules of the native form,

    r I + C sum_c h_kc G_c,       G_c = sum over rows of class c of (x, 1)(x, 1)',

with h the curvature that a row of class c can contribute: the Hessian, if all rows were between the
margins.  The G_c are made once for all rules and all C, so the price of one more class or one more
C is a factorization, and a product with the rows for each step of the gradients, which all rules
share.  A line search reads scores only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from lincent.problems.arrays import Matrix, Vector
from lincent.problems.joint import JointLoss, LossAtScores, MulticlassLoss
from lincent.solvers.newton.design import Design
from lincent.solvers.newton.joint_pairs import PAIRS, pair_step, work

FORMED = 600
"""Up to this many columns, of all problems together, Hessians are formed."""
CG_STEPS = 40
CG_SHARE = 0.1
"""A step is solved until this share of the gradient is left; less near the solution."""
FULL_STEP = 0.5
"""A length will do where the slope along the step, still downward, is this share of the first."""
OVER = 0.1
"""The same for a slope that is upward again."""
SHORT = 0.1
SEARCHES = 30
ROUNDING = 1e-12
LEAST_STEPS = 3
"""Taken in any case: fewer than these are no rule at all."""
DIRECT_STEPS = 25
"""After so many the way is taken again from small C.  At a large one few rows bend, and steps
zigzag between them: on 45 rows of 46 columns and C = 10,000, 200 steps end at a gap of 0.1, and 29
from small C end at the solution."""
RISE, RISES = 4.0, 6
"""C rises by this factor, so many times; the points on the way are left at RISE_LEFT."""
RISE_LEFT = 1e-3
PATIENCE = 3
"""Give up after so many steps that lower neither the objectives nor the gradients."""


@dataclass(frozen=True)
class JointSolution:
    """Rules as columns (the last row is the offset), with their certificate."""

    rules: Matrix
    objective: Vector
    bound: Vector
    iterations: int

    @property
    def relative_gap(self) -> Vector:
        gap = np.maximum(self.objective - self.bound, 0.0)
        return np.asarray(gap / np.maximum(1.0, np.abs(self.objective)))


def solve_path(
    design: Design,
    coupling: MulticlassLoss,
    scales: Sequence[float],
    tol: float,
    max_iter: int,
    *,
    certify: bool = True,
    start: Matrix | None = None,
    out_of_time: Any = None,
    least_steps: int = 0,
) -> list[JointSolution]:
    """The rules for each scale C, each started from the one before."""
    rules = coupling.curvature().shape[0]
    point = np.zeros((design.shape[1], rules)) if start is None else start
    found = []
    for scale in scales:
        walk = _Walk(design, coupling, float(scale), point)
        direct = min(max_iter, DIRECT_STEPS)
        if not walk.go(tol, direct, certify, out_of_time, least_steps) and walk.steps < max_iter:
            walk = _from_small(walk, out_of_time)
            walk.go(tol, max_iter, certify, out_of_time)
        point = walk.rules
        found.append(walk.solution(certify))
    return found


def solve_near(
    design: Design,
    solved: MulticlassLoss,
    coupling: MulticlassLoss,
    scale: float,
    rules: Matrix,
    tol: float,
    max_iter: int,
) -> Matrix:
    """The rules of problems that differ from a solved one in what rows weigh.

    ``rules`` are those of the solved one, and ``coupling`` has some sets of such rules (separate
    problems side by side, or one native form).  All begin there, and the factored Hessian of the
    solved problem preconditions the conjugate gradients of all: no further matrix is formed, and
    all problems share each product with the rows.
    """
    there = _Walk(design, solved, scale, rules)
    count = coupling.curvature().shape[0] // rules.shape[1]
    walk = _Walk(design, coupling, scale, np.tile(rules, count))
    walk.formed, walk.factors = False, there.hessian_factor()
    walk.go(tol, max_iter, False, None)
    return walk.rules


def _from_small(walk: _Walk, out_of_time: Any) -> _Walk:
    """A walk for the same C, begun at the solution for a smaller one if that is lower."""
    point = np.zeros_like(walk.rules)
    for k in range(RISES, 0, -1):
        lower = _Walk(walk.design, walk.coupling, walk.scale / RISE**k, point, walk.steps)
        lower.go(RISE_LEFT, lower.steps + DIRECT_STEPS, False, out_of_time)
        walk.steps, point = lower.steps, lower.rules
    begun = _Walk(walk.design, walk.coupling, walk.scale, point, walk.steps)
    return begun if begun.objective().sum() < walk.objective().sum() else walk


class _End(NamedTuple):
    """The end of a step: scores there, what the rows say, and the slope along the step."""

    scores: Matrix
    at: LossAtScores
    slope: Vector


class _Walk:
    """The way to the solution for one C."""

    def __init__(
        self, design: Design, coupling: MulticlassLoss, scale: float, start: Matrix, steps: int = 0
    ) -> None:
        self.design, self.coupling, self.scale = design, coupling, scale
        self.rules = start.copy()
        self.scores = design.dot(start)
        self.steps = steps
        self.short = False
        self.spent = 0.0
        """Multiplications of the last step by conjugate gradients."""
        self.factors: list[Matrix] = []
        n = self.rules.shape[1]
        self.formed = bool(coupling.blocks == n and n * len(self.rules) <= FORMED)
        self._stand(coupling.read(self.scores))

    def _stand(self, at: LossAtScores) -> None:
        """Take what the rows say at the scores."""
        self.at = at
        self.gradient = self.design.tdot(self.scale * self.at.slope)
        self.gradient[:-1] += self.coupling.ridge * self.rules[:-1]

    def objective(self) -> Vector:
        size = self.coupling.ridge / 2 * (self.rules[:-1] ** 2).sum(axis=0)
        return self._blocks(size + self.scale * self.at.loss)

    def _blocks(self, by_rule: Vector) -> Vector:
        """Sums over the rules of each independent problem."""
        alone = self.coupling.blocks == len(by_rule)
        return by_rule if alone else by_rule.sum(keepdims=True)

    def left(self, objective: Vector) -> Vector:
        """About the relative gap: |gradient|^2 / (2 r), as if the offset were at its best."""
        size = (self.gradient[:-1] ** 2).sum(axis=0) / (2 * self.coupling.ridge)
        size += np.abs(self.gradient[-1]) * np.maximum(1.0, np.abs(self.rules[-1]))
        return np.asarray(self._blocks(size) / np.maximum(1.0, np.abs(objective)))

    def go(
        self, tol: float, max_iter: int, certify: bool, out_of_time: Any, least_steps: int = 0
    ) -> bool:
        """Whether nothing more is to be done: the end is reached, or time or progress is."""
        least, still, lowest = np.inf, 0, np.inf
        while self.steps < max_iter and still < PATIENCE:
            objective = self.objective()
            left, total = float(self.left(objective).max()), float(objective.sum())
            if left <= tol and self.steps >= least_steps and (not certify or self.gap() <= tol):
                return True
            if out_of_time is not None and self.steps >= LEAST_STEPS and out_of_time():
                return True
            fell = lowest - total > ROUNDING * abs(total)
            still = 0 if fell or left < least / 2 else still + 1
            least, lowest = min(least, left), min(lowest, total)
            self._step()
            self.steps += 1
        return still >= PATIENCE

    def gap(self) -> float:
        return float(self.solution(True).relative_gap.max())

    def solution(self, certify: bool) -> JointSolution:
        objective = self.objective()
        bound = np.full_like(objective, np.nan)
        if certify:
            bound = self.coupling.bound(
                self.at.dual_weight, self.scale, lambda amounts: self.design.tdot(amounts)[:-1]
            )
        return JointSolution(self.rules, objective, bound, self.steps)

    def _step(self) -> None:
        if self.short:
            # The last step was cut short, the curvature misled: that of all rows does not.
            move = self._precondition(-self.gradient)
        elif self.formed:
            move = self._newton()
        else:
            exact = self._by_pairs()
            move = self._conjugate_gradients() if exact is None else exact
        length, end = self._length(move, self.design.dot(move))
        self.short = not self.short and bool(np.any(length < SHORT))
        self.rules += length * move
        self.scores = end.scores
        self._stand(end.at)

    # The direction.

    def _newton(self) -> Matrix:
        """Each rule by itself, its Hessian formed."""
        move = np.empty_like(self.rules)
        for k, factor in enumerate(self._hessians()):
            move[:, k] = _solved(factor, -self.gradient[:, k])
        return move

    def _hessians(self) -> Iterator[Matrix]:
        """The factored Hessian of each rule by itself."""
        for k, bent in enumerate(self.coupling.hessian_diagonal(self.at).T):
            hessian = self.design.gram_by_changes(bent, k) * self.design.light.dtype.type(
                self.scale
            )
            yield _factored(hessian, self.coupling.ridge)

    def hessian_factor(self) -> list[Matrix]:
        """One factor by which problems near this one are preconditioned."""
        if self.coupling.blocks == 1 and self.rules.shape[1] > 1:
            return self._curvature_factors()
        return list(self._hessians())

    def _by_pairs(self) -> Matrix | None:
        """The native form where few pairs bend, and gradients have taken longer than this will."""
        if not isinstance(self.coupling, JointLoss) or not self.spent:
            return None
        curved = self.scale * self.coupling.pair_curvature(self.at).astype(np.float64)
        pairs = int(np.count_nonzero(curved))
        if pairs > PAIRS or work(pairs) > self.spent:
            return None
        ridge, codes = self.coupling.ridge, self.coupling.codes
        return pair_step(self.design.light, codes, curved, ridge, -self.gradient)

    def _conjugate_gradients(self) -> Matrix:
        x = np.zeros_like(self.rules)
        residual = -self.gradient
        scaled = self._precondition(residual)
        direction = scaled
        size = self._inner(residual, scaled)
        first = size
        enough = first * min(CG_SHARE, float(np.sqrt(self.left(self.objective()).max()))) ** 2
        for step in range(1, CG_STEPS + 1):
            self.spent = step * 3.0 * self.scores.size * len(self.rules)
            product = self._hessian(direction)
            length = size / np.maximum(self._inner(direction, product), 1e-300)
            x += length * direction
            residual = residual - length * product
            scaled = self._precondition(residual)
            previous, size = size, self._inner(residual, scaled)
            if np.all(size <= enough):
                break
            direction = scaled + size / np.maximum(previous, 1e-300) * direction
        return x

    def _inner(self, a: Matrix, b: Matrix) -> Vector:
        return self._blocks(np.einsum("ij,ij->j", a, b))

    def _hessian(self, direction: Matrix) -> Matrix:
        bent = self.coupling.hessian_product(self.at, self.design.light_dot(direction))
        out = self.design.light_tdot(self.scale * bent)
        out[:-1] += self.coupling.ridge * direction[:-1]
        return out

    def _precondition(self, residual: Matrix) -> Matrix:
        if not self.factors:
            self.factors = self._curvature_factors()
        if len(self.factors) == 1:
            return _solved(self.factors[0], residual)
        columns = [_solved(f, residual[:, k]) for k, f in enumerate(self.factors)]
        return np.stack(columns, axis=1)

    def _curvature_factors(self) -> list[Matrix]:
        """Of the Hessian if all rows were between the margins.

        One for all rules of the native form, solved for all at once: on ten classes a fifth more
        steps than with one for each, in half the time.
        """
        grams, kind, weights = self.design.grams, self.design.light.dtype, self.coupling.curvature()
        if self.coupling.blocks == 1:
            weights = weights.mean(axis=0, keepdims=True)
        sums = (np.tensordot((self.scale * row).astype(kind), grams, axes=1) for row in weights)
        return [_factored(matrix, self.coupling.ridge) for matrix in sums]

    # How far to go.

    def _length(self, move: Matrix, change: Matrix) -> tuple[Vector, _End]:
        """For each block a length at which the slope along the step has all but vanished."""
        start = self._inner(self.gradient, move)
        length = np.ones_like(start)
        end = self._end(length, move, change)
        low, low_slope = np.zeros_like(start), start
        high, high_slope = np.full_like(start, np.inf), np.full_like(start, np.inf)
        for _ in range(SEARCHES):
            slope = end.slope
            done = (slope >= FULL_STEP * start) & (slope <= -OVER * start)
            if np.all(done):
                break
            ahead = slope < 0
            low, low_slope = np.where(ahead, length, low), np.where(ahead, slope, low_slope)
            high = np.where(ahead, high, length)
            high_slope = np.where(ahead, high_slope, slope)
            with np.errstate(invalid="ignore", divide="ignore"):
                share = np.clip(low_slope / (low_slope - high_slope), 0.1, 0.9)
                inner = low + share * (high - low)
            length = np.where(done, length, np.where(np.isinf(high), 2 * length, inner))
            end = self._end(length, move, change)
        return length, end

    def _end(self, length: Vector, move: Matrix, change: Matrix) -> _End:
        """Where a step of this length leads."""
        scores = self.scores + (length * change).astype(change.dtype)
        at = self.coupling.read(scores)
        by_rule = self.scale * np.einsum("ij,ij->j", at.slope, change, dtype=np.float64)
        here = self.rules[:-1] + length * move[:-1]
        by_rule += self.coupling.ridge * np.einsum("ij,ij->j", here, move[:-1])
        return _End(scores, at, self._blocks(by_rule))


def _factored(matrix: Matrix, ridge: float) -> Matrix:
    """The Cholesky factor with ``ridge`` on the diagonal but for the offset; matrix is used up."""
    n = len(matrix)
    matrix.flat[: n * (n - 1) : n + 1] += ridge
    single = matrix.dtype == np.float32
    factor, more = (lapack.spotrf, 1e-6) if single else (lapack.dpotrf, 1e-13)
    found, failed = factor(matrix.T, lower=1, clean=0)  # columns first, as LAPACK has them: no copy
    while failed:
        # Rounding, or an offset on which no row depends, leaves the matrix not quite definite.
        matrix.flat[:: n + 1] += more * float(matrix.diagonal().max())
        found, failed = factor(matrix.T, lower=1, clean=0)
        more *= 10
    return np.asarray(found)


def _solved(factor: Matrix, b: Vector) -> Vector:
    solve = lapack.spotrs if factor.dtype == np.float32 else lapack.dpotrs
    return np.asarray(solve(factor, b.astype(factor.dtype), lower=1)[0], dtype=np.float64)
