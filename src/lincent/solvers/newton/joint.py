"""Newton's method for several linear classifiers on the same samples (``problems.joint``).

The loss is curved by c_i where a sample is active and not at all otherwise, so the Hessian of one
classifier,

    G(h) = sum_i h_i (x_i, 1)(x_i, 1)',        h_i in {0, c_i},

changes from one step to the next, and from one C to the next, only by the samples whose h_i
changes: ``Design`` keeps the last matrix of each classifier and updates it.

Where the classifiers are few small separate problems, these Hessians are formed and factored; where
few samples of the joint (multiclass) problem are active, steps come from those
(``active_pair_step``).  Otherwise the Hessian is never formed: steps come from conjugate gradients,
preconditioned by one matrix for each separate problem, and by their mean for the joint one,

    r I + C sum_c h_kc G_c,       G_c = sum over samples of class c of (x, 1)(x, 1)',

with h the curvature that a sample of class c can contribute: the Hessian, if all samples were
active.  The G_c are computed once for all classifiers and all C, so one more class or C costs a
factorization, and all classifiers share each product with the samples.  A line search reads scores
only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from lincent.problems.arrays import Matrix, Vector
from lincent.problems.joint import JointLoss, LossAtScores, MulticlassLoss, SeparateLoss
from lincent.solvers import cholesky
from lincent.solvers.bounds import Bounds
from lincent.solvers.conjugate_gradients import conjugate_gradients
from lincent.solvers.line_search import Bracket
from lincent.solvers.newton.descent import newton_loop, run
from lincent.solvers.solution import Controls, Status

FORMED = 600
"""Up to this many columns, of all problems together, Hessians are formed."""
PAIRS = 2500
"""Up to so many active pairs of sample and class their matrix, of 50 MB, is formed."""
DIRECT_STEPS = 25
"""After so many steps C rises from a small one.  At a large C few samples are active, and steps
zigzag between them: on 500 samples of 300 features in five classes and C = 10,000, 200 steps end at
a gap of 3, and 95 from small C end at the solution."""


class Span:
    """Samples in an orthonormal basis of their span, where they are fewer than their features.

    X' = QR, so that X w = R' (Q'w) for weights w = Q v of the features, and |w| = |v|.
    """

    def __init__(self, features: Matrix, *, rotate: bool = True) -> None:
        self.rows, self.basis = features, None
        if rotate and features.shape[1] > features.shape[0]:
            self.basis, rotated = np.linalg.qr(features.T)
            self.rows = np.ascontiguousarray(rotated.T)

    def lift(self, v: Matrix) -> Matrix:
        """Return weights of the features from weights of the coordinates."""
        return v if self.basis is None else self.basis @ v

    def inner(self, rules: Matrix) -> Matrix:
        """Return coefficients of the features as those of the rows; the last is the intercept."""
        if self.basis is None:
            return rules
        return np.concatenate([self.basis.T @ rules[:-1], rules[-1:]])

    def outer(self, rules: Matrix) -> Matrix:
        """Return coefficients of the rows as those of the features."""
        return np.concatenate([self.lift(rules[:-1]), rules[-1:]])


class Design:
    """Samples with a column of ones, in the precision of ``X``, and of ``light`` for directions.

    Gram matrices give directions only (points have their own gradients), so rounding that updates
    leave behind costs, at worst, a step, and they may be of single precision.
    """

    def __init__(
        self, X: Matrix, codes: np.ndarray, weight: Vector, light: Matrix | None = None
    ) -> None:
        self.X, self.light = X, X if light is None else light
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1] + 1)
        self._codes, self._weight = codes, weight
        self._last: dict[int, tuple[Vector, Matrix]] = {}
        self.rows_read = 0
        """Samples that went into Gram matrices so far, each as often as it did."""

    def dot(self, rules: Matrix) -> Matrix:
        return _dot(self.X, rules)

    def tdot(self, amounts: Matrix) -> Matrix:
        return _tdot(self.X, amounts)

    @np.errstate(invalid="ignore")
    def gram(self, weight: Vector) -> Matrix:
        """Return the sum of weight (x, 1)(x, 1)' over the samples where it is not zero."""
        index = np.flatnonzero(weight)
        self.rows_read += len(index)
        total = np.zeros((self.shape[1], self.shape[1]), dtype=self.light.dtype)
        for start in range(0, len(index), 1024):  # no second array of the size of the features
            some = index[start : start + 1024]
            root = np.sqrt(weight[some]).astype(self.light.dtype)[:, None]
            scaled = np.empty((len(some), self.shape[1]), dtype=self.light.dtype)
            np.multiply(self.light[some], root, out=scaled[:, :-1])
            scaled[:, -1:] = root
            total += scaled.T @ scaled
        return total

    def gram_by_changes(self, weight: Vector, rule: int = 0) -> Matrix:
        """Return ``gram(weight)``, updated from the last one of this classifier.

        It stays with the design: whoever changes it takes a copy.
        """
        before, total = self._last.get(rule, (None, None))
        change = weight if before is None else weight - before
        # An update by most of the samples would be as much work as a new matrix.
        if total is None or np.count_nonzero(change) >= 0.8 * np.count_nonzero(weight):
            total = self.gram(weight)
        else:
            total += self.gram(np.maximum(change, 0.0))
            total -= self.gram(np.maximum(-change, 0.0))
        self._last[rule] = weight.copy(), total
        return total

    def scaled(self, factors: Vector) -> Design:
        """Return the same samples with each column times a factor, last Gram matrices included."""
        out = Design(self.X * factors.astype(self.X.dtype), self._codes, self._weight)
        every = np.append(factors, 1.0).astype(self.X.dtype)
        for rule, (weight, total) in self._last.items():
            out._last[rule] = weight, total * every * every[:, None]
        return out

    @cached_property
    def grams(self) -> Matrix:
        """The sums over the samples of each class."""
        weights = [self._weight * (self._codes == k) for k in range(int(self._codes.max()) + 1)]
        return np.stack([self.gram(weight) for weight in weights])


# OpenBLAS can set the "invalid" flag in products of finite arrays (numpy issue 24067); a value that
# is not finite is noticed in the objective.
@np.errstate(invalid="ignore")
def _dot(X: Matrix, rules: Matrix) -> Matrix:
    scores: Matrix = X @ rules[:-1].astype(X.dtype, copy=False)
    scores += rules[-1].astype(X.dtype)
    return scores


@np.errstate(invalid="ignore")
def _tdot(X: Matrix, amounts: Matrix) -> Matrix:
    out = np.empty((X.shape[1] + 1, amounts.shape[1]))
    out[:-1] = X.T @ amounts
    out[-1] = amounts.sum(axis=0, dtype=np.float64)
    return out


@dataclass(frozen=True)
class JointSolution:
    """Classifiers as columns (the last row is the offset), with their certificate."""

    rules: Matrix
    objective: Vector
    bound: Vector
    iterations: int

    @property
    def relative_gap(self) -> Vector:
        """The relative gap of each problem, as ``centralization.relative_gap``."""
        gap = np.maximum(self.objective - self.bound, 0.0)
        return np.asarray(gap / np.maximum(1.0, np.abs(self.objective)))


def solve_path(
    design: Design,
    loss: MulticlassLoss,
    scales: Sequence[float],
    tol: float,
    max_iter: int,
    *,
    certify: bool = True,
    start: Matrix | None = None,
    out_of_time: Callable[[], bool] | None = None,
    least_steps: int = 0,
) -> list[JointSolution]:
    """Return the classifiers for each scale C, each started from the one before."""
    point = np.zeros((design.shape[1], loss.curvature().shape[0])) if start is None else start
    solutions = []
    for scale in scales:
        walk = _Walk(design, loss, float(scale), point)
        direct = min(max_iter, DIRECT_STEPS)
        if not walk.go(tol, direct, certify, out_of_time, least_steps) and walk.steps < max_iter:
            walk = _from_small(walk, out_of_time)
            walk.go(tol, max_iter, certify, out_of_time)
        point = walk.rules
        solutions.append(walk.solution(certify))
    return solutions


def solve_near(
    design: Design,
    solved: MulticlassLoss,
    loss: MulticlassLoss,
    scale: float,
    rules: Matrix,
    tol: float,
    max_iter: int,
) -> Matrix:
    """Return the classifiers of problems that differ from a solved one in sample weights.

    ``rules`` are those of the solved one, and ``loss`` has some sets of such classifiers (separate
    problems in lockstep, or one joint problem).  All begin there, and the factored Hessian of the
    solved problem preconditions the conjugate gradients of all.
    """
    base = _Walk(design, solved, scale, rules)
    count = loss.curvature().shape[0] // rules.shape[1]
    walk = _Walk(design, loss, scale, np.tile(rules, count))
    walk.formed = False
    one_factor = solved.blocks == 1 and rules.shape[1] > 1
    walk.factors = base.mean_factors() if one_factor else list(base.hessians())
    walk.go(tol, max_iter, False, None)
    return walk.rules


def _from_small(walk: _Walk, out_of_time: Callable[[], bool] | None) -> _Walk:
    """Return a walk for the same C, begun at the solution for a smaller one if that is lower."""
    point = np.zeros_like(walk.rules)
    for k in range(6, 0, -1):
        lower = _Walk(walk.design, walk.loss, walk.scale / 4.0**k, point, walk.steps)
        lower.go(1e-3, lower.steps + DIRECT_STEPS, False, out_of_time)
        walk.steps, point = lower.steps, lower.rules
    begun = _Walk(walk.design, walk.loss, walk.scale, point, walk.steps)
    return begun if begun.objective().sum() < walk.objective().sum() else walk


class _End(NamedTuple):
    """The end of a step: scores there, what the samples say, and the slope along the step."""

    scores: Matrix
    at: LossAtScores
    slope: Vector


class _Walk:
    """The way to the solution for one C.

    It ends by gradients, and several problems (blocks) go on in lockstep, whence a loop of its own
    beside ``newton_loop``: a dual bound costs as much as a step here.
    """

    def __init__(
        self, design: Design, loss: MulticlassLoss, scale: float, start: Matrix, steps: int = 0
    ) -> None:
        self.design, self.loss, self.scale = design, loss, scale
        self.rules = start.copy()
        self.scores = design.dot(start)
        self.steps = steps
        self.spent = 0.0
        """Multiplications of the last step by conjugate gradients."""
        self.factors: list[Matrix] = []
        n = self.rules.shape[1]
        self.formed = bool(loss.blocks == n and n * len(self.rules) <= FORMED)
        self._take(loss.read(self.scores))

    def _take(self, at: LossAtScores) -> None:
        """Take what the samples say at the scores."""
        self.at = at
        self.gradient = self.design.tdot(self.scale * self.at.slope)
        self.gradient[:-1] += self.loss.ridge * self.rules[:-1]

    def objective(self) -> Vector:
        size = self.loss.ridge / 2 * (self.rules[:-1] ** 2).sum(axis=0)
        return self._blocks(size + self.scale * self.at.loss)

    def _blocks(self, by_rule: Vector) -> Vector:
        """Return sums over the classifiers of each independent problem."""
        alone = self.loss.blocks == len(by_rule)
        return by_rule if alone else by_rule.sum(keepdims=True)

    def _inner(self, a: Matrix, b: Matrix) -> Vector:
        return self._blocks(np.einsum("ij,ij->j", a, b))

    def left(self, objective: Vector) -> Vector:
        """Return about the relative gap: |gradient|^2 / (2 r), as if at the best offset."""
        size = (self.gradient[:-1] ** 2).sum(axis=0) / (2 * self.loss.ridge)
        size += np.abs(self.gradient[-1]) * np.maximum(1.0, np.abs(self.rules[-1]))
        return np.asarray(self._blocks(size) / np.maximum(1.0, np.abs(objective)))

    def go(
        self,
        tol: float,
        max_iter: int,
        certify: bool,
        out_of_time: Callable[[], bool] | None,
        least_steps: int = 0,
    ) -> bool:
        """Take steps; return whether nothing more is to be done: solved, late, or stalled."""
        least, since, lowest = np.inf, 0, np.inf
        while self.steps < max_iter and since < 3:
            objective = self.objective()
            left, total = float(self.left(objective).max()), float(objective.sum())
            small = left <= tol and self.steps >= least_steps
            if small and (not certify or self.solution(True).relative_gap.max() <= tol):
                return True
            # Fewer than three steps are no classifier at all.
            if out_of_time is not None and self.steps >= 3 and out_of_time():
                return True
            fell = lowest - total > 1e-12 * abs(total)
            since = 0 if fell or left < least / 2 else since + 1
            least, lowest = min(least, left), min(lowest, total)
            self._step()
            self.steps += 1
        return since >= 3

    def solution(self, certify: bool) -> JointSolution:
        objective = self.objective()
        bound = np.full_like(objective, np.nan)
        if certify:
            bound = self.loss.bound(
                self.at.dual_weight, self.scale, lambda amounts: self.design.tdot(amounts)[:-1]
            )
        return JointSolution(self.rules, objective, bound, self.steps)

    def _step(self) -> None:
        if self.formed:
            factors = enumerate(self.hessians())
            columns = [cholesky.solve(factor, -self.gradient[:, k]) for k, factor in factors]
            move = np.stack(columns, axis=1)
        else:
            exact = self._by_pairs()
            move = self._conjugate_gradients() if exact is None else exact
        length, end = self._length(move, self.design.dot(move))
        self.rules += length * move
        self.scores = end.scores
        self._take(end.at)

    def hessians(self) -> Iterator[Matrix]:
        """Yield the factored Hessian of each classifier by itself."""
        scale = self.design.light.dtype.type(self.scale)
        for k, curved in enumerate(self.loss.hessian_diagonal(self.at).T):
            yield _factored(self.design.gram_by_changes(curved, k) * scale, self.loss.ridge)

    def mean_factors(self) -> list[Matrix]:
        """Return the factored Hessian if all samples were active.

        One for all classifiers of the joint problem, solved for all at once: on ten classes a fifth
        more steps than with one for each, in half the time.
        """
        grams, dtype, weights = self.design.grams, self.design.light.dtype, self.loss.curvature()
        if self.loss.blocks == 1:
            weights = weights.mean(axis=0, keepdims=True)
        sums = (np.tensordot((self.scale * row).astype(dtype), grams, axes=1) for row in weights)
        return [_factored(matrix, self.loss.ridge) for matrix in sums]

    def _by_pairs(self) -> Matrix | None:
        """Return the step from active pairs, if gradients have taken longer than this will."""
        if not isinstance(self.loss, JointLoss) or not self.spent:
            return None
        curved = self.scale * self.loss.pair_curvature(self.at).astype(np.float64)
        pairs = int(np.count_nonzero(curved))
        if pairs > PAIRS or _pair_work(pairs) > self.spent:
            return None
        codes, ridge = self.loss.codes, self.loss.ridge
        return active_pair_step(self.design.light, codes, curved, ridge, -self.gradient)

    def _conjugate_gradients(self) -> Matrix:
        self.spent, light = 0.0, self.design.light
        first = self._inner(self.gradient, self._precondition(self.gradient))
        left = float(np.sqrt(self.left(self.objective()).max()))
        goal = first * min(0.1, left) ** 2  # of the gradient; less near the solution

        def multiply(direction: Matrix) -> Matrix:
            self.spent += 3.0 * self.scores.size * len(self.rules)
            curved = self.scale * self.loss.hessian_product(self.at, _dot(light, direction))
            out = _tdot(light, curved.astype(light.dtype, copy=False))
            out[:-1] += self.loss.ridge * direction[:-1]
            return out

        def done(_: Matrix, size: Any) -> bool:
            return bool(np.all(size <= goal))

        return conjugate_gradients(
            multiply, -self.gradient, self._precondition, done, max_iter=40, inner=self._inner
        )

    def _precondition(self, residual: Matrix) -> Matrix:
        if not self.factors:
            self.factors = self.mean_factors()
        if len(self.factors) == 1:
            return cholesky.solve(self.factors[0], residual)
        columns = [cholesky.solve(f, residual[:, k]) for k, f in enumerate(self.factors)]
        return np.stack(columns, axis=1)

    def _length(self, move: Matrix, change: Matrix) -> tuple[Vector, _End]:
        """Return for each block a length at which the slope along the step has all but vanished."""
        start = self._inner(self.gradient, move)
        brackets = [Bracket(float(slope), edge=0.1, patience=np.inf) for slope in start]
        length = np.ones_like(start)
        end = self._end(length, move, change)
        for _ in range(30):
            done = (end.slope >= 0.5 * start) & (end.slope <= -0.1 * start)
            if np.all(done):
                break
            trials = zip(brackets, length, end.slope, done, strict=True)
            length = np.array([at if ok else b.next(at, slope) for b, at, slope, ok in trials])
            end = self._end(length, move, change)
        return length, end

    def _end(self, length: Vector, move: Matrix, change: Matrix) -> _End:
        """Return where a step of this length leads."""
        scores = self.scores + (length * change).astype(change.dtype)
        at = self.loss.read(scores)
        by_rule = self.scale * np.einsum("ij,ij->j", at.slope, change, dtype=np.float64)
        here = self.rules[:-1] + length * move[:-1]
        by_rule += self.loss.ridge * np.einsum("ij,ij->j", here, move[:-1])
        return _End(scores, at, self._blocks(by_rule))


def _factored(matrix: Matrix, ridge: float) -> Matrix:
    """Return the factor of ``matrix``, overwritten, plus ``ridge`` on all but the offset."""
    n = len(matrix)
    matrix.flat[: n * (n - 1) : n + 1] += ridge
    # Rounding, or an offset on which no sample depends, can leave the matrix not quite definite.
    return cholesky.factor_with_ridge(matrix, 1e-6 if matrix.dtype == np.float32 else 1e-13)[0]


def _pair_work(pairs: int) -> float:
    """Return the multiplications: a factorization, and about ten passes over the matrix."""
    return pairs**3 / 6 + 10 * pairs**2


def active_pair_step(
    X: Matrix, codes: np.ndarray, curved: Matrix, ridge: float, wanted: Matrix
) -> Matrix | None:
    """Return the Newton step of the joint problem where few pairs of sample and class are active.

    The Hessian is the ridge and one rank for every active pair p = (i, k),

        H = r I + sum_p d_p a_p a_p',      a_p = (x_i, 1) tensor (e_y - e_k),

    with no ridge on the offsets b.  With w_p = d_p a_p'(move), eliminating the directions from
    H (move) = g leaves one equation for each pair and one for each offset:

        M w - B b = (rows of g on the pairs) / r,     M_pq = [p = q] / d_p + (x_i.x_j) s_pq / r
        B' w = g_b,                                   s_pq = (e_y - e_k).(e_y' - e_k'),

    B the rows e_y - e_k.  M is positive definite and as large as there are pairs, whatever the
    features.  ``curved`` are the d_p, samples by classes; ``wanted`` is g, the offset last.  In the
    precision of X: it gives a direction.  None where rounding leaves M indefinite.
    """
    rows, rules = np.nonzero(curved)
    own = codes[rows].astype(np.intp)
    unique, place = np.unique(rows, return_inverse=True)
    some = X[unique]
    n_rules = wanted.shape[1]
    signs = np.eye(n_rules)[own] - np.eye(n_rules)[rules]
    M = (some @ some.T)[np.ix_(place, place)]
    M *= (signs @ signs.T).astype(X.dtype) / X.dtype.type(ridge)
    M.flat[:: len(rows) + 1] += 1.0 / curved[rows, rules]
    factor = cholesky.factor(M, overwrite=True)
    if factor is None:
        return None
    ahead = (some @ wanted[:-1].astype(X.dtype, copy=False)).astype(np.float64)[place]
    each = np.arange(len(rows))
    ahead = (ahead[each, own] - ahead[each, rules]) / ridge
    by_offset = cholesky.solve(factor, signs)
    offset = np.linalg.lstsq(signs.T @ by_offset, wanted[-1] - by_offset.T @ ahead, rcond=1e-12)[0]
    w = cholesky.solve(factor, ahead) + by_offset @ offset
    amounts = np.zeros((len(unique), n_rules))
    np.add.at(amounts, (place, own), w)
    np.add.at(amounts, (place, rules), -w)
    move = np.empty_like(wanted)
    move[:-1] = (wanted[:-1] - some.T @ amounts.astype(X.dtype, copy=False)) / ridge
    move[-1] = offset
    return move


class _Bounded(NamedTuple):
    """A point of the problem with bounds on coefficients."""

    position: Vector
    at: LossAtScores
    gradient: Vector
    objective: float
    bound: float


def solve_nonnegative(
    design: Design,
    loss: SeparateLoss,
    scale: float,
    held: np.ndarray,
    tol: float,
    max_iter: int,
    start: Matrix | None = None,
) -> JointSolution:
    """Return one classifier with beta[held] >= 0 and its certificate.

    Newton's method on the coefficients that are free to move, projected (Bertsekas 1982).  In the
    dual of ``problems.joint`` with g = sum_i A_i x_i a held coefficient contributes
    max(g_j, 0)^2 / 2 instead of g_j^2 / 2, since the minimum of beta^2 / 2 - g beta over beta >= 0
    is at max(g, 0).
    """
    held = np.append(held, False)
    stuck = False

    def combine(amounts: Matrix) -> Matrix:
        combined = design.tdot(amounts)[:-1]
        return np.where(held[:-1, None], np.maximum(combined, 0.0), combined)

    def evaluate(position: Vector, *, bounded: bool = True) -> _Bounded:
        at = loss.read(design.dot(position[:, None]))
        gradient = design.tdot(scale * at.slope)[:, 0]
        gradient[:-1] += position[:-1]
        value = float(position[:-1] @ position[:-1]) / 2 + scale * float(at.loss[0])
        bound = float(loss.bound(at.dual_weight, scale, combine)[0]) if bounded else -np.inf
        return _Bounded(position, at, gradient, value, bound)

    def advance(point: _Bounded, _: Bounds) -> _Bounded:
        nonlocal stuck
        position, gradient = point.position, point.gradient
        free = np.flatnonzero(~(held & (position <= 0.0) & (gradient >= 0.0)))
        hessian = scale * design.gram_by_changes(loss.hessian_diagonal(point.at)[:, 0])
        step = np.zeros_like(position)
        n = len(position)
        hessian.flat[: n * (n - 1) : n + 1] += 1.0
        factor = cholesky.factor_with_ridge(hessian[np.ix_(free, free)], 1e-13)[0]
        step[free] = -cholesky.solve(factor, gradient[free])
        for direction in (step, -gradient):
            length = 1.0
            while length > 1e-12:
                ahead = position + length * direction
                ahead[held] = np.maximum(ahead[held], 0.0)
                promised = float(gradient @ (position - ahead))
                if promised > 0.0:
                    lower = evaluate(ahead, bounded=False).objective
                    if lower <= point.objective - 1e-4 * promised:  # Armijo's usual constant
                        return evaluate(ahead)
                length /= 2
        stuck = True
        return point

    def stop(steps: int, gap: float, point: _Bounded) -> Status | None:
        return Status.STALLED if stuck else Status.OPTIMAL if gap <= tol else None

    position = np.zeros(design.shape[1]) if start is None else start[:, 0].copy()
    position[held] = np.maximum(position[held], 0.0)
    limits = Controls(tol, max_iter)
    walk = run(newton_loop(evaluate(position), advance, limits, 1.0, stop=stop))
    bounds = walk.bounds
    rules = bounds.primal.position[:, None]
    return JointSolution(rules, np.array([bounds.objective]), np.array([bounds.bound]), walk.steps)
